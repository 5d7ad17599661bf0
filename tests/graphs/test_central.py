"""What a trusted server adds: sensitivities by brute force over all graphs on a few nodes."""

from math import exp

import numpy as np
import pytest
from scipy.stats import kstest, laplace

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.graphs.central import (
    central_degrees,
    central_triangles,
    laplace_noise,
    smooth_scale,
    smooth_sensitivity,
    smooth_triangles,
    smoothness,
    true_triangles,
)
from sottovoce.graphs.graph import Graph


def all_graphs(nodes: int) -> list[Graph]:
    bits = nodes * (nodes - 1) // 2
    return [Graph(range(nodes), np.flatnonzero(number >> np.arange(bits) & 1)) for number in range(2**bits)]


def neighbours(graphs: list[Graph]):
    bits = (len(graphs) - 1).bit_length()
    return ((number, number ^ 1 << bit) for number in range(len(graphs)) for bit in range(bits))


@pytest.fixture(scope="module")
def triangles():
    return [true_triangles(graph) for graph in all_graphs(5)]


def test_sensitivities_of_the_sequences(triangles):
    """One tie changes the degrees by 2 in all, the triangles by at most 3 (n - 2)."""
    graphs = all_graphs(5)
    changes = [
        (abs(graphs[a].degrees - graphs[b].degrees).sum(), abs(triangles[a] - triangles[b]).sum())
        for a, b in neighbours(graphs)
    ]
    assert max(change[0] for change in changes) == 2
    assert max(change[1] for change in changes) == 9


def test_a_directed_tie_changes_one_degree():
    """The noise of the same seed is half as large as without direction."""
    ties = [(0, 1), (2, 1)]
    noise = [
        central_degrees(graph, 1, rng=1) - graph.degrees
        for graph in (Graph.of_edges(ties, directed=directed) for directed in (True, False))
    ]
    np.testing.assert_allclose(2 * noise[0], noise[1])


@pytest.mark.parametrize("nodes", [3, 4, 5])
@pytest.mark.parametrize("beta", [0.05, 0.3, 1.0])
def test_smooth_sensitivity_is_its_definition(nodes, beta):
    """`max_H LS(H) e^(-beta d(G, H))` over all graphs H, with the local sensitivity found by trying every tie."""
    graphs = all_graphs(nodes)
    totals = [true_triangles(graph).sum() / 3 for graph in graphs]
    local = np.zeros(len(graphs))
    for a, b in neighbours(graphs):
        local[a] = max(local[a], abs(totals[a] - totals[b]))
    numbers = np.arange(len(graphs))
    for number in range(0, len(graphs), 7):
        apart = np.bitwise_count(numbers ^ number)
        expected = (local * np.exp(-beta * apart)).max()
        assert smooth_sensitivity(graphs[number], beta) == pytest.approx(expected)


def test_smooth_sensitivity_is_smooth():
    """Graphs one tie apart differ by a factor of e^beta at most, and it is never below the local sensitivity."""
    graphs = all_graphs(5)
    found = [smooth_sensitivity(graph, 0.2) for graph in graphs]
    assert max(found[a] / found[b] for a, b in neighbours(graphs)) <= exp(0.2) + 1e-12


@pytest.mark.parametrize(("epsilon", "delta", "numbers"), [(0.5, 1e-6, 1), (1, 1e-3, 1), (2, 1e-6, 20)])
def test_a_change_of_scale_is_private(epsilon, delta, numbers):
    """`sup_S P(Z in S) - e^(eps/2) P(e^b Z in S) <= delta`, by the densities' ratio at norms drawn from Gamma(d)."""
    beta = smoothness(epsilon, delta, numbers)
    norms = np.random.default_rng(1).gamma(numbers, size=200_000)
    for change in (beta, -beta):
        loss = norms * np.expm1(change) - numbers * change
        assert np.maximum(1 - np.exp(epsilon / 2 - loss), 0).mean() <= delta
    assert beta >= epsilon / (4 * (numbers + np.log(2 / delta)))  # Nissim et al., for several numbers


def test_noise_is_laplace():
    assert kstest(laplace_noise(4000, 3.0, 1), laplace(scale=3).cdf).pvalue > 0.001


def test_baselines_centre_on_the_truth():
    graph = Graph.of_edges([(0, 1), (1, 2), (0, 2), (2, 3)], nodes=6)
    rng = np.random.default_rng(1)
    for answer, expected, scale in [
        (central_degrees, graph.degrees, 2 / 3),
        (central_triangles, true_triangles(graph), 12 / 3),
        (lambda g, e, r: smooth_triangles(g, e, 1e-3, r), true_triangles(graph), smooth_scale(graph, 3, 1e-3, 6)),
    ]:
        values = np.array([answer(graph, 3, rng) for _ in range(2000)])
        assert (np.abs(values.mean(axis=0) - expected) < 4.5 * scale * (2 / 2000) ** 0.5).all()
        assert (values - expected).std() == pytest.approx(2**0.5 * scale, rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: central_degrees(g, 0), "epsilon must be a number above 0"),
        (lambda g: central_triangles(g, -1), "epsilon must be a number above 0"),
        (lambda g: smooth_triangles(g, 1, 0), "delta must be between 0 and 1"),
        (lambda g: smoothness(0, 0.1), "epsilon must be a number above 0"),
        (lambda g: smooth_sensitivity(g, 0), "beta must be a number above 0"),
        (
            lambda g: smooth_sensitivity(Graph(g.labels, g.pairs, directed=True), 1),
            "graph must be undirected",
        ),
    ],
)
def test_mistakes_are_refused(call, message):
    with pytest.raises(SottovoceError, match=f"^{message}"):
        call(Graph.of_edges([(0, 1), (1, 2)]))


def test_without_scipy_there_is_no_smoothness(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.special", None)
    with pytest.raises(MissingExtraError, match="smooth sensitivity needs scipy"):
        smoothness(1, 0.1)
