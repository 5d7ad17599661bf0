"""Counts of the reports that speak of some attributes, and the channel they came through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Channel
from sottovoce.errors import SottovoceError
from sottovoce.estimate.tally import Weights, tallies
from sottovoce.estimate.weights import Weighted
from sottovoce.plan.plan import Plan
from sottovoce.schema.variable import Label


@dataclass(frozen=True)
class Counted:
    """Counts by report cell, in the channel's order; `order` rearranges truth cells to the order asked for."""

    attributes: tuple[str, ...]
    categories: tuple[tuple[Label, ...], ...]
    channel: Channel
    counts: NDArray[np.int64]
    order: NDArray[np.intp]
    weighted: Weighted | None = None

    @property
    def respondents(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())

    @property
    def effective(self) -> float:
        """Number of reports of equal weight that would tell as much."""
        return self.respondents if self.weighted is None else self.weighted.effective

    @property
    def seen(self) -> NDArray[np.float64]:
        """Frequencies of the reports, by weight where they have one."""
        return self.counts / self.respondents if self.weighted is None else self.weighted.seen


def count_reports(reports: Any, plan: Plan, attributes: Sequence[str], weights: Weights = None) -> Counted:
    """Count the report columns of some attributes of a plan, of a disguised table, its path or a counter.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> count_reports({"a": [True, True], "b": [False, True]}, plan, ["b", "a"]).counts
    array([0, 0, 1, 1])
    """
    return _counted(reports, plan, attributes, None, weights)[None]


def count_by(
    reports: Any, plan: Plan, attributes: Sequence[str], by: str, weights: Weights = None
) -> dict[Any, Counted]:
    """Count apart the reports with each value of a column that was not disguised, in the values' order.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("a")]), odds=9)
    >>> groups = count_by({"a": [True, True, False], "town": ["Ulm", "Bonn", "Ulm"]}, plan, ["a"], "town")
    >>> {town: counted.counts.tolist() for town, counted in groups.items()}
    {'Bonn': [0, 1], 'Ulm': [1, 1]}
    """
    found = _counted(reports, plan, attributes, by, weights)
    return {value: found[value] for value in sorted(found, key=lambda value: (type(value).__name__, value))}


def _counted(
    reports: Any, plan: Plan, attributes: Sequence[str], by: str | None, weights: Weights
) -> dict[Any, Counted]:
    wanted = plan.schema.project(attributes)
    channel = plan.channel(wanted.names)
    for parameter, column in (("by", by), ("weights", weights)):
        if isinstance(column, str) and column in plan.report_schema.names:
            raise SottovoceError(parameter, "must be a column that was not disguised", column)
    schema = plan.report_schema.project(plan.report_names(wanted.names))
    categories, order = categories_of(plan, wanted.names), plan.cell_order(wanted.names)
    return {
        value: Counted(wanted.names, categories, channel, tally.counts, order, tally.weighted)
        for value, tally in tallies(reports, schema, by, weights).items()
    }


def categories_of(plan: Plan, names: Sequence[str]) -> tuple[tuple[Label, ...], ...]:
    """Categories of each attribute; item sets have none."""
    found = []
    for name in names:
        categories = getattr(plan.schema[name], "categories", None)
        if categories is None:
            raise SottovoceError("attributes", "must have categories; for sets of items see estimate_supports", name)
        found.append(categories)
    return tuple(found)
