"""Read CSV files: the standard library defines what is CSV; pyarrow, which is faster, reads what both read alike."""

import csv
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, SottovoceError, Words, file_errors
from sottovoce.tables.values import pyarrow

BLOCK_BYTES = 2**20
"""Bytes of a file that pyarrow parses at once."""

MOST_BYTES = 2**24
"""A longer record is left to the standard library."""

STANDARD_STREAM = "-"
"""Path that stands for standard input or output."""

_COMMA, _QUOTE, _LF, _CR = b',"\n\r'
_STARTS = np.isin(np.arange(256), [_COMMA, _LF, _CR, _QUOTE])


def sidecar(path: str | Path) -> Path:
    """Path of the file beside a CSV file that holds its plan.

    >>> sidecar("out.csv").name
    'out.csv.plan.json'
    """
    return Path(f"{path}.plan.json")


def records(stream: IO[str], name: str) -> Iterator[list[str]]:
    """Read rows of equal width with the strict reader of the standard library."""
    reader = csv.reader(stream, strict=True)
    width = None
    try:
        for row in reader:
            width = width or len(row)
            if len(row) != width:
                rule = f"must have {width} cells in every row; line {reader.line_num} has {len(row)}"
                raise SottovoceError(name, rule, row)
            yield row
    except (csv.Error, UnicodeDecodeError) as reason:
        raise SottovoceError(name, f"must be CSV in UTF-8 ({reason})", Words("something else")) from None


def arrow_batches(path: str, header: Sequence[str], names: Sequence[str], rows: int) -> Generator[Any, None, bool]:
    """Read some columns as Arrow tables of text, empty cells as nulls; return whether the end was reached.

    Where the two readers might differ, or pyarrow refuses something, the tables stop: the caller reads on with
    `records` from there, and gets the row, or the error, of the standard library.
    """
    try:
        arrow = pyarrow("CSV")
    except MissingExtraError:
        return False
    with file_errors(path), open(path, "rb") as stream:
        blocks, skip = plain_blocks(stream), 1
        while True:
            try:
                table = _parsed(arrow, next(blocks), header, names, skip)
            except StopIteration as reached:
                return bool(reached.value)
            except arrow.ArrowInvalid:
                return False
            yield from (table.slice(start, rows) for start in range(0, len(table), rows))
            skip = 0


def _parsed(arrow: Any, block: memoryview, header: Sequence[str], names: Sequence[str], skip: int) -> Any:
    from pyarrow import csv as arrow_csv

    return arrow_csv.read_csv(
        arrow.BufferReader(arrow.py_buffer(block)),
        read_options=arrow_csv.ReadOptions(
            column_names=list(header), skip_rows_after_names=skip, block_size=len(block) + 1, use_threads=False
        ),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, arrow.string()),
            include_columns=list(names),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def plain_blocks(stream: IO[bytes]) -> Generator[memoryview, None, bool]:
    r"""Read blocks of whole records while they are plain CSV; return whether the end was reached.

    Plain CSV is UTF-8 without blank lines, with quotation marks only around whole cells, doubled inside them: every
    reader agrees on it. A quotation mark inside an unquoted cell is legal, but not plain.

    >>> from io import BytesIO
    >>> [bytes(block) for block in plain_blocks(BytesIO(b'a,b\n1,"2\n3"\n'))]
    [b'a,b\n1,"2\n3"\n']
    >>> [bytes(block) for block in plain_blocks(BytesIO(b'a,b\n1,"2"3\n'))]
    []
    """
    rest = stream.read(len(BOM_UTF8)).removeprefix(BOM_UTF8)
    while (more := stream.read(BLOCK_BYTES)) or rest:
        block = rest + more
        end = _plain_end(np.frombuffer(block, np.uint8), final=not more)
        if end is None or not (block.isascii() or _is_utf8(block[:end])):
            return False
        if end > 0:
            yield memoryview(block)[:end]
        rest = block[end:]
    return True


def _plain_end(text: NDArray[np.uint8], *, final: bool) -> int | None:
    """Position after the last whole record; None if the text is not plain."""
    marks = np.flatnonzero(text == _QUOTE)
    before, after = text[marks[::2] - 1], text[np.minimum(marks[1::2] + 1, len(text) - 1)]
    # The first byte starts a cell and the last one may end one. A mark next to a mark is doubled.
    starts = _STARTS[before] | (marks[::2] == 0)
    stops = _STARTS[after] | (marks[1::2] == len(text) - 1)
    if not (starts.all() and stops.all()):
        return None
    ends = np.flatnonzero((text == _LF) | (text == _CR))
    ends = ends[np.searchsorted(marks, ends) % 2 == 0]
    if _has_blank_line(text, ends):
        return None
    if final:
        return len(text) if len(marks) % 2 == 0 else None
    if len(ends) and ends[-1] == len(text) - 1 and text[-1] == _CR:
        ends = ends[:-1]  # its line feed may come with the next bytes
    if len(ends) == 0:
        return 0 if len(text) < MOST_BYTES else None
    return int(ends[-1]) + 1


def _has_blank_line(text: NDArray[np.uint8], ends: NDArray[np.intp]) -> bool:
    """Whether a line is empty; carriage return and line feed together are one line end."""
    following = ends[1:][np.diff(ends) == 1]
    pair = (text[following - 1] == _CR) & (text[following] == _LF)
    return bool((len(ends) and ends[0] == 0) or not pair.all())


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True
