"""MASK: every bit of a transaction is kept with the same probability, whether the item is present or absent."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, probability, root_of_odds
from sottovoce.exact import odds as exact_odds
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class Mask(Scheme):
    """`P(1 | 1) = P(0 | 0) = p` for every item, each with its own coin; odds `p / (1 - p)` for one item.

    Two transactions that differ in m items have odds `(p / (1 - p))^m`: the guarantee for a whole transaction is far
    weaker than that for an item. Give p, or `gamma` and the number `ones` of items in every record: such records differ
    in at most `2 ones` items, so `p / (1 - p) = gamma^(1 / (2 ones))`.

    >>> round(float(Mask(gamma=19, ones=6).p), 4), round(float(Mask(gamma=19, ones=7).p), 4)
    (0.561, 0.5524)
    """

    name = "mask"
    citation = "S. J. Rizvi & J. R. Haritsa (2002), Proc. VLDB, 682-693; S. Agrawal (2004), thesis, 4.3"

    p: Fraction

    def __init__(self, p: Number | None = None, *, gamma: OddsLike | None = None, ones: int | None = None) -> None:
        """Read p, or compute it from the odds of a whole record."""
        if (p is None) == (gamma is None) or (gamma is None) != (ones is None):
            raise SottovoceError("p or gamma", "must be given, gamma together with ones", (p, gamma, ones))
        keep = _keep(gamma, ones) if p is None else probability("p", p)
        if keep == Fraction(1, 2):
            raise SottovoceError("p", "must not be 1/2, where nothing can be learned from the reports", p)
        set_fields(self, p=keep)

    def mechanism(self, sizes: Sizes) -> Flips:
        """One symmetric coin, flipped for every item."""
        if self.p in (0, 1):
            return Flips(sizes, [BitCoin(int(self.p), int(1 - self.p), 1)])
        truth, other = diagonal_sides(2, self.p / (1 - self.p))
        return Flips(sizes, [BitCoin(truth, other, truth + other)])

    @classmethod
    def cases(cls) -> Iterator[tuple["Mask", Sizes]]:
        """Usual, the thesis' strict privacy, mostly flipped, noiseless."""
        yield cls(p=0.9), (2, 2, 2)
        yield cls(gamma=19, ones=6), (2, 2)
        yield cls(p=0.25), (2,)
        yield cls(p=1), (2, 2)
        yield cls(p=0), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, uninformative, or incomplete."""
        yield "p", {"p": 1.5}
        yield "p", {"p": float("nan")}
        yield "p", {"p": 0.5}
        yield "p or gamma", {}
        yield "p or gamma", {"p": 0.9, "gamma": 19, "ones": 6}
        yield "p or gamma", {"gamma": 19}
        yield "gamma", {"gamma": 0.5, "ones": 6}
        yield "ones", {"gamma": 19, "ones": 0}


def _keep(gamma: Any, ones: Any) -> Fraction:
    item_odds = root_of_odds(exact_odds("gamma", gamma), 2 * whole_number("ones", ones))
    return item_odds / (1 + item_odds)
