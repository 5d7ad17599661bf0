"""Degrees, numbers of edges, and one graph that the reports could come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.intervals import Ends, critical_value
from sottovoce.estimates.presentation import Backend, cell_rows, new_frame, row_lines
from sottovoce.graphs.graph import Graph, Numbers
from sottovoce.graphs.reports import GraphReports
from sottovoce.mechanisms.coins import Coin, Randomness, RandomWords, flip, random_words


@dataclass(frozen=True)
class NodeEstimates:
    """A number for each node of this graph: unbiased and never clipped; only the coins are random.

    So are the variances, which noise may carry below the `least` that the coins alone give them.
    """

    statistic: str
    labels: Sequence[Any]
    value: Array
    variance: Array
    least: float = 0.0

    @property
    def standard_error(self) -> Array:
        """Square roots of the variances, none below the least."""
        return np.sqrt(np.maximum(self.variance, self.least))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each node's interval at this confidence, or of all of them at once if `simultaneous`."""
        half = critical_value(level, len(self.value) if simultaneous else 1) * self.standard_error
        return self.value - half, self.value + half

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Label, estimate, standard error and interval of each node, as plain Python."""
        return cell_rows(["node"], [tuple(self.labels)], self._numbers(level))

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {"statistic": self.statistic, "level": level, "nodes": self.to_rows(level)}

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each node, of the library named: "pandas", "polars" or "pyarrow"."""
        columns = {"node": list(self.labels), **self._numbers(level)}
        return new_frame(columns, backend)

    def __str__(self) -> str:
        """Readable table."""
        lines = row_lines(self.to_rows(), "estimate") if len(self.value) else []
        return "\n".join([f"{self.statistic} of {len(self.value)} nodes", *lines])

    def _numbers(self, level: float) -> dict[str, Array]:
        low, high = self.interval(level)
        return {"estimate": self.value, "standard_error": self.standard_error, "low": low, "high": high}


def number(name: str, value: float, variance: float, level: float, method: str = "inversion") -> Derived:
    """A number of the whole graph, unbiased, with its interval."""
    error = variance**0.5
    half = critical_value(level) * error
    return Derived(name, value, 0.0, error, value - half, value + half, level, None, method)


def estimate_degrees(reports: GraphReports, *, incoming: bool = False) -> NodeEstimates:
    """`d_i = (y_i - (n - 1) q) / g` for y_i reported ties, variance `(n - 1) q (1 - q) / g^2`.

    q is the chance of a flip and g = 1 - 2 q. With direction, ties that leave each node, or come to it.

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


def reconstruct_graph(reports: GraphReports, rng: Randomness = None) -> Graph:
    """A graph with the estimated number m of edges, drawn from what the reports leave open.

    Wang, Wu & Hu (2016, 6.4) draw one instance with as many edges as the truth has; since their exact number is
    private, it is estimated here. Among y reported pairs `keep m` are expected to be tied, the others of the m
    among those that are not reported: so many of each are chosen at random. Statistics of the instance are those
    of a graph whose edges are mostly chance where epsilon is small; `estimate_degrees` and its like are unbiased.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> truth = Graph.of_edges([(0, 1), (1, 2), (2, 3)], nodes=6)
    >>> reconstruct_graph(disguise_graph(truth, epsilon=9, rng=1), rng=1).ends
    (array([0, 1, 2]), array([1, 2, 3]))
    """
    graph, words = reports.graph, random_words(rng)
    total = round(min(max(estimate_edges(reports).value, 0.0), graph.pair_count))
    others = min(total - min(round((1 - reports.flip) * total), graph.edges), graph.pair_count - graph.edges)
    told = graph.pairs[_chosen(graph.edges, total - others, words)]
    untold = _untold(graph.pairs, _chosen(graph.pair_count - graph.edges, others, words))
    return Graph(graph.labels, np.sort(np.concatenate([told, untold])), graph.directed)


def _chosen(count: int, wanted: int, words: RandomWords) -> Numbers:
    """So many different places of `count`, any set of them alike, in ascending order."""
    if 2 * wanted > count:
        left = np.ones(count, bool)
        left[_chosen(count, count - wanted, words)] = False
        return np.flatnonzero(left)
    found = np.zeros(0, np.int64)
    while len(found) < wanted:
        (side,) = flip([Coin(count)], wanted - len(found), words)
        found = np.unique(np.concatenate([found, side.astype(np.int64)]))
    return found


def _untold(told: Numbers, places: Numbers) -> Numbers:
    """Numbers of the pairs at these places among all pairs that are not told.

    The place of an untold pair is its number less the told ones before it.

    >>> _untold(np.array([0, 3]), np.array([0, 1, 2]))
    array([1, 2, 4])
    """
    return places + np.searchsorted(told - np.arange(len(told)), places, side="right")
