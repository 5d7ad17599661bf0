"""Row ids as blocks of 128 bits, which keyed coins depend on: equal ids give equal blocks, others different ones.

An id is encoded by its value and its kind: the integer 1 of any width is the same id, the text "1" is another one, and
the bytes b"1" are a third. A block holds 16 bytes:

- an integer: its value modulo 2^64, little-endian (8 bytes), 1 if it is negative (byte 8), its kind (byte 15);
- text (UTF-8) or bytes of at most 14 bytes: these, padded with zeros, their number (byte 14), the kind (byte 15);
- longer ones: a CBC-MAC under a key of its own. The first block is the number of bytes, little-endian (8 bytes), and
  the kind (byte 15); the bytes follow, padded with zeros. As the first block says where the others end, no message is
  the start of another, and the MAC is a pseudo-random function (M. Bellare, J. Kilian & P. Rogaway 2000, Journal of
  Computer and System Sciences 61, 362-399): two of n ids share a block with a probability of about n^2 / 2^129,
  1.5e-19 for 10^10 ids.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words, value_text
from sottovoce.tables.source import Source, some_rows
from sottovoce.tables.values import pyarrow

BlocksOf128 = NDArray[np.uint64]
"""Blocks of 128 bits, one row for each: two little-endian words of 64 bits."""

Encrypt = Callable[[BlocksOf128], BlocksOf128]
"""A block cipher under some key, block by block."""

INTEGER, TEXT, BYTES = 1, 2, 3
"""Kinds of ids."""

LONGEST_IN_BLOCK = 14
"""Bytes of text that fit a block with their number and kind."""

ROWS_AT_ONCE = 2**15
"""Rows that are encoded at once: few enough for the cache."""

MOST_AT_ONCE = 2**24
"""Ids that are compared at once: a quarter of a gigabyte of memory."""

MOST_COMPARED = 1000
"""Most suspected ids that are compared in full; if there are more, they are not all mistaken."""


@dataclass(frozen=True)
class RowIds:
    """A checked column of row ids: `values` are integers, or an Arrow array of large binary values."""

    kind: int
    values: Any

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.values)

    def blocks(self, start: int, stop: int, encrypt: Encrypt) -> BlocksOf128:
        """Blocks of some rows."""
        if self.kind == INTEGER:
            return _integer_blocks(self.values[start:stop])
        return _text_blocks(self.kind, self.values.slice(start, stop - start), encrypt)

    def of(self, prints: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> list[Any]:
        """Ids whose 64 bits are among those wanted."""
        rows = np.flatnonzero(np.isin(prints, wanted))
        listed: list[Any] = self.values.take(rows if self.kind == INTEGER else pyarrow().array(rows)).tolist()
        return listed


def row_ids(column: Any, name: str) -> RowIds:
    """Check an Arrow array of row ids, of which none may be missing.

    >>> row_ids(pyarrow().array([3, None]), "person")
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: row_id must have a value in every row of 'person'. Got 1 row without one instead.
    """
    arrow = pyarrow("row_id")
    array = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    array = array.storage if isinstance(array, arrow.ExtensionArray) else array
    array = array.dictionary_decode() if arrow.types.is_dictionary(array.type) else array
    if array.null_count:
        raise missing_ids(name, array.null_count)
    kind = id_kind(array.type, name)
    if arrow.types.is_decimal(array.type):
        array = _integers(array, name)
    if kind == INTEGER:
        return RowIds(kind, array.to_numpy(zero_copy_only=False))
    return RowIds(kind, array.cast(arrow.large_string() if kind == TEXT else arrow.large_binary()))


def missing_ids(name: str, count: int) -> SottovoceError:
    """Error about rows without an id."""
    got = Words("1 row without one" if count == 1 else f"{count} rows without one")
    return SottovoceError("row_id", f"must have a value in every row of {name!r}", got)


def repeated_ids(name: str, count: int, example: Any) -> SottovoceError:
    """Error about ids that several rows have."""
    rule = f"must differ in all rows, or some would share their coins; {name!r} repeats"
    number = "1 id" if count == 1 else f"{count} ids"
    return SottovoceError("row_id", rule, Words(f"{number}, such as {value_text(example)},"))


def id_kind(kind: Any, name: str) -> int:
    """Kind of ids of an Arrow type; types whose equal values may be written differently are refused."""
    types = pyarrow().types
    stored = kind.storage_type if isinstance(kind, pyarrow().BaseExtensionType) else kind
    value_type = stored.value_type if types.is_dictionary(stored) else stored
    if types.is_integer(value_type) or (types.is_decimal(value_type) and value_type.scale == 0):
        return INTEGER
    if types.is_string(value_type) or types.is_large_string(value_type) or types.is_string_view(value_type):
        return TEXT
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    if any(is_kind(value_type) for is_kind in binary):
        return BYTES
    rule = f"must name a column of whole numbers, text or bytes (cast others to text); {name!r} holds"
    raise SottovoceError("row_id", rule, Words(str(value_type)))


def _integers(decimals: Any, name: str) -> Any:
    """Whole numbers that a database stores as decimal ones, as those without a sign in Spark."""
    arrow = pyarrow()
    if decimals.type.bit_width < 128:  # of which Arrow does not find the least
        decimals = decimals.cast(arrow.decimal128(decimals.type.precision, 0))
    try:
        low = arrow.compute.min(decimals).as_py()
        return decimals.cast(arrow.int64() if low is None or low < 0 else arrow.uint64())
    except arrow.ArrowInvalid:
        rule = f"must be whole numbers of at most 64 bits (cast larger ones to text); {name!r} holds"
        largest = max(decimals.to_pylist(), key=Decimal.copy_abs)  # abs() would round it
        raise SottovoceError("row_id", rule, Words(f"{largest:f}")) from None


def _integer_blocks(values: NDArray[np.integer]) -> BlocksOf128:
    blocks = np.empty((len(values), 2), "<u8")
    blocks[:, 0] = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64, copy=False).view(np.uint64)
    blocks[:, 1] = values < 0
    blocks[:, 1] |= np.uint64(INTEGER << 56)
    return blocks


def _text_blocks(kind: int, values: Any, encrypt: Encrypt) -> BlocksOf128:
    """Blocks of text or bytes, read from Arrow's offsets and bytes."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    starts, lengths = ends[:-1], np.diff(ends)
    blocks = _cut(text, starts, np.minimum(lengths, LONGEST_IN_BLOCK))
    blocks[:, 1] |= (lengths.astype(np.uint64) << np.uint64(48)) | np.uint64(kind << 56)
    long = np.flatnonzero(lengths > LONGEST_IN_BLOCK)
    if len(long):
        blocks[long] = _hashes(kind, text, starts[long], lengths[long], encrypt)
    return blocks


