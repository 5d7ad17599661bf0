"""Optimised unary encoding: one-hot bits; the 1 becomes a fair coin, the 0s are rarely flipped."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, OddsLike, odds_asked, root_of_odds
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class OptimizedUnary(Scheme):
    """`P(1 | 1) = 1/2`, `P(1 | 0) = 1 / (e^eps + 1)`: EMASK on one-hot data, with odds e^eps for each attribute.

    Of all unary encodings with these odds it estimates rare categories best. `odds` or `epsilon` are those of the whole
    group, shared equally among its attributes.

    >>> OptimizedUnary(odds=3).mechanism((5,)).bit
    BitCoin(one=2, zero=1, sides=4)
    """

    name = "optimized_unary"
    citation = "T. Wang, J. Blocki, N. Li & S. Jha (2017), Proc. USENIX Security, 729-745"
    identified = "odds must not be 1, nor epsilon 0"

    odds: Fraction

    def __init__(self, epsilon: Number | None = None, *, odds: OddsLike | None = None) -> None:
        """Read the odds, or convert epsilon to odds, rounded down."""
        set_fields(self, odds=odds_asked(epsilon=epsilon, odds=odds))

    def mechanism(self, sizes: Sizes) -> OneHot:
        """One coin for all bits, with `P(1 | 0) = 1 / (odds + 1)`, rounded towards privacy."""
        kept, flipped = diagonal_sides(2, root_of_odds(self.odds, len(sizes)))
        return OneHot(sizes, BitCoin.near(Fraction(1, 2), Fraction(flipped, kept + flipped)))

    @classmethod
    def cases(cls) -> Iterator[tuple["OptimizedUnary", Sizes]]:
        """Exact and rounded, one attribute and two, uninformative."""
        yield cls(odds=3), (5,)
        yield cls(epsilon=1), (3,)
        yield cls(odds=9), (2, 3)
        yield cls(odds=1), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, given twice or not at all."""
        yield "epsilon", {"epsilon": -1}
        yield "odds", {"odds": "1:2"}
        yield "epsilon or odds", {}
        yield "epsilon or odds", {"epsilon": 1, "odds": 3}
