"""Reports of a graph: every node disguises the pairs it reports, each with a coin of its own.

The law is that of one coin a pair, exactly. First noise, as if no pair were tied: pairs are cut into blocks of
equal size, one word draws how many of a block are reported (from the binomial law of the exact chance), and
then which ones are; those drawn before are drawn anew until none is missing. Then every true tie is reported
or not by a coin of its own, which overwrites the noise.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.bit_noise import KEY_WORDS, BlockWords, binomial_counts
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number, common_denominator, epsilon_of_odds
from sottovoce.graphs.convert import as_graph
from sottovoce.graphs.graph import BYTES_A_PAIR, MEMORY, Graph, Numbers, checked_memory, in_gigabytes, row_start
from sottovoce.mechanisms.coins import Coin, Randomness, RandomWords, flip, random_words
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme

SMALL_BLOCK, LARGE_BLOCK = 2**10, 2**13
"""Pairs of a block: the law of the number of ones in a large one takes longer to write down, and fewer words."""

MANY_PAIRS = 2**22

AT_ONCE = 2**20
"""Ones that are drawn together, or blocks if those are fewer."""


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


def reported_pairs(ties: Numbers, pairs: int, coin: BitCoin, words: RandomWords) -> Numbers:
    """Numbers of the pairs reported as tied, in ascending order, where `ties` really are.

    >>> from sottovoce.mechanisms.coins import random_words
    >>> reported_pairs(np.array([3, 5]), 8, BitCoin(one=9, zero=1, sides=10), random_words(2))
    array([3, 5])
    """
    noise = _noise(pairs, coin, BlockWords(words.take(KEY_WORDS)))
    (side,) = flip([Coin(coin.sides)], len(ties), words)
    shown = ties[side < np.uint64(coin.one)]
    return np.sort(np.concatenate([noise[~_held(ties, noise)], shown]))


def _noise(pairs: int, coin: BitCoin, words: BlockWords) -> Numbers:
    """Pairs that would be reported if none were tied."""
    if coin.zero == 0:
        return np.zeros(0, np.int64)
    chance = Fraction(coin.zero, coin.sides)
    lanes = SMALL_BLOCK if pairs <= MANY_PAIRS else LARGE_BLOCK
    blocks = -(-pairs // lanes)
    step = int(min(AT_ONCE, max(1, AT_ONCE // (lanes * chance))))
    parts = [_in_blocks(first, min(step, blocks - first), lanes, chance, words) for first in range(0, blocks, step)]
    found = np.concatenate([np.zeros(0, np.int64), *parts])
    return found[: np.searchsorted(found, pairs)]


def _in_blocks(first: int, blocks: int, lanes: int, chance: Fraction, words: BlockWords) -> Numbers:
    """Ones of some whole blocks, in ascending order."""
    missing = binomial_counts(lanes, chance, blocks, words)
    parts: list[Numbers] = []
    while total := int(missing.sum()):
        block = np.repeat(np.arange(blocks), missing)
        lane = words.take(total, "<u2")[:total].astype(np.int64) & (lanes - 1)
        drawn = np.sort(block * lanes + lane)
        drawn = drawn[np.append(True, drawn[1:] != drawn[:-1])]
        for part in parts:
            drawn = drawn[~_held(part, drawn)]
        parts.append(drawn)
        missing -= np.bincount(drawn // lanes, minlength=blocks)
    return np.sort(np.concatenate([np.zeros(0, np.int64), *parts])) + first * lanes


def _held(ascending: Numbers, wanted: Numbers) -> NDArray[np.bool_]:
    """Which of the wanted numbers are among ascending ones."""
    return np.asarray(np.append(ascending, -1)[np.searchsorted(ascending, wanted)] == wanted)


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
