"""Counters of reports in tables, files and bitsets: joint cells of columns, and sets of items."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.all_ones import count_all_ones
from sottovoce.counts.frequencies import Frequencies, checked_frequencies, coded_with
from sottovoce.counts.protocol import Counter, Counts, Sets, check_sets
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.bulk import BULK_ROWS, join, kernels
from sottovoce.schemas.attribute import Codes, Columns, check_codes, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.tables._bit_arrays import unpacked
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.source import Source, open_source

ROWS_AT_ONCE = 2**15
"""Rows whose joint cells are computed at once: they fit the cache."""

MOST_CELLS = 2**28
"""Most joint cells that are counted: two gibibytes of counts."""

SETS_AT_ONCE = 2**14
"""Rows multiplied at once: single precision counts them exactly, and they fit the cache."""

MOST_CELLS_HELD = 2**22
"""Most joint cells that `MarginCounter` holds; of more, it counts every margin from the reports."""


def count_cells(columns: Sequence[Codes], sizes: Sequence[int], frequencies: Counts | None = None) -> Counts:
    """Count the rows in each joint cell of coded columns, by the index of the cell: the last column varies fastest.

    With frequencies, a row counts as often as its frequency says.

    >>> count_cells([np.array([0, 1, 1]), np.array([2, 0, 0])], (2, 3))
    array([0, 0, 1, 2, 0, 0])
    >>> count_cells([np.array([0, 1, 1])], (2,), np.array([5, 0, 3]))
    array([5, 3])
    """
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise SottovoceError("sizes", "must have at most 2^28 joint cells to be counted one by one", tuple(sizes))
    check_codes(columns, sizes)
    if frequencies is not None:
        return np.bincount(ravel(columns, sizes), frequencies, minlength=cells).astype(np.int64)
    counts = np.zeros(cells, np.int64)
    loops = kernels("sottovoce.counts._kernels") if len(columns[0]) >= BULK_ROWS else None
    # numpy's counts of a chunk are as long as the table, so chunks must not be shorter than the table.
    rows = ROWS_AT_ONCE if loops else max(ROWS_AT_ONCE, cells)
    for start in range(0, len(columns[0]), rows):
        chunk = [codes[start : start + rows] for codes in columns]
        if loops:
            loops.tally(join(kernels(), chunk, sizes), counts)
        else:
            counts += np.bincount(ravel(chunk, sizes), minlength=cells)
    return counts


def count_inclusions(columns: Sequence[Codes]) -> NDArray[np.int64]:
    """Count the rows in which both of two bits are set, for all pairs; the diagonal counts single bits.

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
    """Sum scores, one for each bit, and the products of all pairs of scores over the rows.

    `scores` is called with many rows at once, as columns of bits, and returns a score for every bit.

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
    """Counter of a table or file, which is read once for each question, batch by batch.

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
        """Number of rows; a file that has not been counted yet is read once."""
        if self._rows is None:
            stated = self.source.rows
            self._rows = self._count_rows() if stated is None else stated
        return self._rows

    def contingency(self, schema: Schema) -> Counts:
        """Sum of the counts of all batches."""
        counts = np.asarray(sum(count_cells(columns, schema.sizes) for columns in self.source.coded(schema)))
        self._rows = int(counts.sum())
        return counts

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Pack the wanted items of each batch into bitsets, and count on the bits."""
        check_sets(schema, sets)
        asked, local = np.unique(sets, return_inverse=True)
        counts, rows = np.zeros(len(sets), np.int64), 0
        for columns in self.source.coded(schema):
            bits = np.stack([columns[item] for item in asked]).astype(bool)
            counts += count_all_ones(Bitsets.from_matrix(bits.T), local.reshape(sets.shape))
            rows += len(columns[0])
        self._rows = rows
        return counts

    def _count_rows(self) -> int:
        name = self.source.names[0]
        return sum(len(batch[name]) for batch in self.source.batches([name]))


@dataclass
class FrequencyCounter:
    """Counter of a table or file whose rows stand for several equal reports each.

    >>> from sottovoce.schemas.attribute import boolean
    >>> counter = FrequencyCounter(open_source({"a": [True, False], "n": [831, 1604]}), "n")
    >>> counter.contingency(Schema([boolean("a")]))
    array([1604,  831])
    >>> counter.rows()
    2435
    """

    source: Source
    frequencies: Frequencies
    _rows: int | None = field(default=None, init=False, repr=False)

    def rows(self) -> int:
        """Number of reports: the sum of the frequencies."""
        if self._rows is None:
            name = self.frequencies
            columns = (batch[name] for batch in self.source.batches([name])) if isinstance(name, str) else [name]
            self._rows = sum(int(checked_frequencies(column, slice(0, 0)).sum()) for column in columns)
        return self._rows

    def contingency(self, schema: Schema) -> Counts:
        """Sum of the frequencies in each joint cell."""
        batches = self._coded(schema)
        counts = np.asarray(sum(count_cells(columns, schema.sizes, frequencies) for columns, frequencies in batches))
        self._rows = int(counts.sum())
        return counts

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Sum of the frequencies of the rows in which all bits of a set are one."""
        check_sets(schema, sets)
        counts, rows = np.zeros(len(sets), np.int64), 0
        for columns, frequencies in self._coded(schema):
            bits = np.stack(columns).astype(bool)
            counts += np.array([frequencies[bits[items].all(axis=0)].sum() for items in sets])
            rows += int(frequencies.sum())
        self._rows = rows
        return counts

    def _coded(self, schema: Schema) -> Iterator[tuple[Columns, Counts]]:
        for columns, rows, beside in coded_with(self.source, schema, frequencies=self.frequencies):
            yield columns, checked_frequencies(beside["frequencies"], rows)


