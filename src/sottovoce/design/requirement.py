"""What a design must keep: bounds on the adversary, on every report, and on wrong reports; checked before any work."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.prior import checked_prior
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import fraction
from sottovoce.scheme.scheme import odds_asked

LARGEST_CERTIFIED = 150
"""Categories up to which designs are certified: gaps and times have been looked at no further."""


@dataclass(frozen=True)
class Requirement:
    """Bounds that were asked for; None where there is none.

    `accuracy` bounds how often an adversary who knows the prior guesses right, `delta` how sure any report can make
    them, `odds` what a report can do to anyone's odds whatever they know, `distortion` how often reports are wrong.

    >>> Requirement.of([0.7, 0.3], accuracy=0.6)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: accuracy contradicts the prior, of which a guess without any report is right with
    0.7: the nearest feasible value is 0.7. Got 0.6 instead.
    """

    prior: tuple[float, ...]
    accuracy: float | None = None
    delta: float | None = None
    odds: Fraction | None = None
    distortion: float | None = None

    @classmethod
    def of(
        cls,
        prior: Any,
        *,
        accuracy: Any = None,
        delta: Any = None,
        odds: Any = None,
        epsilon: Any = None,
        distortion: Any = None,
    ) -> "Requirement":
        """Check the prior and read every bound; odds are exact, those of an epsilon rounded down."""
        bound = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
        shares = (_share("accuracy", accuracy), _share("delta", delta))
        return cls(tuple(checked_prior(prior).tolist()), *shares, bound, _share("distortion", distortion))

    def __post_init__(self) -> None:
        """Refuse bounds that are none, and those that the prior contradicts."""
        for name in ("accuracy", "delta", "distortion"):
            _share(name, getattr(self, name))
        likeliest = max(self.prior)
        if self.accuracy is not None and self.accuracy < likeliest:
            rule = "contradicts the prior, of which a guess without any report is right with"
            nearest = f"{likeliest:.6g}: the nearest feasible value is {likeliest:.6g}"
            raise SottovoceError("accuracy", f"{rule} {nearest}", self.accuracy)
        if self.delta is not None and self.delta <= likeliest:
            rule = "contradicts the prior, whose likeliest category some report always leaves at least as likely as"
            nearest = f"{likeliest:.6g}: the nearest feasible values are just above it"
            raise SottovoceError("delta", f"{rule} {nearest}", self.delta)

    @property
    def law(self) -> Array:
        """Prior as an array."""
        return np.array(self.prior)

    @property
    def float_odds(self) -> float | None:
        """Odds for optimisers, which calculate in floating point."""
        return None if self.odds is None else float(self.odds)

    @property
    def unbounded(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None

    def for_error(self) -> "Requirement":
        """This, if errors can be compared under it."""
        if self.distortion is not None:
            raise SottovoceError("distortion", "must be left out where the error is the objective", self.distortion)
        if self.odds == 1:
            raise SottovoceError("odds", "must be above 1 : 1 for anything to be estimated", Words("1 : 1"))
        if self.unbounded:
            rule = "must be given, at least one of them: without any, telling the truth is best"
            raise SottovoceError("accuracy or delta or odds", rule, Words("none"))
        if self.accuracy == max(self.prior) and self.prior.count(self.accuracy) > 1:
            rule = "contradicts the prior, two of whose categories are as likely and could not be told apart:"
            nearest = f"the nearest feasible values are just above {self.accuracy:.6g}"
            raise SottovoceError("accuracy", f"{rule} {nearest}", self.accuracy)
        return self

    def for_information(self) -> "Requirement":
        """This, if bits told can be compared under it."""
        for name in ("accuracy", "delta"):
            if getattr(self, name) is not None:
                rule = "must be left out where mutual information is the objective"
                raise SottovoceError(name, rule, getattr(self, name))
        return self

    def certifiable(self) -> "Requirement":
        """This, if its optimum can be proven."""
        if len(self.prior) > LARGEST_CERTIFIED:
            rule = f"must have at most {LARGEST_CERTIFIED} categories to be certified; take the method subset or warner"
            raise SottovoceError("prior", rule, Words(f"{len(self.prior)} categories"))
        return self


def _share(parameter: str, value: Any) -> float | None:
    if value is None:
        return None
    share = float(fraction(parameter, value))
    if not 0 <= share <= 1:
        raise SottovoceError(parameter, "must be between 0 and 1", value)
    return share
