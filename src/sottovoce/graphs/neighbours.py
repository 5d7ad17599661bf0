"""Sums over neighbours of neighbours: shared neighbours, and pairs of ties that close directed triangles.

With y the reported bits, `c_ij = sum_k y_ik y_kj`. With unbiased bits `x = (y - q) / g` in place of y, q the
probability of a flip and g the gap, sums of products of different bits are unbiased for the same sums of true bits. All
of them are polynomials in c, the degrees and y, so that one pass over the reported edges is enough.

In directed graphs `N_ij = sum_k (y_ik, y_ki) matrix (y_jk, y_kj)`, and all estimates are sums over j of products of two
of the six numbers `1, out_j, in_j, y_ij, y_ji, N_ij`, where out and in are reported degrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.graphs import _arrays, _kernels
from sottovoce.graphs.graph import BYTES_A_PAIR, MEMORY, Graph, Rows, checked_memory, in_gigabytes
from sottovoce.graphs.reports import GraphReports
from sottovoce.tables.parallel import in_threads, kernel

MOST_STEPS = 10**12
"""Neighbours of neighbours at most, which take hours on one core."""

ROWS_AT_ONCE = 256
"""Rows of one task at least."""

DENSE = 64
"""Rows of bits or matrices are faster for more than n^3 / 64 neighbours of neighbours: measured."""

LEAVING, COMING = 1, 2
"""Bits of the state of a pair: a tie to the other node, and one from it."""

BYTES_A_NODE = 64

BYTES_A_CELL = 12
"""Memory of a cell of the adjacency matrix, its transpose and their sum."""


def check_size(graph: Graph, steps: float, memory: float, bytes_a_node: int) -> float:
    """Return the memory that is left; raise if triangles take more than there is, or too many steps."""
    need = 2 * BYTES_A_PAIR * graph.edges + bytes_a_node * graph.nodes
    if need > checked_memory(memory) or steps > MOST_STEPS:
        rule = f"must be small enough for triangles in {in_gigabytes(memory)} and {MOST_STEPS:.0e} steps"
        size = Words(f"one of {graph.edges} reported edges: {in_gigabytes(need)} and {steps:.1e} steps")
        raise SottovoceError("graph", rule, size)
    return memory - need


def in_parts(work: Callable[[int, Any], None], nodes: int, columns: int, threads: int | None) -> NDArray[np.int64]:
    """Return sums for each node, computed in threads by `work(first row, sums of some rows)`."""
    sums = np.zeros((nodes, columns), np.int64)
    rows = max(ROWS_AT_ONCE, nodes // 64)
    parts = max(-(-nodes // rows), 1)
    in_threads(lambda part: work(part * rows, sums[part * rows : (part + 1) * rows]), parts, threads)
    return sums


class Dyads:
    """Neighbours of each node in ascending order, and the state of each pair.

    >>> dyads = Dyads(Graph.of_edges([(0, 1), (1, 0), (2, 1)], nodes=3, directed=True))
    >>> dyads.rows[1].tolist(), dyads.states.tolist()
    ([1, 0, 2, 1], [3, 3, 2, 1])
    """

    def __init__(self, graph: Graph) -> None:
        """Sort every tie into the rows of both of its nodes."""
        source, target = graph.ends
        n = graph.nodes
        cells = np.concatenate([source * n + target, target * n + source])
        kinds = np.repeat(np.array([LEAVING, COMING], np.int8), graph.edges)
        order = np.argsort(cells, kind="stable")
        ascending = cells[order]
        first = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(order)])
        self.graph = graph
        self.states: NDArray[np.int8] = np.add.reduceat(kinds[order], first) if len(order) else kinds
        row, column = np.divmod(ascending[first], max(n, 1))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
        self.rows: Rows = starts, column.astype(np.int32)

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """Reported out-degree, in-degree and number of mutual ties of each node: three columns."""
        starts = self.rows[0]
        kinds = (self.states & LEAVING, self.states & COMING, self.states == LEAVING | COMING)
        running = (np.concatenate([[0], np.cumsum(kind != 0)]) for kind in kinds)
        return np.stack([total[starts[1:]] - total[starts[:-1]] for total in running], axis=1)

    def over_neighbours(self, numbers: Array, kind: int) -> Array:
        """Return the sum of numbers of the nodes that each node has a tie of this kind with."""
        source, target = self.graph.ends if kind == LEAVING else self.graph.ends[::-1]
        return np.asarray(np.bincount(source, numbers[target], minlength=self.graph.nodes), np.float64)


@dataclass(frozen=True)
class SharedNeighbours:
    """Unbiased estimates at each node i, c_ij being the true number of neighbours that i and j share.

    `triangles`, and for their variances `paths`, `sum_j c_ij`, `squares`, `sum_j c_ij (c_ij - 1)`, and `forks`,
    `sum_j c_ij (d_i + d_j - 2 x_ij - 2)`.
    """

    triangles: Array
    paths: Array
    squares: Array
    forks: Array


def shared_neighbours(reports: GraphReports, memory: float = MEMORY, threads: int | None = None) -> SharedNeighbours:
    """Estimate all four in one pass over the neighbours of neighbours in the reported graph."""
    graph, q, g = reports.graph, reports.flip, reports.gap
    closed, squared, weighted = codegree_sums(graph, memory, threads).T.astype(np.float64)
    u = graph.degrees.astype(np.float64)
    n, neighbours = graph.nodes, _neighbour_degrees(graph)
    c, between, others = neighbours - u, n - 2, n - 1  # c summed over all j; third nodes of a pair; other nodes
    ends = others * u + (u.sum() - u) - 2 * u  # l = d_i + d_j - 2 y, summed over j
    ends_squared = others * u**2 + 2 * u * (u.sum() - u) + ((u**2).sum() - u**2) - 4 * (u**2 + neighbours) + 4 * u
    c_ends = u * c + weighted - 2 * closed
    paths = (c - q * ends + q**2 * between * others) / g**2
    whole = squared + q**2 * ends_squared + q**4 * between**2 * others
    whole += 2 * (q**2 * between * c - q * c_ends - q**3 * between * ends)
    # Squares of unbiased bits are s + r y; products in which a bit meets itself are subtracted.
    s, r = q**2 / g**2, (1 - 2 * q) / g**2
    twice = r**2 * c + s * r * ends + s**2 * between * others
    forks = (c_ends - q * ends_squared + q**2 * between * ends) / g**3 - 2 * q * between * paths / g
    thrice = 2 * r * c / g + (s - r * q) * ends / g - 2 * s * q / g * between * others
    return SharedNeighbours(_triangles(closed / 2, u, c, reports), paths, whole / g**4 - twice, forks - thrice)


def codegree_sums(graph: Graph, memory: float = MEMORY, threads: int | None = None) -> NDArray[np.int64]:
    """Return sums over j of c for neighbours, of c^2, and of c times the degree of j, for each node.

    >>> codegree_sums(Graph.of_edges([(0, 1), (1, 2), (0, 2), (2, 3)])).tolist()
    [[2, 3, 6], [2, 3, 6], [2, 2, 4], [0, 2, 4]]
    """
    steps = float((undirected(graph).degrees.astype(np.float64) ** 2).sum())
    check_size(graph, steps, memory, BYTES_A_NODE)
    indptr, indices = graph.rows
    loop = kernel(_kernels.codegree_sums, _arrays.codegree_sums)
    words = _arrays.packed_rows(indptr, indices) if steps * DENSE > float(graph.nodes) ** 3 else None

    def work(first: int, sums: Any) -> None:
        if words is not None:
            return _arrays.packed_codegree_sums(words, indptr, indices, first, sums)
        room = np.zeros(graph.nodes, np.int64), np.zeros(graph.nodes, np.int32)
        return loop(indptr, indices, first, *room, sums)

    return in_parts(work, graph.nodes, 3, threads)


def undirected(graph: Graph) -> Graph:
    """Return the graph; raise if it is directed."""
    if graph.directed:
        raise SottovoceError("graph", "must be undirected for triangles", Words("a directed one"))
    return graph


def _neighbour_degrees(graph: Graph) -> Array:
    """Return the sum of the degrees of each node's neighbours."""
    source, target = graph.ends
    degrees = graph.degrees.astype(np.float64)
    pairs = ((source, target), (target, source))
    return np.asarray(sum(np.bincount(end, degrees[other], minlength=graph.nodes) for end, other in pairs))


