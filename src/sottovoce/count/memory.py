"""Counters of reports at hand: tables and files read in batches, and transactions as bitsets."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.count.contingency import count_cells
from sottovoce.count.protocol import Counter, Counts, Sets, check_sets
from sottovoce.count.together import count_together
from sottovoce.errors import SottovoceError
from sottovoce.schema.cells import Columns
from sottovoce.schema.schema import Schema
from sottovoce.table._bit_arrays import unpacked
from sottovoce.table.bitsets import Bitsets
from sottovoce.table.source import Source, open_source


@dataclass
class TableCounter:
    """A table or file, read once a question, one batch in memory at a time.

    >>> from sottovoce.schema.item_set import ItemSet
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
