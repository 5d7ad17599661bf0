"""The triangular model: report whether the answers to the sensitive and to a harmless question are both no."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, probability
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields, yes_no


@dataclass(frozen=True)
class Triangular(Scheme):
    """`P(otherwise | yes) = 1`, `P(otherwise | no) = q`, for an attribute (no, yes).

    q is the known frequency of yes to the harmless question, which must be independent of the sensitive one; reports
    are "both no" and "otherwise". The odds are unbounded: "both no" proves a no, so only a yes can be denied, and
    "otherwise" multiplies the odds of a yes by 1 / q. At q = 1 nothing can be estimated.

    >>> Triangular(q=1 / 4).mechanism((2,)).channel.odds is None
    True
    """

    name = "triangular"
    citation = "J.-W. Yu, G.-L. Tian & M.-L. Tang (2008), Metrika 67, 251-263"
    identified = "q must not be 1"

    q: Fraction

    def __init__(self, q: Number) -> None:
        """Read q exactly."""
        set_fields(self, q=probability("q", q))

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin, for the harmless question."""
        certain = [Fraction(0), Fraction(1)]
        return yes_no(sizes, no=[1 - self.q, self.q], yes=certain, reports=["both no", "otherwise"])

    @classmethod
    def cases(cls) -> Iterator[tuple["Triangular", Sizes]]:
        """Ordinary, a float, noiseless, uninformative."""
        yield cls(q=0.25), (2,)
        yield cls(q=0.31415926535897932), (2,)
        yield cls(q=0), (2,)
        yield cls(q=1), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or not a number."""
        for q in (-0.25, 1.25, float("nan"), "in winter", None):
            yield "q", {"q": q}
