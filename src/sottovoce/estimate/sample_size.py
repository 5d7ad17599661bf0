"""How wide intervals will be, and how many respondents a width needs, before anyone is asked."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import critical_value
from sottovoce.estimate.spread import InversionSpread
from sottovoce.exact import distribution
from sottovoce.measure.functional import Functional
from sottovoce.plan.plan import Plan


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
    if left out; cells in the order of the attributes named, the last varying fastest).

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> expected_width(plan, "evaded tax", 10_000, prior=[0.9, 0.1]).round(4)
    array([0.0359, 0.0359])
    """
    if isinstance(respondents, bool) or not isinstance(respondents, int) or respondents < 1:
        raise SottovoceError("respondents", "must be a positive whole number", respondents)
    return 2 * critical_value(level) * np.sqrt(_variances(plan, attributes, prior, functional) / respondents)


def respondents_needed(
    plan: Plan,
    attributes: str | Sequence[str],
    width: float,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> int:
    """Fewest respondents with whom no interval is expected to be wider than `width`.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> respondents_needed(plan, "evaded tax", 0.05, prior=[0.9, 0.1])
    5163
    """
    if not 0 < width < np.inf:
        raise SottovoceError("width", "must be a positive number", width)
    largest = float(_variances(plan, attributes, prior, functional).max())
    return max(ceil(largest * (2 * critical_value(level) / width) ** 2), 1)


def _variances(plan: Plan, attributes: str | Sequence[str], prior: Any, functional: Functional | None) -> Array:
    """Variance of one report's contribution to each cell, or to a functional (delta method)."""
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    channel = plan.channel(names)
    cells = channel.n_in
    law = np.full(cells, 1 / cells) if prior is None else np.array([float(v) for v in distribution("prior", prior)])
    if len(law) != cells:
        raise SottovoceError("prior", f"must have a proportion for each of the {cells} cells", len(law))
    order = plan.cell_order(names)
    grouped = np.empty_like(law)
    grouped[order] = law
    spread = InversionSpread(channel, channel.matvec(grouped), law, 1, order, "population")
    if functional is None:
        return spread.variances
    gradient = functional.gradient(law)
    return np.array([gradient @ spread.covariance(np.arange(cells)) @ gradient])
