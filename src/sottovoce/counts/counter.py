"""Counters of reports in tables, files and bitsets: joint cells of columns, and sets of items."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.all_ones import count_all_ones
from sottovoce.counts.frequencies import Frequencies, checked_frequencies, coded_with
from sottovoce.counts.patterns import PatternCounter, Patterns
from sottovoce.counts.protocol import Counter, Counts, Sets, check_sets
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.bulk import BULK_ROWS, join, kernels
from sottovoce.schemas.attribute import Codes, Columns, check_codes, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.tables._bit_arrays import unpacked
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.source import TIMES, Source, open_source, some_rows

ROWS_AT_ONCE = 2**15
"""Rows whose joint cells are computed at once: they fit the cache."""

MOST_CELLS = 2**28
"""Most joint cells that are counted: two gibibytes of counts."""

SETS_AT_ONCE = 2**14
"""Rows multiplied at once: single precision counts them exactly, and they fit the cache."""

MOST_CELLS_HELD = 2**22
"""Most joint cells that are held beside each other: by `MarginCounter` for all margins, or for each part of a file."""


def count_cells(columns: Sequence[Codes], sizes: Sequence[int], frequencies: Counts | None = None) -> Counts:
    """Count the rows in each joint cell of coded columns, by the index of the cell: the last column varies fastest.

    With frequencies, a row counts as often as its frequency says.

    >>> count_cells([np.array([0, 1, 1]), np.array([2, 0, 0])], (2, 3))
    array([0, 0, 1, 2, 0, 0])
    >>> count_cells([np.array([0, 1, 1])], (2,), np.array([5, 0, 3]))
    array([5, 3])
    """
    cells = countable_cells(sizes)
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


def countable_cells(sizes: Sequence[int]) -> int:
    """Return the number of joint cells; raise if they are too many to be counted one by one."""
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise SottovoceError("sizes", "must have at most 2^28 joint cells to be counted one by one", tuple(sizes))
    return cells


def count_sets(columns: Columns, times: Counts, sets: Sets) -> Counts:
    """Count the reports that have all bits of each set; a row stands for so many reports as `times` says.

    >>> count_sets((np.array([1, 1]), np.array([0, 1])), np.array([5, 3]), np.array([[0, 0], [0, 1]]))
    array([8, 3])
    """
    bits = np.stack(columns).astype(bool)
    return np.array([times[bits[items].all(axis=0)].sum() for items in sets])


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
    columns: Sequence[Codes], scores: Callable[[NDArray[np.float64]], NDArray[np.float64]], times: Counts
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum scores, one for each bit, and the products of all pairs of scores over the reports.

    `scores` is called with many rows at once, as columns of bits, and returns a score for every bit; a row stands for
    so many reports as `times` says.

    >>> bits = [np.array([1, 1, 0]), np.array([0, 1, 1])]
    >>> sum_scores(bits, lambda bits: bits / bits.sum(axis=0), np.array([1, 1, 1]))
    (array([1.5, 1.5]), array([[1.25, 0.25],
           [0.25, 1.25]]))
    """
    sums, products = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    for start in range(0, len(columns[0]), SETS_AT_ONCE):
        rows = scores(np.stack([codes[start : start + SETS_AT_ONCE] for codes in columns]).astype(np.float64))
        weighted = rows * times[start : start + SETS_AT_ONCE]
        sums += weighted.sum(axis=1)
        products += weighted @ rows.T
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
            self._rows = self.source.count_rows()
        return self._rows

    def contingency(self, schema: Schema) -> Counts:
        """Counts of the engine that holds the rows, or the sum of the counts of all batches."""
        self.source.check_names(schema.names)
        grouped = self.source.grouped(schema.names)
        if grouped is not None:
            counts = FrequencyCounter(grouped, TIMES).contingency(schema)
        elif prod(schema.sizes) > MOST_CELLS_HELD and not self.source.remote:
            counts = _cells_of_part(schema, self.source)  # a table for each part would take too much memory
        else:
            counts = _total(self.source.map_parts(schema.names, partial(_cells_of_part, schema)))
        self._rows = some_rows(counts.sum())
        return counts

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Pack the wanted items of each batch into bitsets, and count on the bits."""
        check_sets(schema, sets)
        self.source.check_names(schema.names)
        counts = _total(self.source.map_parts(schema.names, partial(_sets_of_part, schema, sets)))
        self._rows = some_rows(counts[-1])
        return counts[:-1]

    def patterns(self, schema: Schema) -> Patterns:
        """Different rows of these columns, counted by the engine that holds the rows, or part by part."""
        self.source.check_names(schema.names)
        grouped = self.source.grouped(schema.names)
        if grouped is not None:
            found = FrequencyCounter(grouped, TIMES).patterns(schema)
        else:
            parts = self.source.map_parts(schema.names, partial(_patterns_of_part, schema))
            found = Patterns.joined(parts, schema.sizes)
        self._rows = some_rows(found.reports)
        return found


def _cells_of_part(schema: Schema, part: Source) -> Counts:
    """Number of rows of a part in each joint cell."""
    counts = np.zeros(countable_cells(schema.sizes), np.int64)
    for columns in part.coded(schema):
        counts += count_cells(columns, schema.sizes)
    return counts


def _sets_of_part(schema: Schema, sets: Sets, part: Source) -> Counts:
    """Number of rows of a part that hold all bits of each set, and, last, of all its rows."""
    asked, local = np.unique(sets, return_inverse=True)
    counts, rows = np.zeros(len(sets), np.int64), 0
    for columns in part.coded(schema):
        bits = np.stack([columns[item] for item in asked]).astype(bool)
        counts += count_all_ones(Bitsets.from_matrix(bits.T), local.reshape(sets.shape))
        rows += len(columns[0])
    return np.append(counts, rows)


def _patterns_of_part(schema: Schema, part: Source) -> Patterns:
    """Different rows of a part."""
    return Patterns.of(((columns, None) for columns in part.coded(schema)), schema.sizes)


def _total(parts: Iterable[Counts]) -> Counts:
    return np.asarray(sum(parts), np.int64)


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
            counts += count_sets(columns, frequencies, sets)
            rows += int(frequencies.sum())
        self._rows = rows
        return counts

    def patterns(self, schema: Schema) -> Patterns:
        """Different rows of these columns, and the sums of their frequencies."""
        found = Patterns.of(self._coded(schema), schema.sizes)
        self._rows = found.reports
        return found

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

    def patterns(self, schema: Schema) -> Patterns:
        """Different transactions."""
        self._check(schema)
        return Patterns.of(((columns, None) for columns in self._columns()), schema.sizes)

    def _columns(self) -> Iterable[Columns]:
        left = self.bits.count
        for words in self.bits.words:
            yield tuple(unpacked(words)[:, :left])
            left -= self.bits.lanes

    def _check(self, schema: Schema) -> None:
        if len(schema.sizes) != self.bits.items:
            raise SottovoceError("bitsets", f"must have {len(schema.sizes)} items, as the schema", self.bits.items)


@dataclass(frozen=True, eq=False)
class CodedCounter:
    """Counter of coded columns in memory, each row of which stands for so many reports as `times` says.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> counter = CodedCounter(schema, (np.array([0, 1]), np.array([1, 1])), np.array([5, 3]))
    >>> counter.contingency(schema.project(["b"])), counter.rows()
    (array([0, 8]), 8)
    """

    schema: Schema
    columns: Columns
    times: Counts | None = None

    def rows(self) -> int:
        """Number of reports."""
        return len(self.columns[0]) if self.times is None else int(self.times.sum())

    def contingency(self, schema: Schema) -> Counts:
        """Number of reports in each joint cell of some of the columns, in the order asked for."""
        return count_cells(self._some(schema), schema.sizes, self.times)

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Number of reports that have all bits of each set."""
        check_sets(schema, sets)
        found = self.patterns(schema)
        return count_sets(found.columns, found.times, sets)

    def patterns(self, schema: Schema) -> Patterns:
        """Different combinations of some of the columns, and how many reports have each."""
        return Patterns.of([(self._some(schema), self.times)], schema.sizes)

    def _some(self, schema: Schema) -> Columns:
        """Some of the columns; raise for one that was not counted, or with other categories."""
        for variable in schema:
            if variable.name not in self.schema.names:
                rule = f"must have been counted, as {', '.join(self.schema.names)}"
                raise SottovoceError("names", rule, variable.name)
            if self.schema[variable.name] != variable:
                raise SottovoceError("names", "must have the categories that were counted", variable.name)
        return tuple(codes for name in schema.names for codes in self.columns[self.schema.columns_of(name)])


