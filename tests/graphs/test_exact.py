"""Every estimate and every variance of a tiny graph, exactly: all reports there are, each with its probability."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from sottovoce.graphs.degrees import estimate_degrees, estimate_edges
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports
from sottovoce.graphs.stars import estimate_stars, node_stars, star_variance
from sottovoce.graphs.triangles import MOTIFS, estimate_triangles
from sottovoce.mechanisms.flips import BitCoin

COIN = BitCoin(3, 1, 4)
SHAPES = {
    "empty": [],
    "tailed triangle": [(0, 1), (1, 2), (0, 2), (2, 3)],
    "square with a diagonal": [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)],
    "complete": list(combinations(range(5), 2)),
}


def every_report(truth: Graph):
    """All graphs on these nodes, and how likely each is reported."""
    bits = truth.pair_count
    true = np.isin(np.arange(bits), truth.pairs)
    for number in range(2**bits):
        told = (number >> np.arange(bits)) & 1 == 1
        chance = 0.75 ** (told == true).sum() * 0.25 ** (told != true).sum()
        yield chance, GraphReports(Graph(truth.labels, np.flatnonzero(told), truth.directed), COIN)


def moments(truth: Graph, statistic):
    """Mean and covariance of what `statistic` gives, over all reports."""
    pairs = [(chance, np.atleast_1d(statistic(reports))) for chance, reports in every_report(truth)]
    chances, values = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    mean = chances @ values
    return mean, (chances[:, None] * (values - mean)).T @ (values - mean)


def brute_triangles(graph: Graph) -> np.ndarray:
    matrix = np.zeros((graph.nodes, graph.nodes))
    matrix[graph.ends] = 1
    matrix += matrix.T
    return np.diag(matrix @ matrix @ matrix) / 2


@pytest.fixture(params=SHAPES, scope="module")
def truth(request):
    edges = SHAPES[request.param]
    return Graph.of_edges(edges, nodes=5 if len(edges) == 10 else 4)


def test_degrees_and_edges(truth):
    mean, spread = moments(truth, lambda r: [*estimate_degrees(r).value, estimate_edges(r).value])
    np.testing.assert_allclose(mean, [*truth.degrees, truth.edges], atol=1e-10)
    some = GraphReports(truth, COIN)
    np.testing.assert_allclose(np.diag(spread)[:-1], estimate_degrees(some).variance)
    assert spread[-1, -1] ** 0.5 == pytest.approx(estimate_edges(some).standard_error)


def test_triangles(truth):
    def statistic(reports):
        found = estimate_triangles(reports)
        return [*found.nodes.value, found.total().value, *found.nodes.variance, found.variance]

    mean, spread = moments(truth, statistic)
    n, expected = truth.nodes, brute_triangles(truth)
    np.testing.assert_allclose(mean[: n + 1], [*expected, expected.sum() / 3], atol=1e-9)
    np.testing.assert_allclose(mean[n + 1 :], np.diag(spread)[: n + 1], rtol=1e-9)


def test_triangles_vary_with_two_stars(truth):
    def statistic(reports):
        found = estimate_triangles(reports)
        return [found.value, found.stars, found.covariance, found.stars_variance]

    mean, spread = moments(truth, statistic)
    assert mean[2:] == pytest.approx(spread[:2, 1])
    assert mean[1] == pytest.approx(sum(comb(d, 2) for d in truth.degrees.tolist()))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_stars(truth, k):
    def statistic(reports):
        nodes = node_stars(reports, k)
        total = star_variance(reports, nodes, k)
        return [*nodes.value, estimate_stars(reports, k).value, *nodes.variance, total]

    mean, spread = moments(truth, statistic)
    n, expected = truth.nodes, [comb(d, k) for d in truth.degrees.tolist()]
    np.testing.assert_allclose(mean[: n + 1], [*expected, sum(expected)], atol=1e-9)
    np.testing.assert_allclose(mean[n + 1 :], np.diag(spread)[: n + 1], rtol=1e-9)


@pytest.mark.parametrize("incoming", [False, True])
def test_directed_degrees_and_stars(incoming):
    truth = Graph.of_edges([(0, 1), (0, 2), (2, 0), (1, 2)], nodes=3, directed=True)

    def statistic(reports):
        degrees, stars = estimate_degrees(reports, incoming=incoming), node_stars(reports, 2, incoming=incoming)
        total = estimate_stars(reports, 2, incoming=incoming)
        return [*degrees.value, *stars.value, total.value, *stars.variance, star_variance(reports, stars, 2)]

    mean, spread = moments(truth, statistic)
    degrees = truth.in_degrees if incoming else truth.degrees
    stars = [comb(d, 2) for d in degrees.tolist()]
    np.testing.assert_allclose(mean[:7], [*degrees, *stars, sum(stars)], atol=1e-9)
    np.testing.assert_allclose(mean[7:], np.diag(spread)[3:7], rtol=1e-9)
    np.testing.assert_allclose(np.diag(spread)[:3], estimate_degrees(GraphReports(truth, COIN)).variance)


ROUND_AND_BACK = [(0, 1), (1, 2), (2, 0), (1, 0), (0, 3), (3, 1), (1, 3)]
"""Two cycles, three transitive triangles, pairs that are tied both ways and one that is not tied."""


def brute_directed(graph: Graph, motif: str) -> tuple[np.ndarray, float]:
    """Triangles at each node by powers of the adjacency matrix (Fagiolo 2007), and the 2-stars they could close."""
    ties = np.zeros((graph.nodes, graph.nodes))
    ties[graph.ends] = 1
    both = ties + ties.T
    cycles, every = np.diag(ties @ ties @ ties), np.diag(both @ both @ both) / 2
    paths = (ties @ ties).sum() - np.trace(ties @ ties)
    stars = (both @ both).sum() - np.trace(both @ both)
    return {"all": (every, stars), "cycles": (cycles, paths), "transitive": (every - cycles, paths)}[motif]


@pytest.mark.parametrize(
    ("nodes", "motif"),
    [
        *((3, motif) for motif in MOTIFS),
        *(pytest.param(4, motif, marks=pytest.mark.slow) for motif in MOTIFS),
    ],
)
def test_directed_triangles(nodes, motif):
    """Over all 4,096 reports of four nodes; three of them have no two ways to close a tie."""
    ties = [tie for tie in ROUND_AND_BACK if max(tie) < nodes]
    truth = Graph.of_edges(ties, nodes=nodes, directed=True)

    def statistic(reports):
        found = estimate_triangles(reports, motif, threads=1)
        variances = [*found.nodes.variance, found.variance, found.stars_variance, found.covariance]
        return [*found.nodes.value, found.value, found.stars, *variances]

    mean, spread = moments(truth, statistic)
    triangles, stars = brute_directed(truth, motif)
    np.testing.assert_allclose(mean[: nodes + 2], [*triangles, triangles.sum() / 3, stars], atol=1e-9)
    np.testing.assert_allclose(mean[nodes + 2 : -1], np.diag(spread)[: nodes + 2], rtol=1e-9)
    assert mean[-1] == pytest.approx(spread[nodes, nodes + 1])
