"""Transactions as miners ask for them, in memory or streamed: single items, then sets of those worth counting.

A file is read once for each question, so that no more than a batch of it is held, unless the bits of the chosen items
fit the memory that may be used: those are kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.all_ones import (
    chosen_bits,
    count_listed_pairs,
    count_pairs,
    count_singles,
    count_together,
    sampled_rows,
    sparse_pairs_pay,
)
from sottovoce.counts.protocol import Counter, Counts, Sets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.parallel import pipeline
from sottovoce.tables.source import Source
from sottovoce.tables.sparse_rows import listed_batches

Chosen = NDArray[np.int64]
"""Numbers of items, ascending."""
MOST_HELD = 2**30
"""Bytes of bits that are kept of a file: one gibibyte."""


class Narrowed(Protocol):
    """Some of the items, numbered anew from 0."""

    def pairs(self) -> Counts:
        """Transactions with both of two items, `counts[i, j]` for i < j."""

    def together(self, sets: Sets) -> Counts:
        """Transactions with all items of each set."""


class Transactions(Protocol):
    """Whatever holds transactions."""

    def rows(self) -> int:
        """Number of transactions."""

    def singles(self) -> Counts:
        """Transactions with each item."""

    def narrowed(self, chosen: Chosen) -> Narrowed:
        """The same transactions, with the chosen items only."""

    def sample(self, size: int) -> "Transactions | None":
        """So many transactions drawn at random, without repetition; None where that would save nothing."""


@dataclass(frozen=True, eq=False)
class BitParts:
    """Bitsets that may come in parts, each of which is counted on; and the sparse rows where they are at hand."""

    parts: Callable[[], Iterable[Bitsets]]
    sparse_pairs: Callable[[], Counts] | None = None

    def pairs(self) -> Counts:
        """From sparse rows where that is faster, else on the bits."""
        if self.sparse_pairs is not None:
            return self.sparse_pairs()
        return np.asarray(sum(count_pairs(bits) for bits in self.parts()))

    def together(self, sets: Sets) -> Counts:
        """Sum over the parts."""
        return np.asarray(sum(count_together(bits, sets) for bits in self.parts()))


@dataclass(frozen=True, eq=False)
class SparseTransactions:
    """Sparse rows in memory.

    >>> baskets = SparseTransactions((np.array([0, 2, 2, 3]), np.array([0, 1, 1], np.int32)), items=2)
    >>> baskets.singles(), baskets.narrowed(np.array([0, 1])).together(np.array([[0, 1]]))
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
        """Bits of the chosen items, built when they are asked for."""
        parts = cache(lambda: [chosen_bits(self.csr, self.items, chosen)])
        if sparse_pairs_pay(self.rows(), len(self.csr[1]), self._singles[chosen]):
            return BitParts(parts, lambda: count_listed_pairs(self.csr, self.items, chosen))
        return BitParts(parts)

    def sample(self, size: int) -> "SparseTransactions":
        """A sample of the rows, as sparse as they are."""
        return SparseTransactions(sampled_rows(self.csr, size), self.items)


@dataclass(frozen=True, eq=False)
class HeldTransactions:
    """Bitsets in memory."""

    bits: Bitsets

    def rows(self) -> int:
        """Number of transactions."""
        return self.bits.count

    def singles(self) -> Counts:
        """Count the bits of each item."""
        return count_together(self.bits, np.arange(self.bits.items)[:, None])

    def narrowed(self, chosen: Chosen) -> BitParts:
        """Rows of the chosen items, side by side."""
        bits = Bitsets(np.ascontiguousarray(self.bits.words[:, chosen]), self.bits.count)
        return BitParts(lambda: [bits])

    def sample(self, size: int) -> None:
        """Nothing: bits of a sample would have to be gathered one by one."""