def _triangles(reported: Array, u: Array, c: Array, reports: GraphReports) -> Array:
    """Return unbiased triangles at each node from the reported ones, by the expansion of the product of three bits."""
    n, q, edges = reports.graph.nodes, reports.flip, reports.graph.edges
    two = u * (u - 1) / 2 + c
    one = u * (n - 2) + edges - u
    return np.asarray((reported - q * two + q**2 * one - q**3 * (n - 1) * (n - 2) / 2) / reports.gap**3)


def closing_products(dyads: Dyads, matrix: Array, threads: int | None = None, *, memory: float = MEMORY) -> Array:
    """Return sums over j of all products of two of the six numbers: a symmetric 6 x 6 matrix for each node."""
    degrees = np.stack([np.ones(dyads.graph.nodes), *dyads.sums[:, :2].T.astype(np.float64)])
    sums = np.zeros((dyads.graph.nodes, 6, 6))
    sums[:, :3, :3] = degrees @ degrees.T - np.einsum("an,bn->nab", degrees, degrees)
    for index, kind in ((3, LEAVING), (4, COMING)):
        sums[:, index, :3] = np.stack([dyads.over_neighbours(number, kind) for number in degrees], axis=1)
    sums[:, 3, 3], sums[:, 4, 4], sums[:, 4, 3] = dyads.sums.T
    sums[:, 5] = closing_sums(dyads, matrix, threads, memory=memory)
    return np.asarray(np.tril(sums) + np.tril(sums, -1).transpose(0, 2, 1))


