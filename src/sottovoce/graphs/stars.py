"""k-stars, the sets of k neighbours of one node: their number shows how unequal the degrees are."""

from dataclasses import dataclass, field
from math import comb, factorial

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.estimates.cell_tests import Ends
from sottovoce.estimates.derived import Derived
from sottovoce.graphs.degrees import NodeEstimates, estimate_degrees, graph_estimate
from sottovoce.graphs.graph import Indices
from sottovoce.graphs.reports import GraphReports

MOST_ARMS = 6
"""Neighbours of the largest stars."""


@dataclass(frozen=True, repr=False)
class StarEstimates(NodeEstimates):
    """Stars of each node, with intervals from those of the degrees, since `C(d, k)` increases with the degree d.

    Intervals around the unbiased estimate itself would cover too rarely, since its error increases with it.
    """

    degrees: NodeEstimates = field(kw_only=True)
    arms: int = field(kw_only=True)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Return the ends of each node's interval: the stars of the ends of its degree's."""
        low, high = self.degrees.interval(level, simultaneous=simultaneous)
        return self._stars_of(low), self._stars_of(high)

    def _stars_of(self, degrees: Array) -> Array:
        """Return `d (d - 1) ... (d - k + 1) / k!`, and zero for degrees up to k - 1."""
        factors = [degrees - arm for arm in range(self.arms)]
        return np.where(degrees > self.arms - 1, np.prod(factors, axis=0) / factorial(self.arms), 0)


def node_stars(reports: GraphReports, k: int = 2, *, incoming: bool = False) -> StarEstimates:
    """Estimate `C(d_i, k)` for each node by the elementary symmetric polynomial e_k of the unbiased bits of its row.

    Pairs of stars with r neighbours in all are counted `r! / ((r-k)!^2 (2k-r)!)` times in `C(d, k)^2`, so that
    `e_k^2 - sum_r r! / ((r-k)!^2 (2k-r)!) e_r` is an unbiased estimate of the variance.
    """
    graph = reports.graph
    reported = graph.in_degrees if incoming else graph.degrees
    powers = _elementary(reported, graph.nodes - 1, 2 * whole_number("k", k, most=MOST_ARMS), reports)
    pairs = sum(factorial(r) / (factorial(r - k) ** 2 * factorial(2 * k - r)) * powers[r] for r in range(k, 2 * k + 1))
    least = comb(max(graph.nodes - 1, 0), k) * reports.noise**k
    degrees = estimate_degrees(reports, incoming=incoming)
    variance = powers[k] ** 2 - pairs
    return StarEstimates(
        _name(reports, k, incoming=incoming), graph.labels, powers[k], variance, least, degrees=degrees, arms=k
    )


def estimate_stars(reports: GraphReports, k: int = 2, level: float = 0.95, *, incoming: bool = False) -> Derived:
    """Estimate the number of k-stars of the graph, `sum_i C(d_i, k)`.

    Stars of two nodes i and j share the bit of {i, j}, and their covariance is its variance times the (k-1)-stars that
    both have otherwise; in directed graphs they share none.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> from sottovoce.graphs.graph import Graph
    >>> reports = disguise_graph(Graph.of_edges([(0, 1), (0, 2)], nodes=3), epsilon=8, rng=1)
    >>> print(estimate_stars(reports))
    2-stars: 1.0000 +- 0.0449  [0.9120, 1.0880]
    """
    nodes = node_stars(reports, k, incoming=incoming)
    variance = max(star_variance(reports, nodes, k), nodes.least * reports.graph.nodes)
    return graph_estimate(nodes.statistic, float(nodes.value.sum()), variance, level)


def star_variance(reports: GraphReports, nodes: NodeEstimates, k: int) -> float:
    """Return an unbiased estimate of the variance of the number of k-stars, which may be negative."""
    of_nodes = float(nodes.variance.sum())
    return of_nodes if reports.graph.directed else of_nodes + reports.noise * _common_arms(reports, k)


def _common_arms(reports: GraphReports, k: int) -> float:
    """Return `sum_{i != j} e_{k-1}(i without j) e_{k-1}(j without i)`, by whether {i, j} is reported."""
    graph = reports.graph
    apart = _elementary(graph.degrees, graph.nodes - 2, k - 1, reports)[k - 1]
    tied = _elementary(graph.degrees - 1, graph.nodes - 2, k - 1, reports)[k - 1]
    source, target = graph.ends
    among = float((tied[source] * tied[target] - apart[source] * apart[target]).sum())
    return float(apart.sum() ** 2 - (apart**2).sum()) + 2 * among


def _elementary(ones: Indices, bits: int, most: int, reports: GraphReports) -> list[Array]:
    """Return `e_0 ... e_most` of bits with so many reported ones, which are estimated by a, and zeros by b.

    Their generating function `(1 + a z)^s (1 + b z)^t` gives
    `(r+1) e_{r+1} = (a s + b t - (a+b) r) e_r + a b (s + t - r + 1) e_{r-1}`.
    """
    a, b = (1 - reports.flip) / reports.gap, -reports.flip / reports.gap
    powers = [np.zeros(len(ones)), np.ones(len(ones))]
    for r in range(most):
        linear = a * ones + b * (bits - ones) - (a + b) * r
        powers.append(np.asarray((linear * powers[-1] + a * b * (bits - r + 1) * powers[-2]) / (r + 1)))
    return powers[1:]


def _name(reports: GraphReports, k: int, *, incoming: bool) -> str:
    direction = ("incoming " if incoming else "outgoing ") if reports.graph.directed else ""
    return f"{direction}{k}-stars"
