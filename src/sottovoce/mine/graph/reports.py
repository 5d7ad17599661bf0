"""What is reported of a graph, and the coin that every pair was disguised with."""

from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, common_denominator, epsilon_of_odds
from sottovoce.mechanism.bit_coin import BitCoin
from sottovoce.mine.graph.graph import Graph
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.scheme import Scheme


@dataclass(frozen=True, eq=False)
class GraphReports:
    """The graph that the reports draw, and the coin they were disguised with.

    With `keep` the chance that a bit is told as it is and `flip` that it is not, `(y - flip) / (keep - flip)` is an
    unbiased estimate of the bit behind a report y, with variance `noise = keep flip / (keep - flip)^2`.
    """

    graph: Graph
    coin: BitCoin

    def __post_init__(self) -> None:
        """Check that the coin treats ties and others alike, and tells something."""
        if self.coin.one + self.coin.zero != self.coin.sides or self.coin.one <= self.coin.zero:
            raise SottovoceError("coin", "must keep every bit with one chance above 1/2", self.coin)

    @property
    def odds(self) -> Fraction | None:
        """What a report can do to anybody's odds that two nodes are tied; None where bits are not disguised."""
        return Fraction(self.coin.one, self.coin.zero) if self.coin.zero else None

    @property
    def epsilon(self) -> float:
        """Natural logarithm of the odds."""
        return epsilon_of_odds(self.odds)

    @property
    def flip(self) -> float:
        """Chance that a bit is told wrong."""
        return self.coin.zero / self.coin.sides

    @property
    def gap(self) -> float:
        """`keep - flip`: how much more often a tie is reported than none."""
        return (self.coin.one - self.coin.zero) / self.coin.sides

    @property
    def noise(self) -> float:
        """Variance of one estimated bit."""
        return self.flip * (1 - self.flip) / self.gap**2


def edge_coin(epsilon: Number | None = None, scheme: Scheme | None = None) -> BitCoin:
    """Coin of one bit, with integers for sides: randomized response for an epsilon, or another scheme's.

    >>> edge_coin(scheme=RandomizedResponse(odds=3))
    BitCoin(one=3, zero=1, sides=4)
    """
    if (epsilon is None) == (scheme is None):
        raise SottovoceError("epsilon or scheme", "must be given, exactly one of them", (epsilon, scheme))
    chosen = RandomizedResponse(epsilon=epsilon) if scheme is None else scheme
    channel = chosen.mechanism((2,)).channel
    one, zero = channel.entry(1, 1), channel.entry(1, 0)
    if one <= zero:
        got = epsilon if scheme is None else scheme
        raise SottovoceError("epsilon or scheme", "must let reports say something: an epsilon above 0", got)
    sides = common_denominator([one, zero])
    return BitCoin(int(one * sides), int(zero * sides), sides)
