"""What `_kernels` says, on whole arrays: for installations without numba, and faster for dense graphs."""

from typing import Any

import numpy as np


def codegrees(indptr: Any, indices: Any, node: int) -> Any:
    """Neighbours that a node shares with each node; with itself, its degree."""
    own = indices[indptr[node] : indptr[node + 1]]
    reached = [indices[indptr[between] : indptr[between + 1]] for between in own]
    return np.bincount(np.concatenate([indices[:0], *reached]), minlength=len(indptr) - 1)


def codegree_sums(indptr: Any, indices: Any, first: int, counts: Any, touched: Any, sums: Any) -> None:
    """For rows from `first` on: sums of c over the neighbours j, and of c^2 and of c deg(j) over all j but the node."""
    degrees = np.diff(indptr)
    for row in range(len(sums)):
        node = first + row
        sums[row] = _summed(codegrees(indptr, indices, node), indptr, indices, node, degrees)


def packed_rows(indptr: Any, indices: Any) -> Any:
    """A bit for each node in each row, 64 to a word: less than the pairs take where one in 64 is tied."""
    nodes = len(indptr) - 1
    words = np.zeros((nodes, -(-nodes // 64)), np.uint64)
    rows = np.repeat(np.arange(nodes), np.diff(indptr))
    np.bitwise_or.at(words, (rows, indices >> 6), np.uint64(1) << (indices & 63).astype(np.uint64))
    return words


def packed_codegree_sums(words: Any, indptr: Any, indices: Any, first: int, sums: Any) -> None:
    """The same sums from rows of bits: what two rows have in common, all rows at a time."""
    degrees = np.diff(indptr)
    for row in range(len(sums)):
        node = first + row
        shared = np.bitwise_count(words & words[node]).sum(axis=1, dtype=np.int64)
        sums[row] = _summed(shared, indptr, indices, node, degrees)


def _summed(shared: Any, indptr: Any, indices: Any, node: int, degrees: Any) -> tuple[int, int, int]:
    shared[node] = 0
    return shared[indices[indptr[node] : indptr[node + 1]]].sum(), (shared**2).sum(), shared @ degrees
