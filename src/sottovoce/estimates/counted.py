"""Counts of the reports of some attributes, by group and weight."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.counts.counter import as_counter, count_cells
from sottovoce.counts.frequencies import Frequencies, checked_frequencies, coded_with, plain_list
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.weights import Weighted, checked_weights, sum_weights
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Codes, Label, is_missing
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import TIMES, Source, open_source, some_rows

Weights = str | Sequence[float] | NDArray[Any] | None
"""A column of the table by name, or a number for each of its rows."""

By = str | Sequence[str]
"""One column of the table by name, or several: groups are tuples of their values then."""

MOST_GROUPS = 1000
"""Most groups that reports are counted in."""

FEWEST = 2
"""Fewest reports from which a standard error can be computed."""

LIKE_COUNTS = 10
"""Mean weight of rows that all differ from which whole weights are taken for counts of equal reports."""

ALONE = 1 + 1e-6
"""Effective sample size below which one report has all the weight."""


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
        """Effective sample size: the number of reports, unless they have weights."""
        return self.respondents if self.weighted is None else self.weighted.effective

    @property
    def reported(self) -> Array:
        """Frequencies of the reports, weighted where they have weights."""
        return self.counts / self.respondents if self.weighted is None else self.weighted.reported


def count_reports(
    reports: Any, plan: Plan, attributes: Sequence[str], weights: Weights = None, frequencies: Frequencies = None
) -> Counted:
    """Count the report columns of some attributes of a plan, in a disguised table, its path or a counter.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> count_reports({"a": [True, True], "b": [False, True]}, plan, ["b", "a"]).counts
    array([0, 0, 1, 1])
    """
    return _count(reports, plan, attributes, None, weights, frequencies)[None]


def count_by(
    reports: Any,
    plan: Plan,
    attributes: Sequence[str],
    by: By,
    weights: Weights = None,
    frequencies: Frequencies = None,
) -> dict[Any, Counted]:
    """Count the reports of each group, in the order of the groups.

    A group has one value of the column `by`, or one combination of the values of several; none was disguised.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("a")]), odds=9)
    >>> groups = count_by({"a": [True, True, False], "town": ["Ulm", "Bonn", "Ulm"]}, plan, ["a"], "town")
    >>> {town: counted.counts.tolist() for town, counted in groups.items()}
    {'Bonn': [0, 1], 'Ulm': [1, 1]}
    """
    groups = _count(reports, plan, attributes, by, weights, frequencies)
    return {group: groups[group] for group in sorted(groups, key=_sorting_key)}


def _sorting_key(group: Any) -> tuple[tuple[str, Any], ...]:
    """Order values of one type among themselves: those of different types cannot be compared."""
    return tuple((type(value).__name__, value) for value in (group if isinstance(group, tuple) else (group,)))


def _count(
    reports: Any, plan: Plan, attributes: Sequence[str], by: By | None, weights: Weights, frequencies: Frequencies
) -> dict[Any, Counted]:
    view = plan.view(attributes)
    check_public(plan, by=by_names(by), weights=[weights], frequencies=[frequencies])
    labelled: Groups = {}
    for group, sums in _sums(reports, view.reports, by, weights, frequencies).items():
        _add(labelled, {group_label(plan, by, group): sums}, by)
    return {
        group: Counted(view.names, view.categories, view.channel, sums.counts, view.order, sums.weighted)
        for group, sums in labelled.items()
    }


def group_label(plan: Plan, by: By | None, group: Any) -> Any:
    """Return a group as the plan calls it, whatever type its table has for it: 1 for a text "1" or a decimal 1.0.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> plan = new_plan(Schema([boolean("tax"), Attribute("ward", [1, 2])]), odds=3, public=["ward"])
    >>> group_label(plan, "ward", "2"), group_label(plan, ["ward", "town"], (1.0, "Ulm"))
    (2, (1, 'Ulm'))
    """
    if by is None or not plan.public:
        return group
    known = {c.name: c.as_report() for c in plan.public if not isinstance(c, PublicNumber)}
    names, values = by_names(by), [group] if isinstance(by, str) else group
    labels = [
        known[name].categories[int(known[name].encode([value])[0][0])] if name in known else value
        for name, value in zip(names, values, strict=True)
    ]
    return labels[0] if isinstance(by, str) else tuple(labels)


def by_names(by: By | None) -> list[str]:
    """Return the names of the columns that groups are formed by; none where there are no groups."""
    if by is None:
        return []
    names = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise SottovoceError("by", "must be the name of a column, or a list of names", by)
    return names


def check_public(plan: Plan, **columns: Sequence[Any]) -> None:
    """Raise for a column that was disguised: neither groups nor weights can be read from it."""
    for parameter, names in columns.items():
        for name in names:
            if isinstance(name, str) and name in plan.report_schema.names:
                raise SottovoceError(parameter, "must be a column that was not disguised", name)


@dataclass(frozen=True)
class CellSums:
    """Number of reports in each joint cell, and their weights if they have any."""

    counts: NDArray[np.int64]
    weighted: Weighted | None

    def __add__(self, other: "CellSums") -> "CellSums":
        """Sum of both."""
        both = self.weighted and other.weighted and self.weighted + other.weighted
        return CellSums(self.counts + other.counts, both)


Groups = dict[Any, CellSums]
"""Sums of each group, or of all reports under None."""


def _sums(reports: Any, schema: Schema, by: By | None, weights: Weights, frequencies: Frequencies) -> Groups:
    """Return the sums of each group; an engine or the parts of a table count for themselves."""
    if by is None and weights is None:
        return {None: CellSums(as_counter(reports, frequencies).contingency(schema), None)}
    source, named = open_source(reports), [name for name in (weights, frequencies) if isinstance(name, str)]
    wanted = [*schema.names, *by_names(by), *named]
    source.check_names(wanted)
    grouped = source.grouped(wanted) if weights is None and frequencies is None else None
    if grouped is not None:
        source, frequencies = grouped, TIMES
    work = partial(_sums_of_part, schema, by, weights, frequencies)
    # Numbers beside a table belong to its rows in their order, of which a part does not know its own.
    beside = any(each is not None and not isinstance(each, str) for each in (weights, frequencies))
    parts = [work(source)] if grouped is not None or beside else source.map_parts(wanted, work)
    sums: Groups = {}
    for part in parts:
        _add(sums, part, by)
    some_rows(len(sums))
    _check_weights(sums, by, weights, frequencies)
    return sums


def _sums_of_part(schema: Schema, by: By | None, weights: Weights, frequencies: Frequencies, part: Source) -> Groups:
    """Return the sums of each group of one part of a table."""
    sums: Groups = {}
    for columns, groups, weight, times in _batches(part, schema, by, weights, frequencies):
        for group, rows in _rows_of_groups(groups, len(columns[0])):
            codes = [column[rows] for column in columns]
            repeated = None if times is None else times[rows]
            weighted = None if weight is None else sum_weights(codes, schema.sizes, weight[rows], repeated)
            _add(sums, {group: CellSums(count_cells(codes, schema.sizes, repeated), weighted)}, by)
    return sums


def _add(sums: Groups, more: Groups, by: By | None) -> None:
    """Add the sums of other rows."""
    for group, each in more.items():
        sums[group] = sums[group] + each if group in sums else each
    check_groups(by, len(sums))


def check_groups(by: By | None, groups: int) -> None:
    """Raise if there are more groups than reports are counted in."""
    if groups > MOST_GROUPS:
        raise SottovoceError("by", f"must be a column with at most {MOST_GROUPS} different values", by)


def _check_weights(sums: Groups, by: By | None, weights: Weights, frequencies: Frequencies) -> None:
    """Raise for weights that are all zero in a group, or look like counts."""
    for group, each in sums.items():
        if each.weighted is not None and not each.weighted.sums.sum() > 0:
            raise SottovoceError("weights", "must not all be zero", Words("zeros" if by is None else f"zeros: {group}"))
    if weights is not None and frequencies is None and all(map(_looks_counted, sums.values())):
        rule = "must be survey weights; whole numbers for rows that all differ are counts: pass them as frequencies"
        raise SottovoceError("weights", rule, weights if isinstance(weights, str) else Words("whole numbers"))


def _looks_counted(each: CellSums) -> bool:
    """Return whether weights look like numbers of equal reports: large whole numbers, and no report occurs twice."""
    sums = np.zeros(0) if each.weighted is None else each.weighted.sums
    return bool(
        each.counts.max() <= 1 and (sums == np.round(sums)).all() and sums.sum() >= LIKE_COUNTS * each.counts.sum()
    )


def _batches(
    reports: Any, schema: Schema, by: By | None, weights: Weights, frequencies: Frequencies
) -> Iterator[tuple[Sequence[Codes], list[Any] | None, Array | None, NDArray[np.int64] | None]]:
    """Read coded columns, groups, weights and frequencies of the same rows."""
    names = by_names(by)
    beside = {f"by {name}": name for name in names} | {"weights": weights, "frequencies": frequencies}
    for columns, rows, found in coded_with(open_source(reports), schema, **beside):
        labels = [_labels(name, found[f"by {name}"], rows) for name in names]
        groups = None if by is None else labels[0] if isinstance(by, str) else list(zip(*labels, strict=True))
        weight = None if weights is None else checked_weights(found["weights"], rows)
        times = None if frequencies is None else checked_frequencies(found["frequencies"], rows)
        yield columns, groups, weight, times


def _labels(by: str, values: Any, rows: slice) -> list[Any]:
    """Return the plain values of a column, none of which may be missing."""
    listed = plain_list(values)
    for index, value in enumerate(listed):
        if is_missing(value) or value == "":
            raise SottovoceError(by, f"must be known for every report; row {rows.start + index + 1}", value)
    return listed


def _rows_of_groups(groups: list[Any] | None, rows: int) -> Iterator[tuple[Any, slice | NDArray[np.intp]]]:
    """Yield each group with its rows; without groups, all rows at once, under None."""
    if groups is None:
        yield None, slice(0, rows)
        return
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    codes: Codes = np.fromiter(map(numbers.__getitem__, groups), np.int64, rows)
    for group, number in numbers.items():
        yield group, np.flatnonzero(codes == number)


def check_number(respondents: int) -> None:
    """Raise for fewer reports than a standard error needs."""
    if respondents < FEWEST:
        raise SottovoceError("reports", f"must be at least {FEWEST} for a standard error", respondents)


def check_enough(counted: Counted) -> None:
    """Raise for fewer than two reports, also of attributes that were asked together where attributes are sampled.

    A single report has no variance: its standard errors would be zero, or due to the coins alone.
    Where attributes are sampled, reports that leave one of them out tell nothing about the joint cells.
    """
    check_number(counted.respondents)
    if counted.effective < ALONE:
        rule = f"must leave at least {FEWEST} reports that count"
        raise SottovoceError("weights", rule, Words(f"an effective number of {counted.effective:.6g}"))
    answered = int(counted.counts.reshape(counted.channel.shape_out)[_answered(counted.channel)].sum())
    if answered < FEWEST:
        asked = " and ".join(counted.attributes) + (" were" if len(counted.attributes) > 1 else " was")
        raise SottovoceError("reports", f"must be at least {FEWEST} in which {asked} asked", answered)


def _answered(channel: Channel) -> tuple[slice, ...]:
    """Return the part of the table of reports in which every sampled attribute was asked: all but its last code."""
    return tuple(slice(-1 if factor.samples else None) for factor in channel.factors for _ in factor.shape_out)
