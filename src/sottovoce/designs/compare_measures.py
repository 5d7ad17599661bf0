"""Measures by which `compare` compares schemes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, sqrt
from typing import Any

from sottovoce.channels.channel import Channel
from sottovoce.channels.set_valued import LARGEST_LISTED
from sottovoce.checks import Array, Target
from sottovoce.designs.exact_scheme import set_design
from sottovoce.designs.front import MEASURES, measures_of
from sottovoce.designs.recommend.expected_error import second_moments
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import NAMED_FUNCTIONALS
from sottovoce.estimates.intervals import critical_value
from sottovoce.measures.privacy import individual_reconstruction
from sottovoce.measures.utility import estimate_covariance

FUNCTIONALS = {
    "entropy_error": "entropy",
    "chi_squared_error": "chi_squared",
    "mutual_information_error": "mutual_information",
    "correlation_error": "correlation",
}
"""Measures that are standard errors by the delta method, and the functional of each."""

MeasureLike = Callable[[Channel, Array], Any]

DERIVED = ("standard_error", "interval_width", "respondents_needed")
"""Measures that follow from the mean squared error."""

NAMES = (*(name for name in MEASURES if name != "epsilon"), "reconstruction", *DERIVED, *FUNCTIONALS)
"""Names of all measures; less is better in each."""


def fitting_functionals(asked: list[str], shape: tuple[int, ...]) -> list[str]:
    """Return the standard errors of functionals among these measures; raise if one needs two attributes.

    >>> fitting_functionals(["mse", "entropy_error"], (3,))
    ['entropy_error']
    """
    names = [name for name in asked if name in FUNCTIONALS]
    for name in names:
        if len(shape) == 1 and NAMED_FUNCTIONALS[FUNCTIONALS[name]][0] == "of two attributes":
            raise SottovoceError("measures", "must fit the prior, which is of one attribute", name)
    return names


def derived_error(
    channel: Channel, prior: Array, name: str, respondents: float, target: Target = "population"
) -> float:
    """Standard error of a functional, `sqrt(g^T S g)`, g its gradient and S the covariance of estimated proportions.

    Infinite where there is no gradient (the entropy of a distribution with an empty cell) or the channel is singular.

    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> import numpy as np
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> round(derived_error(channel, np.array([0.7, 0.3]), "entropy_error", 1000), 4)
    0.0199
    """
    functional = NAMED_FUNCTIONALS[FUNCTIONALS[name]][1]([tuple(range(size)) for size in channel.shape_in])
    try:
        gradient = functional.gradient(prior)
        covariance = estimate_covariance(channel.dense(), prior, respondents, target)
    except SottovoceError:
        return float("inf")
    return sqrt(max(float(gradient @ covariance @ gradient), 0.0))


def checked_measures(
    given: Mapping[str, MeasureLike] | Iterable[str | MeasureLike],
) -> dict[str, str | MeasureLike]:
    """Return measures by name; a function is named after itself.

    >>> list(checked_measures(["mse", "interval_width"]))
    ['mse', 'interval_width']
    """
    listed = given if isinstance(given, Mapping) else {getattr(each, "__name__", each): each for each in given}
    measures: dict[Any, Any] = dict(listed)
    if not measures:
        raise SottovoceError("measures", "must be at least one", list(measures))
    for each in measures.values():
        if not callable(each) and each not in NAMES:
            raise SottovoceError("measures", f"must be functions, or among {', '.join(NAMES)}", each)
    return measures


@dataclass(frozen=True)
class Context:
    """Prior, respondents, and the width and level of intervals."""

    prior: Array
    respondents: float
    width: float
    level: float

    def __post_init__(self) -> None:
        """Refuse a width that is not positive, and a level outside (0, 1)."""
        if not 0 < self.width < float("inf"):
            raise SottovoceError("width", "must be a positive number", self.width)
        self.deviations  # noqa: B018  # raises for a bad level

    @cached_property
    def deviations(self) -> float:
        """Half width of an interval in standard errors."""
        return critical_value(self.level)

    def measure(self, channel: Channel, asked: Mapping[str, str | MeasureLike]) -> dict[str, float | None]:
        """Return the measures of a channel; None if one is infinite or undefined."""
        names = [each for each in asked.values() if isinstance(each, str)]
        known = self._named(channel, names) if names else {}
        numbers = {
            name: known.get(each) if isinstance(each, str) else float(each(channel, self.prior))
            for name, each in asked.items()
        }
        return {name: value if value is not None and isfinite(value) else None for name, value in numbers.items()}

    def _named(self, channel: Channel, names: list[str]) -> dict[str, float]:
        if channel.inclusion is not None and channel.n_in > LARGEST_LISTED and set_design(channel) is None:
            # Too many sets to list: the error has a closed form, the measures of privacy do not.
            error = float((second_moments(channel, self.prior) - self.prior**2).mean())
            values = {"mse": error / self.respondents}
        else:
            values = measures_of(channel, self.prior, self.respondents) | self._from_matrix(channel, names)
        return values | self._derived(values["mse"])

    def _from_matrix(self, channel: Channel, names: list[str]) -> dict[str, float]:
        """Measures that need the whole matrix, computed only on request."""
        values = {
            name: derived_error(channel, self.prior, name, self.respondents)
            for name in fitting_functionals(names, channel.shape_in)
        }
        if "reconstruction" in names:
            values["reconstruction"] = float(self.prior @ individual_reconstruction(channel, self.prior))
        return values

    def _derived(self, mse: float) -> dict[str, float]:
        """Typical `interval_width`, `2 z sqrt(mse)`, and `respondents_needed` for the requested width."""
        width = 2 * self.deviations * sqrt(mse)
        needed = self.respondents * (width / self.width) ** 2
        return {
            "standard_error": sqrt(mse),
            "interval_width": width,
            "respondents_needed": ceil(needed) if isfinite(needed) else needed,
        }
