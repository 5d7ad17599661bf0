"""All-ones counts: how many transactions hold every item of a set, for many sets at once."""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.protocol import Counts, Sets
from sottovoce.mechanisms.bulk import BULK_ROWS, kernels, read_only
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.parallel import in_threads, row_ranges

BULK_WORDS = 2**22
"""Number of words from which compiled loops are used: numpy counts fewer before numba is imported."""

WORDS_AT_ONCE = 2**17
"""Words that numpy gathers at once: they fit the cache."""

SPARSE_COST = 25
"""Time to count a listed pair, relative to a word of two bitsets; measured, see `benchmarks/itemsets`."""


def count_all_ones(bits: Bitsets, sets: Sets, threads: int | None = None) -> Counts:
    """Count the transactions that hold all items of each set; the caller checks the items.

    Sets in lexicographic order are counted fastest: items that neighbours share are intersected once per block.

    >>> count_all_ones(Bitsets.from_csr([0, 2, 2, 3], [0, 1, 1], items=2), np.array([[0, 1], [1, 1]]))
    array([1, 2])
    """
    blocks, _, width = bits.words.shape
    bulk = blocks * width * sets.size >= BULK_WORDS
    loops = kernels("sottovoce.counts._kernels") if bulk else None
    if loops:
        listed = np.ascontiguousarray(sets, np.int64)
        fresh = first_differences(listed)
        return sum_blocks(bits, (len(sets),), lambda words, sums: loops.all_ones(words, listed, fresh, sums), threads)
    counts = np.zeros(len(sets), np.int64)
    many = max(1, WORDS_AT_ONCE // (width * sets.shape[1]))
    for start in range(0, len(sets), many):
        chunk = sets[start : start + many]
        for words in bits.words:
            common = np.bitwise_and.reduce(words[chunk], axis=1)
            counts[start : start + many] += np.bitwise_count(common).sum(axis=1, dtype=np.int64)
    return counts


def count_pairs(bits: Bitsets, threads: int | None = None) -> Counts:
    """Count the transactions that hold both of two items, `counts[i, j]` for i < j; the rest of the table is zero.

    >>> count_pairs(Bitsets.from_csr([0, 2, 2, 4], [0, 1, 0, 1], items=2))
    array([[0, 2],
           [0, 0]])
    """
    blocks, items, width = bits.words.shape
    loops = kernels("sottovoce.counts._kernels") if blocks * width * items**2 >= 2 * BULK_WORDS else None
    if loops:
        full = -(-items // 4) * 4
        words = bits.words
        if full > items:
            words = np.concatenate([words, np.zeros((blocks, full - items, width), np.uint64)], axis=1)
        counts = sum_blocks(Bitsets(words, bits.count), (full, full), loops.pairs, threads)[:items, :items]
    else:
        counts = np.zeros((items, items), np.int64)
        for words in bits.words:
            for item in range(items - 1):
                held = np.bitwise_count(words[item] & words[item + 1 :])
                counts[item, item + 1 :] += held.sum(axis=1, dtype=np.int64)
    return np.triu(counts, 1)


def sum_blocks(
    bits: Bitsets, shape: tuple[int, ...], count: Callable[[NDArray[np.uint64], Counts], None], threads: int | None
) -> Counts:
    """Return the sum of the counts of all blocks, with a run of neighbouring blocks in each thread."""
    number = min(threads or os.cpu_count() or 1, len(bits.words))
    counts = np.zeros((number, *shape), np.int64)
    ends = np.linspace(0, len(bits.words), number + 1).astype(int)
    in_threads(lambda run: count(bits.words[ends[run] : ends[run + 1]], counts[run]), number, threads)
    return np.asarray(counts.sum(axis=0))


def first_differences(sets: Sets) -> NDArray[np.int64]:
    """Return the first index at which each set differs from the one before it.

    >>> first_differences(np.array([[0, 1], [0, 2], [1, 2]]))
    array([0, 1, 0])
    """
    return np.concatenate([[0], (sets[1:] != sets[:-1]).argmax(axis=1)])


def count_singles(indices: NDArray[np.int32], items: int) -> Counts:
    """Count how often each item is listed.

    >>> count_singles(np.array([0, 2, 2], np.int32), items=3)
    array([1, 0, 2])
    """
    loops = kernels("sottovoce.counts._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        return np.bincount(indices, minlength=items)
    parts, listed = row_ranges(len(indices)), read_only(indices)
    counts = np.zeros((len(parts), items), np.int64)
    in_threads(lambda part: loops.singles(listed[parts[part]], counts[part]), len(parts), None)
    return np.asarray(counts.sum(axis=0))


def chosen_bits(csr: Csr, items: int, chosen: NDArray[np.int64]) -> Bitsets:
    """Return bitsets of the chosen items, renumbered from 0.

    >>> chosen_bits((np.array([0, 2, 3]), np.array([0, 2, 1], np.int32)), 3, np.array([0, 2])).to_matrix()
    array([[ True,  True],
           [False, False]])
    """
    indptr, indices = csr
    loops = kernels("sottovoce.counts._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        kept = np.isin(indices, chosen)
        starts = np.concatenate([[0], np.cumsum(kept)])[indptr]
        return Bitsets.from_csr(starts, np.searchsorted(chosen, indices[kept]), len(chosen))
    bits = Bitsets.empty(len(indptr) - 1, len(chosen))
    numbers, listed = _new_numbers(chosen, items), read_only(indices)

    def set_bits(block: int) -> None:
        loops.set_chosen_bits(bits.words[block], bits.rows(indptr, block), listed, numbers)

    in_threads(set_bits, len(bits.words), None)
    return bits


def count_listed_pairs(csr: Csr, items: int, chosen: NDArray[np.int64]) -> Counts:
    """Count the transactions with both of two chosen items, `counts[i, j]` for i < j, from sparse rows.

    >>> count_listed_pairs((np.array([0, 2, 4]), np.array([0, 2, 0, 2], np.int32)), 3, np.array([0, 2]))
    array([[0, 2],
           [0, 0]])
    """
    indptr, indices = csr
    loops = kernels("sottovoce.counts._kernels") if len(indices) >= BULK_ROWS else None
    if loops is None:
        return count_pairs(chosen_bits(csr, items, chosen))
    parts, numbers, listed = row_ranges(len(indptr) - 1), _new_numbers(chosen, items), read_only(indices)
    counts = np.zeros((len(parts), len(chosen), len(chosen)), np.int64)

    def count(part: int) -> None:
        rows = indptr[parts[part].start : parts[part].stop + 1]
        loops.listed_pairs(rows, listed, numbers, counts[part])

    in_threads(count, len(parts), None)
    return np.asarray(counts.sum(axis=0))


def sample_rows(csr: Csr, size: int) -> Csr:
    """Draw rows at random without replacement, in order; the same rows for the same size.

    >>> sample_rows((np.array([0, 1, 3]), np.array([0, 0, 1], np.int32)), size=2)
    (array([0, 1, 3]), array([0, 0, 1], dtype=int32))
    """
    indptr, indices = csr
    # With a fixed seed, so that results repeat: the sample need not be secret.
    drawn, rng, missing = np.zeros(len(indptr) - 1, bool), np.random.default_rng(1), size
    while missing:
        drawn[rng.integers(len(drawn), size=missing)] = True
        missing = size - int(np.count_nonzero(drawn))
    rows = np.flatnonzero(drawn)
    sizes = indptr[rows + 1] - indptr[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    loops = kernels("sottovoce.counts._kernels") if size >= BULK_ROWS else None
    if loops is None:
        return starts, indices[np.repeat(indptr[rows] - starts[:-1], sizes) + np.arange(starts[-1])]
    copied, parts, listed = np.empty(starts[-1], indices.dtype), row_ranges(size), read_only(indices)

    def copy(part: int) -> None:
        loops.copy_rows(indptr, listed, rows[parts[part]], starts[parts[part]], copied)

    in_threads(copy, len(parts), None)
    return starts, copied


def sparse_pairs_pay(rows: int, listed: int, counts: Counts) -> bool:
    """Return whether pairs of items with these counts are counted faster from sparse rows than on bits.

    There are about `(sum of counts)^2 / 2 rows` listed pairs, more where sizes vary, and every listed item is
    read; on bits each pair of m items takes `rows / 64` words.
    """
    pairs = float(counts.sum()) ** 2 / (2 * rows)
    return SPARSE_COST * (pairs + listed) < len(counts) ** 2 / 2 * rows / 64


def _new_numbers(chosen: NDArray[np.int64], items: int) -> NDArray[np.int64]:
    """Return the new number of each item: from 0 for the chosen, -1 for the others."""
    numbers = np.full(items, -1)
    numbers[chosen] = np.arange(len(chosen))
    return numbers
