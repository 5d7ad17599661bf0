"""Unbiased with honest intervals: every statistic simulated on a small graph, and shown as people want to see it."""

import sys
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from sottovoce.errors import SottovoceError
from sottovoce.graphs import _arrays, _kernels, neighbours
from sottovoce.graphs.central import true_triangles
from sottovoce.graphs.degrees import estimate_degrees, estimate_edges
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.neighbours import codegree_sums
from sottovoce.graphs.reports import GraphReports, disguise_graph
from sottovoce.graphs.stars import estimate_stars, node_stars
from sottovoce.graphs.triangles import estimate_triangles
from sottovoce.mechanisms.flips import BitCoin

DRAWS = 300
EPSILON = 2


@pytest.fixture(scope="module")
def truth() -> Graph:
    """60 nodes in three circles, tied at random within, seldom between."""
    rng = np.random.default_rng(3)
    first, second = np.triu_indices(60, 1)
    chance = np.where(first // 20 == second // 20, 0.5, 0.05)
    chosen = rng.random(len(first)) < chance
    return Graph.of_edges(np.stack([first[chosen], second[chosen]], axis=1), 60)


@pytest.fixture(scope="module")
def runs(truth):
    """Statistics of many disguises of one graph: value, low and high."""
    rng, found = np.random.default_rng(1), []
    for _ in range(DRAWS):
        reports = disguise_graph(truth, EPSILON, rng)
        triangles = estimate_triangles(reports)
        nodes = {"degrees": estimate_degrees(reports), "triangles": triangles.nodes, "3-stars": node_stars(reports, 3)}
        numbers = [estimate_edges(reports), estimate_stars(reports), estimate_stars(reports, 3)]
        numbers += [triangles.total(), triangles.clustering()]
        found.append((nodes, {number.name + " in all": number for number in numbers}))
    return found


def truths(truth: Graph) -> dict[str, np.ndarray]:
    degrees, triangles = truth.degrees, true_triangles(truth)
    stars = {k: np.array([comb(d, k) for d in degrees.tolist()]) for k in (2, 3)}
    return {
        "degrees": degrees,
        "triangles": triangles,
        "3-stars": stars[3],
        "edges in all": truth.edges,
        "2-stars in all": stars[2].sum(),
        "3-stars in all": stars[3].sum(),
        "triangles in all": triangles.sum() / 3,
        "clustering coefficient in all": triangles.sum() / stars[2].sum(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["degrees", "triangles", "3-stars"])
def test_nodes_are_unbiased_and_covered(truth, runs, name):
    """Over 300 disguises: means within 4.5 standard errors, at every node; 95 % intervals cover 94 to 96 %.

    18,000 intervals, correlated between the nodes of one disguise, leave a standard error well below .005.
    """
    expected = truths(truth)[name]
    values = np.array([nodes[name].value for nodes, _ in runs])
    assert (np.abs(values.mean(axis=0) - expected) < 4.5 * values.std(axis=0) / DRAWS**0.5).all()
    ends = [nodes[name].interval() for nodes, _ in runs]
    covered = np.mean([(low <= expected) & (expected <= high) for low, high in ends])
    assert 0.935 < covered < 0.965


@pytest.mark.parametrize(
    "name", [*(f"{s} in all" for s in ("edges", "2-stars", "3-stars", "triangles", "clustering coefficient"))]
)
def test_totals_are_unbiased_and_covered(truth, runs, name):
    """Mean within 3.5 standard errors; the number of covering intervals has p > .001 under 95 %."""
    expected = truths(truth)[name]
    values = np.array([numbers[name].value for _, numbers in runs])
    assert abs(values.mean() - expected) < 3.5 * values.std() / DRAWS**0.5
    covered = sum(numbers[name].low <= expected <= numbers[name].high for _, numbers in runs)
    assert binomtest(covered, DRAWS, 0.95).pvalue > 0.001


def test_simultaneous_intervals_are_wider(truth):
    found = estimate_degrees(disguise_graph(truth, EPSILON, rng=1))
    single, all_at_once = found.interval(), found.interval(simultaneous=True)
    assert (all_at_once[0] < single[0]).all()
    assert found.to_json()["nodes"][0]["low"] == single[0][0]
    assert list(found.to_frame("polars").columns) == ["node", "estimate", "standard_error", "low", "high"]


def test_a_graph_without_nodes_is_shown():
    found = estimate_degrees(disguise_graph(Graph.of_edges([], nodes=0), 1))
    assert str(found) == "degrees of 0 nodes"
    assert found.to_frame("polars").shape == (0, 5)


def test_clustering_is_declined_where_it_cannot_be_trusted(truth):
    """No 2-stars to divide by in an empty graph; too much noise at a small epsilon."""
    for graph, epsilon in ((Graph.of_edges([], nodes=30), 1), (truth, 0.5)):
        found = estimate_triangles(disguise_graph(graph, epsilon, rng=1)).clustering()
        assert (found.reason, found.low) == ("the number of 2-stars is not clearly above zero", None)


def test_a_graph_told_as_it_is(truth):
    """A coin that keeps everything gives the truth, without error."""
    found = estimate_triangles(GraphReports(truth, BitCoin(1, 0, 1)))
    np.testing.assert_allclose(found.nodes.value, truths(truth)["triangles"])
    assert found.total().standard_error == 0


@pytest.mark.parametrize("way", ["compiled", "plain", "numpy", "packed"])
def test_shared_neighbours_are_counted_alike(truth, way, monkeypatch):
    matrix = np.zeros((60, 60), int)
    matrix[truth.ends] = 1
    matrix += matrix.T
    shared = matrix @ matrix
    np.fill_diagonal(shared, 0)
    expected = np.stack([(shared * matrix).sum(axis=1), (shared**2).sum(axis=1), shared @ matrix.sum(axis=1)], axis=1)
    monkeypatch.setattr(neighbours, "DENSE", 10**9 if way == "packed" else 0)
    if way == "numpy":
        monkeypatch.setitem(sys.modules, "numba", None)
    if way == "plain":
        sums = np.zeros((60, 3), np.int64)
        _kernels.codegree_sums(*truth.rows, 0, np.zeros(60, np.int64), np.zeros(60, np.int32), sums)
    else:
        sums = codegree_sums(truth)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(_arrays.codegrees(*truth.rows, 5), (matrix @ matrix)[5])


def test_rows_are_shared_among_threads(truth, monkeypatch):
    monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(codegree_sums(truth, threads=2), codegree_sums(truth, threads=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: node_stars(disguise_graph(g, 1), 0), "k must be a whole number from 1 to 6"),
        (lambda g: estimate_stars(disguise_graph(g, 1), 7), "k must be a whole number from 1 to 6"),
        (
            lambda g: estimate_triangles(disguise_graph(g, 1), memory=1000),
            r"graph must be small enough for triangles in 1e-06 GB",
        ),
        (
            lambda g: codegree_sums(Graph(g.labels, g.pairs[:3], directed=True)),
            "graph must be undirected",
        ),
        (
            lambda g: estimate_triangles(disguise_graph(g, 1), "cycles"),
            "motif must be all for undirected graphs",
        ),
        (lambda g: estimate_triangles(disguise_graph(g, 1), "squares"), "motif must be one of all, cycles, transitive"),
        (lambda g: estimate_triangles(disguise_graph(g, 0.1)).clustering(2), "level must be between 0 and 1"),
        (lambda g: estimate_degrees(disguise_graph(g, 1)).interval(2), "level must be between 0 and 1"),
    ],
)
def test_mistakes_are_refused(truth, call, message):
    with pytest.raises(SottovoceError, match=f"^{message}"):
        call(truth)


def test_summaries(truth):
    reports = disguise_graph(truth, epsilon=4, rng=1)
    degrees, triangles = estimate_degrees(reports), estimate_triangles(reports)
    kind = f"<GraphReports: {truth.nodes} nodes, {reports.graph.edges} reported edges, epsilon 4 for each pair>"
    assert repr(reports) == kind
    assert reports._repr_html_() == f"<pre>{kind[1:-1]}</pre>"
    assert repr(degrees) == f"<NodeEstimates degrees of {truth.nodes} nodes>"
    assert repr(node_stars(reports)) == f"<StarEstimates 2-stars of {truth.nodes} nodes>"
    assert degrees._repr_html_().startswith(f"<div><b>degrees of {truth.nodes} nodes</b><table>")
    assert repr(triangles) == f"<Triangles: {triangles.total()}>"
    assert str(triangles) == f"{triangles.total()}\n{triangles.clustering()}"
    assert triangles._repr_html_() == f"<pre>{triangles}</pre>"
    arcs = disguise_graph(Graph.of_edges([(0, 1)], nodes=3, directed=True), epsilon=4, rng=1)
    assert "directed edges" in repr(arcs)
    assert repr(arcs.graph) == f"<Graph: 3 nodes, {arcs.graph.edges} directed edges>"


def test_no_limit_of_memory(truth):
    assert disguise_graph(truth, epsilon=4, rng=1, memory=float("inf")).graph.nodes == truth.nodes
