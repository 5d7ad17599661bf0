"""Mangat's design: those with the trait say yes, the others sometimes do."""

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

    Those without the trait say no with probability p and yes otherwise. The odds are unbounded: a reported no proves a
    no, so only a yes can be denied, and a reported yes multiplies the odds of a yes by 1 / (1 - p). The channel is that
    of the triangular model with q = 1 - p. At p = 0 nothing can be estimated.

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
        """One coin, flipped by everyone, which matters to those without the trait."""
        return yes_no(sizes, no=[self.p, 1 - self.p], yes=[Fraction(0), Fraction(1)])

    @classmethod
    def cases(cls) -> Iterator[tuple["Mangat", Sizes]]:
        """Ordinary, a float, noiseless, uninformative."""
        yield cls(p=0.75), (2,)
        yield cls(p=0.31415926535897932), (2,)
        yield cls(p=1), (2,)
        yield cls(p=0), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or not a number."""
        for p in (-0.1, 1.2, float("nan"), "a half", None):
            yield "p", {"p": p}
