"""Measures that schemes are compared by, derived ones included."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, sqrt
from typing import Any

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.set_valued import LARGEST_LISTED, SetValued
from sottovoce.designs.exact_scheme import set_design
from sottovoce.designs.measures import MEASURES, measures_of
from sottovoce.designs.recommend.expected_error import second_moments
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.derived import MAKERS
from sottovoce.estimates.intervals import critical_value
from sottovoce.measures.privacy import individual_reconstruction
from sottovoce.measures.utility import estimate_covariance

FUNCTIONALS = {
    "entropy_error": "entropy",
    "chi_squared_error": "chi-squared",
    "mutual_information_error": "mutual-information",
    "correlation_error": "correlation",
}
"""Standard errors by the delta method, and the functional that each is of."""
MeasureLike = Callable[[Channel, Array], Any]

DERIVED = ("standard_error", "interval_width", "respondents_needed")
"""Measures that follow from the mean squared error."""

NAMES = (*(name for name in MEASURES if name != "epsilon"), "reconstruction", *DERIVED, *FUNCTIONALS)
"""Measures that have a name; less is better in all of them."""


def fitting_functionals(asked: list[str], shape: tuple[int, ...]) -> list[str]:
    """Names of such errors among the measures that are asked for, if they are of so many attributes.

    >>> fitting_functionals(["mse", "entropy_error"], (3,))
    ['entropy_error']
    """
    found = [name for name in asked if name in FUNCTIONALS]
    for name in found:
        if len(shape) == 1 and MAKERS[FUNCTIONALS[name]][0] == "of two attributes":
            raise SottovoceError("measures", "must fit the prior, which is of one attribute", name)
    return found


def derived_error(channel: Channel, law: Array, name: str, respondents: float, target: Target = "population") -> float:
    """`sqrt(g^T S g)`, g the gradient at the law and S the covariance of the estimated proportions.

    Infinite where there is no gradient, as of the entropy of a law with an empty cell, or nothing to estimate from.

    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> import numpy as np
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> round(derived_error(channel, np.array([0.7, 0.3]), "entropy_error", 1000), 4)
    0.0199
    """
    functional = MAKERS[FUNCTIONALS[name]][1]([tuple(range(size)) for size in channel.shape_in])
    try:
        gradient = functional.gradient(law)
        spread = estimate_covariance(channel.dense(), law, respondents, target)
    except SottovoceError:
        return float("inf")
    return sqrt(max(float(gradient @ spread @ gradient), 0.0))


def checked_measures(
    given: Mapping[str, MeasureLike] | Iterable[str | MeasureLike],
) -> dict[str, str | MeasureLike]:
    """Measures by name; functions go by theirs.

    >>> list(checked_measures(["mse", "interval_width"]))
    ['mse', 'interval_width']
    """
    listed: Iterable[tuple[Any, Any]]
    if isinstance(given, Mapping):
        listed = given.items()
    else:
        listed = ((getattr(each, "__name__", each), each) for each in given)
    found = dict(listed)
    if not found:
        raise SottovoceError("measures", "must be at least one", list(found))
    for each in found.values():
        if not callable(each) and each not in NAMES:
            raise SottovoceError("measures", f"must be functions, or among {', '.join(NAMES)}", each)
    return found


@dataclass(frozen=True)
class Context:
    """What is expected, of how many, and how wide intervals may be."""

    law: Array
    respondents: float
    width: float
    level: float

    def __post_init__(self) -> None:
        """Refuse a width that is none."""
        if not 0 < self.width < float("inf"):
            raise SottovoceError("width", "must be a positive number", self.width)
        self.deviations  # noqa: B018  # refuses a level that is none

    @cached_property
    def deviations(self) -> float:
        """Standard errors either way of an interval."""
        return critical_value(self.level)

    def measure(self, channel: Channel, asked: Mapping[str, str | MeasureLike]) -> dict[str, float | None]:
        """Numbers of a channel; None where a measure is infinite, or has no meaning for it."""
        names = [each for each in asked.values() if isinstance(each, str)]
        known = self._known(channel, names) if names else {}
        numbers = {
            name: known.get(each) if isinstance(each, str) else float(each(channel, self.law))
            for name, each in asked.items()
        }
        return {name: value if value is not None and isfinite(value) else None for name, value in numbers.items()}

    def _known(self, channel: Channel, names: list[str]) -> dict[str, float]:
        if isinstance(channel, SetValued) and channel.n_in > LARGEST_LISTED and set_design(channel) is None:
            # Too many sets to list: the error is known in closed form, what they give away is not.
            error = float((second_moments(channel, self.law) - self.law**2).mean())
            found = {"mse": error / self.respondents}
        else:
            found = measures_of(channel, self.law, self.respondents) | self._listed(channel, names)
        return found | self._derived(found["mse"])

    def _listed(self, channel: Channel, names: list[str]) -> dict[str, float]:
        """Measures that need the whole matrix, where they are asked for."""
        found = {
            name: derived_error(channel, self.law, name, self.respondents)
            for name in fitting_functionals(names, channel.shape_in)
        }
        if "reconstruction" in names:
            found["reconstruction"] = float(self.law @ individual_reconstruction(channel, self.law))
        return found

    def _derived(self, mse: float) -> dict[str, float]:
        """`interval_width` is `2 z sqrt(mse)`, a typical one; `respondents_needed` gives it the width asked for."""
        width = 2 * self.deviations * sqrt(mse)
        needed = self.respondents * (width / self.width) ** 2
        return {
            "standard_error": sqrt(mse),
            "interval_width": width,
            "respondents_needed": ceil(needed) if isfinite(needed) else needed,
        }
