"""Where the reports of a plan change: neighbouring sides of a coin, found without knowing any mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from conformance.draws import block, first_value, last_value, spread, unchosen_words
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import WORD, Coin, ListedWords
from sottovoce.plans.plan import Plan

PROBES = 32
"""Sides of each coin at which reports are compared before the edges between them are sought."""

COINS = 24
EDGES = 8
"""At most so many coins of a plan, and edges of each, evenly spread."""

UNCHOSEN = 6
AT_EDGES = 48
"""So many times the other coins show sides that nobody chose, or are at an edge: one may depend on all others."""


@dataclass(frozen=True)
class Span:
    """A truth, what all coins show but one, and two sides of that one which make different reports."""

    truth: tuple[int, ...]
    sides: tuple[int, ...]
    coin: int
    low: int
    high: int

    def at(self, side: int) -> tuple[int, ...]:
        """What the coins show when this span's coin shows a side."""
        return (*self.sides[: self.coin], side, *self.sides[self.coin + 1 :])


def truths_of(plan: Plan, name: str) -> list[tuple[int, ...]]:
    """First and last category of every column, and two records that nobody chose."""
    sizes = plan.schema.sizes
    words = unchosen_words(f"truths of {name}", 2 * len(sizes))
    unchosen = [tuple(w % size for w, size in zip(words[i::2], sizes, strict=True)) for i in (0, 1)]
    return list(dict.fromkeys([(0,) * len(sizes), tuple(size - 1 for size in sizes), *unchosen]))


def edge_blocks(plan: Plan, truths: Sequence[tuple[int, ...]], most: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """Truths with blocks of words on either side of an edge: the last word below it, the first word above.

    At most so many edges, as long as every coin has one.
    """
    found = []
    for span in _thinned(_edges(plan, truths), most):
        coin = plan.coins[span.coin]
        values = [first_value(c, side) for c, side in zip(plan.coins, span.sides, strict=True)]
        for value in (last_value(coin, span.low), first_value(coin, span.high)):
            values[span.coin] = value
            found.append((span.truth, block(plan.coins, values)))
    return found


def _edges(plan: Plan, truths: Sequence[tuple[int, ...]]) -> list[Span]:
    """Edges of some coins; where a coin seems to have none, those it has while another is at its own edge."""
    silent = spread(range(len(plan.coins)), COINS)
    found: list[Span] = []
    others = _sides(plan.coins)
    while new := _narrowed(plan, _spans(plan, truths, silent, others)):
        found += new
        silent = [coin for coin in silent if coin not in {span.coin for span in new}]
        at_edges = [new[i] for i in spread(range(len(new)), AT_EDGES)]
        others = [span.at(side) for span in at_edges for side in (span.low, span.high)]
    return found


def _spans(
    plan: Plan, truths: Sequence[tuple[int, ...]], coins: Sequence[int], others: Sequence[tuple[int, ...]]
) -> list[Span]:
    """Neighbouring probes of these coins that make different reports, all other coins showing these sides."""
    spans = []
    for coin, sides, truth in product(coins, others, truths):
        whole = Span(truth, sides, coin, 0, plan.coins[coin].sides - 1)
        probes = sorted({whole.high * i // PROBES for i in range(PROBES + 1)})
        reports = _reports(plan, [(truth, whole.at(side)) for side in probes])
        pairs = zip(probes, probes[1:], reports, reports[1:], strict=False)
        spans += [replace(whole, low=low, high=high) for low, high, below, above in pairs if below != above]
    return spans


def _sides(coins: Sequence[Coin]) -> list[tuple[int, ...]]:
    """All coins show their first, their last or their middle side, or one that nobody chose."""
    chosen = [tuple((coin.sides - 1) * half // 2 for coin in coins) for half in (0, 2, 1)]
    pairs = [unchosen_words(f"side of coin {i}", 2 * UNCHOSEN) for i in range(len(coins))]
    unchosen = [
        tuple((WORD * own[2 * i] + own[2 * i + 1]) % coin.sides for own, coin in zip(pairs, coins, strict=True))
        for i in range(UNCHOSEN)
    ]
    return list(dict.fromkeys(chosen + unchosen))


def _narrowed(plan: Plan, spans: Sequence[Span]) -> list[Span]:
    """Halve all spans together until their sides are neighbours."""
    below = _reports(plan, [(span.truth, span.at(span.low)) for span in spans])
    while any(span.high - span.low > 1 for span in spans):
        middles = [(span.low + span.high) // 2 for span in spans]
        reports = _reports(plan, [(span.truth, span.at(m)) for span, m in zip(spans, middles, strict=True)])
        spans = [
            replace(span, low=m) if report == low else replace(span, high=m)
            for span, m, report, low in zip(spans, middles, reports, below, strict=True)
        ]
    return list(spans)


def _thinned(spans: Sequence[Span], most: int) -> list[Span]:
    """One span for each edge of each coin, of every truth in turn, and as few of those for every coin."""
    edges: dict[tuple[int, int], list[Span]] = {}
    for span in spans:
        edges.setdefault((span.coin, span.high), []).append(span)
    kept: list[Span] = []
    coins = sorted({coin for coin, _ in edges})
    for coin in coins:
        own = spread(sorted(high for c, high in edges if c == coin), min(EDGES, max(most // len(coins), 1)))
        kept += [found[i % len(found)] for i, found in enumerate(edges[coin, high] for high in own)]
    return kept


def _reports(plan: Plan, draws: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[tuple[int, ...]]:
    """Reports of these truths when the coins show these sides."""
    if not draws:
        return []
    columns = [np.array(column) for column in zip(*(truth for truth, _ in draws), strict=True)]
    values = [[first_value(c, s) for c, s in zip(plan.coins, sides, strict=True)] for _, sides in draws]
    words = ListedWords([word for own in values for word in block(plan.coins, own)])
    reports = disguise_codes(columns, plan, words)
    return list(zip(*(column.tolist() for column in reports), strict=True))
