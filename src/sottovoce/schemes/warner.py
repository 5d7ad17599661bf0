"""Warner's randomized response: report the truth with probability p."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.schemas.attribute import check_domain
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class Warner(Scheme):
    """`A[x, x] = p`, and `(1 - p) / (n - 1)` for each other answer; odds `p (n - 1) / (1 - p)` : 1.

    At p = 1/n reports do not depend on the truth, and nothing can be estimated.

    >>> Warner(p=3 / 4).mechanism((2,)).channel.odds
    Fraction(3, 1)
    """

    name = "warner"
    citation = "S. L. Warner (1965), Journal of the American Statistical Association 60, 63-69"
    identified = "p must not be 1/n, n the number of categories"

    p: Fraction

    def __init__(self, p: Number) -> None:
        """Read p exactly."""
        set_fields(self, p=probability("p", p))

    def mechanism(self, sizes: Sizes) -> Diagonal:
        """One coin, with ratio p : (1 - p) / (n - 1) of the truth to each other answer."""
        p, cells = self.p, check_domain(sizes)
        if cells < 2:
            raise SottovoceError("sizes", "must leave at least two answers", sizes)
        if p == 1:
            return Diagonal(sizes, truth=1, other=0)
        ratio = p * (cells - 1) / (1 - p)
        return Diagonal.with_ratio(sizes, ratio) if p else Diagonal(sizes, truth=0, other=1)

    @classmethod
    def cases(cls) -> Iterator[tuple["Warner", Sizes]]:
        """Small coins, a float, a truth rarer than other answers, always, never, uninformative, joint."""
        yield cls(p=Fraction(3, 4)), (2,)
        yield cls(p=0.7), (3,)
        yield cls(p=1 / 3 + 0.1), (5,)
        yield cls(p=0.1), (4,)
        yield cls(p=1), (3,)
        yield cls(p=0), (3,)
        yield cls(p=Fraction(1, 3)), (3,)
        yield cls(p=0.31415926535897932), (2, 3)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or not a number."""
        for p in (-0.1, 1.2, float("nan"), "a half", None, True):
            yield "p", {"p": p}
