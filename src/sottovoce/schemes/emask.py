"""EMASK: present items are kept with one probability, absent ones with another."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class Emask(Scheme):
    """`P(1 | 1) = p`, `P(0 | 0) = q`, the same for all items or with p and q for each item.

    Odds of an item: the larger of `p / (1 - q)` and `q / (1 - p)`, or the inverse of the smaller. With q near one a
    disguised transaction is nearly as short as the true one, which makes mining fast; but the nearer q is to one, the
    more a reported item reveals.

    >>> Emask(p=0.5, q=0.97).mechanism((2,)).channel.odds
    Fraction(50, 3)
    """

    name = "emask"
    citation = "S. Agrawal, V. Krishnan & J. R. Haritsa (2004), Proc. DASFAA, 400-412; S. Agrawal (2004), thesis, 3"

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def __init__(self, p: Number | Iterable[Number], q: Number | Iterable[Number]) -> None:
        """Read both exactly; p + q must not be 1, where a report does not depend on the item."""
        ones, zeros = _each("p", p), _each("q", q)
        if 1 not in (len(ones), len(zeros)) and len(ones) != len(zeros):
            raise SottovoceError("q", f"must be one number, or one for each of the {len(ones)} in p", len(zeros))
        items = max(len(ones), len(zeros))
        ones, zeros = ones * (items // len(ones)), zeros * (items // len(zeros))
        for keep_one, keep_zero in zip(ones, zeros, strict=True):
            if keep_one + keep_zero == 1:
                rule = f"must not be 1 - q = {float(1 - keep_zero):g}, where nothing can be learned; let p + q exceed 1"
                raise SottovoceError("p", rule, p)
        set_fields(self, p=ones, q=zeros)

    def mechanism(self, sizes: Sizes) -> Flips:
        """One coin for all items, or one for each item."""
        if len(self.p) not in (1, len(sizes)):
            raise SottovoceError("p", f"must be one number, or one for each of {len(sizes)} items", len(self.p))
        coins = {pair: BitCoin.near(pair[0], 1 - pair[1]) for pair in set(zip(self.p, self.q, strict=True))}
        return Flips(sizes, [coins[pair] for pair in zip(self.p, self.q, strict=True)])

    @classmethod
    def cases(cls) -> Iterator[tuple["Emask", Sizes]]:
        """The thesis' setting, a mild one, by item, one-sided (not deniable), noiseless."""
        yield cls(p=0.5051, q=0.9696), (2, 2)
        yield cls(p=0.8, q=0.6), (2, 2, 2)
        yield cls(p=[0.9, 0.5, 0.7], q=[0.9, 0.95, 0.8]), (2, 2, 2)
        yield cls(p=1 / 3, q=[0.9, 0.8]), (2, 2)
        yield cls(p=0.5, q=1), (2, 2)
        yield cls(p=1, q=1), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, uninformative, lengths that do not match."""
        yield "p", {"p": 1.2, "q": 0.9}
        yield "q", {"p": 0.5, "q": -0.1}
        yield "p", {"p": 0.3, "q": 0.7}
        yield "p", {"p": [0.9, 0.3], "q": 0.7}
        yield "q", {"p": [0.9, 0.8], "q": [0.9, 0.8, 0.7]}
        yield "q", {"p": 0.9, "q": float("nan")}
        yield "p", {"p": [], "q": 0.9}


def _each(parameter: str, value: Any) -> tuple[Fraction, ...]:
    """Read one probability or several as a tuple."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    probabilities = tuple(probability(parameter, v) for v in (value if several else [value]))
    if not probabilities:
        raise SottovoceError(parameter, "must be at least one number", value)
    return probabilities
