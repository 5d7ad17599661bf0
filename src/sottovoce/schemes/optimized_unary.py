"""Optimised unary encoding: one-hot bits; the one is a fair coin, the zeros rarely flip."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, OddsLike, root_of_odds
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemes.scheme import Scheme, Sizes, odds_asked, set_fields


@dataclass(frozen=True)
class OptimizedUnary(Scheme):
    """`P(1 | 1) = 1/2`, `P(1 | 0) = 1 / (e^eps + 1)`: EMASK on one-hot data, with odds e^eps an attribute.

    Of all unary encodings with these odds it estimates rare categories best. `odds` or `epsilon` are
    those of the whole group, shared equally among its attributes.

    >>> OptimizedUnary(odds=3).mechanism((5,)).bit
    BitCoin(one=2, zero=1, sides=4)
    """

    name = "optimized_unary"
    citation = "T. Wang, J. Blocki, N. Li & S. Jha (2017), Proc. USENIX Security, 729-745"
    identified = "odds must not be 1, nor epsilon 0"

    odds: Fraction

    def __init__(self, epsilon: Number | None = None, *, odds: OddsLike | None = None) -> None:
        """Turn epsilon into odds, rounded down."""
        set_fields(self, odds=odds_asked(epsilon=epsilon, odds=odds))

    def mechanism(self, sizes: Sizes) -> OneHot:
        """One coin for all bits: half its sides for a one, a share of 1 / (odds + 1) for a zero."""
        quiet, loud = diagonal_sides(2, root_of_odds(self.odds, len(sizes)))
        return OneHot(sizes, BitCoin.near(Fraction(1, 2), Fraction(loud, quiet + loud)))

    @classmethod
    def cases(cls) -> Iterator[tuple["OptimizedUnary", Sizes]]:
        """Exact and rounded, one attribute and two, saying nothing."""
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
