"""Errors of supports and rules, coverage of their 95 % intervals, and calibration of probabilities.

Intervals are those of rules given in advance, and posterior ones of supports; `picked` has those that are shown.

Rules are for the population: a data set stands for it, from which samples are drawn anew and disguised. Supports of
sets that are reported by default are for the table.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, islice

import numpy as np

import sottovoce as sv
from benchmarks.itemsets.accuracy import SECOND, SYNTHETIC, TABLES, Source, mined, near_items, plan_of
from benchmarks.measure import Row
from sottovoce.checks import Array
from sottovoce.datasets.published import bms_webview, repeat_baskets
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.mining.itemsets.result import Items
from sottovoce.mining.rule_measures import MEASURES, reciprocal
from sottovoce.mining.rules import Rules
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr

SUPPORT = 0.003
SEED = 70_000

POPULATIONS: dict[str, tuple[Source, int, int, float, tuple[int, ...]]] = {
    "T10I4": (SYNTHETIC, 40_000, 6, 0.3, (4, 5, 6, 7)),
    "T10I4, another": (SYNTHETIC, SEED, 6, 0.3, (4, 5, 6, 7)),
    "BMS-WebView-2": (SECOND, SEED, 8, 0.2, (4, 5, 6)),
}
"""Population and its seed, number of samples, least confidence of a rule, and lengths of the rules' sets."""

SAID = ("confidence", "lift", "leverage", "conviction", "support")

SURVIVING: dict[str, tuple[float, int, int]] = {
    "BMS-WebView-2 x10": (0.003, 0, 40),
    "T10I4D20K x10": (0.005, 20_000, 16),
    "T10I4D50K x10": (0.003, 50_000, 16),
    "T10I4D100K x10, at .3 %": (0.003, 100_000, 16),
    "T10I4D100K x10, at .5 %": (0.005, 100_000, 16),
}
"""Tables ten times over: the threshold, transactions of a synthetic one, and disguises, all by the same coins."""

STATED = ((0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99))
CALIBRATED = 8
"""Classes of probabilities, and disguises of each table."""

Supports = dict[Items, float]


