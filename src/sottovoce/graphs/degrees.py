"""Degrees, the number of edges, and a random graph that is consistent with the reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.presentation import Backend, IntervalTable, cell_rows
from sottovoce.graphs.graph import Graph, Indices
from sottovoce.graphs.reports import GraphReports
from sottovoce.mechanisms.coins import Coin, Randomness, RandomWords, flip, random_words


@dataclass(frozen=True, repr=False)
class NodeEstimates(IntervalTable):
    """A statistic of each node of this graph, unbiased and never clipped; only the coins are random.

    The variances are unbiased, too, and may be below `least`, the part that is due to the coins alone.
    """

    statistic: str
    labels: Sequence[Any]
    value: Array
    variance: Array
    least: float = 0.0

    @property
    def standard_error(self) -> Array:
        """Square roots of the variances, or of the least one where they are below it."""
        return np.sqrt(np.maximum(self.variance, self.least))

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return label, estimate, standard error and interval of each node, as plain Python."""
        return cell_rows(["node"], [tuple(self.labels)], self._numbers(level))

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return everything, for programs."""
        return {"statistic": self.statistic, "level": level, "nodes": self.to_rows(level)}

    def to_columns(self, backend: Backend, level: float = 0.95) -> dict[str, Any]:
        """Return a column for the nodes and one for each number, also of a graph without nodes."""
        return {"node": list(self.labels), **self._numbers(level)}

    @property
    def headline(self) -> str:
        """Summary in one line."""
        return f"{self.statistic} of {len(self.value)} nodes"

    def _numbers(self, level: float) -> dict[str, Array]:
        low, high = self.interval(level)
        return {"estimate": self.value, "standard_error": self.standard_error, "low": low, "high": high}


def graph_estimate(name: str, value: float, variance: float, level: float, method: str = "inversion") -> Derived:
    """Return an unbiased estimate for the whole graph with its interval."""
    error = variance**0.5
    half = critical_value(level) * error
    return Derived(name, value, 0.0, error, value - half, value + half, level, None, method)


def estimate_degrees(reports: GraphReports, *, incoming: bool = False) -> NodeEstimates:
    """Estimate degrees: `d_i = (y_i - (n - 1) q) / g` for y_i reported ties, variance `(n - 1) q (1 - q) / g^2`.

    q is the probability of a flip and g = 1 - 2 q. In directed graphs these are out-degrees, or in-degrees if
    `incoming`.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> from sottovoce.graphs.graph import Graph
    >>> reports = disguise_graph(Graph.of_edges([(0, 1), (0, 2)], nodes=3), epsilon=6, rng=1)
    >>> print(estimate_degrees(reports))
    degrees of 3 nodes
      0    2.0050 +- 0.0706  [ 1.8666,  2.1433]
      1    1.0000 +- 0.0706  [ 0.8617,  1.1383]
      2    1.0000 +- 0.0706  [ 0.8617,  1.1383]
    """
    graph = reports.graph
    reported = graph.in_degrees if incoming else graph.degrees
    name = ("incoming degrees" if incoming else "outgoing degrees") if graph.directed else "degrees"
    variance = np.full(graph.nodes, (graph.nodes - 1) * reports.noise)
    return NodeEstimates(name, graph.labels, unbiased_degrees(reports, reported), variance)


def estimate_edges(reports: GraphReports, level: float = 0.95) -> Derived:
    """Estimate the number of edges: `m = (y - P q) / g` for y of P pairs reported, variance `P q (1 - q) / g^2`."""
    graph = reports.graph
    value = (graph.edges - graph.pair_count * reports.flip) / reports.gap
    return graph_estimate("edges", value, graph.pair_count * reports.noise, level)


def unbiased_degrees(reports: GraphReports, reported: Indices) -> Array:
    """Return unbiased estimates of true degrees from reported ones."""
    return np.asarray((reported - (reports.graph.nodes - 1) * reports.flip) / reports.gap)


def reconstruct_graph(reports: GraphReports, rng: Randomness = None) -> Graph:
    """Return a random graph with the estimated number m of edges that is consistent with the reports.

    Wang, Wu & Hu (2016, 6.4) draw one instance with the true number of edges; since that is private, it is estimated
    here. `keep m` edges are chosen at random among the reported pairs, the expected number of true ones, and the rest
    among the pairs that are not reported. If epsilon is small, most edges of the instance are chance, and its
    statistics are biased; those of `estimate_degrees` and the like are not.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> truth = Graph.of_edges([(0, 1), (1, 2), (2, 3)], nodes=6)
    >>> reconstruct_graph(disguise_graph(truth, epsilon=9, rng=1), rng=1).ends
    (array([0, 1, 2]), array([1, 2, 3]))
    """
    graph, words = reports.graph, random_words(rng)
    total = round(min(max(estimate_edges(reports).value, 0.0), graph.pair_count))
    others = min(total - min(round((1 - reports.flip) * total), graph.edges), graph.pair_count - graph.edges)
    reported = graph.pairs[_random_subset(graph.edges, total - others, words)]
    unreported = _unreported(graph.pairs, _random_subset(graph.pair_count - graph.edges, others, words))
    return Graph(graph.labels, np.sort(np.concatenate([reported, unreported])), graph.directed)


def _random_subset(count: int, size: int, words: RandomWords) -> Indices:
    """Return a random set of `size` indices below `count`, ascending."""
    if 2 * size > count:
        kept = np.ones(count, bool)
        kept[_random_subset(count, count - size, words)] = False
        return np.flatnonzero(kept)
    chosen = np.zeros(0, np.int64)
    while len(chosen) < size:
        (side,) = flip([Coin(count)], size - len(chosen), words)
        chosen = np.unique(np.concatenate([chosen, side.astype(np.int64)]))
    return chosen


def _unreported(reported: Indices, ranks: Indices) -> Indices:
    """Return the numbers of the pairs that have these ranks among the pairs not reported.

    The rank of such a pair is its number less that of reported ones before it.

    >>> _unreported(np.array([0, 3]), np.array([0, 1, 2]))
    array([1, 2, 4])
    """
    return ranks + np.searchsorted(reported - np.arange(len(reported)), ranks, side="right")
