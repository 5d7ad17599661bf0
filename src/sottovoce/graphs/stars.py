"""k-stars: choices of k neighbours of one node. Those of a graph show how unequal its degrees are."""

from dataclasses import dataclass, field
from math import comb, factorial

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.intervals import Ends
from sottovoce.graphs.degrees import NodeEstimates, estimate_degrees, number
from sottovoce.graphs.graph import Numbers
from sottovoce.graphs.reports import GraphReports

MOST_ARMS = 6


@dataclass(frozen=True)
class StarEstimates(NodeEstimates):
    """Stars of each node. `C(d, k)` ascends with the degree d, and so do the ends of the intervals.

    Intervals around the unbiased number itself would cover too seldom: it and its error ascend together.
    """

    degrees: NodeEstimates = field(kw_only=True)
    arms: int = field(kw_only=True)

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each node's interval: the stars of the ends of its degree's."""
        low, high = self.degrees.interval(level, simultaneous=simultaneous)
        return self._stars_of(low), self._stars_of(high)

    def _stars_of(self, degrees: Array) -> Array:
        """`d (d - 1) ... (d - k + 1) / k!`, and none for fewer than k - 1 ties."""
        factors = [degrees - arm for arm in range(self.arms)]
        return np.where(degrees > self.arms - 1, np.prod(factors, axis=0) / factorial(self.arms), 0)


def node_stars(reports: GraphReports, k: int = 2, *, incoming: bool = False) -> StarEstimates:
    """`C(d_i, k)` for each node: the elementary symmetric polynomial e_k of the unbiased bits of its row.

    Two stars with r neighbours in all are counted `r! / ((r-k)!^2 (2k-r)!)` times in `C(d, k)^2`, so that
    `e_k^2 - sum_r r! / ((r-k)!^2 (2k-r)!) e_r` is an unbiased estimate of the variance.
    """
    graph = reports.graph
    seen = graph.in_degrees if incoming else graph.degrees
    powers = _elementary(seen, graph.nodes - 1, 2 * _checked_arms(k), reports)
    met = sum(factorial(r) / (factorial(r - k) ** 2 * factorial(2 * k - r)) * powers[r] for r in range(k, 2 * k + 1))
    least = comb(max(graph.nodes - 1, 0), k) * reports.noise**k
    degrees = estimate_degrees(reports, incoming=incoming)
    variance = powers[k] ** 2 - met
    return StarEstimates(
        _name(reports, k, incoming=incoming), graph.labels, powers[k], variance, least, degrees=degrees, arms=k
    )


def estimate_stars(reports: GraphReports, k: int = 2, level: float = 0.95, *, incoming: bool = False) -> Derived:
    """Number of k-stars of the graph, `sum_i C(d_i, k)`.

    Stars of different nodes i and j have the bit of {i, j} in common, and their covariance is its variance times
    the (k-1)-stars that both have besides; with direction they have none.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> from sottovoce.graphs.graph import Graph
    >>> reports = disguise_graph(Graph.of_edges([(0, 1), (0, 2)], nodes=3), epsilon=8, rng=1)
    >>> print(estimate_stars(reports))
    2-stars: 1.0000 +- 0.0449  [0.9120, 1.0880]
    """
    nodes = node_stars(reports, k, incoming=incoming)
    variance = max(star_variance(reports, nodes, k), nodes.least * reports.graph.nodes)
    return number(nodes.statistic, float(nodes.value.sum()), variance, level)


def star_variance(reports: GraphReports, nodes: NodeEstimates, k: int) -> float:
    """Unbiased variance of the number of k-stars, which noise may carry below zero."""
    own = float(nodes.variance.sum())
    return own if reports.graph.directed else own + reports.noise * _common_arms(reports, k)


def _common_arms(reports: GraphReports, k: int) -> float:
    """`sum_{i != j} e_{k-1}(i without j) e_{k-1}(j without i)`, by whether {i, j} is reported."""
    graph = reports.graph
    apart = _elementary(graph.degrees, graph.nodes - 2, k - 1, reports)[k - 1]
    tied = _elementary(graph.degrees - 1, graph.nodes - 2, k - 1, reports)[k - 1]
    source, target = graph.ends
    among = float((tied[source] * tied[target] - apart[source] * apart[target]).sum())
    return float(apart.sum() ** 2 - (apart**2).sum()) + 2 * among


def _elementary(ones: Numbers, bits: int, most: int, reports: GraphReports) -> list[Array]:
    """`e_0 ... e_most` of so many reported ones among the bits, where a one is worth a and a zero b.

    Their generating function `(1 + a z)^s (1 + b z)^t` gives
    `(r+1) e_{r+1} = (a s + b t - (a+b) r) e_r + a b (s + t - r + 1) e_{r-1}`.
    """
    a, b = (1 - reports.flip) / reports.gap, -reports.flip / reports.gap
    found = [np.zeros(len(ones)), np.ones(len(ones))]
    for r in range(most):
        own = a * ones + b * (bits - ones) - (a + b) * r
        found.append(np.asarray((own * found[-1] + a * b * (bits - r + 1) * found[-2]) / (r + 1)))
    return found[1:]


def _name(reports: GraphReports, k: int, *, incoming: bool) -> str:
    ways = ("incoming " if incoming else "outgoing ") if reports.graph.directed else ""
    return f"{ways}{k}-stars"


def _checked_arms(k: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_ARMS:
        raise SottovoceError("k", f"must be a whole number from 1 to {MOST_ARMS}", k)
    return k
