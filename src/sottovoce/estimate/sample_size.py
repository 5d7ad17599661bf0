"""How wide intervals will be, and how many respondents a width needs, before anyone is asked."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.derived import Derived, derive
from sottovoce.estimate.expected import expected_proportions
from sottovoce.estimate.intervals import critical_value
from sottovoce.measure.functional import Functional
from sottovoce.plan.plan import Plan

MOST_RESPONDENTS = 10**12
"""More people than there are: whatever has no interval from so many has none."""


def expected_width(
    plan: Plan,
    attributes: str | Sequence[str],
    respondents: int,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> Array:
    """Width of the interval of every cell, or of one functional, with so many respondents.

    `2 z sqrt(V / N)`, V the variance of one report's contribution if the truth has the law `prior` (uniform
    if left out; cells in the order of the attributes named, the last varying fastest). Where the delta method would
    give a functional no interval, as at a uniform law or near independence, this says so.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> expected_width(plan, "evaded tax", 10_000, prior=[0.9, 0.1]).round(4)
    array([0.0359, 0.0359])
    """
    if isinstance(respondents, bool) or not isinstance(respondents, int) or respondents < 1:
        raise SottovoceError("respondents", "must be a positive whole number", respondents)
    expected = expected_proportions(plan, attributes, prior, respondents)
    if functional is None:
        return 2 * critical_value(level) * expected.standard_error
    found = derive(expected, functional, level)
    if found.standard_error is None:
        raise _no_interval(found, respondents)
    return np.array([2 * critical_value(level) * found.standard_error])


def respondents_needed(
    plan: Plan,
    attributes: str | Sequence[str],
    width: float,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> int:
    """Fewest respondents with whom no interval is expected to be wider than `width`; for a functional, to within 5 %.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> respondents_needed(plan, "evaded tax", 0.05, prior=[0.9, 0.1])
    5163
    """
    if not 0 < width < np.inf:
        raise SottovoceError("width", "must be a positive number", width)
    one, deviations = expected_proportions(plan, attributes, prior, 1), 2 * critical_value(level)
    if functional is None:
        return max(ceil(float(one.standard_error.max() * deviations / width) ** 2), 1)
    gradient = functional.gradient(one.value)
    variance = max(float(gradient @ one.covariance @ gradient), 0.0)
    fewest = max(ceil(variance * (deviations / width) ** 2), 1)
    return _until_trusted(
        lambda count: derive(expected_proportions(plan, attributes, prior, count), functional, level), fewest
    )


def _until_trusted(derived: Callable[[int], Derived], fewest: int) -> int:
    """So many respondents, or more until the delta method gives an interval."""
    low, high = fewest, fewest
    while (found := derived(high)).standard_error is None:
        low, high = high, 2 * high
        if high > MOST_RESPONDENTS:
            raise _no_interval(found, low)
    while high > 1.05 * low:
        middle = (low + high) // 2
        low, high = (middle, high) if derived(middle).standard_error is None else (low, middle)
    return high


def _no_interval(found: Derived, respondents: int) -> SottovoceError:
    rule = f"must have an interval from {respondents} respondents; {found.name} has none here"
    return SottovoceError("functional", rule, Words(found.reason))
