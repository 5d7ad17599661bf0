"""Transactions in memory or in a file, counted for mining: single items first, then sets of chosen items.

A file is read once for each count, one batch in memory at a time, unless the bits of the chosen items are few enough
to be kept. Rows that an engine holds elsewhere are counted there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.all_ones import (
    chosen_bits,
    count_all_ones,
    count_listed_pairs,
    count_pairs,
    count_singles,
    sample_rows,
    sparse_pairs_pay,
)
from sottovoce.counts.protocol import Counter, Counts, Sets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.parallel import pipeline
from sottovoce.tables.source import Source, some_rows
from sottovoce.tables.sparse_rows import csr_batches

Chosen = NDArray[np.int64]
"""Indices of items, ascending."""

MOST_HELD = 2**30
"""Most bytes of bits of a file that are kept: one gibibyte."""


class Narrowed(Protocol):
    """Protocol for transactions of some chosen items, renumbered from 0."""

    def pairs(self) -> Counts:
        """Number of transactions with both of two items, `counts[i, j]` for i < j."""

    def all_ones(self, sets: Sets) -> Counts:
        """Number of transactions with all items of each set."""


class Transactions(Protocol):
    """Protocol for transactions, wherever they are."""

    def rows(self) -> int:
        """Number of transactions."""

    def singles(self) -> Counts:
        """Number of transactions with each item."""

    def narrowed(self, chosen: Chosen) -> Narrowed:
        """Return the transactions with the chosen items only."""

    def sample(self, size: int) -> "Transactions | None":
        """Draw transactions at random without replacement; None where that would not save time."""


@dataclass(frozen=True, eq=False)
class BitParts:
    """Chosen items as bitsets, in one or more parts; pairs are counted from sparse rows where that is faster."""

    parts: Callable[[], Iterable[Bitsets]]
    sparse_pairs: Callable[[], Counts] | None = None

    def pairs(self) -> Counts:
        """Counts from sparse rows where that is faster, else on the bits."""
        if self.sparse_pairs is not None:
            return self.sparse_pairs()
        return np.asarray(sum(count_pairs(bits) for bits in self.parts()))

    def all_ones(self, sets: Sets) -> Counts:
        """Sum of the counts of all parts."""
        return np.asarray(sum(count_all_ones(bits, sets) for bits in self.parts()))


@dataclass(frozen=True, eq=False)
class SparseTransactions:
    """Transactions as sparse rows in memory.

    >>> baskets = SparseTransactions((np.array([0, 2, 2, 3]), np.array([0, 1, 1], np.int32)), items=2)
    >>> baskets.singles(), baskets.narrowed(np.array([0, 1])).all_ones(np.array([[0, 1]]))
    (array([1, 2]), array([1]))
    """

    csr: Csr
    items: int

    def rows(self) -> int:
        """Number of transactions."""
        return len(self.csr[0]) - 1

    def singles(self) -> Counts:
        """Count the listed items."""
        return self._singles

    @cached_property
    def _singles(self) -> Counts:
        return count_singles(self.csr[1], self.items)

    def narrowed(self, chosen: Chosen) -> BitParts:
        """Bitsets of the chosen items, built when they are first counted on."""
        parts = cache(lambda: [chosen_bits(self.csr, self.items, chosen)])
        if sparse_pairs_pay(self.rows(), len(self.csr[1]), self._singles[chosen]):
            return BitParts(parts, lambda: count_listed_pairs(self.csr, self.items, chosen))
        return BitParts(parts)

    def sample(self, size: int) -> "SparseTransactions":
        """Sample of the sparse rows."""
        return SparseTransactions(sample_rows(self.csr, size), self.items)


@dataclass(frozen=True, eq=False)
class HeldTransactions:
    """Transactions as bitsets in memory."""

    bits: Bitsets

    def rows(self) -> int:
        """Number of transactions."""
        return self.bits.count

    def singles(self) -> Counts:
        """Count the bits of each item."""
        return count_all_ones(self.bits, np.arange(self.bits.items)[:, None])

    def narrowed(self, chosen: Chosen) -> BitParts:
        """Bitsets of the chosen items, side by side."""
        bits = Bitsets(np.ascontiguousarray(self.bits.words[:, chosen]), self.bits.count)
        return BitParts(lambda: [bits])

    def sample(self, size: int) -> None:
        """None: gathering the bits of a sample one by one saves no time."""


@dataclass(eq=False)
class StreamedTransactions:
    """Transactions in a column of a table or file, which is read again for each count.

    Where an engine holds the rows in parts, they are counted there, and only counts come back.
    """

    source: Source
    variable: ItemSet
    most_held: int = field(default_factory=lambda: MOST_HELD)
    _rows: int = field(default=0, init=False, repr=False)

    def rows(self) -> int:
        """Number of transactions, known once single items are counted."""
        return self._rows

    def singles(self) -> Counts:
        """Sum of the counts of all parts."""
        counts = self.count(_singles_of_part)
        self._rows = some_rows(counts[-1])
        return counts[:-1]

    def narrowed(self, chosen: Chosen) -> "BitParts | ItemsReadAgain":
        """Bitsets of the chosen items: kept if they are here and small enough, else built again for each count."""
        if self.source.remote or self._rows * len(chosen) > 8 * self.most_held:
            return ItemsReadAgain(self, chosen)
        held = [_bits(self.variable, chosen, batch) for batch in _batches(self.variable, self.source)]
        return BitParts(lambda: held)

    def sample(self, size: int) -> None:
        """None: drawing rows takes as long as reading them all."""

    def count(self, work: Callable[..., Counts], *arguments: Any) -> Counts:
        """Sum of what `work(variable, *arguments, part)` counts in each part."""
        counted = self.source.map_parts([self.variable.name], partial(work, self.variable, *arguments))
        return np.asarray(sum(counted), np.int64)


@dataclass(frozen=True, eq=False)
class ItemsReadAgain:
    """Chosen items of transactions that are read again for each count, where they are."""

    transactions: StreamedTransactions
    chosen: Chosen

    def pairs(self) -> Counts:
        """Sum of the counts of all parts."""
        return self.transactions.count(_pairs_of_part, self.chosen)

    def all_ones(self, sets: Sets) -> Counts:
        """Sum of the counts of all parts."""
        return self.transactions.count(_sets_of_part, self.chosen, sets)


def _singles_of_part(variable: ItemSet, part: Source) -> Counts:
    """Number of transactions of a part with each item, and, last, of all its transactions."""
    counts, rows = np.zeros(len(variable.items), np.int64), 0
    for indptr, indices in _batches(variable, part):
        counts += count_singles(indices, len(counts))
        rows += len(indptr) - 1
    return np.append(counts, rows)


def _pairs_of_part(variable: ItemSet, chosen: Chosen, part: Source) -> Counts:
    """Number of transactions of a part with both of two chosen items."""
    counts = np.zeros((len(chosen), len(chosen)), np.int64)
    for batch in _batches(variable, part):
        counts += count_pairs(_bits(variable, chosen, batch))
    return counts


def _sets_of_part(variable: ItemSet, chosen: Chosen, sets: Sets, part: Source) -> Counts:
    """Number of transactions of a part with all items of each set of chosen ones."""
    counts = np.zeros(len(sets), np.int64)
    for batch in _batches(variable, part):
        counts += count_all_ones(_bits(variable, chosen, batch), sets)
    return counts


def _batches(variable: ItemSet, part: Source) -> Iterator[Csr]:
    """Items of each transaction, batch by batch: of a whole table read ahead, of one of several parts as it comes."""
    if part.may_be_empty:
        yield from csr_batches(part, variable)
        return
    with pipeline() as ahead:
        yield from ahead(csr_batches(part, variable))


def _bits(variable: ItemSet, chosen: Chosen, batch: Csr) -> Bitsets:
    return chosen_bits(batch, len(variable.items), chosen)


@dataclass(frozen=True, eq=False)
class AskedTransactions:
    """Transactions behind any counter, such as a database."""

    counter: Counter
    schema: Schema

    def rows(self) -> int:
        """Number of reports."""
        return self.counter.rows()

    def singles(self) -> Counts:
        """Counts of sets of one item."""
        return self.counter.all_ones(self.schema, np.arange(len(self.schema.sizes))[:, None])

    def narrowed(self, chosen: Chosen) -> "AskedChosen":
        """Chosen items of the counter."""
        return AskedChosen(self, chosen)

    def sample(self, size: int) -> None:
        """None: a counter cannot sample."""


@dataclass(frozen=True, eq=False)
class AskedChosen:
    """Chosen items of a counter."""

    asked: AskedTransactions
    chosen: Chosen

    def pairs(self) -> Counts:
        """Counts of sets of two items, as a table."""
        counts = np.zeros((len(self.chosen),) * 2, np.int64)
        first, second = np.triu_indices(len(self.chosen), 1)
        counts[first, second] = self.all_ones(np.stack([first, second], axis=1))
        return counts

    def all_ones(self, sets: Sets) -> Counts:
        """Counts of the counter, for the original indices of the items."""
        return self.asked.counter.all_ones(self.asked.schema, self.chosen[sets])


def count_patterns(items: Narrowed, windows: Sequence[Chosen], rows: int) -> list[NDArray[np.float64]]:
    """Count all sets of each window's items, in a table with an axis of two for each item; the empty set has all rows.

    >>> from sottovoce.counts.transactions import SparseTransactions
    >>> baskets = SparseTransactions((np.array([0, 2, 2, 3]), np.array([0, 1, 1], np.int32)), items=2)
    >>> count_patterns(baskets.narrowed(np.array([0, 1])), [np.array([0, 1])], rows=3)[0].tolist()
    [[3.0, 2.0], [1.0, 1.0]]
    """
    tables = [np.full((2,) * len(window), float(rows)) for window in windows]
    for length in range(1, max(map(len, windows)) + 1):
        subsets = [_subsets(len(window), length) for window in windows]
        sets = np.concatenate([window[indices] for window, indices in zip(windows, subsets, strict=True)])
        counted = np.split(items.all_ones(sets), np.cumsum([len(indices) for indices in subsets])[:-1])
        for table, indices, counts in zip(tables, subsets, counted, strict=True):
            table.reshape(-1)[cell_numbers(indices, table.ndim)] = counts
    return tables


def _subsets(width: int, length: int) -> Sets:
    return np.array([*combinations(range(width), length)], np.int64).reshape(-1, length)


def cell_numbers(indices: Sets, width: int) -> Counts:
    """Return the index of the cell that has ones at these indices of a window.

    >>> cell_numbers(np.array([[0, 1], [0, 2]]), width=3).tolist()
    [6, 5]
    """
    return np.asarray((1 << (width - 1 - indices)).sum(axis=-1))
