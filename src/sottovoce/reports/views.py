"""Some rows of a disguised table, several tables one after the other, and public columns as attributes."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.frequencies import checked_frequencies
from sottovoce.counts.tally import Tally
from sottovoce.errors import SottovoceError, SottovoceWarning, Words
from sottovoce.mechanisms.matrix import Listed
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.plans.public import PublicColumn, PublicNumber
from sottovoce.reports.transactions import stacked
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.plan_file import plan_mark
from sottovoce.tables.public_columns import PublicReader
from sottovoce.tables.sink import file_sink
from sottovoce.tables.source import (
    TIMES,
    Batch,
    FrameSource,
    MappingSource,
    Source,
    View,
    is_table,
    open_source,
)
from sottovoce.tables.sparse_rows import transactions_to_csr
from sottovoce.tables.values import Values, encode

Mask = NDArray[np.bool_]
T = TypeVar("T")

Conditions = Mapping[str, Callable[[Values], Mask]]
"""Columns, and which of their values a row may have."""


class FilteredSource(View):
    """The rows of a file that meet a condition in each of some columns.

    >>> from sottovoce.tables.source import open_source
    >>> in_ulm = {"town": lambda values: np.array([town == "Ulm" for town in values])}
    >>> source = FilteredSource(open_source({"a": [1, 2, 3], "town": ["Ulm", "Bonn", "Ulm"]}), in_ulm)
    >>> [batch["a"] for batch in source.batches(["a"])]
    [[1, 3]]
    """

    rows = None

    def __init__(self, source: Source, conditions: Conditions) -> None:
        """Keep the file and what its rows must meet."""
        self._source, self._conditions = source, conditions
        self.names, self.waits, self.ordered, self.remote = source.names, source.waits, source.ordered, source.remote
        self.may_be_empty = source.may_be_empty

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Rows that meet the conditions, of each batch that has any."""
        needed = list(dict.fromkeys([*names, *self._conditions]))
        for batch in self._source.batches(needed, rows):
            mask = _mask(batch, self._conditions)
            if mask.any():
                yield {name: _masked(batch[name], mask) for name in names}

    def grouped(self, names: Sequence[str]) -> Source | None:
        """Groups of the engine by these columns and those of the conditions, of which some are left."""
        groups = self._source.grouped(list(dict.fromkeys([*names, *self._conditions])))
        return None if groups is None else FilteredSource(groups, self._conditions)

    def map_parts(self, names: Sequence[str], work: Callable[[Source], T]) -> Iterator[T]:
        """Filter each part where its rows are."""
        needed = list(dict.fromkeys([*names, *self._conditions]))
        return self._source.map_parts(needed, partial(_work_on_some, self._conditions, work))

    def count_rows(self) -> int:
        """Number of rows that meet the conditions, by the engine's groups where it has them."""
        columns = list(self._conditions)[:1]
        groups = self.grouped(columns)
        if groups is not None:
            return int(sum(np.sum(listed(batch[TIMES])) for batch in groups.batches([TIMES])))
        return sum(self.map_parts(columns, partial(_rows_of_part, columns[0])))


def _work_on_some(conditions: Conditions, work: Callable[[Source], T], part: Source) -> T:
    """Work on the rows of a part that meet the conditions, of which there may be none."""
    some = FilteredSource(part, conditions)
    some.may_be_empty = True
    return work(some)


def _rows_of_part(name: str, part: Source) -> int:
    return sum(len(batch[name]) for batch in part.batches([name]))


class LabelledSource(View):
    """A CSV file whose public columns are given as the labels and numbers that they are, not as text."""

    def __init__(self, source: Source, public: Sequence[PublicColumn]) -> None:
        """Keep the file and what is known of its public columns."""
        self._source = source
        self._public = {column.name: column for column in public}
        self.names, self.rows, self.waits = source.names, source.rows, source.waits

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Batches of the file, with public columns read as what they are."""
        for batch in self._source.batches(names, rows):
            yield {name: self._read(name, values) for name, values in batch.items()}

    def _read(self, name: str, values: Values) -> Values:
        column = self._public.get(name)
        if column is None:
            return values
        if isinstance(column, PublicNumber):
            return self._source.numbers(name, values)
        return [column.categories[code] for code in self._source.encode(column.as_report(), values)[0]]

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the file does; public columns are labels already."""
        return encode(variable, values) if variable.name in self._public else self._source.encode(variable, values)


