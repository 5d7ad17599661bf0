"""CSV files as tables, read batch by batch."""

import sys
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import narwhals.stable.v2 as nw
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words, file_errors
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.csv_file import STANDARD_STREAM, arrow_batches, records, sidecar
from sottovoce.tables.source import Batch, Source
from sottovoce.tables.values import Values, encode, encode_texts, finite_numbers, series


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


def _keeps_empty(variable: Variable) -> bool:
    return isinstance(variable, ItemSet) or "" in getattr(variable, "categories", ())
