"""The crosswise model: report whether the answers to the sensitive and to a harmless question are the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, probability
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields, yes_no


@dataclass(frozen=True)
class Crosswise(Scheme):
    """`P(same | yes) = q`, `P(same | no) = 1 - q`, for an attribute (no, yes); reports "same", "different".

    q is the known frequency of yes to the harmless question (was your mother born in winter?), which must be
    independent of the sensitive one. Odds `max(q, 1 - q) / min(q, 1 - q)` : 1, those of Warner's design with p = q, but
    no report looks like a yes or a no. At q = 1/2 reports do not depend on the truth, and nothing can be estimated.

    >>> Crosswise(q=1 / 4).mechanism((2,)).channel.odds
    Fraction(3, 1)
    >>> Crosswise(q=1 / 2).mechanism((2,)).channel.odds
    Fraction(1, 1)
    """

    name = "crosswise"
    citation = "J.-W. Yu, G.-L. Tian & M.-L. Tang (2008), Metrika 67, 251-263"
    identified = "q must not be 1/2"

    q: Fraction

    def __init__(self, q: Number) -> None:
        """Read q exactly."""
        set_fields(self, q=probability("q", q))

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin, for the harmless question."""
        return yes_no(sizes, no=[1 - self.q, self.q], yes=[self.q, 1 - self.q], reports=["same", "different"])

    @classmethod
    def cases(cls) -> Iterator[tuple["Crosswise", Sizes]]:
        """Rare, frequent, a float, certain (not deniable), uninformative."""
        yield cls(q=0.25), (2,)
        yield cls(q="2/3"), (2,)
        yield cls(q=0.15812345678901234), (2,)
        yield cls(q=0), (2,)
        yield cls(q=0.5), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or not a number."""
        for q in (-0.25, 1.25, float("nan"), "in winter", None):
            yield "q", {"q": q}