class JoinedSource(View):
    """Tables with the same columns, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Keep the tables; the first one's columns are those of all."""
        self._sources = tuple(sources)
        self.names = self._sources[0].names
        counts = [source.rows for source in self._sources]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)
        self.waits = any(source.waits for source in self._sources)
        self.ordered = all(source.ordered for source in self._sources)
        self.remote = any(source.remote for source in self._sources)
        self._source = self._sources[0]  # the one that the last batch came from

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Those of each table in turn."""
        for source in self._sources:
            self._source = source
            yield from source.batches(names, rows)

    def grouped(self, names: Sequence[str]) -> Source | None:
        """Groups of each table, one after the other, if they all have them."""
        groups = [source.grouped(names) for source in self._sources]
        found = [source for source in groups if source is not None]
        return JoinedSource(found) if len(found) == len(groups) else None

    def map_parts(self, names: Sequence[str], work: Callable[[Source], T]) -> Iterator[T]:
        """Work on the parts of each table, if some rows are elsewhere; else on all tables as one part."""
        if not self.remote:
            yield work(self)
            return
        for source in self._sources:
            yield from source.map_parts(names, work)

    def count_rows(self) -> int:
        """Number of rows of all tables."""
        return sum(source.count_rows() for source in self._sources)

    def number_type(self, name: str) -> Any:
        """Arrow type that a column of numbers has in all tables."""
        kinds = {source.number_type(name) for source in self._sources}
        return kinds.pop() if len(kinds) == 1 else None


class RepeatedSource(View):
    """A table whose rows stand for several equal reports each, as one with a row for every report.

    >>> source = RepeatedSource(open_source({"a": [1, 2], "n": [3, 1]}), "n")
    >>> [batch["a"] for batch in source.batches(rows=2)]
    [[1, 1], [1, 2]]
    """

    rows = None

    def __init__(self, source: Source, frequencies: str) -> None:
        """Keep the table; the column of frequencies is not shown."""
        self._source, self._frequencies = source, frequencies
        self.names = tuple(name for name in source.names if name != frequencies)
        self.waits = source.waits

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Rows repeated; batches end with those of the table, so that no more than one is in memory."""
        for batch in self._source.batches([*names, self._frequencies], rows):
            times = checked_frequencies(batch[self._frequencies], slice(0, 0))
            ends, columns = np.cumsum(times), {name: listed(batch[name]) for name in names}
            for start in range(0, int(times.sum()), rows):
                taken = np.searchsorted(ends, np.arange(start, min(start + rows, int(ends[-1]))), side="right")
                yield {name: [values[row] for row in taken.tolist()] for name, values in columns.items()}


def filtered(source: Source, conditions: Conditions) -> Any:
    """Return the rows that meet all conditions: of a table in memory as such a table, of a file as a view."""
    if isinstance(source, FrameSource):
        mask = _mask({name: source.frame[name] for name in conditions}, conditions)
        return source.frame.filter(mask.tolist()).to_native()
    if isinstance(source, MappingSource):
        columns = next(source.batches(rows=max(source.rows or 0, 1)), {name: [] for name in source.names})
        mask = _mask(columns, conditions)
        return {name: _masked(columns[name], mask) for name in source.names}
    return FilteredSource(source, conditions)


