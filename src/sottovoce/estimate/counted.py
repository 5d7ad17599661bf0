"""Counts of the reports that speak of some attributes, and the channel they came through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Channel
from sottovoce.count.memory import as_counter
from sottovoce.errors import SottovoceError
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

    @property
    def respondents(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())

    @property
    def seen(self) -> NDArray[np.float64]:
        """Frequencies of the reports."""
        return self.counts / self.respondents


def count_reports(reports: Any, plan: Plan, attributes: Sequence[str]) -> Counted:
    """Count the report columns of some attributes of a plan, of a disguised table, its path or a counter.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> count_reports({"a": [True, True], "b": [False, True]}, plan, ["b", "a"]).counts
    array([0, 0, 1, 1])
    """
    wanted = plan.schema.project(attributes)
    channel = plan.channel(wanted.names)
    schema = plan.report_schema.project(plan.report_names(wanted.names))
    categories, order = categories_of(plan, wanted.names), plan.cell_order(wanted.names)
    return Counted(wanted.names, categories, channel, as_counter(reports).contingency(schema), order)


def categories_of(plan: Plan, names: Sequence[str]) -> tuple[tuple[Label, ...], ...]:
    """Categories of each attribute; item sets have none."""
    found = []
    for name in names:
        categories = getattr(plan.schema[name], "categories", None)
        if categories is None:
            raise SottovoceError("attributes", "must have categories; for sets of items see estimate_supports", name)
        found.append(categories)
    return tuple(found)
