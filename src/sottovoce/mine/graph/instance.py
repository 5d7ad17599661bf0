"""One graph that the reports could come from: what the literature hands out, as good or bad as its posterior."""

import numpy as np

from sottovoce.mechanism.coins import Coin, Randomness, RandomWords, flip, random_words
from sottovoce.mine.graph.degrees import estimate_edges
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.pairs import Numbers
from sottovoce.mine.graph.reports import GraphReports


def reconstruct_graph(reports: GraphReports, rng: Randomness = None) -> Graph:
    """A graph with the estimated number m of edges, drawn from what the reports leave open.

    Wang, Wu & Hu (2016, 6.4) draw one instance with as many edges as the truth has; since their exact number is
    private, it is estimated here. Among y reported pairs `keep m` are expected to be tied, the others of the m
    among those that are not reported: so many of each are chosen at random. Statistics of the instance are those
    of a graph whose edges are mostly chance where epsilon is small; `estimate_degrees` and its like are unbiased.

    >>> from sottovoce.mine.graph.disguise import disguise_graph
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
