"""Where rows come from: a mapping, a data frame, a CSV or a Parquet file, batch by batch."""

import csv
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import narwhals.stable.v2 as nw

from sottovoce.errors import SottovoceError, Words
from sottovoce.schema.cells import Columns
from sottovoce.schema.schema import Schema
from sottovoce.schema.variable import Variable
from sottovoce.table.parquet import open_parquet
from sottovoce.table.values import Values, encode

Batch = Mapping[str, Values]
BATCH_ROWS = 2**17
STANDARD_STREAM = "-"


class Source(ABC):
    """A table that can be read in batches of rows, from its start, as often as it is asked."""

    names: tuple[str, ...]
    rows: int | None

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Columns by name, for a bounded number of rows at a time."""

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column of a batch."""
        return encode(variable, values)

    def coded(self, schema: Schema) -> Iterator[Columns]:
        """Coded columns of a schema; a table without rows is refused."""
        lacking = [name for name in schema.names if name not in self.names]
        if lacking:
            raise SottovoceError("table", f"must have the columns {lacking}", Words(f"only {list(self.names)}"))
        rows = 0
        for batch in self.batches():
            columns = tuple(codes for v in schema for codes in self.encode(v, batch[v.name]))
            rows += len(columns[0])
            yield columns
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

    def batches(self) -> Iterator[Batch]:
        """Slices of the sequences."""
        for start in range(0, self.rows or 0, BATCH_ROWS):
            yield {name: values[start : start + BATCH_ROWS] for name, values in self._table.items()}


class FrameSource(Source):
    """A pandas, polars or Arrow table, through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        """Wrap a frame."""
        self.frame = frame
        self.names = tuple(frame.columns)
        self.rows = len(frame)

    def batches(self) -> Iterator[Batch]:
        """Slices of the frame: views, not copies, where the frame can."""
        for start in range(0, len(self.frame), BATCH_ROWS):
            part = self.frame[start : start + BATCH_ROWS]
            yield {name: part[name] for name in self.names}


class CsvSource(Source):
    """A CSV file with a header, UTF-8; an empty cell is a missing value."""

    rows = None

    def __init__(self, path: str) -> None:
        """Read the header."""
        self._path = path
        self._stream: IO[str] | None = sys.stdin if path == STANDARD_STREAM else None
        self._records: Iterator[list[str]] | None = self._open()
        self.names = tuple(self._header())

    def batches(self) -> Iterator[Batch]:
        """Cells as text."""
        records = self._records if self._records is not None else self._reopened()
        self._records = None
        while rows := list(islice(records, BATCH_ROWS)):
            yield dict(zip(self.names, zip(*rows, strict=True), strict=True))

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Take an empty cell as missing, unless the variable knows an empty label or empty sets."""
        keeps_empty = len(variable.sizes) > 1 or "" in getattr(variable, "categories", ())
        return variable.encode(values if keeps_empty else [value or None for value in values])

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
            yield from self._checked(self._stream)
        else:
            with open(self._path, newline="", encoding="utf-8-sig") as stream:
                yield from self._checked(stream)

    def _checked(self, stream: IO[str]) -> Iterator[list[str]]:
        reader = csv.reader(stream, strict=True)
        width = None
        try:
            for row in reader:
                width = width or len(row)
                if len(row) != width:
                    rule = f"must have {width} cells in every row; line {reader.line_num} has {len(row)}"
                    raise SottovoceError(self._path, rule, row)
                yield row
        except (csv.Error, UnicodeDecodeError) as reason:
            raise SottovoceError(self._path, f"must be CSV in UTF-8 ({reason})", Words("something else")) from None


class ParquetSource(Source):
    """A Parquet file, one batch of rows in memory at a time."""

    def __init__(self, path: str) -> None:
        """Read the footer."""
        self._file = open_parquet(path)
        self.names = tuple(self._file.schema_arrow.names)
        self.rows = self._file.metadata.num_rows

    def batches(self) -> Iterator[Batch]:
        """Columns as narwhals series over Arrow."""
        import pyarrow

        for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
            frame = nw.from_native(pyarrow.table(batch), eager_only=True)
            yield {name: frame[name] for name in self.names}


def open_source(table: Any) -> Source:
    """Read a mapping, a pandas, polars or Arrow table, or the path of a CSV or Parquet file.

    >>> open_source({"a": [1, 2, 1]}).rows
    3
    """
    if isinstance(table, str | Path):
        return ParquetSource(str(table)) if is_parquet(table) else CsvSource(str(table))
    if isinstance(table, Mapping):
        return MappingSource(table)
    try:
        return FrameSource(nw.from_native(table, eager_only=True))
    except TypeError:
        rule = "must be a pandas, polars or Arrow table, a mapping of columns, or a path"
        raise SottovoceError("table", rule, type(table)) from None


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
