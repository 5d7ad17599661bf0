"""Reports of a graph: every node disguises the pairs it reports, each with a coin of its own."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number
from sottovoce.mechanism.bit_coin import BitCoin
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.mine.graph.convert import as_graph
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.memory import BYTES_A_PAIR, MEMORY, checked_memory, in_gigabytes
from sottovoce.mine.graph.noise import reported_pairs
from sottovoce.mine.graph.pairs import row_start
from sottovoce.mine.graph.reports import GraphReports, edge_coin
from sottovoce.scheme.scheme import Scheme


def disguise_graph(
    graph: Any,
    epsilon: Number | None = None,
    rng: Randomness = None,
    *,
    scheme: Scheme | None = None,
    memory: float = MEMORY,
) -> GraphReports:
    """Disguise every pair by the best coin for epsilon, or by another scheme for one bit.

    The graph is one of ours, or what `as_graph` takes for one. Each tie is reported by one of its ends, so that it
    costs epsilon once; in a directed graph `(i, j)` and `(j, i)` are two ties, and somebody whose secret shows in both
    has twice the epsilon at stake. Sparse in, sparse out; where more would be reported than `memory` bytes hold,
    nothing is started. Pass a seed or a generator as `rng` for experiments only.

    >>> path = Graph.of_edges([(0, 1), (1, 2)], nodes=4)
    >>> reports = disguise_graph(path, epsilon=1, rng=1)
    >>> reports.graph.pairs, round(reports.noise, 4)
    (array([0, 1, 3, 4, 5]), 0.9207)
    """
    coin, truth = edge_coin(epsilon, scheme), as_graph(graph)
    most = expected_reports(truth, coin)
    if most * BYTES_A_PAIR > checked_memory(memory):
        rule = f"must let a graph of {truth.nodes} nodes be reported in {in_gigabytes(memory)}, or more memory allowed"
        need = Words(f"about {most:.3g} pairs, which would take {in_gigabytes(most * BYTES_A_PAIR)}")
        raise SottovoceError("epsilon", rule, need)
    pairs = reported_pairs(truth.pairs, truth.pair_count, coin, random_words(rng))
    return GraphReports(Graph(truth.labels, pairs, truth.directed), coin)


def disguise_row(
    node: int,
    neighbours: Iterable[int],
    nodes: int,
    epsilon: Number | None = None,
    rng: Randomness = None,
    *,
    directed: bool = False,
    scheme: Scheme | None = None,
) -> list[int]:
    """One node's own report: which of the nodes it reports on (see `pairs`) it names as neighbours.

    The graph that all such rows make follows the same law as `disguise_graph`.

    >>> disguise_row(1, [0, 2], nodes=6, epsilon=8, rng=3)
    [2]
    """
    if isinstance(node, bool) or not isinstance(node, int | np.integer) or not 0 <= node < nodes:
        raise SottovoceError("node", f"must be a number from 0 to {nodes - 1}", node)
    known = Graph.of_edges(((node, other) for other in neighbours), nodes=nodes, directed=directed)
    first, beyond = (int(row_start(place, nodes, directed=directed)) for place in (node, node + 1))
    own = known.pairs[(known.pairs >= first) & (known.pairs < beyond)]
    pairs = reported_pairs(own - first, beyond - first, edge_coin(epsilon, scheme), random_words(rng)) + first
    return [int(other) for other in Graph(range(nodes), pairs, directed).ends[1]]


def graph_of_rows(rows: Iterable[tuple[int, Iterable[int]]], nodes: int, *, directed: bool = False) -> Graph:
    """Graph that the reports of single nodes make; pairs that another node is to report on are left out.

    A node that reports twice is refused: two disguises of one row are not one.

    >>> graph_of_rows([(0, [2]), (1, [2, 0])], nodes=3).ends
    (array([0, 1]), array([2, 2]))
    """
    listed = [(node, list(others)) for node, others in rows]
    again = [node for node, times in Counter(node for node, _ in listed).items() if times > 1]
    if again:
        raise SottovoceError("rows", "must have one report of each node at most", again[0])
    told = [(node, other) for node, others in listed for other in others if directed or node < other]
    return Graph.of_edges(told, nodes=nodes, directed=directed)


def expected_reports(graph: Graph, coin: BitCoin) -> float:
    """Number of pairs that will be reported, on average."""
    return (graph.edges * coin.one + (graph.pair_count - graph.edges) * coin.zero) / coin.sides
