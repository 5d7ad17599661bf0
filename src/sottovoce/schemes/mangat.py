"""Mangat's design: bearers of the trait say yes, the others sometimes do."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, probability
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields, yes_no


@dataclass(frozen=True)
class Mangat(Scheme):
    """`P(yes | yes) = 1`, `P(yes | no) = 1 - p`, for an attribute (no, yes).

    Who would answer no tells the truth with probability p and says yes otherwise. The odds are
    unbounded: a no proves a no, so only a yes can be denied, and a yes raises the odds of a yes by
    1 / (1 - p). The law is the triangular model's with q = 1 - p. At p = 0 the report says nothing.

    >>> Mangat(p=3 / 4).mechanism((2,)).channel.odds is None
    True
    """

    name = "mangat"
    citation = "N. S. Mangat (1994), Journal of the Royal Statistical Society B 56, 93-95"
    identified = "p must not be 0"

    p: Fraction

    def __init__(self, p: Number) -> None:
        """Read p exactly."""
        set_fields(self, p=probability("p", p))

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin, flipped by everyone and heeded by those who would say no."""
        return yes_no(sizes, no=[self.p, 1 - self.p], yes=[Fraction(0), Fraction(1)])

    @classmethod
    def cases(cls) -> Iterator[tuple["Mangat", Sizes]]:
        """Ordinary, a float, the truth alone, saying nothing."""
        yield cls(p=0.75), (2,)
        yield cls(p=0.31415926535897932), (2,)
        yield cls(p=1), (2,)
        yield cls(p=0), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or no number."""
        for p in (-0.1, 1.2, float("nan"), "a half", None):
            yield "p", {"p": p}