def joined(tables: Sequence[Any], items: ItemSet | None) -> Any:
    """Return tables one after the other: of one library as its frame, transactions as sparse rows, else as a view."""
    if items is not None and not all(map(is_table, tables)):
        return stacked([transactions_to_csr(table, items) for table in tables])
    sources = [open_source(table) for table in tables]
    names = sources[0].names
    for source in sources[1:]:
        if set(source.names) != set(names):
            raise SottovoceError("others", f"must have the columns {', '.join(names)}", list(source.names))
    frames = [source.frame.select(list(names)) for source in sources if isinstance(source, FrameSource)]
    if len(frames) == len(sources) and len({frame.implementation for frame in frames}) == 1:
        return nw.concat(frames).to_native()
    return JoinedSource(sources)


def condition(plan: Plan, source: Source, name: str, values: Sequence[Any]) -> Callable[[Values], Mask]:
    """Return which values of a public column are chosen, by their codes where the plan knows its categories."""
    if name in plan.schema.names or name in plan.report_schema.names:
        rule = "must be a public column: the rows with a certain report are not the people with that answer"
        raise SottovoceError("where", rule, name)
    if name not in source.names:
        known = ", ".join(public for public in plan.public_names if public in source.names)
        raise SottovoceError("where", f"must name a public column ({known or 'none'})", name)
    variable = next((v for v in plan.public if v.name == name and not isinstance(v, PublicNumber)), None)
    if variable is None:
        allowed = set(values)
        return lambda column: np.fromiter((value in allowed for value in listed(column)), bool, count=len(column))
    labels = variable.as_report()
    codes = labels.encode(list(values))[0]
    # A table that is elsewhere cannot go where its parts are filtered.
    read = encode if source.remote else source.encode
    return lambda column: np.isin(read(labels, column)[0], codes)


def known_rows(source: Source, plan: Plan) -> FilteredSource:
    """Return the rows whose reports are all known to the plan; warn of how many are left out."""
    read = encode if source.remote else source.encode
    schema = [variable for variable in plan.report_schema if variable.name in source.names]
    kept = FilteredSource(source, {variable.name: KnownValues(variable, read) for variable in schema})
    rows, left = source.count_rows(), kept.count_rows()
    if left < rows:
        message = f"{rows - left} of {rows} rows are left out: their reports are not among those of the plan."
        warnings.warn(message, SottovoceWarning, stacklevel=3)
    return kept


@dataclass(frozen=True)
class KnownValues:
    """Condition that a value is one of a variable's labels."""

    variable: Variable
    read: Callable[[Variable, Values], Columns]

    def __call__(self, values: Values) -> Mask:
        """Try all values at once, and if one is wrong, the different ones."""
        if self._knows(values):
            return np.ones(len(values), bool)
        plain = [_hashable(value) for value in listed(values)]
        known = {value: self._knows([value]) for value in set(plain)}
        return np.array([known[value] for value in plain], bool)

    def _knows(self, values: Values) -> bool:
        try:
            self.read(self.variable, values)
        except SottovoceError:
            return False
        return True


def _hashable(value: Any) -> Any:
    """Return a value, a list as a tuple; None for values that can be no label, such as records."""
    plain = tuple(value) if isinstance(value, list | np.ndarray) else value
    try:
        hash(plain)
    except TypeError:
        return None
    return plain


def with_public_attributes(plan: Plan, names: Sequence[str]) -> Plan:
    """Return a plan in which some public columns are attributes that are reported as they are.

    Joint tables, tests and derived measures of disguised attributes with public ones follow from it.
    """
    wanted = [name for name in names if name in plan.public_names]
    if not wanted:
        return plan
    groups, variables = list(plan.groups), list(plan.schema)
    for column in plan.public:
        if column.name not in wanted:
            continue
        if isinstance(column, PublicNumber):
            raise SottovoceError("names", f"must have categories; {column.name!r} is a public number", list(names))
        size = len(column.categories)
        variables.append(column.as_report())
        groups.append(Group((column.name,), "public", Listed((size,), np.eye(size, dtype=int).tolist())))
    left = tuple(column for column in plan.public if column.name not in wanted)
    return Plan(Schema(variables), tuple(groups), Guarantee(None), plan.prior, left)


