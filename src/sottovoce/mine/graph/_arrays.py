"""What `_kernels` says, on whole arrays: for installations without numba. The numbers are the same."""

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
        shared = codegrees(indptr, indices, node)
        shared[node] = 0
        sums[row] = shared[indices[indptr[node] : indptr[node + 1]]].sum(), (shared**2).sum(), shared @ degrees
