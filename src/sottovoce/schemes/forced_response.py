"""Forced response: a die decides whether to answer truthfully, or to say yes, or to say no."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields, yes_no


@dataclass(frozen=True)
class ForcedResponse(Scheme):
    """`P(yes | yes) = truth + yes`, `P(yes | no) = yes`, for an attribute (no, yes).

    The truth is reported with probability `truth`; otherwise yes is forced with probability `yes` and no with
    `no = 1 - truth - yes`. Odds `1 + truth / min(yes, no)` : 1, unbounded if one of the two is never forced. At
    truth = 0 nothing can be estimated.

    Two dice, as often used: 2, 3 or 4 force a yes, 11 or 12 a no, and 5 to 10 ask for the truth.

    >>> ForcedResponse(truth="3/4", yes="1/6").mechanism((2,)).channel.odds
    Fraction(10, 1)
    """

    name = "forced_response"
    citation = (
        "J. A. Fox & P. E. Tracy (1986), Randomized Response; after R. F. Boruch (1971), Am. Sociologist 6, 308-311"
    )
    identified = "truth must not be 0"

    truth: Fraction
    yes: Fraction

    def __init__(self, truth: Number, yes: Number) -> None:
        """Read both exactly; their sum must be at most one."""
        set_fields(self, truth=probability("truth", truth), yes=probability("yes", yes))
        if self.truth + self.yes > 1:
            raise SottovoceError("yes", f"must be at most 1 - truth = {1 - self.truth}", yes)

    @property
    def no(self) -> Fraction:
        """Probability of a forced no."""
        return 1 - self.truth - self.yes

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin."""
        return yes_no(sizes, no=[self.truth + self.no, self.yes], yes=[self.no, self.truth + self.yes])

    @classmethod
    def cases(cls) -> Iterator[tuple["ForcedResponse", Sizes]]:
        """Two dice, a float, one answer never forced (not deniable), noiseless, uninformative."""
        yield cls("3/4", "1/6"), (2,)
        yield cls(0.31415926535897932, 1 / 3), (2,)
        yield cls(0.5, 0), (2,)
        yield cls(0.5, 0.5), (2,)
        yield cls(1, 0), (2,)
        yield cls(0, 0.3), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Invalid probabilities, or a sum above one."""
        yield "truth", {"truth": 1.1, "yes": 0}
        yield "truth", {"truth": float("nan"), "yes": 0.5}
        yield "yes", {"truth": 0.5, "yes": -0.1}
        yield "yes", {"truth": 0.5, "yes": "often"}
        yield "yes", {"truth": 0.5, "yes": 0.6}
