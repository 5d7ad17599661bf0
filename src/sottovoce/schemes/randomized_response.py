"""k-ary randomized response: the optimal matrix with a constant diagonal for a given epsilon."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, OddsLike, odds_asked
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class RandomizedResponse(Scheme):
    """`A[x, x] = e^eps / (e^eps + t - 1)`, each other answer `1 / (e^eps + t - 1)` (eq. 8 and 19).

    t is the number of categories. The odds e^eps : 1 are rounded down, never up.

    >>> RandomizedResponse(epsilon=1).mechanism((2,)).channel.epsilon <= 1
    True
    """

    name = "randomized_response"
    citation = "Y. Wang, X. Wu & D. Hu (2016), Proc. EDBT/ICDT Workshops"
    identified = "odds must not be 1, nor epsilon 0"

    odds: Fraction

    def __init__(self, epsilon: Number | None = None, *, odds: OddsLike | None = None) -> None:
        """Read the odds, or convert epsilon to odds, rounded down."""
        set_fields(self, odds=odds_asked(epsilon=epsilon, odds=odds))

    def mechanism(self, sizes: Sizes) -> Diagonal:
        """One coin."""
        return Diagonal.with_ratio(sizes, self.odds)

    @classmethod
    def cases(cls) -> Iterator[tuple["RandomizedResponse", Sizes]]:
        """Small, ordinary and large epsilon."""
        yield cls(epsilon=0.1), (2,)
        yield cls(epsilon=1), (6,)
        yield cls(epsilon=4), (3,)
        yield cls(odds="7:2"), (3,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Negative, far too large, or not a number."""
        yield "epsilon", {"epsilon": -0.1}
        yield "epsilon", {"epsilon": 10_000}
        yield "epsilon", {"epsilon": "lots"}
        yield "odds", {"odds": 0}
        yield "epsilon or odds", {}
