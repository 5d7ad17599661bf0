"""Measures that schemes are compared by: names that everyone knows, or functions of a channel and a prior."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, sqrt
from typing import Any

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.drawn_sets import LARGEST_LISTED
from sottovoce.channel.set_valued import SetValued
from sottovoce.design.compared_derived import FUNCTIONALS, derived_error, fitting_functionals
from sottovoce.design.measured import MEASURES, measures_of
from sottovoce.design.recommend.spread import second_moments
from sottovoce.design.sets import set_design
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import critical_value
from sottovoce.measure.adversary import individual_reconstruction

MeasureLike = Callable[[Channel, Array], Any]

DERIVED = ("standard_error", "interval_width", "respondents_needed")
"""Measures that follow from the mean squared error."""

NAMES = (*(name for name in MEASURES if name != "epsilon"), "reconstruction", *DERIVED, *FUNCTIONALS)
"""Measures that have a name; less is better in all of them."""


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
