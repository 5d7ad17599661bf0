"""What closes a tie i -> j to a triangle of a directed graph, summed for each node i over all j.

Among the reports y, `N_ij = sum_k (y_ik, y_ki) matrix (y_jk, y_kj)`. All that estimates are made of are sums over j of
products of two of `1, out_j, in_j, y_ij, y_ji, N_ij`, where out and in are reported degrees.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.graph import _arrays, _kernels, passes
from sottovoce.mine.graph.dyads import COMING, LEAVING, Dyads
from sottovoce.mine.graph.memory import MEMORY
from sottovoce.table.fast import kernel

BYTES_A_CELL = 12
"""Of matrices of ties there, of ties back, and of both."""


def closing_products(dyads: Dyads, matrix: Array, threads: int | None = None, *, memory: float = MEMORY) -> Array:
    """Sums over j of all products of two of the six numbers: a symmetric 6 x 6 table for each node."""
    degrees = np.stack([np.ones(dyads.graph.nodes), *dyads.sums[:, :2].T.astype(np.float64)])
    found = np.zeros((dyads.graph.nodes, 6, 6))
    found[:, :3, :3] = degrees @ degrees.T - np.einsum("an,bn->nab", degrees, degrees)
    for place, kind in ((3, LEAVING), (4, COMING)):
        found[:, place, :3] = np.stack([dyads.over_neighbours(number, kind) for number in degrees], axis=1)
    found[:, 3, 3], found[:, 4, 4], found[:, 4, 3] = dyads.sums.T
    found[:, 5] = closing_sums(dyads, matrix, threads, memory=memory)
    return np.asarray(np.tril(found) + np.tril(found, -1).transpose(0, 2, 1))


def closing_sums(
    dyads: Dyads, matrix: Array, threads: int | None = None, *, memory: float = MEMORY
) -> NDArray[np.int64]:
    """Sums over j of N_ij times each of the six, for each node i: by matrices, if there is memory for them and it pays.

    >>> from sottovoce.mine.graph.graph import Graph
    >>> cycle = Dyads(Graph.of_edges([(0, 1), (1, 2), (2, 0)], directed=True))
    >>> closing_sums(cycle, np.array([[0, 0], [1, 0]])).tolist()[0]
    [1, 1, 1, 1, 0, 1]
    """
    n, rows = dyads.graph.nodes, (*dyads.rows, dyads.states)
    steps = float((np.diff(rows[0]).astype(np.float64) ** 2).sum())
    degrees = np.ascontiguousarray(dyads.sums[:, :2])
    work: Callable[[int, Any], None]
    if steps * passes.DENSE > float(n) ** 3 and BYTES_A_CELL * float(n) ** 2 <= memory:
        ties = [_arrays.tie_matrix(*tied) for tied in (dyads.graph.rows, dyads.graph.rows_back)]
        factors = _factors(matrix, *ties)

        def work(first: int, sums: Any) -> None:
            _arrays.dense_closing_sums(ties, factors, degrees, first, sums)
    else:
        loop, table = kernel(_kernels.closing_sums, _arrays.closing_sums), _weights(matrix)

        def work(first: int, sums: Any) -> None:
            room = np.zeros(n, np.int64), np.zeros(n, np.int32)
            loop(rows, table, degrees, first, room, sums)

    return passes.in_parts(work, n, 6, threads)


def _factors(matrix: Array, there: Any, back: Any) -> list[tuple[Any, Any]]:
    """Matrices whose products `left right^T` add up to N: a single one where every kind closes alike."""
    chosen = {(0, 0): None, (1, 0): there, (0, 1): back, (1, 1): there + back}
    rights = [chosen[int(row[0]), int(row[1])] for row in matrix]
    if matrix.all():
        return [(rights[0], rights[0])]
    return [(left, right) for left, right in zip((there, back), rights, strict=True) if right is not None]


def _weights(matrix: Array) -> NDArray[np.int64]:
    """Weight of two pairs that meet at k, by the states of {i, k} as i sees it and of {k, j} as k does."""
    leaving, coming = np.arange(4) & LEAVING, np.arange(4) // COMING
    return np.asarray(np.stack([leaving, coming], axis=1) @ matrix @ np.stack([coming, leaving]), np.int64)
