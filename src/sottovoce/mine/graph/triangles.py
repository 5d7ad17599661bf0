"""Triangles, of each node and of the graph, and how often two neighbours of a node are tied."""

from dataclasses import dataclass

from sottovoce.estimate.derived import CLEAR_OF_ZERO, Derived
from sottovoce.estimate.intervals import critical_value
from sottovoce.mine.graph.degrees import estimate_edges, unbiased_degrees
from sottovoce.mine.graph.estimates import NodeEstimates, number
from sottovoce.mine.graph.memory import MEMORY
from sottovoce.mine.graph.reports import GraphReports
from sottovoce.mine.graph.shared_neighbours import SharedNeighbours, shared_neighbours
from sottovoce.mine.graph.stars import estimate_stars, node_stars


@dataclass(frozen=True)
class Triangles:
    """Triangles of a disguised graph; products of three unbiased bits, with unbiased variances.

    With v the variance of a bit, c_ij the neighbours that i and j share, W the 2-stars and m the edges,

        Var(triangles) = v sum_{i<j} c_ij (c_ij - 1) + v W + v^2 (n - 2) m + v^3 C(n, 3);

    two triangles have one bit in common, or all of them, or none. Likewise for those of one node.
    """

    reports: GraphReports
    shared: SharedNeighbours

    @property
    def nodes(self) -> NodeEstimates:
        """Triangles at each node."""
        v, n = self.reports.noise, self.reports.graph.nodes
        degrees = unbiased_degrees(self.reports, self.reports.graph.degrees)
        one = degrees * (n - 2) + estimate_edges(self.reports).value - degrees
        two = node_stars(self.reports).value + self.shared.paths
        least = v**3 * (n - 1) * (n - 2) / 2
        variance = least + v**2 * one + v * (self.shared.squares + two)
        return NodeEstimates("triangles", self.reports.graph.labels, self.shared.triangles, variance, least)

    def total(self, level: float = 0.95) -> Derived:
        """Triangles of the graph."""
        n = self.reports.graph.nodes
        variance = max(self.variance, self.reports.noise**3 * n * (n - 1) * (n - 2) / 6)
        return number("triangles", float(self.shared.triangles.sum()) / 3, variance, level)

    def clustering(self, level: float = 0.95) -> Derived:
        """`3 T / W`, T triangles and W 2-stars: how often two neighbours of a node are tied, by the delta method.

        The quotient's bias, at most `sd(W) / W` standard errors, is taken off. There is no interval, and a reason,
        where W is not clear of zero.
        """
        stars = estimate_stars(self.reports)
        w, deviation = stars.value, stars.standard_error or 0.0
        t, both, name = self.total().value, self.covariance, "clustering coefficient"
        if w <= CLEAR_OF_ZERO * deviation:
            reason = "the number of 2-stars is not clear of zero"
            return Derived(name, float("nan"), 0.0, None, None, None, level, reason, None)
        bias = 3 * (t * deviation**2 / w - both) / w**2
        error = 3 / w * max(self.variance - 2 * t / w * both + (t / w * deviation) ** 2, 0.0) ** 0.5
        value, half = 3 * t / w - bias, critical_value(level) * error
        return Derived(name, value, bias, error, value - half, value + half, level)

    @property
    def variance(self) -> float:
        """Unbiased variance of the number of triangles, which noise may carry below zero."""
        v, n = self.reports.noise, self.reports.graph.nodes
        one = (n - 2) * estimate_edges(self.reports).value
        two = float((self.shared.squares + self.shared.paths).sum()) / 2
        return v**3 * n * (n - 1) * (n - 2) / 6 + v**2 * one + v * two

    @property
    def covariance(self) -> float:
        """Unbiased covariance with 2-stars, `2 v W + v^2 (n - 2) m + v sum_{i<j} c_ij (d_i + d_j - 2 x_ij - 2)`."""
        v, n = self.reports.noise, self.reports.graph.nodes
        ends = v**2 * (n - 2) * estimate_edges(self.reports).value
        return ends + v * float(self.shared.paths.sum()) + v * float(self.shared.forks.sum()) / 2


def estimate_triangles(reports: GraphReports, *, memory: float = MEMORY, threads: int | None = None) -> Triangles:
    """Triangles from reported pairs; the work grows with the squares of the reported degrees.

    >>> from sottovoce.mine.graph.disguise import disguise_graph
    >>> from sottovoce.mine.graph.graph import Graph
    >>> pairs = [(i, j) for i in range(6) for j in range(i)]
    >>> found = estimate_triangles(disguise_graph(Graph.of_edges(pairs), epsilon=9, rng=1))
    >>> print(found.total())
    triangles: 20.0074 +- 0.1722  [19.6700, 20.3448]
    """
    return Triangles(reports, shared_neighbours(reports, memory, threads))