@dataclass(frozen=True, eq=False)
class BitsetCounter:
    """Counter of transactions as vertical bitsets, one for each item of the only attribute of a schema."""

    bits: Bitsets

    def rows(self) -> int:
        """Number of transactions."""
        return self.bits.count

    def contingency(self, schema: Schema) -> Counts:
        """Sum of the counts of all blocks."""
        self._check(schema)
        return np.asarray(sum(count_cells(columns, schema.sizes) for columns in self._columns()))

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Count on the bits."""
        self._check(schema)
        check_sets(schema, sets)
        return count_all_ones(self.bits, sets)

    def _columns(self) -> Iterable[Columns]:
        left = self.bits.count
        for words in self.bits.words:
            yield tuple(unpacked(words)[:, :left])
            left -= self.bits.lanes

    def _check(self, schema: Schema) -> None:
        if len(schema.sizes) != self.bits.items:
            raise SottovoceError("bitsets", f"must have {len(schema.sizes)} items, as the schema", self.bits.items)


def as_counter(reports: Any, frequencies: Frequencies = None) -> Counter:
    """Return a counter of a table, its path, bitsets, or what is a counter already.

    >>> as_counter({"a": [1, 2, 1]}).rows()
    3
    """
    if frequencies is not None:
        if isinstance(reports, Counter | Bitsets):
            rule = "must be left out unless reports are a table or a file"
            raise SottovoceError("frequencies", rule, Words(type(reports).__name__))
        return FrequencyCounter(open_source(reports), frequencies)
    if isinstance(reports, Counter):
        return reports
    return BitsetCounter(reports) if isinstance(reports, Bitsets) else TableCounter(open_source(reports))


@dataclass(frozen=True, eq=False)
class MarginCounter:
    """Counter that counts the joint cells of a schema once, where they are few enough, and sums them for each margin.

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
        """Sums of the joint counts over the other columns, in the order asked for."""
        if prod(self.schema.sizes) > MOST_CELLS_HELD:
            return self.counter.contingency(schema)
        axes = [axis for name in schema.names for axis in range(*self._ends(name))]
        others = tuple(axis for axis in range(self._joint.ndim) if axis not in axes)
        kept = np.argsort(np.argsort(axes))
        return np.asarray(self._joint.sum(axis=others).transpose(kept).ravel())

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Counts of the underlying counter."""
        return self.counter.all_ones(schema, sets)

    @cached_property
    def _joint(self) -> Counts:
        return self.counter.contingency(self.schema).reshape(self.schema.sizes)

    def _ends(self, name: str) -> tuple[int, int]:
        columns = self.schema.columns_of(name)
        return columns.start, columns.stop
