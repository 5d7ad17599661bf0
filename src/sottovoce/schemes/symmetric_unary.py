"""Symmetric unary encoding: one-hot bits, all kept with the same probability."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked, probability, root_of_odds
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class SymmetricUnary(Scheme):
    """Every bit of the one-hot code is kept with p: MASK on one-hot data; odds `(p / (1 - p))^(2 M)`.

    M is the number of attributes in the group: two records differ in at most two bits of each. Give p, or the `odds` or
    `epsilon` of the whole group. MASK disguises categorical tables in this way (Agrawal 2004), and so does the basic
    one-time RAPPOR.

    >>> SymmetricUnary(odds=9).mechanism((4,)).bit
    BitCoin(one=3, zero=1, sides=4)
    """

    name = "symmetric_unary"
    citation = "U. Erlingsson, V. Pihur & A. Korolova (2014), Proc. CCS; T. Wang et al. (2017), Proc. USENIX Security"

    bit_odds: Fraction | None
    odds: Fraction | None

    def __init__(self, p: Number | None = None, *, odds: OddsLike | None = None, epsilon: Number | None = None) -> None:
        """Read p and convert it to the odds of a bit, or read the odds of the group."""
        if p is None:
            set_fields(self, bit_odds=None, odds=odds_asked(odds=odds, epsilon=epsilon))
            return
        if odds is not None or epsilon is not None:
            raise SottovoceError("p", "must be given alone, without odds or epsilon", p)
        keep = probability("p", p)
        if not Fraction(1, 2) < keep < 1:
            raise SottovoceError("p", "must be between 1/2 and 1", p)
        set_fields(self, bit_odds=keep / (1 - keep), odds=None)

    def mechanism(self, sizes: Sizes) -> OneHot:
        """One symmetric coin for all bits."""
        ratio = self.bit_odds or root_of_odds(self.odds or Fraction(1), 2 * len(sizes))
        truth, other = diagonal_sides(2, ratio)
        return OneHot(sizes, BitCoin(truth, other, truth + other))

    @classmethod
    def cases(cls) -> Iterator[tuple["SymmetricUnary", Sizes]]:
        """By odds, epsilon and p, alone and with other attributes."""
        yield cls(odds=9), (4,)
        yield cls(epsilon=1), (3,)
        yield cls(p=0.75), (2, 3)
        yield cls(odds=4), (2, 2)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, given twice or not at all."""
        yield "p", {"p": 0.5}
        yield "p", {"p": 1}
        yield "p", {"p": float("nan")}
        yield "p", {"p": 0.8, "odds": 3}
        yield "odds or epsilon", {}
        yield "odds", {"odds": 0.1}
