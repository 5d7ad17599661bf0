"""Patterns of windows: all sets of their items, counted as by brute force."""

import numpy as np

from sottovoce.counts.transactions import HeldTransactions, count_patterns
from sottovoce.tables.bitsets import Bitsets


def test_patterns_are_counted_as_by_brute_force():
    bits = np.random.default_rng(2).random((200, 8)) < 0.4
    indptr = np.concatenate([[0], np.cumsum(bits.sum(axis=1))])
    source = HeldTransactions(Bitsets.from_csr(indptr, np.nonzero(bits)[1], items=8))
    cover = [np.array([0, 2, 3, 7]), np.array([1, 4])]
    found = count_patterns(source.narrowed(np.arange(8)), cover, 200)
    assert [table.shape for table in found] == [(2,) * 4, (2,) * 2]
    for window, table in zip(cover, found, strict=True):
        for pattern, count in np.ndenumerate(table):
            assert count == bits[:, window[np.array(pattern, bool)]].all(axis=1).sum()
