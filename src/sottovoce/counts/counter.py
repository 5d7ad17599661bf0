"""Counters of reports in memory: joint cells of tables and files, and sets of items in transactions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.all_ones import count_together
from sottovoce.counts.protocol import Counter, Counts, Sets, check_sets
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import BULK_ROWS, check_codes, join, kernels
from sottovoce.schemas.attribute import Codes, Columns, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.tables._bit_arrays import unpacked
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.source import Source, open_source

ROWS_AT_ONCE = 2**15
"""Rows whose joint cells are numbered together: memory stays bounded, and in the cache."""

MOST_CELLS = 2**28
"""Joint cells that are counted one by one: two gibibytes of counts."""
SETS_AT_ONCE = 2**14
"""Rows multiplied together: single precision counts them exactly, and they fit the cache."""
MOST_CELLS_HELD = 2**22
"""Joint cells that are held for their sums; of more, each question is asked of the reports."""


def count_cells(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Rows in each joint cell of coded columns, by the number of the cell: the last column varies fastest.

    >>> count_cells([np.array([0, 1, 1]), np.array([2, 0, 0])], (2, 3))
    array([0, 0, 1, 2, 0, 0])
    """
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise SottovoceError("sizes", "must have at most 2^28 joint cells to be counted one by one", tuple(sizes))
    check_codes(columns, sizes)
    counts = np.zeros(cells, np.int64)
    loops = kernels("sottovoce.counts._kernels") if len(columns[0]) >= BULK_ROWS else None
    # numpy's counts of a chunk are as long as the table: chunks no shorter than it cost no more than the rows.
    rows = ROWS_AT_ONCE if loops else max(ROWS_AT_ONCE, cells)
    for start in range(0, len(columns[0]), rows):
        chunk = [codes[start : start + rows] for codes in columns]
        if loops:
            loops.tally(join(kernels(), chunk, sizes), counts)
        else:
            counts += np.bincount(ravel(chunk, sizes), minlength=cells)
    return counts


def count_inclusions(columns: Sequence[Codes]) -> NDArray[np.int64]:
    """Rows in which both of two bits are set, for all pairs; the diagonal counts single bits.

    >>> count_inclusions([np.array([1, 1, 0]), np.array([0, 1, 1])])
    array([[2, 1],
           [1, 2]])
    """
    counts = np.zeros((len(columns), len(columns)), np.int64)
    for start in range(0, len(columns[0]), SETS_AT_ONCE):
        bits = np.stack([codes[start : start + SETS_AT_ONCE] for codes in columns]).astype(np.float32)
        counts += (bits @ bits.T).astype(np.int64)
    return counts


def sum_scores(
    columns: Sequence[Codes], scores: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over the rows of scores, one for each bit, and of the products of all pairs of them.

    `scores` gets many rows at once, as columns of bits, and gives a score for every bit of them.

    >>> sum_scores([np.array([1, 1, 0]), np.array([0, 1, 1])], lambda bits: bits / bits.sum(axis=0))
    (array([1.5, 1.5]), array([[1.25, 0.25],
           [0.25, 1.25]]))
    """
    sums, products = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    for start in range(0, len(columns[0]), SETS_AT_ONCE):
        rows = scores(np.stack([codes[start : start + SETS_AT_ONCE] for codes in columns]).astype(np.float64))
        sums += rows.sum(axis=1)
        products += rows @ rows.T
    return sums, products


@dataclass
class TableCounter:
    """A table or file, read once a question, one batch in memory at a time.

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> baskets = TableCounter(open_source({"basket": [["ale"], ["ale", "bread"]]}))
    >>> baskets.all_ones(Schema([ItemSet("basket", ["ale", "bread"])]), np.array([[0, 0], [0, 1]]))
    array([2, 1])
    >>> baskets.rows()
    2
    """

    source: Source
    _rows: int | None = field(default=None, init=False, repr=False)

    def rows(self) -> int:
        """As the table states them, or as they were counted; a file that nobody asked about is read for them."""
        if self._rows is None:
            stated = self.source.rows
            self._rows = self._counted() if stated is None else stated
        return self._rows

    def contingency(self, schema: Schema) -> Counts:
        """Sum over the batches."""
        counts = np.asarray(sum(count_cells(columns, schema.sizes) for columns in self.source.coded(schema)))
        self._rows = int(counts.sum())
        return counts

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Pack the items that are asked about, batch by batch, and count on the bits."""
        check_sets(schema, sets)
        asked, local = np.unique(sets, return_inverse=True)
        counts, rows = np.zeros(len(sets), np.int64), 0
        for columns in self.source.coded(schema):
            bits = np.stack([columns[item] for item in asked]).astype(bool)
            counts += count_together(Bitsets.from_matrix(bits.T), local.reshape(sets.shape))
            rows += len(columns[0])
        self._rows = rows
        return counts

    def _counted(self) -> int:
        name = self.source.names[0]
        return sum(len(batch[name]) for batch in self.source.batches([name]))


@dataclass(frozen=True, eq=False)
class BitsetCounter:
    """Transactions as vertical bitsets: the items of the one set that a schema has."""

    bits: Bitsets

    def rows(self) -> int:
        """Number of transactions."""
        return self.bits.count

    def contingency(self, schema: Schema) -> Counts:
        """Sum over the blocks."""
        self._check(schema)
        return np.asarray(sum(count_cells(columns, schema.sizes) for columns in self._columns()))

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Count where the bits lie."""
        self._check(schema)
        check_sets(schema, sets)
        return count_together(self.bits, sets)

    def _columns(self) -> Iterable[Columns]:
        left = self.bits.count
        for words in self.bits.words:
            yield tuple(unpacked(words)[:, :left])
            left -= self.bits.lanes

    def _check(self, schema: Schema) -> None:
        if len(schema.sizes) != self.bits.items:
            raise SottovoceError("bitsets", f"must have {len(schema.sizes)} items, as the schema", self.bits.items)


def as_counter(reports: Any) -> Counter:
    """Whatever answers a counter's questions as it is; bitsets, a table or its path in a counter of their own.

    >>> as_counter({"a": [1, 2, 1]}).rows()
    3
    """
    if isinstance(reports, Counter):
        return reports
    return BitsetCounter(reports) if isinstance(reports, Bitsets) else TableCounter(open_source(reports))


@dataclass(frozen=True, eq=False)
class MarginCounter:
    """A counter that counts the joint cells of a schema once and sums them up, where they are few enough.

    >>> from sottovoce.counts.counter import as_counter
    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> counter = MarginCounter(as_counter({"a": [True, True], "b": [False, True]}), schema)
    >>> counter.contingency(schema.project(["b"]))
    array([1, 1])
    """

    counter: Counter
    schema: Schema

    def rows(self) -> int:
        """Number of reports."""
        return self.counter.rows()

    def contingency(self, schema: Schema) -> Counts:
        """Sums over the other columns, in the order asked for."""
        if prod(self.schema.sizes) > MOST_CELLS_HELD:
            return self.counter.contingency(schema)
        axes = [axis for name in schema.names for axis in range(*self._ends(name))]
        others = tuple(axis for axis in range(self._joint.ndim) if axis not in axes)
        kept = np.argsort(np.argsort(axes))
        return np.asarray(self._joint.sum(axis=others).transpose(kept).ravel())

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """As the reports' own counter answers."""
        return self.counter.all_ones(schema, sets)

    @cached_property
    def _joint(self) -> Counts:
        return self.counter.contingency(self.schema).reshape(self.schema.sizes)

    def _ends(self, name: str) -> tuple[int, int]:
        columns = self.schema.columns_of(name)
        return columns.start, columns.stop
