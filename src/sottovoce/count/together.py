"""All-ones counts: transactions that hold every item of a set, for many sets at once."""

import numpy as np

from sottovoce.count.protocol import Counts, Sets
from sottovoce.mechanism.bulk import kernels
from sottovoce.table.bitsets import Bitsets

BULK_WORDS = 2**22
"""Fewer words than this are looked at before numba would be imported."""

WORDS_AT_ONCE = 2**17
"""Words that numpy gathers at a time: they stay in the cache."""


def count_together(bits: Bitsets, sets: Sets) -> Counts:
    """Transactions that hold all items of each set; the items were checked.

    >>> count_together(Bitsets.from_csr([0, 2, 2, 3], [0, 1, 1], items=2), np.array([[0, 1], [1, 1]]))
    array([1, 2])
    """
    counts = np.zeros(len(sets), np.int64)
    blocks, _, width = bits.words.shape
    bulk = blocks * width * sets.size >= BULK_WORDS
    loops = kernels("sottovoce.count._kernels") if bulk else None
    if loops:
        loops.together(bits.words, np.ascontiguousarray(sets, np.int64), counts)
        return counts
    many = max(1, WORDS_AT_ONCE // (width * sets.shape[1]))
    for start in range(0, len(sets), many):
        chunk = sets[start : start + many]
        for words in bits.words:
            common = np.bitwise_and.reduce(words[chunk], axis=1)
            counts[start : start + many] += np.bitwise_count(common).sum(axis=1, dtype=np.int64)
    return counts