def _cut(text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> BlocksOf128:
    """Up to 16 bytes from each start, padded with zeros."""
    here = np.arange(16)
    taken = text.take(starts[:, None] + here, mode="clip")
    taken *= here < lengths[:, None]
    return taken.view("<u8")


def _hashes(
    kind: int, text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], encrypt: Encrypt
) -> BlocksOf128:
    """CBC-MAC of each text, all texts at once: step by step, each with those that are long enough."""
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    first = np.empty((len(order), 2), "<u8")
    first[:, 0], first[:, 1] = lengths, kind << 56
    state = encrypt(first).copy()
    for done in range(0, int(lengths[0]), 16):
        left = int(np.searchsorted(-lengths, -done))
        block = _cut(text, starts[:left] + done, np.minimum(lengths[:left] - done, 16))
        state[:left] = encrypt(state[:left] ^ block)
    hashes = np.empty_like(state)
    hashes[order] = state
    return hashes


def check_unique(source: Source, name: str, encrypt: Encrypt, most: int = MOST_AT_ONCE) -> int:
    """Refuse a column in which ids are missing or repeated; return the number of rows.

    64 bits of the encrypted ids are sorted, which takes 16 bytes of memory for each id. Beyond `most` ids, the column
    is read several times, and each time some of them are compared. Ids whose 64 bits are equal are then compared.
    """
    rows = some_rows(source.count_rows())
    times = -(-rows // most)
    suspects = [_equal_prints(source, name, encrypt, turn, times) for turn in range(times)]
    number = sum(map(len, suspects))
    if number:
        shown = np.concatenate(suspects)[:MOST_COMPARED]
        listed = Counter(value for prints, ids in _prints(source, name, encrypt) for value in ids.of(prints, shown))
        repeated = [value for value, times in listed.items() if times > 1]
        if repeated:
            raise repeated_ids(name, len(repeated) if number <= MOST_COMPARED else number, repeated[0])
    return rows


def _equal_prints(source: Source, name: str, encrypt: Encrypt, turn: int, times: int) -> NDArray[np.uint64]:
    """64 bits that several ids have, of those that it is the turn of."""
    parts = [prints[prints % np.uint64(times) == turn] for prints, _ in _prints(source, name, encrypt)]
    ordered = np.concatenate(parts)
    ordered.sort()
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def _prints(source: Source, name: str, encrypt: Encrypt) -> Iterator[tuple[NDArray[np.uint64], RowIds]]:
    """64 bits of each encrypted id, batch by batch; missing ids are counted and refused at the end."""
    missing = 0
    for batch in source.batches([name]):
        column: Any = batch[name]
        missing += column.to_native().null_count
        ids = row_ids(column.to_native().drop_null(), name)
        starts = range(0, len(ids), ROWS_AT_ONCE)
        parts = [encrypt(ids.blocks(i, min(i + ROWS_AT_ONCE, len(ids)), encrypt))[:, 0] for i in starts]
        yield np.concatenate([np.zeros(0, np.uint64), *parts]), ids
    if missing:
        raise missing_ids(name, missing)
