"""Transactions that are not in memory: files and tables read in batches, and whoever else can count.

A file is read once for each question, so that no more than a batch of it is held, unless the bits of the chosen items
fit the memory that may be used: those are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sottovoce.count.listed import chosen_bits, count_singles
from sottovoce.count.protocol import Counter, Counts, Sets
from sottovoce.count.transactions import BitParts, Chosen
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.table.bitsets import Bitsets, Csr
from sottovoce.table.listed import listed_batches
from sottovoce.table.pipeline import pipeline
from sottovoce.table.source import Source

MOST_HELD = 2**30
"""Bytes of bits that are kept of a file: one gibibyte."""


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
