"""Rules that were picked: coverage of the intervals of the top 10, 50 and 100, over repeated disguises.

Each row says how many of the intervals that are shown hold the truth. Their mean width is compared with that of Wald's
intervals at the adjusted level, `estimate +- z se`: as they are (`width`), and cut to what is possible (`width_cut`).
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks.itemsets.accuracy import near_items
from benchmarks.itemsets.intervals import draw_baskets
from benchmarks.measure import Row
from sottovoce.checks import Array
from sottovoce.datasets.published import bms_webview, repeat_baskets
from sottovoce.datasets.quest import quest_transactions
from sottovoce.mining.rule_measures import POSSIBLE, measure_values
from sottovoce.tables.bitsets import Csr

TOPS = (10, 50, 100)
DISGUISES = 24
COINS = (0.5051, 0.9696)
LEVEL = 0.95

Data = Callable[[], tuple[sv.ItemSet, Csr]]

CASES: dict[str, tuple[Data, int, float]] = {
    "BMS-WebView-2 x3": (partial(bms_webview, 2), 3, 0.003),
    "T10I4D20K x5": (partial(quest_transactions, 20_000, seed=777), 5, 0.005),
}
"""Data, how many times over, and the smallest support."""

SORTED: dict[str, float] = {"confidence": 0.5, "lift": 0.0, "leverage": 0.0}
"""Measures that lists are sorted by, which are those whose intervals are looked at, and the smallest confidence."""


@dataclass(frozen=True)
class Coverage:
    """Intervals of one kind of list: shares that hold, over all disguises and in the worst one, and widths."""

    name: str
    nominal: float
    covered: float
    worst: float
    runs: int
    width: float
    width_cut: float


def rows() -> list[Row]:
    """Coverage in %, beside the level, widths beside Wald's, and what shrinking is worth."""
    found = selected_rules_rows()
    covered = [Row(f"{row.name}, covered", "nominal", 100 * row.covered, 100 * row.nominal, "%") for row in found]
    widths = [Row(f"{row.name}, width over Wald's", None, row.width_cut, None, "of one") for row in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*covered, *widths, *(row for name in CASES for row in _of_order(name))]


def selected_rules_json() -> list[dict[str, Any]]:
    """The rows as plain Python."""
    return [asdict(row) for row in selected_rules_rows()]


def selected_rules_rows(disguises: int = DISGUISES) -> list[Coverage]:
    """Coverage of the first rules by confidence, lift and leverage: adjusted, for comparison not, and by halves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the longest sets are not resolved is known
        return [row for name in CASES for row in _of_case(name, disguises)]


def _of_case(name: str, disguises: int) -> Iterator[Coverage]:
    seen: dict[str, list[Array]] = defaultdict(list)
    for table, truth in _mined(name, disguises):
        for measure, least in SORTED.items():
            rules = table.rules(least, sort_by=measure, top=max(TOPS))
            for top in TOPS:
                found = rules.top(top)
                title = f"{name}, top {top} by {measure}"
                seen[title].append(_measured(found, measure, truth))
                seen[f"{title}, not adjusted"].append(_measured(found, measure, truth, kind="wald"))
    for halves, truth in _mined(name, disguises, halves=True):
        for measure, least in SORTED.items():
            rules = halves.rules(least, sort_by=measure, top=max(TOPS))
            for top in TOPS:
                seen[f"{name}, top {top} by {measure}, halves"].append(_measured(rules.top(top), measure, truth))
    for title, shares in seen.items():
        covered, width, wald, cut = np.array(shares).T
        # The width of a list with fewer rules counts as much as its rules do: lists of one kind are equally long.
        ratios = float(width.mean() / wald.mean()), float(width.mean() / cut.mean())
        yield Coverage(title, LEVEL, float(covered.mean()), float(covered.min()), disguises, *ratios)


def _of_order(name: str, disguises: int = 6) -> Iterator[Row]:
    """Error of all rules' confidences, and how often the top 50 hold: as shown, beside the estimates and lower ends."""
    errors, held = [], []
    for table, truth in _mined(name, disguises):
        rules = table.rules(0.0)
        true = measure_values("confidence", truth.supports(rules))
        shown, estimate = rules.value("confidence"), rules.estimate("confidence")
        low, _ = rules.interval("confidence", LEVEL, kind="wald")
        errors.append([np.square(each - true).mean() for each in (shown, estimate)])
        held.append([true[np.argsort(-each, kind="stable")[:50]].mean() for each in (shown, estimate, low)])
    ours, raw = np.sqrt(np.mean(errors, axis=0)).tolist()
    yield Row(f"{name}, confidence missed by, as shown", "estimates", ours, raw, "of one")
    ours, *others = np.mean(held, axis=0).tolist()
    for peer, value in zip(("highest estimates", "highest lower ends"), others, strict=True):
        yield Row(f"{name}, mean true confidence of the top 50", peer, ours, value, "of one")


def _mined(name: str, disguises: int, *, halves: bool = False) -> Iterator[tuple[sv.mining.Itemsets, "_Truth"]]:
    """Itemsets of disguise after disguise, and the truth: of the table, or by halves of samples from it."""
    data, times, support = CASES[name]
    items, once = near_items(*data(), support)
    plan = sv.Plan.of(sv.Schema([items]), {items.name: sv.schemes.Emask(*COINS)})
    truth = _Truth(items, once)
    for seed in range(disguises):
        if halves:
            sample = draw_baskets(once, times, np.random.default_rng(seed))
            yield sv.disguise(sample, plan, rng=seed).itemsets(support, halves=True, rng=seed), truth
        else:
            yield sv.disguise(repeat_baskets(once, times), plan, rng=seed).itemsets(support, target="table"), truth


def _measured(found: sv.mining.Rules, measure: str, truth: "_Truth", **kind: Any) -> Array:
    """Share of the intervals that hold, their mean width, and that of Wald's at the same level, uncut and cut."""
    true = measure_values(measure, truth.supports(found))
    low, high = found.interval(measure, LEVEL, **kind)
    half = found.picked.deviations(LEVEL, **kind) * found.standard_error(measure)
    estimate, ends = found.estimate(measure), POSSIBLE.get(measure, (0, 1))
    cut = np.clip(estimate + half, *ends) - np.clip(estimate - half, *ends)
    return np.array([((low <= true) & (true <= high)).mean(), (high - low).mean(), 2 * half.mean(), cut.mean()])


class _Truth:
    """True supports of any sets of items."""

    def __init__(self, items: sv.ItemSet, once: Csr) -> None:
        indptr, indices = once
        self._held = np.zeros((len(items.items), len(indptr) - 1), bool)
        self._held[indices, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))] = True
        self._index = {label: number for number, label in enumerate(items.items)}
        self._known: dict[frozenset[Any], float] = {}

    def supports(self, rules: sv.mining.Rules) -> Array:
        """Supports of both sides together, of the antecedents and of the consequents of each rule."""
        sides = zip(rules.antecedents, rules.consequents, strict=True)
        sets = [[frozenset(part) for part in (first + then, first, then)] for first, then in sides]
        return np.array([[self._support(each) for each in row] for row in sets])

    def _support(self, labels: frozenset[Any]) -> float:
        if labels not in self._known:
            held = self._held[[self._index[label] for label in labels]]
            self._known[labels] = float(held.all(axis=0).mean())
        return self._known[labels]
