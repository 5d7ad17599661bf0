"""Transactions as miners ask for them: single items first, then sets of those that are worth counting."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.count.listed import chosen_bits, count_listed_pairs, count_singles, sampled_rows, sparse_pairs_pay
from sottovoce.count.protocol import Counts, Sets
from sottovoce.count.together import count_pairs, count_together
from sottovoce.table.bitsets import Bitsets, Csr

Chosen = NDArray[np.int64]
"""Numbers of items, ascending."""


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
