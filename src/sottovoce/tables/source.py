"""Read a mapping, a data frame, a CSV or a Parquet file batch by batch."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from sottovoce.checks import Progress
from sottovoce.errors import SottovoceError, Words, file_errors
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.csv_file import arrow_batches, records
from sottovoce.tables.parquet import PLAN_KEY, open_parquet, read_batches
from sottovoce.tables.values import Values, encode, encode_texts, finite_numbers, pyarrow, series

BATCH_ROWS = 2**17
BATCH_VALUES = 2**22
"""Most rows of a batch, and most values, which mean fewer rows of a wide table: memory stays the same."""

PANDAS_MARK = "sottovoce.plan"
"""Key in the `attrs` of a disguised pandas frame, of the hash of its plan."""

STANDARD_STREAM = "-"
"""Path that stands for standard input or output."""

Batch = Mapping[str, Values]
"""Columns of some rows, by name."""

Drop = Collection[str] | Literal["others"]
"""Columns to leave out on purpose: those named, or "others": all that the plan does not name."""


class Source(ABC):
    """A table that is read in batches of rows, from its start, as often as needed."""

    names: tuple[str, ...]
    rows: int | None
    waits = False
    """Whether reading may block because the source is a stream."""

    def batches(self, names: Sequence[str] | None = None, rows: int | None = None) -> Iterator[Batch]:
        """Yield batches of all columns, or of those named, with at most `rows` rows each."""
        return self._batches(self.names if names is None else names, BATCH_ROWS if rows is None else rows)

    @abstractmethod
    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Yield batches of these columns with at most `rows` rows each."""

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
        for batch in self.batches(wanted, min(BATCH_ROWS, max(1, BATCH_VALUES // len(schema.sizes)))):
            columns = tuple(codes for v in schema for codes in self.encode(v, batch[v.name]))
            rows += len(columns[0])
            yield columns, tuple(batch[name] for name in others)
        if rows == 0:
            raise SottovoceError("table", "must have at least one row", Words("an empty one"))


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

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for start in range(0, self.rows or 0, rows):
            yield {name: self._table[name][start : start + rows] for name in names}


class FrameSource(Source):
    """A pandas, polars or Arrow table, through narwhals."""

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
        for start in range(0, len(self.frame), rows):
            part = self.frame[start : start + rows]
            yield {name: part[name] for name in names}


class CsvSource(Source):
    """A CSV file with a header, UTF-8; an empty cell is a missing value."""

    rows = None

    def __init__(self, path: str) -> None:
        """Read the header."""
        self.path = path
        self._stream: IO[str] | None = sys.stdin if path == STANDARD_STREAM else None
        self.waits = not Path(path).is_file()
        self._records: Iterator[list[str]] | None = self._open()
        self.names = tuple(self._header())

    @property
    def mark(self) -> bytes | None:
        """Plan document in the file beside it."""
        beside = sidecar(self.path)
        return beside.read_bytes() if self._stream is None and beside.exists() else None

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Read cells as text: by pyarrow as far as both readers agree, then by the standard library."""
        done = 0 if self.waits else (yield from self._arrow_batches(names, rows))
        if done is None:
            return
        records = self._records if self._records is not None else self._reopened()
        self._records = None
        rest = islice(records, done, None)
        while batch := list(islice(rest, rows)):
            columns = dict(zip(self.names, zip(*batch, strict=True), strict=True))
            yield {name: columns[name] for name in names}

    def _arrow_batches(self, names: Sequence[str], rows: int) -> Generator[Batch, None, int | None]:
        """Yield batches read by pyarrow; return the number of their rows, or None if those were all."""
        done, tables = 0, arrow_batches(self.path, self.names, names, rows)
        while True:
            try:
                table = next(tables)
            except StopIteration as reached:
                return None if reached.value else done
            done += len(table)
            yield {name: series(table.column(name)) for name in names}

    def with_empty_labels(self, variable: Variable, values: Values) -> Values:
        """Read empty cells as missing, unless "" is a category or an empty set."""
        return values.fill_null("") if isinstance(values, nw.Series) and _keeps_empty(variable) else values

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of cells of text."""
        if isinstance(values, nw.Series):
            return encode(variable, self.with_empty_labels(variable, values))
        return encode_texts(variable, list(values), empty="" if _keeps_empty(variable) else None)

    def numbers(self, name: str, values: Values) -> NDArray[Any]:
        """Finite numbers of cells of text."""
        return finite_numbers(name, values, text=True)

    def _reopened(self) -> Iterator[list[str]]:
        if self._stream is not None:
            raise SottovoceError("table", "must be a file, since it is read twice", Words("a stream"))
        records = self._open()
        next(records)
        return records

    def _header(self) -> list[str]:
        header = next(self._records or iter(()), [])
        if not header or len(set(header)) < len(header) or "" in header:
            raise SottovoceError(self.path, "must start with a row of different column names", header)
        return header

    def _open(self) -> Iterator[list[str]]:
        if self._stream is not None:
            yield from records(self._stream, self.path)
        else:
            with file_errors(self.path), open(self.path, newline="", encoding="utf-8-sig") as stream:
                yield from records(stream, self.path)


class ParquetSource(Source):
    """A Parquet file, one batch of rows in memory at a time."""

    def __init__(self, path: str) -> None:
        """Read the footer."""
        self._path = path
        self._file = open_parquet(path)
        self.names = tuple(self._file.schema_arrow.names)
        self.rows = self._file.metadata.num_rows
        if len(set(self.names)) < len(self.names):
            raise SottovoceError(path, "must have different column names", list(self.names))

    @property
    def mark(self) -> bytes | None:
        """Plan document in the metadata."""
        document: bytes | None = (self._file.schema_arrow.metadata or {}).get(PLAN_KEY)
        return document

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for batch in read_batches(self._path, self._file, names, rows):
            yield {name: series(batch.column(name)) for name in names}

    def number_type(self, name: str) -> Any:
        """Arrow type of a column of integers or floating-point numbers; None for any other."""
        kind, types = self._file.schema_arrow.field(name).type, pyarrow().types
        return kind if types.is_integer(kind) or types.is_floating(kind) else None

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column; text columns must hold UTF-8."""
        try:
            return encode(variable, values)
        except UnicodeDecodeError as reason:
            rule = f"must hold UTF-8 in its text columns ({reason})"
            raise SottovoceError(self._path, rule, Words("something else")) from None


def _keeps_empty(variable: Variable) -> bool:
    return isinstance(variable, ItemSet) or "" in getattr(variable, "categories", ())


def open_source(table: Any) -> Source:
    """Open a mapping, a pandas, polars or Arrow table, a path of a CSV or Parquet file, or return an open source.

    >>> open_source({"a": [1, 2, 1]}).rows
    3
    """
    if isinstance(table, Source):
        return table
    if hasattr(table, "as_source"):  # Reports, which this room does not know
        source: Source = table.as_source()
        return source
    if isinstance(table, str | Path):
        return ParquetSource(str(table)) if is_parquet(table) else CsvSource(str(table))
    if isinstance(table, Mapping):
        return MappingSource(table)
    try:
        return FrameSource(nw.from_native(table, eager_only=True))
    except TypeError:
        rule = "must be a pandas, polars or Arrow table, a mapping of columns, or a path"
        raise SottovoceError("table", rule, type(table)) from None
    except DuplicateError as reason:
        repeated = " ".join(str(reason).split())
        raise SottovoceError(
            "table", f"must have different column names ({repeated})", Words("repeated ones")
        ) from None


def is_table(table: Any) -> bool:
    """Whether `open_source` reads it.

    >>> is_table({"a": [1, 2, 1]}), is_table([1, 2, 1])
    (True, False)
    """
    known = isinstance(table, Source | str | Path | Mapping) or hasattr(table, "as_source")
    return known or nw.dependencies.is_into_dataframe(table)


def sidecar(path: str | Path) -> Path:
    """Path of the file beside a CSV file that holds its plan.

    >>> sidecar("out.csv").name
    'out.csv.plan.json'
    """
    return Path(f"{path}.plan.json")


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet, by its extension; anything else is read as CSV.

    >>> is_parquet("answers.parquet"), is_parquet("answers.csv")
    (True, False)
    """
    return str(path).lower().endswith((".parquet", ".pq"))


def check_columns(plan: Plan, source: Source, drop: Drop) -> None:
    """Refuse a table that lacks a column of the plan, or has one that is neither in the plan nor dropped.

    A column that the plan does not name would be lost or, worse, published.
    """
    wanted, names = (*plan.schema.names, *plan.public_names), source.names
    source.check_names(wanted)
    if drop == "others":
        return
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise SottovoceError("drop", f"must name columns of the table ({', '.join(names)})", unknown)
    unnamed = [name for name in names if name not in wanted and name not in drop]
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


class ProgressSource(Source):
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

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        done = 0
        for batch in self._source.batches(names, rows):
            yield batch
            done += len(next(iter(batch.values())))
            self._progress(done, self.rows)

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column of a batch."""
        return self._source.encode(variable, values)

    def numbers(self, name: str, values: Values) -> NDArray[Any]:
        """Finite numbers of one column of a batch."""
        return self._source.numbers(name, values)
