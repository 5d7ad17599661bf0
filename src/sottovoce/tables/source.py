"""Read a mapping, a data frame, a file, or a table that an engine holds, batch by batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from sottovoce.checks import Progress
from sottovoce.errors import EmptyTableError, SottovoceError, Words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.schema import Schema
from sottovoce.tables.back_ends import engine_of, open_lazy, open_path
from sottovoce.tables.parquet import PLAN_KEY
from sottovoce.tables.values import Values, encode, finite_numbers

BATCH_ROWS = 2**17
BATCH_VALUES = 2**22
"""Most rows of a batch, and most values, which mean fewer rows of a wide table: memory stays the same."""

FRAME_ROWS = 2**20
"""Most rows of a frame that are encoded at once, before they are cut into batches: fewer calls of its library."""

PANDAS_MARK = "sottovoce.plan"
"""Key in the `attrs` of a disguised pandas frame, of the hash of its plan."""

Batch = Mapping[str, Values]
"""Columns of some rows, by name."""

T = TypeVar("T")

TIMES = "sottovoce: times"
"""Column of `Source.grouped` that says how many rows have a combination of values."""

Drop = Collection[str] | Literal["others"]
"""Columns to leave out on purpose: those named, or "others": all that the plan does not name."""


class Source(ABC):
    """A table that is read in batches of rows, from its start, as often as needed."""

    names: tuple[str, ...]
    rows: int | None
    waits = False
    """Whether reading may block because the source is a stream."""

    large_batches = False
    """Whether many rows are encoded at once: those of a table in memory, or of one that several threads read."""

    may_be_empty = False
    """Whether no rows are an answer, as of one part of a table, rather than a mistake."""

    ordered = True
    """Whether the rows come in the same order whenever they are read."""

    first_row = 0
    """Number of rows before these, in the table that they are a part of, where that is known."""

    remote = False
    """Whether the rows are on other machines or in other processes, so that they are counted there."""

    def batches(self, names: Sequence[str] | None = None, rows: int | None = None) -> Iterator[Batch]:
        """Yield batches of all columns, or of those named, with at most `rows` rows each."""
        return self._batches(self.names if names is None else names, BATCH_ROWS if rows is None else rows)

    @abstractmethod
    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Yield batches of these columns with at most `rows` rows each."""

    def grouped(self, names: Sequence[str]) -> "Source | None":
        """Different combinations of some columns, with their numbers in the column `TIMES`, counted by an engine.

        None where there is no engine, or where reading all rows is faster.
        """
        return None

    def map_parts(self, names: Sequence[str], work: Callable[["Source"], T]) -> Iterator[T]:
        """Apply `work` to each part of the table, where its rows are, and yield the results; only those travel.

        `names` are the columns that the work reads. A table on this machine is one part.
        """
        yield work(self)

    def count_rows(self) -> int:
        """Number of rows: known, counted by an engine, or found by reading one column."""
        if self.rows is not None:
            return self.rows
        return sum(len(batch[self.names[0]]) for batch in self.batches(self.names[:1]))

    def check_names(self, wanted: Sequence[str]) -> None:
        """Refuse a table that lacks one of these columns."""
        missing = [name for name in wanted if name not in self.names]
        if missing:
            columns = "the column" if len(missing) == 1 else "the columns"
            rule = f"must have {columns} {', '.join(map(repr, missing))}"
            raise SottovoceError("table", rule, Words(f"a table with {_listed(self.names)}"))

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column of a batch."""
        return encode(variable, values)

    def numbers(self, name: str, values: Values) -> NDArray[Any]:
        """Finite numbers of one column of a batch, in the type they have."""
        return finite_numbers(name, values)

    def number_type(self, name: str) -> Any:
        """Arrow type of a column of numbers, where the source has one; None elsewhere."""
        return None

    @property
    def mark(self) -> str | bytes | None:
        """Hash of the plan that the table was disguised under, or the plan document; None if it carries neither."""
        return None

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Categories that the type of a column declares where its batches do not show them; None elsewhere."""
        return None

    def with_empty_labels(self, variable: Variable, values: Values) -> Values:
        """One column of a batch; a source of text restores the empty labels that were read as missing."""
        return values

    def coded(self, schema: Schema) -> Iterator[Columns]:
        """Yield batches of coded columns of a schema; a table without rows is refused."""
        return (columns for columns, _ in self.coded_with(schema, ()))

    def coded_with(self, schema: Schema, others: Sequence[str]) -> Iterator[tuple[Columns, tuple[Values, ...]]]:
        """Yield batches of coded columns of a schema, together with other columns of the same rows as they are."""
        wanted, rows = (*schema.names, *others), 0
        self.check_names(wanted)
        most = max(1, BATCH_VALUES // len(schema.sizes))
        for batch in self.batches(wanted, min(most, FRAME_ROWS if self.large_batches else BATCH_ROWS)):
            columns = tuple(codes for v in schema for codes in self.encode(v, batch[v.name]))
            rows += len(columns[0])
            yield from _parts(columns, tuple(batch[name] for name in others), min(most, BATCH_ROWS))
        if not self.may_be_empty:
            some_rows(rows)


def some_rows(rows: Any) -> int:
    """Return the number of rows of a table, which must have at least one."""
    if not rows:
        raise EmptyTableError("table", "must have at least one row", Words("an empty one"))
    return int(rows)


def _parts(columns: Columns, values: tuple[Values, ...], rows: int) -> Iterator[tuple[Columns, tuple[Values, ...]]]:
    """Cut columns into parts of at most `rows` rows."""
    if len(columns[0]) <= rows:
        yield columns, values
        return
    for start in range(0, len(columns[0]), rows):
        part = slice(start, start + rows)
        yield tuple(codes[part] for codes in columns), tuple(column[part] for column in values)


class MappingSource(Source):
    """A mapping from names to sequences of equal length."""

    def __init__(self, table: Mapping[str, Sequence[Any]]) -> None:
        """Check that the columns have equal lengths."""
        self._table = table
        self.names = _checked_names(table)
        for name, values in table.items():
            if isinstance(values, str) or not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
                raise SottovoceError("table", f"must have a list or an array as each column; {name!r} is", values)
        lengths = {len(values) for values in table.values()}
        if len(lengths) > 1:
            raise SottovoceError("table", "must have columns of equal length", {k: len(v) for k, v in table.items()})
        self.rows = max(lengths, default=0)

    @property
    def arrays(self) -> dict[str, np.dtype[Any]]:
        """Columns that are arrays, and their types."""
        columns: dict[str, Any] = dict(self._table)
        return {name: values.dtype for name, values in columns.items() if isinstance(values, np.ndarray)}

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for start in range(0, self.rows or 0, rows):
            yield {name: self._table[name][start : start + rows] for name in names}


class FrameSource(Source):
    """A pandas, polars or Arrow table, through narwhals."""

    large_batches = True

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        """Wrap a frame."""
        self.frame = frame
        self.names = _checked_names(frame.columns)
        self.rows = len(frame)

    @property
    def mark(self) -> str | bytes | None:
        """Hash in the `attrs` of a pandas frame, or plan document in the metadata of an Arrow table."""
        native: Any = self.frame.to_native()
        metadata = getattr(getattr(native, "schema", None), "metadata", None) or {}
        mark: str | bytes | None = getattr(native, "attrs", {}).get(PANDAS_MARK) or metadata.get(PLAN_KEY)
        return mark

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        columns = {name: self.frame[name] for name in names}
        for start in range(0, len(self.frame), rows):
            yield {name: column[start : start + rows] for name, column in columns.items()}


def open_source(table: Any) -> Source:
    """Open a table of any kind, or return an open source.

    A table is a mapping, a pandas, polars or Arrow table; the path of a CSV or Parquet file, of a folder of Parquet
    files, a glob of them, or of a DuckDB file (`file.duckdb` if it has one table, else `file.duckdb::table`); an Arrow
    dataset, a Polars LazyFrame, a DuckDB relation or a Spark DataFrame.

    >>> open_source({"a": [1, 2, 1]}).rows
    3
    """
    if isinstance(table, Source):
        return table
    if hasattr(table, "as_source"):  # Reports, which this room does not know
        source: Source = table.as_source()
        return source
    if isinstance(table, str | Path):
        return open_path(str(table))
    if isinstance(table, Mapping):
        return MappingSource(table)
    if nw.dependencies.is_into_dataframe(table):
        return _opened_frame(table)
    engine = engine_of(table)
    if engine is None:
        rule = "must be a pandas, polars or Arrow table, a mapping of columns, a path, or a lazy table of an engine"
        raise SottovoceError("table", rule, type(table))
    return open_lazy(engine, table)


def _opened_frame(table: Any) -> FrameSource:
    """Open a table in memory, whose columns must have different names."""
    try:
        return FrameSource(nw.from_native(table, eager_only=True))
    except DuplicateError as reason:
        repeated = " ".join(str(reason).split())
        rule = f"must have different column names ({repeated})"
        raise SottovoceError("table", rule, Words("repeated ones")) from None


def is_table(table: Any) -> bool:
    """Whether `open_source` reads it.

    >>> is_table({"a": [1, 2, 1]}), is_table([1, 2, 1])
    (True, False)
    """
    known = in_memory(table) or isinstance(table, Source | str | Path) or hasattr(table, "as_source")
    return known or engine_of(table) is not None


def in_memory(table: Any) -> bool:
    """Whether it is a mapping, or a pandas, polars or Arrow table.

    >>> in_memory({"a": [1, 2, 1]}), in_memory("reports.csv")
    (True, False)
    """
    return isinstance(table, Mapping) or bool(nw.dependencies.is_into_dataframe(table))


def check_columns(plan: Plan, source: Source, drop: Drop, row_id: str | None = None) -> None:
    """Refuse a table that lacks a column of the plan, or has one that is neither in the plan nor dropped.

    A column that the plan does not name would be lost or, worse, published. That of row ids need not be dropped.
    """
    wanted, names = (*plan.schema.names, *plan.public_names), source.names
    source.check_names(wanted)
    if isinstance(drop, str) and drop == "others":
        return
    if isinstance(drop, str) or not isinstance(drop, Iterable):
        rule = "must be a list of columns, or 'others' for all that the plan does not name"
        raise SottovoceError("drop", rule, drop)
    dropped = list(drop)
    unknown = [name for name in dropped if name not in names]
    if unknown:
        raise SottovoceError("drop", f"must name columns of the table ({', '.join(names)})", unknown)
    unnamed = [name for name in names if name not in (*wanted, *dropped, row_id)]
    if unnamed:
        rule = f"must name every column that is not dropped, as disguised or public; it lacks {_listed(unnamed)}"
        raise SottovoceError("plan", rule, Words(f"one with {_listed(wanted)}"))


def _checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    listed = tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise SottovoceError("table", "must have text as column names, not numbers or other values", name)
    return listed


def _listed(names: Sequence[str], most: int = 12) -> str:
    """Names of columns for an error, shortened if they are many.

    >>> _listed(["a", "b", "c"], most=2), _listed(["a"]), _listed([])
    ("the columns 'a', 'b' and 1 more", "the column 'a'", 'no columns')
    """
    if not names:
        return "no columns"
    shown = ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
    return f"the column{'' if len(names) == 1 else 's'} {shown}"


class View(Source):
    """Rows of another table, whose values are read as that table reads them."""

    _source: Source

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column of a batch."""
        return self._source.encode(variable, values)

    def numbers(self, name: str, values: Values) -> NDArray[Any]:
        """Finite numbers of one column of a batch."""
        return self._source.numbers(name, values)

    def number_type(self, name: str) -> Any:
        """Arrow type of a column of numbers."""
        return self._source.number_type(name)

    def with_empty_labels(self, variable: Variable, values: Values) -> Values:
        """One column of a batch, with the empty labels that were read as missing."""
        return self._source.with_empty_labels(variable, values)


class ProgressSource(View):
    """Any table, with a callback that is called with the rows read so far and, if known, the number of all rows.

    >>> calls = []
    >>> source = ProgressSource({"a": [1, 2, 1]}, lambda done, total: calls.append((done, total)))
    >>> [len(batch["a"]) for batch in source.batches()], calls
    ([3], [(3, 3)])
    """

    def __init__(self, table: Any, progress: Progress) -> None:
        """Open the table."""
        self._source, self._progress = open_source(table), progress
        self.names, self.rows, self.waits = self._source.names, self._source.rows, self._source.waits
        self.ordered = self._source.ordered

    def grouped(self, names: Sequence[str]) -> Source | None:
        """Groups of the engine, which does not say how far it is."""
        return self._source.grouped(names)

    @property
    def mark(self) -> str | bytes | None:
        """That of the table."""
        return self._source.mark

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        done = 0
        for batch in self._source.batches(names, rows):
            yield batch
            done += len(next(iter(batch.values())))
            self._progress(done, self.rows)