@dataclass(eq=False)
class StreamedTransactions:
    """A column of a table or file that is read again for each question."""

    source: Source
    variable: ItemSet
    most_held: int = field(default_factory=lambda: MOST_HELD)
    _rows: int = field(default=0, init=False, repr=False)

    def rows(self) -> int:
        """As counted with the single items."""
        return self._rows

    def singles(self) -> Counts:
        """Sum over the batches."""
        counts, rows = np.zeros(len(self.variable.items), np.int64), 0
        for indptr, indices in self._batches():
            counts += count_singles(indices, len(counts))
            rows += len(indptr) - 1
        self._rows = rows
        return counts

    def narrowed(self, chosen: Chosen) -> BitParts:
        """Bits of the chosen items: kept if there are few enough, else built anew for each question."""

        def parts() -> Iterator[Bitsets]:
            return (chosen_bits(batch, len(self.variable.items), chosen) for batch in self._batches())

        if self._rows * len(chosen) > 8 * self.most_held:
            return BitParts(parts)
        held = list(parts())
        return BitParts(lambda: held)

    def sample(self, size: int) -> None:
        """Nothing: drawing rows would take as long as reading them all."""

    def _batches(self) -> Iterator[Csr]:
        with pipeline() as ahead:
            yield from ahead(listed_batches(self.source, self.variable))


@dataclass(frozen=True, eq=False)
class AskedTransactions:
    """Any counter: a database, say, that answers for sets of the columns of a schema."""

    counter: Counter
    schema: Schema

    def rows(self) -> int:
        """Number of reports."""
        return self.counter.rows()

    def singles(self) -> Counts:
        """Sets of one item."""
        return self.counter.all_ones(self.schema, np.arange(len(self.schema.sizes))[:, None])

    def narrowed(self, chosen: Chosen) -> "AskedChosen":
        """Remember which items are asked about."""
        return AskedChosen(self, chosen)

    def sample(self, size: int) -> None:
        """Nothing: a counter counts all it has."""


@dataclass(frozen=True, eq=False)
class AskedChosen:
    """Chosen items of a counter."""

    asked: AskedTransactions
    chosen: Chosen

    def pairs(self) -> Counts:
        """Sets of two items, spread out as a table."""
        counts = np.zeros((len(self.chosen),) * 2, np.int64)
        first, second = np.triu_indices(len(self.chosen), 1)
        counts[first, second] = self.together(np.stack([first, second], axis=1))
        return counts

    def together(self, sets: Sets) -> Counts:
        """Translate the numbers."""
        return self.asked.counter.all_ones(self.asked.schema, self.chosen[sets])


def count_patterns(items: Narrowed, windows: Sequence[Chosen], rows: int) -> list[NDArray[np.float64]]:
    """All-ones counts of all sets of each window's items, with an axis of two for each item; of no item, all rows.

    >>> from sottovoce.counts.transactions import SparseTransactions
    >>> baskets = SparseTransactions((np.array([0, 2, 2, 3]), np.array([0, 1, 1], np.int32)), items=2)
    >>> count_patterns(baskets.narrowed(np.array([0, 1])), [np.array([0, 1])], rows=3)[0].tolist()
    [[3.0, 2.0], [1.0, 1.0]]
    """
    found = [np.full((2,) * len(window), float(rows)) for window in windows]
    for length in range(1, max(map(len, windows)) + 1):
        places = [_places(len(window), length) for window in windows]
        sets = np.concatenate([window[own] for window, own in zip(windows, places, strict=True)])
        counted = np.split(items.together(sets), np.cumsum([len(own) for own in places])[:-1])
        for table, own, counts in zip(found, places, counted, strict=True):
            table.reshape(-1)[cell_numbers(own, table.ndim)] = counts
    return found


def _places(width: int, length: int) -> Sets:
    return np.array([*combinations(range(width), length)], np.int64).reshape(-1, length)


def cell_numbers(places: Sets, width: int) -> Counts:
    """Number of the cell that has ones at these places of a window.

    >>> cell_numbers(np.array([[0, 1], [0, 2]]), width=3).tolist()
    [6, 5]
    """
    return np.asarray((1 << (width - 1 - places)).sum(axis=-1))
