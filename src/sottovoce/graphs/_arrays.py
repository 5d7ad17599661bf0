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


def closing_sums(dyads: Any, table: Any, degrees: Any, first: int, room: Any, sums: Any) -> None:
    """Weights of what closes a tie to each node, summed as in `_kernels`."""
    indptr, indices, states = dyads
    for row in range(len(sums)):
        own = range(indptr[first + row], indptr[first + row + 1])
        reached = [indices[indptr[indices[place]] : indptr[indices[place] + 1]] for place in own]
        weights = [table[states[place], states[indptr[indices[place]] : indptr[indices[place] + 1]]] for place in own]
        joined = np.concatenate([indices[:0], *reached]), np.concatenate([np.zeros(0, np.int64), *weights])
        closed = np.bincount(joined[0], joined[1], minlength=len(degrees)).astype(np.int64)
        sums[row] = _closing_summed(closed, dyads, degrees, first + row)


def tie_matrix(indptr: Any, indices: Any) -> Any:
    """Ones in single precision, which counts whole numbers below 2^24 exactly."""
    matrix = np.zeros((len(indptr) - 1,) * 2, np.float32)
    matrix[np.repeat(np.arange(len(matrix)), np.diff(indptr)), indices] = 1
    return matrix


def dense_closing_sums(ties: Any, factors: Any, degrees: Any, first: int, sums: Any) -> None:
    """The same sums from products of whole matrices; `ties` are those of ties there and back."""
    own = slice(first, first + len(sums))
    closed = sum(left[own] @ right.T for left, right in factors).astype(np.float64)
    closed[np.arange(len(sums)), first + np.arange(len(sums))] = 0
    sums[:, 0], sums[:, 1:3], sums[:, 5] = closed.sum(axis=1), closed @ degrees, (closed**2).sum(axis=1)
    sums[:, 3], sums[:, 4] = ((closed * tied[own]).sum(axis=1) for tied in ties)


def _closing_summed(closed: Any, dyads: Any, degrees: Any, node: int) -> tuple[int, ...]:
    indptr, indices, states = dyads
    closed[node] = 0
    own = slice(indptr[node], indptr[node + 1])
    tied = closed[indices[own]]
    by_kind = (tied * (states[own] & 1)).sum(), (tied * (states[own] >> 1)).sum()
    return closed.sum(), *(closed @ degrees), *by_kind, closed @ closed
