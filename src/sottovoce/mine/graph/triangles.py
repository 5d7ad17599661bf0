"""Triangles, of each node and of the graph, and how often two ties of a node are closed by a third."""

from sottovoce.errors import SottovoceError
from sottovoce.mine.graph.directed_triangles import directed_triangles
from sottovoce.mine.graph.memory import MEMORY
from sottovoce.mine.graph.motifs import motif_named
from sottovoce.mine.graph.reports import GraphReports
from sottovoce.mine.graph.shared_neighbours import shared_neighbours
from sottovoce.mine.graph.symmetric_triangles import symmetric_triangles
from sottovoce.mine.graph.triangle_estimates import Triangles


def estimate_triangles(
    reports: GraphReports, motif: str = "all", *, memory: float = MEMORY, threads: int | None = None
) -> Triangles:
    """Triangles from reported pairs; the work grows with the squares of the reported degrees.

    With direction, three nodes may have up to two `cycles` (a to b to c to a) and six `transitive` triangles (a to b to
    c, and a to c). "all" counts both kinds, as networkx's `clustering` does (Fagiolo 2007). The clustering coefficient
    is their number over that of all there could be, at the pairs of ties that meet at a node; for cycles and for
    transitive triangles it is the share of the paths a to b to c, with a not c, that are closed so.

    >>> from sottovoce.mine.graph.disguise import disguise_graph
    >>> from sottovoce.mine.graph.graph import Graph
    >>> pairs = [(i, j) for i in range(6) for j in range(i)]
    >>> found = estimate_triangles(disguise_graph(Graph.of_edges(pairs), epsilon=9, rng=1))
    >>> print(found.total())
    triangles: 20.0074 +- 0.1722  [19.6700, 20.3448]
    >>> ranks = disguise_graph(Graph.of_edges(pairs, directed=True), epsilon=9, rng=1)
    >>> print(estimate_triangles(ranks, "transitive").total())
    transitive triangles: 20.0025 +- 0.2137  [19.5836, 20.4214]
    """
    kind = motif_named(motif)
    if reports.graph.directed:
        return directed_triangles(reports, kind, memory, threads)
    if motif != "all":
        raise SottovoceError("motif", "must be all where ties have no direction", motif)
    return symmetric_triangles(reports, shared_neighbours(reports, memory, threads))
