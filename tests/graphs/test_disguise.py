"""Sparse noise follows the law of one coin a pair, exactly; nodes alone and all at once."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, chi2, chisquare

from sottovoce.errors import SottovoceError
from sottovoce.graphs import reports
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports, disguise_graph, disguise_row, edge_coin, graph_of_rows
from sottovoce.mechanisms.coins import random_words
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.schemes.laplace import Laplace
from sottovoce.schemes.mangat import Mangat
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.randomized_response import RandomizedResponse

COIN = BitCoin(3, 1, 4)


def test_every_set_of_reports_has_its_probability():
    """Chi-square over all 16 reports of four pairs, two of them tied; p > .001."""
    rng = np.random.default_rng(5)
    ties, draws = np.array([1, 2]), 2000
    counts = np.zeros(16, int)
    for _ in range(draws):
        counts[(1 << reports.reported_pairs(ties, 4, COIN, random_words(rng))).sum()] += 1
    chances = []
    for number in range(16):
        alike = [(number >> pair & 1) == (pair in (1, 2)) for pair in range(4)]
        chances.append(0.75 ** sum(alike) * 0.25 ** (4 - sum(alike)))
    assert chisquare(counts, draws * np.array(chances)).pvalue > 0.001


@pytest.mark.parametrize(
    ("pairs", "coin"), [(100_000, COIN), (3 * 10**6, BitCoin(99, 1, 100)), (5 * 10**6, BitCoin(9, 1, 10))]
)
def test_reports_are_ascending_and_as_many_as_they_should_be(pairs, coin):
    """Small and large blocks; the number is within 4.5 standard deviations of its mean."""
    ties = np.arange(0, pairs, 1000)
    found = reports.reported_pairs(ties, pairs, coin, random_words(3))
    assert (np.diff(found) > 0).all()
    assert 0 <= found[0] <= found[-1] < pairs
    mean = (len(ties) * coin.one + (pairs - len(ties)) * coin.zero) / coin.sides
    deviation = (pairs * coin.one * coin.zero) ** 0.5 / coin.sides
    assert abs(len(found) - mean) < 4.5 * deviation
    kept = np.isin(ties, found).sum()
    assert abs(kept - len(ties) * coin.one / coin.sides) < 4.5 * len(ties) ** 0.5 / 2


def test_blocks_have_binomial_numbers_and_all_places_alike():
    """2,000 blocks of 1,024 at a chance of 1/4: variance of the counts, and chi-square of the places, p > .001."""
    found = reports.reported_pairs(np.zeros(0, np.int64), 2000 * 1024, COIN, random_words(7))
    counts = np.bincount(found // 1024, minlength=2000)
    statistic = ((counts - 256) ** 2).sum() / binom.var(1024, 0.25)
    assert 0.001 < chi2.cdf(statistic, 2000) < 0.999
    assert chisquare(np.bincount(found % 1024, minlength=1024)).pvalue > 0.001


def test_many_ones_are_drawn_in_parts(monkeypatch):
    """Parts continue one stream of words; all of them are there, and each block but the last is whole."""
    monkeypatch.setattr(reports, "AT_ONCE", 1000)
    found = reports.reported_pairs(np.zeros(0, np.int64), 50_000, COIN, random_words(1))
    counts = np.bincount(found // 1024, minlength=49)
    assert (np.abs(counts[:-1] - 256) < 5 * (1024 * 3 / 16) ** 0.5).all()


def test_no_pairs_no_reports():
    assert disguise_graph(Graph.of_edges([], nodes=1), epsilon=1).graph.edges == 0
    assert disguise_graph(Graph.of_edges([], nodes=0), epsilon=1).graph.edges == 0


def test_coins_are_secure_unless_asked_otherwise():
    graph = Graph.of_edges([(0, 1)], nodes=60)
    first, second = (disguise_graph(graph, epsilon=1).graph.pairs.tolist() for _ in range(2))
    assert first != second
    again = [disguise_graph(graph, epsilon=1, rng=4).graph.pairs.tolist() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("directed", [False, True])
def test_rows_of_single_nodes_make_the_same_law(directed):
    """Frequencies of every reported pair of three nodes, over 600 draws, within 4.5 standard errors."""
    truth = Graph.of_edges([(0, 1), (2, 1)], nodes=3, directed=directed)
    rng, draws = np.random.default_rng(2), 600
    counts = np.zeros(truth.pair_count)
    for _ in range(draws):
        rows = []
        for node in range(3):
            source, target = truth.ends
            own = [*target[source == node].tolist(), *([] if directed else source[target == node].tolist())]
            rows.append(
                (node, disguise_row(node, own, 3, rng=rng, directed=directed, scheme=RandomizedResponse(odds=3)))
            )
        counts[graph_of_rows(rows, 3, directed=directed).pairs] += 1
    expected = np.where(np.isin(np.arange(truth.pair_count), truth.pairs), 0.75, 0.25)
    assert (np.abs(counts / draws - expected) < 4.5 * (0.1875 / draws) ** 0.5).all()


def test_what_another_node_reports_on_is_left_out():
    assert graph_of_rows([(2, [0, 1])], nodes=3).edges == 0
    assert graph_of_rows([(2, [0, 1])], nodes=3, directed=True).edges == 2


@pytest.mark.parametrize("epsilon", [0.5, 1, 5])
def test_a_tie_costs_its_epsilon_once(epsilon):
    reports = disguise_graph(Graph.of_edges([(0, 1)]), epsilon)
    assert epsilon * (1 - 1e-6) < reports.epsilon <= epsilon
    assert reports.odds == Fraction(reports.coin.one, reports.coin.zero)
    laplace = disguise_graph(Graph.of_edges([(0, 1)]), scheme=Laplace(epsilon=epsilon))
    assert laplace.epsilon < reports.epsilon
    assert laplace.noise > reports.noise


def test_bits_that_are_not_disguised():
    reports = GraphReports(Graph.of_edges([(0, 1)]), BitCoin(1, 0, 1))
    assert (reports.odds, reports.epsilon, reports.noise) == (None, float("inf"), 0)
    assert disguise_graph(reports.graph, scheme=Mask(p=1)).graph.pairs.tolist() == [0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (edge_coin, "epsilon or scheme must be given"),
        (lambda: edge_coin(1, Laplace(epsilon=1)), "epsilon or scheme must be given"),
        (lambda: edge_coin(-1), "epsilon must be between 0 and 700"),
        (lambda: edge_coin(0), "epsilon or scheme must make reports informative"),
        (lambda: edge_coin(scheme=Mask(p=0.25)), "epsilon or scheme must make reports informative"),
        (lambda: disguise_graph(Graph.of_edges([(0, 1)]), scheme=Mangat(p=0.7)), "coin must keep ties and non-ties"),
        (lambda: GraphReports(Graph.of_edges([(0, 1)]), BitCoin(1, 3, 4)), "coin must keep ties and non-ties"),
        (lambda: disguise_row(0, [0], 3, epsilon=1), "edges must join two different nodes"),
        (lambda: disguise_row(0, [7], 3, epsilon=1), "edges must join nodes from 0 to 2"),
        (lambda: disguise_row(3, [], 3, epsilon=1), "node must be a whole number from 0 to 2. Got 3"),
        (lambda: graph_of_rows([(0, [1]), (1, []), (0, [2])], 3), "rows must have at most one report of each node"),
        *(
            (lambda m=memory: disguise_graph(Graph.of_edges([(0, 1)]), 1, memory=m), "memory must be a number above 0")
            for memory in (0, float("nan"), "2", True)
        ),
    ],
)
def test_mistakes_are_refused(call, message):
    with pytest.raises(SottovoceError, match=f"^{message}"):
        call()


def test_too_many_reports_are_announced_before_they_are_drawn():
    message = (
        r"^epsilon must be higher, or .* 1000000 nodes must fit 2.15 GB.* 1.34e\+11 reported pairs, .* 6.45e\+03 GB"
    )
    with pytest.raises(SottovoceError, match=message):
        disguise_graph(Graph.of_edges([], nodes=10**6), epsilon=1)


def test_all_reports_of_a_graph_add_up():
    """Every graph on three nodes is possible, and no other."""
    seen = {
        tuple(disguise_graph(Graph.of_edges([(0, 1)], nodes=3), 1, rng=seed).graph.pairs.tolist())
        for seed in range(200)
    }
    assert seen == {tuple(np.flatnonzero(bits).tolist()) for bits in product([0, 1], repeat=3)}
