"""Sources of rows: a mapping, a data frame, a CSV or a Parquet file, read batch by batch."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import narwhals.stable.v2 as nw

from sottovoce.errors import SottovoceError, Words, named
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.csv_file import arrow_batches, records
from sottovoce.tables.parquet import open_parquet, read_batches
from sottovoce.tables.values import Values, encode, encode_texts, series

Batch = Mapping[str, Values]
BATCH_ROWS = 2**17
BATCH_VALUES = 2**22
"""Rows of a batch, and values if the table is so wide that fewer rows hold them: memory stays the same."""

STANDARD_STREAM = "-"
Progress = Callable[[int, int | None], object]


class Source(ABC):
    """A table that can be read in batches of rows, from its start, as often as it is asked."""

    names: tuple[str, ...]
    rows: int | None
    waits = False
    """Whether reading may wait for a person or a program at the other end of a stream."""

    def batches(self, names: Sequence[str] | None = None, rows: int | None = None) -> Iterator[Batch]:
        """All columns by name, or those named, for a bounded number of rows at a time."""
        return self._batches(self.names if names is None else names, BATCH_ROWS if rows is None else rows)

    @abstractmethod
    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """These columns, for at most so many rows at a time."""

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column of a batch."""
        return encode(variable, values)

    def known(self, variable: Variable, values: Values) -> Values:
        """One column of a batch, with what the source knows of its missing values."""
        return values

    def coded(self, schema: Schema) -> Iterator[Columns]:
        """Coded columns of a schema; a table without rows is refused."""
        return (columns for columns, _ in self.coded_beside(schema, ()))

    def coded_beside(self, schema: Schema, beside: Sequence[str]) -> Iterator[tuple[Columns, tuple[Values, ...]]]:
        """Coded columns of a schema, and other columns as they stand, row by row the same."""
        lacking = [name for name in (*schema.names, *beside) if name not in self.names]
        if lacking:
            raise SottovoceError("table", f"must have the columns {lacking}", Words(f"only {list(self.names)}"))
        wanted, rows = (*schema.names, *beside), 0
        for batch in self.batches(wanted, min(BATCH_ROWS, max(1, BATCH_VALUES // len(schema.sizes)))):
            columns = tuple(codes for v in schema for codes in self.encode(v, batch[v.name]))
            rows += len(columns[0])
            yield columns, tuple(batch[name] for name in beside)
        if rows == 0:
            raise SottovoceError("table", "must have at least one row", Words("an empty one"))


class MappingSource(Source):
    """A dictionary from names to sequences of equal length."""

    def __init__(self, table: Mapping[str, Sequence[Any]]) -> None:
        """Check that the columns have equal lengths."""
        self._table = table
        self.names = tuple(table)
        lengths = {len(values) for values in table.values()}
        if len(lengths) > 1:
            raise SottovoceError("table", "must have columns of equal length", {k: len(v) for k, v in table.items()})
        self.rows = max(lengths, default=0)

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Slices of the sequences."""
        for start in range(0, self.rows or 0, rows):
            yield {name: self._table[name][start : start + rows] for name in names}


class FrameSource(Source):
    """A pandas, polars or Arrow table, through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        """Wrap a frame."""
        self.frame = frame
        self.names = tuple(frame.columns)
        self.rows = len(frame)

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Slices of the frame: views, not copies, where the frame can."""
        for start in range(0, len(self.frame), rows):
            part = self.frame[start : start + rows]
            yield {name: part[name] for name in names}


class CsvSource(Source):
    """A CSV file with a header, UTF-8; an empty cell is a missing value."""

    rows = None

    def __init__(self, path: str) -> None:
        """Read the header."""
        self._path = path
        self._stream: IO[str] | None = sys.stdin if path == STANDARD_STREAM else None
        self.waits = not Path(path).is_file()
        self._records: Iterator[list[str]] | None = self._open()
        self.names = tuple(self._header())

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Cells as text: by pyarrow as far as it can be trusted with a file, then by the standard library."""
        done = 0 if self.waits else (yield from self._arrow_batches(names, rows))
        if done is None:
            return
        records = self._records if self._records is not None else self._reopened()
        self._records = None
        places = [self.names.index(name) for name in names]
        left = islice(records, done, None)
        while batch := list(islice(left, rows)):
            columns = list(zip(*batch, strict=True))
            yield {name: columns[place] for name, place in zip(names, places, strict=True)}

    def _arrow_batches(self, names: Sequence[str], rows: int) -> Generator[Batch, None, int | None]:
        """Batches by pyarrow; and the rows it gave, or None if those were all."""
        done, tables = 0, arrow_batches(self._path, self.names, names, rows)
        while True:
            try:
                table = next(tables)
            except StopIteration as reached:
                return None if reached.value else done
            done += len(table)
            yield {name: series(table.column(name)) for name in names}

    def known(self, variable: Variable, values: Values) -> Values:
        """Take an empty cell as missing, unless the variable knows an empty label or empty sets."""
        return values.fill_null("") if isinstance(values, nw.Series) and _keeps_empty(variable) else values

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of text, in which an empty cell may be missing."""
        if isinstance(values, nw.Series):
            return encode(variable, self.known(variable, values))
        return encode_texts(variable, list(values), empty="" if _keeps_empty(variable) else None)

    def _reopened(self) -> Iterator[list[str]]:
        if self._stream is not None:
            raise SottovoceError("table", "must be a file to be read twice", Words("a stream"))
        records = self._open()
        next(records)
        return records

    def _header(self) -> list[str]:
        header = next(self._records or iter(()), [])
        if not header or len(set(header)) < len(header) or "" in header:
            raise SottovoceError(self._path, "must start with a row of different column names", header)
        return header

    def _open(self) -> Iterator[list[str]]:
        if self._stream is not None:
            yield from records(self._stream, self._path)
        else:
            with named(self._path), open(self._path, newline="", encoding="utf-8-sig") as stream:
                yield from records(stream, self._path)


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

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Columns as narwhals series over Arrow."""
        for batch in read_batches(self._path, self._file, names, rows):
            yield {name: series(batch.column(name)) for name in names}

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Refuse bytes that are no text where a file says that they are."""
        try:
            return encode(variable, values)
        except UnicodeDecodeError as reason:
            rule = f"must hold UTF-8 in its text columns ({reason})"
            raise SottovoceError(self._path, rule, Words("something else")) from None


def _keeps_empty(variable: Variable) -> bool:
    return isinstance(variable, ItemSet) or "" in getattr(variable, "categories", ())


def open_source(table: Any) -> Source:
    """Read a mapping, a pandas, polars or Arrow table, or the path of a CSV or Parquet file; a source is one already.

    >>> open_source({"a": [1, 2, 1]}).rows
    3
    """
    if isinstance(table, Source):
        return table
    if isinstance(table, str | Path):
        return ParquetSource(str(table)) if is_parquet(table) else CsvSource(str(table))
    if isinstance(table, Mapping):
        return MappingSource(table)
    try:
        return FrameSource(nw.from_native(table, eager_only=True))
    except TypeError:
        rule = "must be a pandas, polars or Arrow table, a mapping of columns, or a path"
        raise SottovoceError("table", rule, type(table)) from None


def is_table(table: Any) -> bool:
    """Whether it is something that `open_source` reads, not rows of another kind.

    >>> is_table({"a": [1, 2, 1]}), is_table([1, 2, 1])
    (True, False)
    """
    return isinstance(table, Source | str | Path | Mapping) or nw.dependencies.is_into_dataframe(table)


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet, by its name; anything else is CSV.

    >>> is_parquet("answers.parquet"), is_parquet("answers.csv")
    (True, False)
    """
    return str(path).lower().endswith((".parquet", ".pq"))


Drop = Collection[str] | Literal["others"]
"""Columns to leave out on purpose: those named, or all others than the plan's."""


def check_covered(schema: Schema, names: Sequence[str], drop: Drop) -> None:
    """Refuse a column that is neither disguised nor dropped: it would be lost, or worse, published."""
    if drop == "others":
        return
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise SottovoceError("drop", f"must name columns of the table ({', '.join(names)})", unknown)
    uncovered = [name for name in names if name not in schema.names and name not in drop]
    if uncovered:
        raise SottovoceError(
            "plan", f"must cover every column that is not dropped; it leaves out {uncovered}", list(schema.names)
        )


class WatchedSource(Source):
    """Any table, with a callback that is told how many rows were read, of how many if that is known.

    >>> told = []
    >>> watched = WatchedSource({"a": [1, 2, 1]}, lambda done, total: told.append((done, total)))
    >>> [len(batch["a"]) for batch in watched.batches()], told
    ([3], [(3, 3)])
    """

    def __init__(self, table: Any, progress: Progress) -> None:
        """Open the table."""
        self._source, self._progress = open_source(table), progress
        self.names, self.rows, self.waits = self._source.names, self._source.rows, self._source.waits

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Those of the table, each counted once it has been used."""
        done = 0
        for batch in self._source.batches(names, rows):
            yield batch
            done += len(next(iter(batch.values())))
            self._progress(done, self.rows)

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the table does."""
        return self._source.encode(variable, values)