def rows() -> list[Row]:
    """Rules by a model and without, then supports of reported sets, then probabilities by a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the longest sets are not resolved is known
        rules = [row for name in POPULATIONS for row in _of_rules(name)]
        return [*rules, *(row for name in SURVIVING for row in _of_survivors(name)), *_of_probabilities()]


def _of_rules(name: str) -> Iterator[Row]:
    """Root mean square error of confidences and coverage of intervals in %, by length of the set."""
    source, seed, samples, least, lengths = POPULATIONS[name]
    missed: dict[tuple[int, int], list[Array]] = defaultdict(list)
    held: dict[tuple[int, int, str], list[Array]] = defaultdict(list)
    for way, rules, supports, length in islice(_sampled(source, seed, least), 2 * samples):
        for n in lengths:
            chosen = (length == n) & (supports[:, 0] >= SUPPORT)
            missed[way, n].append((rules.estimate("confidence") - _value("confidence", supports))[chosen])
            for measure in SAID:
                value, (low, high) = _value(measure, supports), rules.interval(measure, kind="wald")
                held[way, n, measure].append(((low <= value) & (value <= high))[chosen])
    for n in lengths:
        model, without = (float(np.sqrt((np.concatenate(missed[way, n]) ** 2).mean())) for way in (0, 1))
        title = f"{name}, rules of {n} items"
        yield Row(f"{title}, confidence missed by, by a model", "without a model", model, without, "of one")
        for measure in SAID:
            for way, words in enumerate(("by a model", "without")):
                cover = 100 * float(np.concatenate(held[way, n, measure]).mean())
                yield Row(f"{title}, {measure} covered, {words}", None, cover, None, "%")


def _sampled(source: Source, data_seed: int, least: float) -> Iterator[tuple[int, Rules, Array, Array]]:
    """Rules by a model (0) and without (1), sample after sample; true supports and lengths of each."""
    data, times, (p, q) = source
    items, once = near_items(*data(data_seed), SUPPORT)
    truth, plan = _supports(once, items, SUPPORT / 2), plan_of(items, p, q)
    for seed in count(SEED):
        rng = np.random.default_rng(seed)
        reports = sv.Reports(disguise_transactions(draw_baskets(once, times, rng), plan, rng=rng, kind="bitsets"), plan)
        modelled = reports.rules(SUPPORT, least, model=True)
        yield 0, modelled, *_true(modelled, truth, items)
        without = reports.rules(SUPPORT, least)
        yield 1, without, *_true(without, truth, items)


def _of_survivors(name: str) -> Iterator[Row]:
    """Bias of the supports of reported sets in standard errors, and coverage of their intervals in %, by length."""
    support, transactions, disguises = SURVIVING[name]
    whole = quest_transactions(transactions, seed=777) if transactions else bms_webview(2)
    items, once = near_items(*whole, support)
    truth, plan = _supports(once, items, support * 0.4), plan_of(items, *SYNTHETIC[2])
    high: dict[int, list[float]] = defaultdict(list)
    held: dict[int, list[bool]] = defaultdict(list)
    for seed in range(SEED, SEED + disguises):
        reports = disguise_transactions(repeat_baskets(once, 10), plan, rng=seed, kind="bitsets")
        found = sv.Reports(reports, plan).itemsets(support, target="table")
        columns = (found.estimate, found.standard_error, *found.interval(kind="posterior"))
        listed = (column.tolist() for column in columns)
        for items_held, value, error, *ends in zip(found.itemsets, *listed, strict=True):
            true = truth.get(items_held, 0.0)
            high[len(items_held)].append((value - true) / error)
            held[len(items_held)].append(ends[0] <= true <= ends[1])
    for n in sorted(high.keys() & set(range(1, 7))):
        title = f"{name}, length {n}, {len(high[n])} survivors"
        yield Row(f"{title} too high by", None, float(np.mean(high[n])), None, "standard errors")
        yield Row(f"{title} covered", None, 100 * float(np.mean(held[n])), None, "%")


def _of_probabilities() -> Iterator[Row]:
    """Sets of four and more items by a model: stated probability, share that is frequent, and coverage by table."""
    stated: list[tuple[float, bool]] = []
    for (name, support), (source, printed) in TABLES.items():
        held: list[bool] = []
        for truth, way, found in islice(mined(source, support, printed), 3 * CALIBRATED):
            if way < 2:
                continue
            true = dict(zip(truth.itemsets, truth.support.tolist(), strict=True))
            ends = zip(*(bound.tolist() for bound in found.interval(kind="posterior")), strict=True)
            for items, probability, (low, high) in zip(found.itemsets, found.probability.tolist(), ends, strict=True):
                if len(items) >= 4:
                    stated.append((probability, items in true))
                    held += [low <= true[items] <= high] if items in true else []
        yield Row(f"{name}, {100 * support:g} %, covered by a model", None, 100 * float(np.mean(held)), None, "%")
    probabilities, frequent = np.array(stated).T
    for low, high in STATED:
        chosen = (low <= probabilities) & (probabilities < high)
        title = f"probability of {low:g} to {high:g} by a model, in the mean, beside what is so"
        yield Row(title, "truth", float(probabilities[chosen].mean()), float(frequent[chosen].mean()), "of one")


def _supports(once: Csr, items: ItemSet, least: float) -> Supports:
    found = sv.Reports(once, plan_of(items, 1, 1)).itemsets(least, target="table")
    return dict(zip(found.itemsets, found.support.tolist(), strict=True))


def draw_baskets(once: Csr, times: int, rng: np.random.Generator) -> Csr:
    """So many times as many transactions, drawn with repetition."""
    indptr, indices = once
    rows = np.sort(rng.integers(len(indptr) - 1, size=times * (len(indptr) - 1)))
    sizes = np.diff(indptr)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return starts, indices[np.repeat(indptr[rows] - starts[:-1], sizes) + np.arange(starts[-1])]


def _true(rules: Rules, truth: Supports, items: ItemSet) -> tuple[Array, Array]:
    """True supports of each rule's set, antecedent and consequent, nan far below the threshold; and its length."""
    index = {label: number for number, label in enumerate(items.items)}
    supports, lengths = [], []
    for first, then in zip(rules.antecedents, rules.consequents, strict=True):
        whole = tuple(sorted(first + then, key=index.__getitem__))
        supports.append([truth.get(part, np.nan) for part in (whole, first, then)])
        lengths.append(len(whole))
    return np.array(supports), np.array(lengths)


def _value(measure: str, supports: Array) -> Array:
    value, _ = MEASURES[measure](*supports.T)
    return reciprocal(np.asarray(value)) if measure == "conviction" else np.asarray(value)
