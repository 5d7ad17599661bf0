"""Proportions of one attribute by inversion: unbiased, with their covariance."""

from typing import Any

import numpy as np

from sottovoce.count.contingency import count_cells
from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.plan.plan import Plan
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.binned import Binned
from sottovoce.table.source import open_source


def estimate_proportions(reports: Any, plan: Plan, attribute: str) -> Estimate:
    """Estimate `p = A^-1 lam` from the frequencies lam of the reports (Huang & Du 2008, eq. 2).

    The covariance is `A^-1 (diag(lam) - lam lam^T) A^-T / N`, that of a multinomial sample seen
    through the channel (Wang et al. 2016, eq. 18). `reports` is a disguised table or its path.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(estimate_proportions({"evaded tax": [True] * 40 + [False] * 60}, plan, "evaded tax"))
    evaded tax: 100 reports, proportions in the population
      False    0.7000 +- 0.0980  [ 0.5080,  0.8920]
      True     0.3000 +- 0.0980  [ 0.1080,  0.4920]
    """
    variable = plan.schema[attribute]
    if not isinstance(variable, Attribute | Binned):
        raise SottovoceError("attribute", "must have categories; estimate item sets with their own tools", attribute)
    counts = _counts(reports, plan, attribute)
    total = int(counts.sum())
    seen = counts / total
    channel = plan.channel([attribute])
    spread = channel.solve(channel.solve(np.diag(seen) - np.outer(seen, seen)).T)
    return Estimate(attribute, variable.categories, channel.solve(seen), spread / total, seen, total)


def _counts(reports: Any, plan: Plan, attribute: str) -> Any:
    """Count the reports of the column that speaks of the attribute."""
    own = plan.report_schema.names
    name = attribute if attribute in own else "+".join(plan.group_of(attribute).attributes)
    schema = plan.report_schema.project([name])
    batches = open_source(reports).coded(schema)
    return sum(count_cells(columns, schema.sizes) for columns in batches)