def joint_counts(counter: PatternCounter, schema: Schema, subsets: Sequence[Sequence[int]]) -> list[Counts]:
    """Count the joint cells of several sets of coded columns; a table is read once for all of them.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> joint_counts(TableCounter(open_source({"a": [True, True], "b": [False, True]})), schema, [[0], [1, 0]])
    [array([0, 2]), array([0, 1, 0, 1])]
    """
    if not isinstance(counter, TableCounter):
        found = counter.patterns(schema)
        some_rows(found.reports)
        return _subset_counts(schema, subsets, [(found.columns, found.times)])
    counter.source.check_names(schema.names)
    parts = counter.source.map_parts(schema.names, partial(_subsets_of_part, schema, subsets))
    counts = [_total(each) for each in zip(*parts, strict=True)]
    some_rows(counts[0].sum() if counts else 0)
    return counts


def _subsets_of_part(schema: Schema, subsets: Sequence[Sequence[int]], part: Source) -> list[Counts]:
    return _subset_counts(schema, subsets, ((columns, None) for columns in part.coded(schema)))


def _subset_counts(
    schema: Schema, subsets: Sequence[Sequence[int]], batches: Iterable[tuple[Columns, Counts | None]]
) -> list[Counts]:
    sizes = [[schema.sizes[column] for column in subset] for subset in subsets]
    counts = [np.zeros(countable_cells(each), np.int64) for each in sizes]
    for columns, times in batches:
        for total, subset, each in zip(counts, subsets, sizes, strict=True):
            np.add(total, count_cells([columns[column] for column in subset], each, times), out=total)
    return counts


def as_pattern_counter(reports: Any, frequencies: Frequencies = None) -> PatternCounter:
    """Return a counter that knows the patterns of reports; raise for one that knows less."""
    counter = as_counter(reports, frequencies)
    if isinstance(counter, PatternCounter):
        return counter
    raise SottovoceError("reports", "must be a table, a file or a tally", Words(type(reports).__name__))


def as_counter(reports: Any, frequencies: Frequencies = None) -> Counter:
    """Return a counter of a table, its path, bitsets, Reports, or what is a counter already.

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
    if hasattr(reports, "as_counter"):  # Reports, which this room does not know
        counter: Counter = reports.as_counter()
        return counter
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
