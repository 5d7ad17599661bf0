"""Some rows of a disguised table, several tables one after the other, and public columns as attributes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.matrix import Listed
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.plans.public import PublicColumn, PublicNumber
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.public_columns import PublicReader
from sottovoce.tables.sink import file_sink
from sottovoce.tables.source import Batch, FrameSource, MappingSource, Source, is_table, open_source
from sottovoce.tables.sparse_rows import csr_batches, transactions_to_csr
from sottovoce.tables.values import Values, encode

Mask = NDArray[np.bool_]

Conditions = Mapping[str, Callable[[Values], Mask]]
"""Columns, and which of their values a row may have."""


class FilteredSource(Source):
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
        self.names, self.waits = source.names, source.waits

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Rows that meet the conditions, of each batch that has any."""
        needed = list(dict.fromkeys([*names, *self._conditions]))
        for batch in self._source.batches(needed, rows):
            mask = _mask(batch, self._conditions)
            if mask.any():
                yield {name: _masked(batch[name], mask) for name in names}

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the file does."""
        return self._source.encode(variable, values)


class LabelledSource(Source):
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


class JoinedSource(Source):
    """Tables with the same columns, one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Keep the tables; the first one's columns are those of all."""
        self._sources = tuple(sources)
        self.names = self._sources[0].names
        counts = [source.rows for source in self._sources]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)
        self.waits = any(source.waits for source in self._sources)
        self._current = self._sources[0]

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Those of each table in turn."""
        for source in self._sources:
            self._current = source
            yield from source.batches(names, rows)

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the table does that the batch came from."""
        return self._current.encode(variable, values)


def filtered(source: Source, conditions: Conditions) -> Any:
    """Return the rows that meet all conditions: of a table in memory as such a table, of a file as a view."""
    if isinstance(source, FrameSource):
        mask = _mask({name: source.frame[name] for name in conditions}, conditions)
        return source.frame.filter(mask.tolist()).to_native()
    if isinstance(source, MappingSource):
        (columns,) = source.batches(rows=max(source.rows or 0, 1)) or ({},)
        mask = _mask(columns, conditions)
        return {name: _masked(columns[name], mask) for name in source.names}
    return FilteredSource(source, conditions)


def joined(tables: Sequence[Any], items: ItemSet | None) -> Any:
    """Return tables one after the other: of one library as its frame, transactions as sparse rows, else as a view."""
    if items is not None and not all(map(is_table, tables)):
        return _stacked([transactions_to_csr(table, items) for table in tables])
    sources = [open_source(table) for table in tables]
    names = sources[0].names
    for source in sources[1:]:
        if set(source.names) != set(names):
            raise SottovoceError("others", f"must have the columns {', '.join(names)}", list(source.names))
    frames = [source.frame.select(list(names)) for source in sources if isinstance(source, FrameSource)]
    if len(frames) == len(sources) and len({frame.implementation for frame in frames}) == 1:
        return nw.concat(frames).to_native()
    return JoinedSource(sources)


def transactions_by_size(table: Any, items: ItemSet, sizes: str | Sequence[int]) -> dict[int, Bitsets]:
    """Return reported transactions apart for each size of the true ones, given as a column or one for each report."""
    if is_table(table):
        source = open_source(table)
        rows = list(csr_batches(source, items))
        if isinstance(sizes, str):
            if sizes not in source.names:
                raise SottovoceError("sizes", f"must be a column of the table ({', '.join(source.names)})", sizes)
            sizes = [int(size) for batch in source.batches([sizes]) for size in listed(batch[sizes])]
    else:
        rows = [transactions_to_csr(table, items)]
    starts, indices = _stacked(rows)
    if isinstance(sizes, str) or len(sizes) != len(starts) - 1:
        raise SottovoceError("sizes", f"must be one for each of the {len(starts) - 1} reports", len(sizes))
    lengths, given = np.diff(starts), np.asarray(sizes)
    found = {}
    for size in sorted(set(sizes)):
        chosen = given == size
        ends = np.concatenate([[0], np.cumsum(lengths[chosen])])
        found[int(size)] = Bitsets.from_csr(ends, indices[np.repeat(chosen, lengths)], len(items.items))
    return found


def condition(plan: Plan, source: Source, name: str, values: Sequence[Any]) -> Callable[[Values], Mask]:
    """Return which values of a public column are chosen, by their codes where the plan knows its categories."""
    if name in plan.schema.names or name in plan.report_schema.names:
        rule = "must be a public column: the rows with a certain report are not the people with that answer"
        raise SottovoceError("where", rule, name)
    if name not in source.names:
        raise SottovoceError("where", f"must name a public column ({', '.join(plan.public_names) or 'none'})", name)
    variable = next((v for v in plan.public if v.name == name and not isinstance(v, PublicNumber)), None)
    if variable is None:
        allowed = set(values)
        return lambda column: np.fromiter((value in allowed for value in listed(column)), bool, count=len(column))
    labels = variable.as_report()
    codes = labels.encode(list(values))[0]
    return lambda column: np.isin(source.encode(labels, column)[0], codes)


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


def save_transactions(transactions: Any, items: ItemSet, plan: Plan, path: str | Path, *, overwrite: bool) -> None:
    """Write disguised transactions and their plan to a file."""
    with file_sink(path, plan, overwrite=overwrite) as sink:
        sink.write_transactions(items, transactions_to_csr(transactions, items))


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


def expanded(source: Source, frequencies: str) -> dict[str, list[Any]]:
    """Return columns in which every report has a row of its own, instead of a frequency."""
    columns: dict[str, list[Any]] = {name: [] for name in source.names if name != frequencies}
    for batch in source.batches():
        counts = [int(count) for count in listed(batch[frequencies])]
        for name, rows in columns.items():
            rows += [value for value, count in zip(listed(batch[name]), counts, strict=True) for _ in range(count)]
    return columns


def listed(values: Values) -> Any:
    """Return a column's values as Python's or numpy's sequence."""
    return values.to_list() if isinstance(values, nw.Series) else values


def _stacked(rows: Sequence[Csr]) -> Csr:
    """Sparse rows one after the other."""
    lengths = np.concatenate([np.diff(starts) for starts, _ in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return starts, np.concatenate([indices for _, indices in rows])


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
