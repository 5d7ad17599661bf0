"""The sums of `_kernels` by array operations: for installations without numba, and faster for dense graphs."""

from typing import Any

import numpy as np


def codegrees(indptr: Any, indices: Any, node: int) -> Any:
    """Return the number of neighbours that a node shares with each node; with itself, its degree."""
    neighbours = indices[indptr[node] : indptr[node + 1]]
    reached = [indices[indptr[between] : indptr[between + 1]] for between in neighbours]
    return np.bincount(np.concatenate([indices[:0], *reached]), minlength=len(indptr) - 1)


def codegree_sums(indptr: Any, indices: Any, first: int, counts: Any, touched: Any, sums: Any) -> None:
    """Fill sums of c over the neighbours j, and of c^2 and of c deg(j) over all other j, for rows from `first`."""
    degrees = np.diff(indptr)
    for row in range(len(sums)):
        node = first + row
        sums[row] = _summed(codegrees(indptr, indices, node), indptr, indices, node, degrees)


def packed_rows(indptr: Any, indices: Any) -> Any:
    """Return rows of bits, 64 nodes to a word: smaller than lists of neighbours if one pair in 64 is tied."""
    nodes = len(indptr) - 1
    words = np.zeros((nodes, -(-nodes // 64)), np.uint64)
    rows = np.repeat(np.arange(nodes), np.diff(indptr))
    np.bitwise_or.at(words, (rows, indices >> 6), np.uint64(1) << (indices & 63).astype(np.uint64))
    return words


def packed_codegree_sums(words: Any, indptr: Any, indices: Any, first: int, sums: Any) -> None:
    """Fill the same sums from rows of bits: the bits that two rows share, all rows at a time."""
    degrees = np.diff(indptr)
    for row in range(len(sums)):
        node = first + row
        shared = np.bitwise_count(words & words[node]).sum(axis=1, dtype=np.int64)
        sums[row] = _summed(shared, indptr, indices, node, degrees)


def _summed(shared: Any, indptr: Any, indices: Any, node: int, degrees: Any) -> tuple[int, int, int]:
    shared[node] = 0
    return shared[indices[indptr[node] : indptr[node + 1]]].sum(), (shared**2).sum(), shared @ degrees


def closing_sums(dyads: Any, table: Any, degrees: Any, first: int, room: Any, sums: Any) -> None:
    """Fill sums of the weights of closing pairs of ties, as in `_kernels`."""
    indptr, indices, states = dyads
    for row in range(len(sums)):
        ties = range(indptr[first + row], indptr[first + row + 1])
        reached = [indices[indptr[indices[tie]] : indptr[indices[tie] + 1]] for tie in ties]
        weights = [table[states[tie], states[indptr[indices[tie]] : indptr[indices[tie] + 1]]] for tie in ties]
        joined = np.concatenate([indices[:0], *reached]), np.concatenate([np.zeros(0, np.int64), *weights])
        closed = np.bincount(joined[0], joined[1], minlength=len(degrees)).astype(np.int64)
        sums[row] = _closing_summed(closed, dyads, degrees, first + row)


def tie_matrix(indptr: Any, indices: Any) -> Any:
    """Return the adjacency matrix in single precision, in which counts below 2^24 are exact."""
    matrix = np.zeros((len(indptr) - 1,) * 2, np.float32)
    matrix[np.repeat(np.arange(len(matrix)), np.diff(indptr)), indices] = 1
    return matrix


def dense_closing_sums(ties: Any, factors: Any, degrees: Any, first: int, sums: Any) -> None:
    """Fill the same sums from matrix products; `ties` are the adjacency matrix and its transpose."""
    rows = slice(first, first + len(sums))
    closed = sum(left[rows] @ right.T for left, right in factors).astype(np.float64)
    closed[np.arange(len(sums)), first + np.arange(len(sums))] = 0
    sums[:, 0], sums[:, 1:3], sums[:, 5] = closed.sum(axis=1), closed @ degrees, (closed**2).sum(axis=1)
    sums[:, 3], sums[:, 4] = ((closed * tied[rows]).sum(axis=1) for tied in ties)


def _closing_summed(closed: Any, dyads: Any, degrees: Any, node: int) -> tuple[int, ...]:
    indptr, indices, states = dyads
    closed[node] = 0
    ties = slice(indptr[node], indptr[node + 1])
    tied = closed[indices[ties]]
    by_kind = (tied * (states[ties] & 1)).sum(), (tied * (states[ties] >> 1)).sum()
    return closed.sum(), *(closed @ degrees), *by_kind, closed @ closed
