"""The related question: report the whole record, or its opposite in every answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.mechanisms.turning import Turning
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class RelatedQuestion(Scheme):
    """With probability theta the record of yes/no answers is reported, else its complement.

    For one attribute this is Warner's design, with odds `theta / (1 - theta)`. For two or more **it is not deniable**:
    a report leaves only two records possible, so it reveals which answers agree. At theta = 1/2 nothing can be
    estimated.

    >>> RelatedQuestion(theta=0.75).mechanism((2,)).channel.odds
    Fraction(3, 1)
    >>> RelatedQuestion(theta=0.75).mechanism((2, 2)).channel.odds is None
    True
    """

    name = "related_question"
    citation = "W. Du & Z. Zhan (2003), Proc. KDD, 505-510; J. Zhan & S. Matwin (2006)"

    theta: Fraction

    def __init__(self, theta: Number) -> None:
        """Read theta exactly."""
        exact = probability("theta", theta)
        if exact == Fraction(1, 2):
            raise SottovoceError("theta", "must not be 1/2, where nothing can be learned from the reports", theta)
        set_fields(self, theta=exact)

    def mechanism(self, sizes: Sizes) -> Turning:
        """One coin for the record."""
        if self.theta in (0, 1):
            return Turning(sizes, int(self.theta), 1)
        kept, complemented = diagonal_sides(2, self.theta / (1 - self.theta))
        return Turning(sizes, kept, kept + complemented)

    @classmethod
    def cases(cls) -> Iterator[tuple["RelatedQuestion", Sizes]]:
        """One attribute, several, mostly the opposite, never and always the opposite."""
        yield cls(theta=0.75), (2,)
        yield cls(theta=0.6), (2, 2, 2)
        yield cls(theta=1 / 3), (2, 2)
        yield cls(theta=1), (2,)
        yield cls(theta=0), (2, 2)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or uninformative."""
        yield "theta", {"theta": 0.5}
        yield "theta", {"theta": 1.5}
        yield "theta", {"theta": float("nan")}
