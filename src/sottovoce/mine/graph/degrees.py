"""Degrees and numbers of edges, from reported pairs."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.derived import Derived
from sottovoce.mine.graph.estimates import NodeEstimates, number
from sottovoce.mine.graph.pairs import Numbers
from sottovoce.mine.graph.reports import GraphReports


def estimate_degrees(reports: GraphReports, *, incoming: bool = False) -> NodeEstimates:
    """`d_i = (y_i - (n - 1) q) / g` for y_i reported ties, variance `(n - 1) q (1 - q) / g^2`.

    q is the chance of a flip and g = 1 - 2 q. With direction, ties that leave each node, or come to it.

    >>> from sottovoce.mine.graph.disguise import disguise_graph
    >>> from sottovoce.mine.graph.graph import Graph
    >>> reports = disguise_graph(Graph.of_edges([(0, 1), (0, 2)], nodes=3), epsilon=6, rng=1)
    >>> print(estimate_degrees(reports))
    degrees of 3 nodes
      0    2.0050 +- 0.0706  [ 1.8666,  2.1433]
      1    1.0000 +- 0.0706  [ 0.8617,  1.1383]
      2    1.0000 +- 0.0706  [ 0.8617,  1.1383]
    """
    graph = reports.graph
    seen = graph.in_degrees if incoming else graph.degrees
    name = ("incoming degrees" if incoming else "outgoing degrees") if graph.directed else "degrees"
    variance = np.full(graph.nodes, (graph.nodes - 1) * reports.noise)
    return NodeEstimates(name, graph.labels, unbiased_degrees(reports, seen), variance)


def estimate_edges(reports: GraphReports, level: float = 0.95) -> Derived:
    """`m = (y - P q) / g` for y of P pairs reported, variance `P q (1 - q) / g^2`."""
    graph = reports.graph
    value = (graph.edges - graph.pair_count * reports.flip) / reports.gap
    return number("edges", value, graph.pair_count * reports.noise, level)


def unbiased_degrees(reports: GraphReports, seen: Numbers) -> Array:
    """Degrees behind reported ones."""
    return np.asarray((seen - (reports.graph.nodes - 1) * reports.flip) / reports.gap)
