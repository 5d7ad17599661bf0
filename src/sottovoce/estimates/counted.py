"""Counts of the reports of some attributes, by group and weight, and whether they are enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.sampled import Sampled
from sottovoce.counts.counter import as_counter, count_cells
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.weights import Weighted, checked_weights, plain_list, weigh
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, Label, is_missing
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import open_source

Weights = str | Sequence[float] | NDArray[Any] | None
"""A column of the table by name, or a number for each of its rows."""

MOST_GROUPS = 1000
"""Different values of a column that reports are counted apart by."""
FEWEST = 2
"""Reports without which nothing is known of their scatter."""

ALONE = 1 + 1e-6
"""Effective number of reports below which one of them has all the weight."""


@dataclass(frozen=True)
class Tally:
    """Reports in each joint cell, and their weights if they have any."""

    counts: NDArray[np.int64]
    weighted: Weighted | None

    def __add__(self, other: "Tally") -> "Tally":
        """Both together."""
        both = self.weighted and other.weighted and self.weighted + other.weighted
        return Tally(self.counts + other.counts, both)


def tallies(reports: Any, schema: Schema, by: str | None, weights: Weights) -> dict[Any, Tally]:
    """Tally of the reports with each value of the column `by`, or of all, under None."""
    if by is None and weights is None:
        return {None: Tally(as_counter(reports).contingency(schema), None)}
    found: dict[Any, Tally] = {}
    for columns, labels, weight in _batches(reports, schema, by, weights):
        for label, rows in _apart(labels, len(columns[0])):
            own = [codes[rows] for codes in columns]
            weighted = None if weight is None else weigh(own, schema.sizes, weight[rows])
            tally = Tally(count_cells(own, schema.sizes), weighted)
            found[label] = found[label] + tally if label in found else tally
        if len(found) > MOST_GROUPS:
            raise SottovoceError("by", f"must be a column with at most {MOST_GROUPS} different values", by)
    for label, tally in found.items():
        if tally.weighted is not None and not tally.weighted.sums.sum() > 0:
            raise SottovoceError("weights", "must not all be zero", Words("zeros" if by is None else f"zeros: {label}"))
    return found


def _batches(
    reports: Any, schema: Schema, by: str | None, weights: Weights
) -> Iterator[tuple[Columns, list[Any] | None, Array | None]]:
    """Coded columns, labels and weights of the same rows."""
    source, row = open_source(reports), 0
    beside = [name for name in (by, weights) if isinstance(name, str)]
    for columns, others in source.coded_beside(schema, beside):
        rows = slice(row, row + len(columns[0]))
        weight = None if weights is None else others[-1] if isinstance(weights, str) else weights[rows]
        labels = None if by is None else _labels(by, others[0], rows)
        yield columns, labels, None if weight is None else _matching(checked_weights(weight, rows), rows)
        row = rows.stop
    if weights is not None and not isinstance(weights, str) and len(weights) > row:
        raise SottovoceError("weights", f"must be as many as the {row} reports", len(weights))


def _matching(weights: Array, rows: slice) -> Array:
    if len(weights) < rows.stop - rows.start:
        rule = f"must be as many as the reports, of which there are at least {rows.stop}"
        raise SottovoceError("weights", rule, rows.start + len(weights))
    return weights


def _labels(by: str, values: Any, rows: slice) -> list[Any]:
    """Plain values of a column, none of which may be missing."""
    listed = plain_list(values)
    for place, value in enumerate(listed):
        if is_missing(value) or value == "":
            raise SottovoceError(by, f"must be known for every report; row {rows.start + place + 1}", value)
    return listed


def _apart(labels: list[Any] | None, rows: int) -> Iterator[tuple[Any, slice | NDArray[np.intp]]]:
    """Each label with its rows; without labels, all rows at once, under None."""
    if labels is None:
        yield None, slice(0, rows)
        return
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    codes: Codes = np.fromiter(map(places.__getitem__, labels), np.int64, rows)
    for label, place in places.items():
        yield label, np.flatnonzero(codes == place)


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

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> count_reports({"a": [True, True], "b": [False, True]}, plan, ["b", "a"]).counts
    array([0, 0, 1, 1])
    """
    return _counted(reports, plan, attributes, None, weights)[None]


def count_by(
    reports: Any, plan: Plan, attributes: Sequence[str], by: str, weights: Weights = None
) -> dict[Any, Counted]:
    """Count apart the reports with each value of a column that was not disguised, in the values' order.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
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


def check_number(respondents: int) -> None:
    """Refuse fewer reports than a standard error takes."""
    if respondents < FEWEST:
        raise SottovoceError("reports", f"must be at least {FEWEST} for a standard error", respondents)


def check_enough(counted: Counted) -> None:
    """Refuse fewer than two reports, and attributes that fewer than two respondents were asked together.

    One report has no scatter: its standard errors would be zero, or made of nothing else than the coins'.
    Where attributes are sampled, reports that leave one of them out say nothing of how they go together.
    """
    check_number(counted.respondents)
    if counted.effective < ALONE:
        rule = f"must leave at least {FEWEST} reports that count"
        raise SottovoceError("weights", rule, Words(f"an effective number of {counted.effective:.6g}"))
    speaking = int(counted.counts.reshape(counted.channel.shape_out)[_answered(counted.channel)].sum())
    if speaking < FEWEST:
        asked = " and ".join(counted.attributes) + (" were" if len(counted.attributes) > 1 else " was")
        raise SottovoceError("reports", f"must be at least {FEWEST} in which {asked} asked", speaking)


def _answered(channel: Channel) -> tuple[slice, ...]:
    """Where in the table of reports every sampled attribute was asked: not in its last code."""
    factors = channel.factors if isinstance(channel, Kronecker) else (channel,)
    kept: list[slice] = []
    for factor in factors:
        kept += [slice(-1 if isinstance(factor, Sampled) else None) for _ in factor.shape_out]
    return tuple(kept)
