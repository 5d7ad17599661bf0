"""Cut-and-paste: keep a few items of a transaction and add others at random."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, probability
from sottovoce.exact import odds as exact_odds
from sottovoce.mechanisms.coins import WORD
from sottovoce.mechanisms.cut_and_paste import CutPaste
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class CutAndPaste(Scheme):
    """Up to `cutoff` items are kept, every other item is added with `rho`; odds `sum_{j = 0}^{cutoff} rho^-j`.

    Give rho, or the odds `gamma`, for which the smallest sufficient rho is found. Only supports of item sets up to the
    cutoff can be estimated: for longer ones the matrices of counts are singular, of rank cutoff + 1.

    >>> round(float(CutAndPaste(3, gamma=19).rho), 4)
    0.4514
    """

    name = "cut_and_paste"
    citation = "A. Evfimievski, R. Srikant, R. Agrawal & J. Gehrke (2002), Proc. KDD, 217-228"

    cutoff: int
    rho: Fraction

    def __init__(self, cutoff: int, rho: Number | None = None, *, gamma: OddsLike | None = None) -> None:
        """Read rho, or compute it from the odds."""
        most = whole_number("cutoff", cutoff, least=0)
        if (rho is None) == (gamma is None):
            raise SottovoceError("rho or gamma", "must be given, exactly one of them", (rho, gamma))
        exact = _smallest_rho(most, gamma) if rho is None else probability("rho", rho)
        if not 0 < exact < 1:
            raise SottovoceError("rho", "must be between 0 and 1, both excluded", rho)
        set_fields(self, cutoff=most, rho=exact)

    def mechanism(self, sizes: Sizes) -> CutPaste:
        """Mechanism with rho, rounded up (towards more noise) if necessary."""
        exact = self.rho.denominator <= WORD
        rho = self.rho if exact else Fraction(ceil(self.rho * WORD), WORD)
        return CutPaste(sizes, self.cutoff, rho.numerator, rho.denominator)

    @classmethod
    def cases(cls) -> Iterator[tuple["CutAndPaste", Sizes]]:
        """Given and computed rho, no item kept."""
        yield cls(1, 0.5), (2, 2)
        yield cls(2, gamma=7), (2, 2, 2)
        yield cls(3, 0.494), (2, 2, 2, 2)
        yield cls(0, 0.25), (2, 2)
        yield cls(1, 1 / 3), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """No noise and only noise, odds that cannot be reached."""
        yield "cutoff", {"cutoff": -1, "rho": 0.5}
        yield "cutoff", {"cutoff": 1.5, "rho": 0.5}
        yield "rho", {"cutoff": 2, "rho": 0}
        yield "rho", {"cutoff": 2, "rho": 1}
        yield "rho", {"cutoff": 2, "rho": float("nan")}
        yield "rho or gamma", {"cutoff": 2}
        yield "gamma", {"cutoff": 3, "gamma": 3}


def pairs_meeting(gamma: OddsLike, largest_cutoff: int) -> list[CutAndPaste]:
    """Schemes that meet these odds with the least noise, for every cutoff up to the largest for which there is one.

    >>> [(pair.cutoff, round(float(pair.rho), 3)) for pair in pairs_meeting(19, 4)]
    [(1, 0.056), (2, 0.265), (3, 0.451), (4, 0.587)]
    """
    bound = exact_odds("gamma", gamma)
    return [CutAndPaste(k, gamma=bound) for k in range(1, largest_cutoff + 1) if bound > k + 1]


def _smallest_rho(cutoff: int, gamma: Any) -> Fraction:
    """Smallest multiple of 2^-32 with `sum_j rho^-j <= gamma`, by bisection."""
    bound = exact_odds("gamma", gamma)
    if cutoff == 0 or bound <= cutoff + 1:
        raise SottovoceError("gamma", f"must be above cutoff + 1 = {cutoff + 1}, with a cutoff of at least 1", gamma)
    low, high = 1, WORD - 1
    while low < high:
        middle = (low + high) // 2
        if sum(Fraction(WORD, middle) ** j for j in range(cutoff + 1)) <= bound:
            high = middle
        else:
            low = middle + 1
    return Fraction(high, WORD)
