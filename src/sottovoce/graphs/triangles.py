"""Triangles of each node and of the graph, and clustering coefficients."""

from sottovoce.errors import SottovoceError
from sottovoce.graphs.degrees import NodeEstimates, estimate_edges, unbiased_degrees
from sottovoce.graphs.directed_triangles import Triangles, directed_triangles, motif_named
from sottovoce.graphs.graph import MEMORY
from sottovoce.graphs.neighbours import SharedNeighbours, shared_neighbours
from sottovoce.graphs.reports import GraphReports
from sottovoce.graphs.stars import node_stars, star_variance


def symmetric_triangles(reports: GraphReports, shared: SharedNeighbours) -> Triangles:
    """Estimate triangles of an undirected graph by sums of products of three unbiased bits.

    With v the variance of a bit, c_ij the neighbours that i and j share, d the degrees, W the 2-stars and m the edges,

        Var(triangles) = v sum_{i<j} c_ij (c_ij - 1) + v W + v^2 (n - 2) m + v^3 C(n, 3)
        Cov(triangles, 2-stars) = 2 v W + v^2 (n - 2) m + v sum_{i<j} c_ij (d_i + d_j - 2 x_ij - 2);

    for two triangles share one bit, all or none. The variances at single nodes follow likewise.
    """
    v, n = reports.noise, reports.graph.nodes
    ties = v**2 * (n - 2) * estimate_edges(reports).value
    least = v**3 * n * (n - 1) * (n - 2) / 6
    stars = node_stars(reports)
    return Triangles(
        _at_nodes(reports, shared),
        float(shared.triangles.sum()) / 3,
        least + ties + v * float((shared.squares + shared.paths).sum()) / 2,
        least,
        float(stars.value.sum()),
        star_variance(reports, stars, 2),
        stars.least * n,
        ties + v * float(shared.paths.sum()) + v * float(shared.forks.sum()) / 2,
    )


def _at_nodes(reports: GraphReports, shared: SharedNeighbours) -> NodeEstimates:
    v, n = reports.noise, reports.graph.nodes
    degrees = unbiased_degrees(reports, reports.graph.degrees)
    one = degrees * (n - 2) + estimate_edges(reports).value - degrees
    two = node_stars(reports).value + shared.paths
    least = v**3 * (n - 1) * (n - 2) / 2
    variance = least + v**2 * one + v * (shared.squares + two)
    return NodeEstimates("triangles", reports.graph.labels, shared.triangles, variance, least)


def estimate_triangles(
    reports: GraphReports, motif: str = "all", *, memory: float = MEMORY, threads: int | None = None
) -> Triangles:
    """Estimate triangles from reported pairs; the work grows with the squares of the reported degrees.

    In directed graphs, three nodes have up to two `cycles` (a to b to c to a) and six `transitive` triangles (a to b to
    c, and a to c). "all" counts both kinds, as networkx's `clustering` does (Fagiolo 2007). The clustering coefficient
    is their number over that of all possible ones at the pairs of ties that meet at a node; for cycles and for
    transitive triangles it is the share of the paths a to b to c, with a not c, that are closed so.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> from sottovoce.graphs.graph import Graph
    >>> pairs = [(i, j) for i in range(6) for j in range(i)]
    >>> triangles = estimate_triangles(disguise_graph(Graph.of_edges(pairs), epsilon=9, rng=1))
    >>> print(triangles.total())
    triangles: 20.0074 +- 0.1722  [19.6700, 20.3448]
    >>> ranks = disguise_graph(Graph.of_edges(pairs, directed=True), epsilon=9, rng=1)
    >>> print(estimate_triangles(ranks, "transitive").total())
    transitive triangles: 20.0025 +- 0.2137  [19.5836, 20.4214]
    """
    kind = motif_named(motif)
    if reports.graph.directed:
        return directed_triangles(reports, kind, memory, threads)
    if motif != "all":
        raise SottovoceError("motif", "must be all for undirected graphs", motif)
    return symmetric_triangles(reports, shared_neighbours(reports, memory, threads))
