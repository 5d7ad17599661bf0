"""Reports of a graph: every node disguises the pairs it reports, each with a coin of its own.

The distribution is exactly that of one coin per pair. First come the false reports, as if no pair were tied: pairs are
divided into blocks of equal size, one random word gives the number of reports of a block (from the exact binomial
distribution), and further words choose the pairs, redrawing repetitions. Then every true tie is reported or not by its
own coin, which overwrites the noise.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import whole_number
from sottovoce.disguises.bit_noise import KEY_WORDS, BlockWords, binomial_counts
from sottovoce.display import html_text
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number, common_denominator, epsilon_of_odds
from sottovoce.graphs.convert import as_graph
from sottovoce.graphs.graph import BYTES_A_PAIR, MEMORY, Graph, Indices, checked_memory, first_pair, in_gigabytes
from sottovoce.mechanisms.coins import Coin, Randomness, RandomWords, flip, random_words
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme

SMALL_BLOCK, LARGE_BLOCK = 2**10, 2**13
"""Pairs of a block: the distribution of a large one takes longer to tabulate, but needs fewer random words."""

MANY_PAIRS = 2**22
"""Pairs above which blocks are large."""

AT_ONCE = 2**20
"""Reports that are drawn together, or blocks if those are fewer."""


@dataclass(frozen=True, eq=False, repr=False)
class GraphReports:
    """The graph of the reported pairs, and the coin they were disguised with.

    A bit is reported as it is with probability `keep`, else flipped with probability `flip`. Then
    `(y - flip) / (keep - flip)` is an unbiased estimate of the bit from its report y, with variance
    `noise = keep flip / (keep - flip)^2`.
    """

    graph: Graph
    coin: BitCoin

    def __post_init__(self) -> None:
        """Check that the coin keeps ties and non-ties alike, with a probability above 1/2."""
        if self.coin.one + self.coin.zero != self.coin.sides or self.coin.one <= self.coin.zero:
            raise SottovoceError("coin", "must keep ties and non-ties with the same probability above 1/2", self.coin)

    @property
    def odds(self) -> Fraction | None:
        """Largest factor by which a report changes the odds that two nodes are tied; None if nothing is disguised."""
        return Fraction(self.coin.one, self.coin.zero) if self.coin.zero else None

    @property
    def epsilon(self) -> float:
        """Natural logarithm of the odds."""
        return epsilon_of_odds(self.odds)

    @property
    def flip(self) -> float:
        """Probability that a bit is flipped."""
        return self.coin.zero / self.coin.sides

    @property
    def gap(self) -> float:
        """`keep - flip`: difference of the probabilities that a tie and a non-tie are reported."""
        return (self.coin.one - self.coin.zero) / self.coin.sides

    @property
    def noise(self) -> float:
        """Variance of one estimated bit."""
        return self.flip * (1 - self.flip) / self.gap**2

    def __repr__(self) -> str:
        """Summarize in one line.

        >>> GraphReports(Graph.of_edges([(0, 1)], nodes=4), BitCoin(one=3, zero=1, sides=4))
        <GraphReports: 4 nodes, 1 reported edges, epsilon 1.099 for each pair>
        """
        kind = "directed edges" if self.graph.directed else "edges"
        return f"<GraphReports: {self.graph.nodes} nodes, {self.graph.edges} reported {kind}, {self._promise}>"

    def _repr_html_(self) -> str:
        return html_text(repr(self)[1:-1])

    @property
    def _promise(self) -> str:
        return f"epsilon {self.epsilon:.4g} for each pair"


def edge_coin(epsilon: Number | None = None, scheme: Scheme | None = None) -> BitCoin:
    """Return the coin of one bit in integers: randomized response for an epsilon, or another scheme's.

    >>> edge_coin(scheme=RandomizedResponse(odds=3))
    BitCoin(one=3, zero=1, sides=4)
    """
    if (epsilon is None) == (scheme is None):
        raise SottovoceError("epsilon or scheme", "must be given, exactly one of them", (epsilon, scheme))
    chosen = RandomizedResponse(epsilon=epsilon) if scheme is None else scheme
    channel = chosen.mechanism((2,)).channel
    one, zero = channel.entry(1, 1), channel.entry(1, 0)
    if one <= zero:
        given = epsilon if scheme is None else scheme
        raise SottovoceError("epsilon or scheme", "must make reports informative: an epsilon above 0", given)
    sides = common_denominator([one, zero])
    return BitCoin(int(one * sides), int(zero * sides), sides)


def reported_pairs(ties: Indices, pairs: int, coin: BitCoin, words: RandomWords) -> Indices:
    """Return the pairs reported as tied, ascending, if `ties` are the true ones of so many pairs.

    >>> from sottovoce.mechanisms.coins import random_words
    >>> reported_pairs(np.array([3, 5]), 8, BitCoin(one=9, zero=1, sides=10), random_words(2))
    array([3, 5])
    """
    noise = _noise(pairs, coin, BlockWords(words.take(KEY_WORDS)))
    (side,) = flip([Coin(coin.sides)], len(ties), words)
    kept = ties[side < np.uint64(coin.one)]
    return np.sort(np.concatenate([noise[~_contained(ties, noise)], kept]))


def _noise(pairs: int, coin: BitCoin, words: BlockWords) -> Indices:
    """Return the pairs that would be reported if none were tied."""
    if coin.zero == 0:
        return np.zeros(0, np.int64)
    chance = Fraction(coin.zero, coin.sides)
    lanes = SMALL_BLOCK if pairs <= MANY_PAIRS else LARGE_BLOCK
    blocks = -(-pairs // lanes)
    step = int(min(AT_ONCE, max(1, AT_ONCE // (lanes * chance))))
    parts = [_in_blocks(first, min(step, blocks - first), lanes, chance, words) for first in range(0, blocks, step)]
    reported = np.concatenate([np.zeros(0, np.int64), *parts])
    return reported[: np.searchsorted(reported, pairs)]


def _in_blocks(first: int, blocks: int, lanes: int, chance: Fraction, words: BlockWords) -> Indices:
    """Return the reported pairs of some whole blocks, ascending."""
    missing = binomial_counts(lanes, chance, blocks, words)
    parts: list[Indices] = []
    while total := int(missing.sum()):
        block = np.repeat(np.arange(blocks), missing)
        lane = words.take(total, "<u2")[:total].astype(np.int64) & (lanes - 1)
        drawn = np.sort(block * lanes + lane)
        drawn = drawn[np.append(True, drawn[1:] != drawn[:-1])]
        for part in parts:
            drawn = drawn[~_contained(part, drawn)]
        parts.append(drawn)
        missing -= np.bincount(drawn // lanes, minlength=blocks)
    return np.sort(np.concatenate([np.zeros(0, np.int64), *parts])) + first * lanes


def _contained(ascending: Indices, wanted: Indices) -> NDArray[np.bool_]:
    """Return which of the wanted numbers are among ascending ones."""
    return np.asarray(np.append(ascending, -1)[np.searchsorted(ascending, wanted)] == wanted)


def disguise_graph(
    graph: Any,
    epsilon: Number | None = None,
    rng: Randomness = None,
    *,
    scheme: Scheme | None = None,
    memory: float = MEMORY,
) -> GraphReports:
    """Disguise every pair of nodes by the best coin for epsilon, or by another scheme for one bit.

    `graph` is a `Graph` or anything that `as_graph` converts. Each tie is reported by one of its ends, so that it costs
    epsilon once; in a directed graph `(i, j)` and `(j, i)` are two ties, and a secret that shows in both has
    twice the epsilon. Sparse graphs stay sparse; if the reports would not fit `memory` bytes, an error is raised
    first. Pass a seed or a generator as `rng` for experiments only.

    >>> path = Graph.of_edges([(0, 1), (1, 2)], nodes=4)
    >>> reports = disguise_graph(path, epsilon=1, rng=1)
    >>> reports.graph.pairs, round(reports.noise, 4)
    (array([0, 1, 3, 4, 5]), 0.9207)
    """
    coin, truth = edge_coin(epsilon, scheme), as_graph(graph)
    most = expected_reports(truth, coin)
    if most * BYTES_A_PAIR > checked_memory(memory):
        rule = f"must be higher, or more memory allowed: a graph of {truth.nodes} nodes must fit {in_gigabytes(memory)}"
        need = Words(f"about {most:.3g} reported pairs, which take {in_gigabytes(most * BYTES_A_PAIR)}")
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
    """Return one node's own report: the neighbours it names among the nodes that it reports on (see `graph`).

    The graph of all such rows has the same distribution as the result of `disguise_graph`.

    >>> disguise_row(1, [0, 2], nodes=6, epsilon=8, rng=3)
    [2]
    """
    whole_number("node", node, least=0, most=nodes - 1)
    known = Graph.of_edges(((node, other) for other in neighbours), nodes=nodes, directed=directed)
    first, beyond = (int(first_pair(each, nodes, directed=directed)) for each in (node, node + 1))
    ties = known.pairs[(known.pairs >= first) & (known.pairs < beyond)]
    pairs = reported_pairs(ties - first, beyond - first, edge_coin(epsilon, scheme), random_words(rng)) + first
    return [int(other) for other in Graph(range(nodes), pairs, directed).ends[1]]


def graph_of_rows(rows: Iterable[tuple[int, Iterable[int]]], nodes: int, *, directed: bool = False) -> Graph:
    """Return the graph of the reports of single nodes; pairs that another node reports on are left out.

    A node that reports twice is refused: two disguises of one row are not one report.

    >>> graph_of_rows([(0, [2]), (1, [2, 0])], nodes=3).ends
    (array([0, 1]), array([2, 2]))
    """
    listed = [(node, list(others)) for node, others in rows]
    repeated = [node for node, times in Counter(node for node, _ in listed).items() if times > 1]
    if repeated:
        raise SottovoceError("rows", "must have at most one report of each node", repeated[0])
    ties = [(node, other) for node, others in listed for other in others if directed or node < other]
    return Graph.of_edges(ties, nodes=nodes, directed=directed)


def expected_reports(graph: Graph, coin: BitCoin) -> float:
    """Return the expected number of reported pairs."""
    return (graph.edges * coin.one + (graph.pair_count - graph.edges) * coin.zero) / coin.sides
