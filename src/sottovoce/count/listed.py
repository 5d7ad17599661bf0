"""Counts from sparse rows: single items, pairs of items, and the bits of chosen items to count longer sets on."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.count.protocol import Counts
from sottovoce.count.together import count_pairs
from sottovoce.mechanism.bulk import BULK_ROWS, kernels, read_only
from sottovoce.table.bitsets import Bitsets, Csr
from sottovoce.table.fast import in_threads, runs

SPARSE_COST = 25
"""What a listed pair costs more than a word of two bitsets: measured, see `benchmarks/itemsets`."""


def count_singles(indices: NDArray[np.int32], items: int) -> Counts:
    """How often each item is listed.

    >>> count_singles(np.array([0, 2, 2], np.int32), items=3)
    array([1, 0, 2])
    """
    loops = kernels("sottovoce.count._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        return np.bincount(indices, minlength=items)
    parts, listed = runs(len(indices)), read_only(indices)
    counts = np.zeros((len(parts), items), np.int64)
    in_threads(lambda part: loops.singles(listed[parts[part]], counts[part]), len(parts), None)
    return np.asarray(counts.sum(axis=0))


def chosen_bits(csr: Csr, items: int, chosen: NDArray[np.int64]) -> Bitsets:
    """Bitsets of the chosen items, numbered anew from 0.

    >>> chosen_bits((np.array([0, 2, 3]), np.array([0, 2, 1], np.int32)), 3, np.array([0, 2])).to_matrix()
    array([[ True,  True],
           [False, False]])
    """
    indptr, indices = csr
    loops = kernels("sottovoce.count._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        kept = np.isin(indices, chosen)
        starts = np.concatenate([[0], np.cumsum(kept)])[indptr]
        return Bitsets.from_csr(starts, np.searchsorted(chosen, indices[kept]), len(chosen))
    bits = Bitsets.empty(len(indptr) - 1, len(chosen))
    places, listed = _places(chosen, items), read_only(indices)

    def place(block: int) -> None:
        loops.place_chosen(bits.words[block], bits.rows(indptr, block), listed, places)

    in_threads(place, len(bits.words), None)
    return bits


def count_listed_pairs(csr: Csr, items: int, chosen: NDArray[np.int64]) -> Counts:
    """Transactions with both of two chosen items, `counts[i, j]` for i < j, from the rows themselves.

    >>> count_listed_pairs((np.array([0, 2, 4]), np.array([0, 2, 0, 2], np.int32)), 3, np.array([0, 2]))
    array([[0, 2],
           [0, 0]])
    """
    indptr, indices = csr
    loops = kernels("sottovoce.count._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        return count_pairs(chosen_bits(csr, items, chosen))
    parts, places, listed = runs(len(indptr) - 1), _places(chosen, items), read_only(indices)
    counts = np.zeros((len(parts), len(chosen), len(chosen)), np.int64)

    def count(part: int) -> None:
        rows = indptr[parts[part].start : parts[part].stop + 1]
        loops.listed_pairs(rows, listed, places, counts[part])

    in_threads(count, len(parts), None)
    return np.asarray(counts.sum(axis=0))


def sampled_rows(csr: Csr, size: int) -> Csr:
    """So many rows drawn at random without repetition, in order; the same ones whenever as many are drawn.

    >>> sampled_rows((np.array([0, 1, 3]), np.array([0, 0, 1], np.int32)), size=2)
    (array([0, 1, 3]), array([0, 0, 1], dtype=int32))
    """
    indptr, indices = csr
    # A seed of its own: a sample hides nothing, and results should repeat.
    drawn, rng, missing = np.zeros(len(indptr) - 1, bool), np.random.default_rng(1), size
    while missing:
        drawn[rng.integers(len(drawn), size=missing)] = True
        missing = size - int(np.count_nonzero(drawn))
    rows = np.flatnonzero(drawn)
    sizes = indptr[rows + 1] - indptr[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    loops = kernels("sottovoce.count._kernels") if size >= BULK_ROWS else None
    if loops is None:
        return starts, indices[np.repeat(indptr[rows] - starts[:-1], sizes) + np.arange(starts[-1])]
    copied, parts, listed = np.empty(starts[-1], indices.dtype), runs(size), read_only(indices)

    def copy(part: int) -> None:
        loops.copy_rows(indptr, listed, rows[parts[part]], starts[parts[part]], copied)

    in_threads(copy, len(parts), None)
    return starts, copied


def sparse_pairs_pay(rows: int, listed: int, counts: Counts) -> bool:
    """Whether pairs are counted faster from the rows than on bits, for items that occur so often each.

    There are about `(sum of counts)^2 / 2 rows` listed pairs, more where sizes vary, and all that is listed is
    read; on bits every two of m items take `rows / 64` words.
    """
    pairs = float(counts.sum()) ** 2 / (2 * rows)
    return SPARSE_COST * (pairs + listed) < len(counts) ** 2 / 2 * rows / 64


def _places(chosen: NDArray[np.int64], items: int) -> NDArray[np.int64]:
    """New number of each item: from 0 for the chosen, -1 for the others."""
    places = np.full(items, -1)
    places[chosen] = np.arange(len(chosen))
    return places
