"""Neighbours that two nodes share, summed for each node over all others: what triangles and their errors need.

With y the reported bits, `c_ij = sum_k y_ik y_kj`; with unbiased bits `x = (y - q) / g` in place of y, q the chance
of a flip and g the gap, sums of products of different bits are unbiased for the same sums of the truth. All of
them are polynomials in c, the degrees and y, so that a pass over the reported edges is enough.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.mine.graph import _arrays, _kernels, passes
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.memory import MEMORY
from sottovoce.mine.graph.reports import GraphReports
from sottovoce.table.fast import kernel

BYTES_A_NODE = 64


@dataclass(frozen=True)
class SharedNeighbours:
    """For each node i, unbiased: `sum_j c_ij`, `sum_j c_ij (c_ij - 1)`, and `sum_j c_ij (d_i + d_j - 2 x_ij - 2)`.

    `triangles` are those of the true graph at each node. The others are what their variances are made of.
    """

    triangles: Array
    paths: Array
    squares: Array
    forks: Array


def shared_neighbours(reports: GraphReports, memory: float = MEMORY, threads: int | None = None) -> SharedNeighbours:
    """All four, by one pass over the neighbours of neighbours in the reported graph."""
    graph, q, g = reports.graph, reports.flip, reports.gap
    closed, squared, weighted = codegree_sums(graph, memory, threads).T.astype(np.float64)
    u = graph.degrees.astype(np.float64)
    n, own = graph.nodes, _neighbour_degrees(graph)
    c, between, others = own - u, n - 2, n - 1  # c, summed over all others; nodes between two; others
    ends = others * u + (u.sum() - u) - 2 * u  # l = d_i + d_j - 2 y, summed over j
    ends_squared = others * u**2 + 2 * u * (u.sum() - u) + ((u**2).sum() - u**2) - 4 * (u**2 + own) + 4 * u
    c_ends = u * c + weighted - 2 * closed
    paths = (c - q * ends + q**2 * between * others) / g**2
    whole = squared + q**2 * ends_squared + q**4 * between**2 * others
    whole += 2 * (q**2 * between * c - q * c_ends - q**3 * between * ends)
    # Squares of unbiased bits are s + r y; where one bit would meet itself, such products are taken off again.
    s, r = q**2 / g**2, (1 - 2 * q) / g**2
    twice = r**2 * c + s * r * ends + s**2 * between * others
    forks = (c_ends - q * ends_squared + q**2 * between * ends) / g**3 - 2 * q * between * paths / g
    thrice = 2 * r * c / g + (s - r * q) * ends / g - 2 * s * q / g * between * others
    return SharedNeighbours(_triangles(closed / 2, u, c, reports), paths, whole / g**4 - twice, forks - thrice)


def codegree_sums(graph: Graph, memory: float = MEMORY, threads: int | None = None) -> NDArray[np.int64]:
    """Sums over j of c for neighbours, of c^2, and of c times the degree of j, for each node.

    >>> codegree_sums(Graph.of_edges([(0, 1), (1, 2), (0, 2), (2, 3)])).tolist()
    [[2, 3, 6], [2, 3, 6], [2, 2, 4], [0, 2, 4]]
    """
    steps = float((undirected(graph).degrees.astype(np.float64) ** 2).sum())
    passes.check_size(graph, steps, memory, BYTES_A_NODE)
    indptr, indices = graph.rows
    loop = kernel(_kernels.codegree_sums, _arrays.codegree_sums)
    words = _arrays.packed_rows(indptr, indices) if steps * passes.DENSE > float(graph.nodes) ** 3 else None

    def work(first: int, sums: Any) -> None:
        if words is not None:
            return _arrays.packed_codegree_sums(words, indptr, indices, first, sums)
        room = np.zeros(graph.nodes, np.int64), np.zeros(graph.nodes, np.int32)
        return loop(indptr, indices, first, *room, sums)

    return passes.in_parts(work, graph.nodes, 3, threads)


def undirected(graph: Graph) -> Graph:
    """This graph, if its edges have no direction."""
    if graph.directed:
        raise SottovoceError("graph", "must have edges without direction for triangles", Words("a directed one"))
    return graph


def _neighbour_degrees(graph: Graph) -> Array:
    """Sum of the degrees of each node's neighbours."""
    source, target = graph.ends
    degrees = graph.degrees.astype(np.float64)
    pairs = ((source, target), (target, source))
    return np.asarray(sum(np.bincount(end, degrees[other], minlength=graph.nodes) for end, other in pairs))


def _triangles(seen: Array, u: Array, c: Array, reports: GraphReports) -> Array:
    """Unbiased triangles at each node, from the `seen` ones: products of two or one of the bits are taken off."""
    n, q, edges = reports.graph.nodes, reports.flip, reports.graph.edges
    two = u * (u - 1) / 2 + c
    one = u * (n - 2) + edges - u
    return np.asarray((seen - q * two + q**2 * one - q**3 * (n - 1) * (n - 2) / 2) / reports.gap**3)