def save_table(source: Source, plan: Plan, path: str | Path, *, overwrite: bool) -> None:
    """Write a disguised table with its public columns and its plan to a file."""
    public = PublicReader.of_reports(plan)
    numbers = {name: source.number_type(name) for name in public.names}
    with file_sink(path, plan, overwrite=overwrite, numbers=numbers) as sink:
        for columns, values in source.coded_with(plan.report_schema, public.names):
            sink.write(columns, public.read(source, values))


def labelled_columns(source: Source, plan: Plan) -> dict[str, list[Any]]:
    """Return all rows by column, reports as the labels of the plan whatever file they come from."""
    known = plan.report_schema.names
    schema = plan.report_schema.project([name for name in source.names if name in known])
    others = [name for name in source.names if name not in known]
    columns: dict[str, list[Any]] = {name: [] for name in source.names}
    for codes, values in source.coded_with(schema, others):
        for name, labels in (schema.decode(codes) | dict(zip(others, map(listed, values), strict=True))).items():
            columns[name] += labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return columns


def listed(values: Values) -> Any:
    """Return a column's values as Python's or numpy's sequence."""
    return values.to_list() if isinstance(values, nw.Series) else values


def _mask(columns: Batch, conditions: Conditions) -> Mask:
    """Which rows meet all conditions."""
    return np.asarray(np.logical_and.reduce([meets(columns[name]) for name, meets in conditions.items()]))


def _masked(values: Values, mask: Mask) -> Values:
    """The values whose mask is set, of a series, an array or a list."""
    if isinstance(values, nw.Series):
        return values.filter(mask.tolist())
    if isinstance(values, np.ndarray):
        return values[mask]
    return [value for value, kept in zip(values, mask, strict=True) if kept]


def checked_plan(table: Any, plan: Plan | None, frequencies: str | None) -> Plan:
    """Return the plan of a table or tally; raise if the table cannot hold its reports."""
    if isinstance(table, Tally):
        return _plan_of_tally(table, plan, frequencies)
    if not isinstance(plan, Plan):
        raise SottovoceError("plan", "must be the Plan that the table was disguised under", type(plan))
    if is_table(table):
        _check_report_columns(table, plan, frequencies)
        _check_mark(table, plan)
    elif len(plan.schema.names) > 1 or not isinstance(plan.schema.variables[0], ItemSet):
        rule = "must be a pandas, polars or Arrow table, a mapping of columns, a path, or transactions of items"
        raise SottovoceError("table", rule, type(table))
    return plan


def _plan_of_tally(tally: Tally, plan: Plan | None, frequencies: str | None) -> Plan:
    """Return the plan of a tally; raise for another plan, and for frequencies, which a tally has."""
    if plan is not None and (not isinstance(plan, Plan) or plan.hash != tally.plan.hash):
        raise SottovoceError("plan", f"must be that of the tally, {tally.plan.hash[:12]}", plan)
    if frequencies is not None:
        raise SottovoceError("frequencies", "must be left out for a tally, which has them", frequencies)
    return tally.plan


def _check_report_columns(table: Any, plan: Plan, frequencies: str | None) -> None:
    """Refuse a table that lacks a report column; one of counts need not have all."""
    names = open_source(table).names
    missing = [name for name in plan.report_schema.names if name not in names]
    if missing and frequencies is None:
        rule = f"must have a column {missing[0]!r}, as the plan's reports have"
        raise SottovoceError("table", rule, Words(f"the columns {', '.join(map(str, names))}"))


def _check_mark(table: Any, plan: Plan) -> None:
    """Refuse a table that is known to have been disguised under another plan."""
    mark = plan_mark(table)
    if mark is not None and mark[0] != plan.hash:
        odds = "" if mark[1] is None else f", {mark[1]}"
        rule = f"must be the plan that the table was disguised under ({mark[0][:12]}{odds})"
        raise SottovoceError("plan", rule, Words(f"{plan.hash[:12]}, {plan.guarantee}"))


def several(values: Any) -> list[Any]:
    """Return one value, or several, as a list."""
    single = isinstance(values, str) or not isinstance(values, Iterable)
    return [values] if single else list(values)
