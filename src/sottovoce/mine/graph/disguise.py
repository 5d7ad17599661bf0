"""Reports of a graph: every node disguises the pairs it reports, each with a coin of its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number, common_denominator, epsilon_of_odds
from sottovoce.mechanism.bit_coin import BitCoin
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.noise import reported_pairs
from sottovoce.mine.graph.pairs import row_start
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.scheme import Scheme

MEMORY = 2**31
"""Bytes that a call may take unless it is told otherwise."""

BYTES_A_PAIR = 48
"""Of a reported pair, while it is drawn, sorted and turned into rows."""


@dataclass(frozen=True, eq=False)
class GraphReports:
    """The graph that the reports draw, and the coin they were disguised with.

    With `keep` the chance that a bit is told as it is and `flip` that it is not, `(y - flip) / (keep - flip)` is an
    unbiased estimate of the bit behind a report y, with variance `noise = keep flip / (keep - flip)^2`.
    """

    graph: Graph
    coin: BitCoin

    def __post_init__(self) -> None:
        """Check that the coin treats ties and others alike, and tells something."""
        if self.coin.one + self.coin.zero != self.coin.sides or self.coin.one <= self.coin.zero:
            raise SottovoceError("coin", "must keep every bit with one chance above 1/2", self.coin)

    @property
    def odds(self) -> Fraction | None:
        """What a report can do to anybody's odds that two nodes are tied; None where bits are not disguised."""
        return Fraction(self.coin.one, self.coin.zero) if self.coin.zero else None

    @property
    def epsilon(self) -> float:
        """Natural logarithm of the odds."""
        return epsilon_of_odds(self.odds)

    @property
    def flip(self) -> float:
        """Chance that a bit is told wrong."""
        return self.coin.zero / self.coin.sides

    @property
    def gap(self) -> float:
        """`keep - flip`: how much more often a tie is reported than none."""
        return (self.coin.one - self.coin.zero) / self.coin.sides

    @property
    def noise(self) -> float:
        """Variance of one estimated bit."""
        return self.flip * (1 - self.flip) / self.gap**2


def disguise_graph(
    graph: Graph,
    epsilon: Number | None = None,
    rng: Randomness = None,
    *,
    scheme: Scheme | None = None,
    memory: float = MEMORY,
) -> GraphReports:
    """Disguise every pair by the best coin for epsilon, or by another scheme for one bit.

    Each tie is reported by one of its ends, so that it costs epsilon once; in a directed graph `(i, j)` and
    `(j, i)` are two ties, and somebody whose secret shows in both has twice the epsilon at stake. Sparse in,
    sparse out; where more would be reported than `memory` bytes hold, nothing is started. Pass a seed or a
    generator as `rng` for experiments only.

    >>> path = Graph.of_edges([(0, 1), (1, 2)], nodes=4)
    >>> reports = disguise_graph(path, epsilon=1, rng=1)
    >>> reports.graph.pairs, round(reports.noise, 4)
    (array([0, 1, 3, 4, 5]), 0.9207)
    """
    coin = edge_coin(epsilon, scheme)
    most = expected_reports(graph, coin)
    if most * BYTES_A_PAIR > memory:
        rule = f"must let a graph of {graph.nodes} nodes be reported in {in_gigabytes(memory)}, or more memory allowed"
        need = Words(f"about {most:.3g} pairs, which would take {in_gigabytes(most * BYTES_A_PAIR)}")
        raise SottovoceError("epsilon", rule, need)
    pairs = reported_pairs(graph.pairs, graph.pair_count, coin, random_words(rng))
    return GraphReports(Graph(graph.labels, pairs, graph.directed), coin)


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
    known = Graph.of_edges(((node, other) for other in neighbours), nodes=nodes, directed=directed)
    first, beyond = (int(row_start(place, nodes, directed=directed)) for place in (node, node + 1))
    own = known.pairs[(known.pairs >= first) & (known.pairs < beyond)]
    pairs = reported_pairs(own - first, beyond - first, edge_coin(epsilon, scheme), random_words(rng)) + first
    return [int(other) for other in Graph(range(nodes), pairs, directed).ends[1]]


def graph_of_rows(rows: Iterable[tuple[int, Iterable[int]]], nodes: int, *, directed: bool = False) -> Graph:
    """Graph that the reports of single nodes make; pairs that another node is to report on are left out.

    >>> graph_of_rows([(0, [2]), (1, [2, 0])], nodes=3).ends
    (array([0, 1]), array([2, 2]))
    """
    told = [(node, other) for node, others in rows for other in others if directed or node < other]
    return Graph.of_edges(told, nodes=nodes, directed=directed)


def edge_coin(epsilon: Number | None = None, scheme: Scheme | None = None) -> BitCoin:
    """Coin of one bit, with integers for sides: randomized response for an epsilon, or another scheme's.

    >>> edge_coin(scheme=RandomizedResponse(odds=3))
    BitCoin(one=3, zero=1, sides=4)
    """
    if (epsilon is None) == (scheme is None):
        raise SottovoceError("epsilon or scheme", "must be given, exactly one of them", (epsilon, scheme))
    chosen = RandomizedResponse(epsilon=epsilon) if scheme is None else scheme
    channel = chosen.mechanism((2,)).channel
    one, zero = channel.entry(1, 1), channel.entry(1, 0)
    if one <= zero:
        got = epsilon if scheme is None else scheme
        raise SottovoceError("epsilon or scheme", "must let reports say something: an epsilon above 0", got)
    sides = common_denominator([one, zero])
    return BitCoin(int(one * sides), int(zero * sides), sides)


def expected_reports(graph: Graph, coin: BitCoin) -> float:
    """Number of pairs that will be reported, on average."""
    return (graph.edges * coin.one + (graph.pair_count - graph.edges) * coin.zero) / coin.sides


def in_gigabytes(count: float) -> str:
    """Bytes for people.

    >>> in_gigabytes(2**31)
    '2.15 GB'
    """
    return f"{count / 1e9:.3g} GB"
