"""All-ones counts: transactions that hold every item of a set, for many sets at once."""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.count.protocol import Counts, Sets
from sottovoce.mechanism.bulk import kernels
from sottovoce.table.bitsets import Bitsets
from sottovoce.table.fast import in_threads

BULK_WORDS = 2**22
"""Fewer words than this are looked at before numba would be imported."""

WORDS_AT_ONCE = 2**17
"""Words that numpy gathers at a time: they stay in the cache."""


def count_together(bits: Bitsets, sets: Sets, threads: int | None = None) -> Counts:
    """Transactions that hold all items of each set; the items were checked.

    Sets in lexicographic order are counted fastest: what neighbours have in common is computed once a block.

    >>> count_together(Bitsets.from_csr([0, 2, 2, 3], [0, 1, 1], items=2), np.array([[0, 1], [1, 1]]))
    array([1, 2])
    """
    blocks, _, width = bits.words.shape
    bulk = blocks * width * sets.size >= BULK_WORDS
    loops = kernels("sottovoce.count._kernels") if bulk else None
    if loops:
        listed = np.ascontiguousarray(sets, np.int64)
        fresh = first_new_places(listed)
        return over_blocks(bits, (len(sets),), lambda words, own: loops.together(words, listed, fresh, own), threads)
    counts = np.zeros(len(sets), np.int64)
    many = max(1, WORDS_AT_ONCE // (width * sets.shape[1]))
    for start in range(0, len(sets), many):
        chunk = sets[start : start + many]
        for words in bits.words:
            common = np.bitwise_and.reduce(words[chunk], axis=1)
            counts[start : start + many] += np.bitwise_count(common).sum(axis=1, dtype=np.int64)
    return counts


def count_pairs(bits: Bitsets, threads: int | None = None) -> Counts:
    """Transactions that hold both of two items, `counts[i, j]` for i < j; the rest of the table is zero.

    >>> count_pairs(Bitsets.from_csr([0, 2, 2, 4], [0, 1, 0, 1], items=2))
    array([[0, 2],
           [0, 0]])
    """
    blocks, items, width = bits.words.shape
    loops = kernels("sottovoce.count._kernels") if blocks * width * items**2 >= 2 * BULK_WORDS else None
    if loops:
        full = -(-items // 4) * 4
        words = bits.words
        if full > items:
            words = np.concatenate([words, np.zeros((blocks, full - items, width), np.uint64)], axis=1)
        counts = over_blocks(Bitsets(words, bits.count), (full, full), loops.both, threads)[:items, :items]
    else:
        counts = np.zeros((items, items), np.int64)
        for words in bits.words:
            for item in range(items - 1):
                held = np.bitwise_count(words[item] & words[item + 1 :])
                counts[item, item + 1 :] += held.sum(axis=1, dtype=np.int64)
    return np.triu(counts, 1)


def over_blocks(
    bits: Bitsets, shape: tuple[int, ...], count: Callable[[NDArray[np.uint64], Counts], None], threads: int | None
) -> Counts:
    """Sum of what is counted in runs of neighbouring blocks, a run a thread."""
    runs = min(threads or os.cpu_count() or 1, len(bits.words))
    counts = np.zeros((runs, *shape), np.int64)
    ends = np.linspace(0, len(bits.words), runs + 1).astype(int)
    in_threads(lambda run: count(bits.words[ends[run] : ends[run + 1]], counts[run]), runs, threads)
    return np.asarray(counts.sum(axis=0))


def first_new_places(sets: Sets) -> NDArray[np.int64]:
    """First place in which each set differs from the one before it.

    >>> first_new_places(np.array([[0, 1], [0, 2], [1, 2]]))
    array([0, 1, 0])
    """
    return np.concatenate([[0], (sets[1:] != sets[:-1]).argmax(axis=1)])
