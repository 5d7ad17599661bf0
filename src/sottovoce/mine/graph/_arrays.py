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


def packed_closing_sums(words: Any, matrix: Any, dyads: Any, degrees: Any, first: int, sums: Any) -> None:
    """The same sums from two rows of bits for each node, of ties that leave it and that come to it."""
    for row in range(len(sums)):
        node = first + row
        kinds = [(r, s) for r, s in np.ndindex(2, 2) if matrix[r, s]]
        shared = [np.bitwise_count(words[s] & words[r][node]).sum(axis=1, dtype=np.int64) for r, s in kinds]
        sums[row] = _closing_summed(np.sum(shared, axis=0), dyads, degrees, node)


def _closing_summed(closed: Any, dyads: Any, degrees: Any, node: int) -> tuple[int, ...]:
    indptr, indices, states = dyads
    closed[node] = 0
    own = slice(indptr[node], indptr[node + 1])
    tied = closed[indices[own]]
    by_kind = (tied * (states[own] & 1)).sum(), (tied * (states[own] >> 1)).sum()
    return closed.sum(), *(closed @ degrees), *by_kind, closed @ closed