def closing_sums(
    dyads: Dyads, matrix: Array, threads: int | None = None, *, memory: float = MEMORY
) -> NDArray[np.int64]:
    """Return sums over j of N_ij times each of the six numbers; by matrices if they are faster and memory suffices.

    >>> from sottovoce.graphs.graph import Graph
    >>> cycle = Dyads(Graph.of_edges([(0, 1), (1, 2), (2, 0)], directed=True))
    >>> closing_sums(cycle, np.array([[0, 0], [1, 0]])).tolist()[0]
    [1, 1, 1, 1, 0, 1]
    """
    n, rows = dyads.graph.nodes, (*dyads.rows, dyads.states)
    steps = float((np.diff(rows[0]).astype(np.float64) ** 2).sum())
    degrees = np.ascontiguousarray(dyads.sums[:, :2])
    work: Callable[[int, Any], None]
    if steps * DENSE > float(n) ** 3 and BYTES_A_CELL * float(n) ** 2 <= memory:
        ties = [_arrays.tie_matrix(*tied) for tied in (dyads.graph.rows, dyads.graph.rows_back)]
        factors = _factors(matrix, *ties)

        def work(first: int, sums: Any) -> None:
            _arrays.dense_closing_sums(ties, factors, degrees, first, sums)
    else:
        loop, table = kernel(_kernels.closing_sums, _arrays.closing_sums), _weights(matrix)

        def work(first: int, sums: Any) -> None:
            room = np.zeros(n, np.int64), np.zeros(n, np.int32)
            loop(rows, table, degrees, first, room, sums)

    return in_parts(work, n, 6, threads)


def _factors(matrix: Array, there: Any, back: Any) -> list[tuple[Any, Any]]:
    """Return matrices whose products `left right^T` add up to N: a single product if all kinds close alike."""
    chosen = {(0, 0): None, (1, 0): there, (0, 1): back, (1, 1): there + back}
    rights = [chosen[int(row[0]), int(row[1])] for row in matrix]
    if matrix.all():
        return [(rights[0], rights[0])]
    return [(left, right) for left, right in zip((there, back), rights, strict=True) if right is not None]


def _weights(matrix: Array) -> NDArray[np.int64]:
    """Return the weights of two pairs that meet at k, by the states of {i, k} from i and of {k, j} from k."""
    leaving, coming = np.arange(4) & LEAVING, np.arange(4) // COMING
    return np.asarray(np.stack([leaving, coming], axis=1) @ matrix @ np.stack([coming, leaving]), np.int64)
