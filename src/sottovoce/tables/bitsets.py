"""Transactions as vertical bitsets in blocks: the layout that disguising writes and mining counts.

`words[block, item, word]` is an unsigned 64-bit integer. A block holds `64 B` transactions, B being a
power of two, at most 128 and no larger than all transactions need. Transaction t is in

    block t // (64 B),  word t % (64 B) // 64,  bit t % 64 (bit 0 is the lowest),

and its bit is set for the items it contains. Bits beyond the last transaction are zero. One block of
1,000 items takes 1 MiB, so it stays in the cache of a core while all of its items are processed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import EmptyTableError, SottovoceError, Words
from sottovoce.tables import _bit_arrays, _bit_loops
from sottovoce.tables.parallel import in_threads, kernel, row_ranges

MOST_WORDS = 128
"""Most words of one item in a block, chosen by measurement: see `benchmarks/disguise/transactions.py`."""

Csr = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Transactions in compressed sparse rows: `indptr`, where the items of each start and end, and `indices`, the items."""


@dataclass(frozen=True, eq=False)
class Bitsets:
    """Blocks of words, and the number of transactions they hold.

    >>> sets = Bitsets.from_csr([0, 2, 2, 3], [0, 1, 1], items=2)
    >>> sets.words.tolist(), sets.count, sets.items
    ([[[1], [5]]], 3, 2)
    >>> sets.to_csr()
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=int32))
    """

    words: NDArray[np.uint64]
    count: int

    def __post_init__(self) -> None:
        """Check type and shape of the words."""
        if self.count < 1:
            raise SottovoceError("transactions", "must be at least one", self.count)
        shape = _shape(self.count, self.items)
        if self.words.dtype != np.uint64 or self.words.shape != shape:
            got = Words(f"{self.words.dtype} words of shape {self.words.shape}")
            raise SottovoceError("bitsets", f"must be uint64 words of shape {shape}", got)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.words.shape[1]) if self.words.ndim == 3 else 0

    @property
    def lanes(self) -> int:
        """Number of transactions that a block has room for."""
        return 64 * int(self.words.shape[2])

    @classmethod
    def empty(cls, count: int, items: int) -> "Bitsets":
        """Allocate transactions without any item, to be filled in."""
        return cls(np.zeros(_shape(max(count, 1), items), np.uint64), count)

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, items: int, threads: int | None = None) -> "Bitsets":
        """Set the bits of listed items; the result does not depend on the number of threads."""
        indptr, indices = checked_csr(indptr, indices, items)
        sets = cls.empty(len(indptr) - 1, items)
        set_bits = kernel(_bit_loops.set_bits, _bit_arrays.set_bits)
        in_threads(
            lambda block: set_bits(sets.words[block], sets.rows(indptr, block), indices), len(sets.words), threads
        )
        return sets

    def to_csr(self, threads: int | None = None) -> Csr:
        """List the items of each transaction, ascending."""
        add_sizes = kernel(_bit_loops.add_sizes, _bit_arrays.add_sizes)
        list_items = kernel(_bit_loops.list_items, _bit_arrays.list_items)
        indptr = np.zeros(self.count + 1, np.int64)
        in_threads(lambda b: add_sizes(self.words[b], self.rows(indptr, b)[1:]), len(self.words), threads)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        in_threads(lambda b: list_items(self.words[b], self.rows(indptr, b)[:-1], indices), len(self.words), threads)
        return indptr, indices

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.bool_]) -> "Bitsets":
        """Pack a matrix of transactions x items."""
        sets = cls.empty(*matrix.shape)
        for block, words in enumerate(sets.words):
            part = matrix[block * sets.lanes : (block + 1) * sets.lanes].T
            packed = np.packbits(part, axis=1, bitorder="little")
            words.view(np.uint8)[:, : packed.shape[1]] = packed
        return sets

    def to_matrix(self) -> NDArray[np.bool_]:
        """Unpack into a matrix of transactions x items."""
        blocks = [_bit_arrays.unpacked(words).T for words in self.words]
        return np.concatenate(blocks)[: self.count].astype(bool)

    def rows(self, indptr: NDArray[np.int64], block: int) -> NDArray[np.int64]:
        """Slice of `indptr` of the transactions of a block, including the end of the last."""
        return indptr[block * self.lanes : (block + 1) * self.lanes + 1]

    def clear_beyond(self) -> None:
        """Set the bits beyond the last transaction to zero."""
        held = np.zeros(self.lanes, np.uint8)
        held[: (self.count - 1) % self.lanes + 1] = 1
        self.words[-1] &= np.packbits(held, bitorder="little").view("<u8")


def checked_csr(indptr: Any, indices: Any, items: int) -> Csr:
    """Return both arrays; refuse rows that do not list numbers of items in ascending order, each once."""
    starts, listed = np.asarray(indptr), np.asarray(indices)
    if listed.size == 0:
        listed = listed.astype(np.int32)
    for name, array in (("indptr", starts), ("indices", listed)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise SottovoceError(name, "must be a one-dimensional array of integers", array)
    if len(starts) < 2:
        raise EmptyTableError("transactions", "must be at least one", max(len(starts) - 1, 0))
    starts = starts.astype(np.int64, copy=False)
    if starts[0] != 0 or starts[-1] != len(listed) or (starts[1:] < starts[:-1]).any():
        raise SottovoceError("indptr", f"must ascend from 0 to the {len(listed)} indices", starts)
    row = first_invalid_row(starts, listed, items)
    if row is not None:
        rule = f"must be ascending numbers of items, each once, from 0 to {items - 1}; transaction {row}"
        raise SottovoceError("indices", rule, listed[starts[row] : starts[row + 1]].tolist())
    return starts, listed.astype(np.int32, copy=False)


def first_invalid_row(indptr: NDArray[np.int64], indices: Any, items: int) -> int | None:
    """Index of the first transaction whose items are not ascending numbers below `items`, each once; None if all are.

    >>> first_invalid_row(np.array([0, 2, 4]), np.array([0, 2, 1, 1]), items=3)
    1
    """
    search, parts = kernel(_bit_loops.first_invalid_row, _bit_arrays.first_invalid_row), row_ranges(len(indptr) - 1)
    first = np.full(len(parts), -1)

    def work(part: int) -> None:
        first[part] = search(indptr[parts[part].start : parts[part].stop + 1], indices, items)

    in_threads(work, len(parts), None)
    invalid = np.flatnonzero(first >= 0)
    return int(parts[invalid[0]].start + first[invalid[0]]) if len(invalid) else None


def _shape(count: int, items: int) -> tuple[int, int, int]:
    words = min(MOST_WORDS, 1 << (-(-count // 64) - 1).bit_length())
    return -(-count // (64 * words)), items, words
