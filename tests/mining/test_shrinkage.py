"""Supports that are shown: within [0, 1], never above a subset's, nearer to the truth than estimates."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.mining.itemsets.selection import Level, Recall
from sottovoce.mining.itemsets.shrinkage import mean_within_one, possible_supports, shrink
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask

ITEMS = tuple("abcdefgh")
PLAN = Plan.of(Schema([ItemSet("basket", ITEMS)]), {"basket": Emask(p=0.7, q=0.85)})


@given(st.floats(-3, 4), st.floats(1e-3, 30))
def test_means_of_cut_distributions_are_those_of_numerical_integration(mean, deviation):
    x = np.linspace(0, 1, 20_001)
    exponent = -((x - mean) ** 2) / (2 * deviation**2)
    weight = np.exp(exponent - exponent.max())
    expected = (x * weight).sum() / weight.sum()
    assert mean_within_one(np.array([mean]), np.array([deviation]))[0] == pytest.approx(expected, abs=2e-4)


def test_means_of_cut_distributions_at_the_ends():
    value = np.array([0.3, -1.0, 2.0, 0.5, -1e9, 1e9])
    shown = mean_within_one(value, np.array([0.0, 0.0, 0.0, 1e9, 1.0, 1e-9]))
    assert shown[:4] == pytest.approx([0.3, 0, 1, 0.5])
    assert ((shown >= 0) & (shown <= 1)).all()


def test_shrinking_is_morris():
    """Equal variances: the James-Stein estimate towards the mean, with its degrees of freedom."""
    rng = np.random.default_rng(1)
    value, error = rng.normal(0.5, 0.15, 40), np.full(40, 0.1)
    among = value.var(ddof=1) - 0.01
    factor = 37 / 39 * 0.01 / (0.01 + among)
    assert shrink(value, error)[0] == pytest.approx(value + factor * (value.mean() - value))
    assert shrink(value, error)[1] == pytest.approx(0.1 * np.sqrt(1 - factor))


def test_shrinking_moves_no_further_than_an_interval():
    value, error = np.array([0.5] * 30 + [5.0]), np.array([0.1] * 30 + [0.5])
    moved = shrink(value, error)[0] - value
    assert moved[-1] == pytest.approx(-1.96 * 0.5)


def test_few_or_exact_estimates_stay():
    three = np.array([0.1, 0.5, 0.9])
    assert shrink(three, np.full(3, 0.1))[0] is three
    assert shrink(np.tile(three, 2), np.zeros(6))[0].tolist() == [*three] * 2
    mixed = shrink(np.tile(three, 2), np.array([0.0] * 3 + [0.1] * 3))[0]
    assert mixed[:3].tolist() == [*three]


@pytest.mark.filterwarnings("ignore:min_support")
@pytest.mark.parametrize("rows", [5, 40, 2000])
@pytest.mark.parametrize("selection", ["smoothed", "threshold", Recall(0.99)])
def test_what_is_shown_is_possible(rows, selection):
    """However few reports there are: supports and intervals within [0, 1], and no set above its subsets."""
    rng = np.random.default_rng(rows)
    truth = rng.random((rows, 8)) < 0.4
    found = frequent_itemsets(disguise_transactions(truth, PLAN, rng=1), PLAN, 0.15, selection=selection, longest=5)
    shown = dict(zip(found.itemsets, found.support.tolist(), strict=True))
    assert len(shown) > 4
    for items, support in shown.items():
        assert all(0 <= support <= shown.get(part, 1) for part in combinations(items, len(items) - 1))
    low, high = found.interval()
    assert ((low >= 0) & (low <= found.support) & (found.support <= high) & (high <= 1)).all()
    assert (high > low).all()
    rules = found.rules(0.0)
    confidence, (low, high) = rules.value("confidence"), rules.interval("confidence")
    assert ((low >= 0) & (low <= confidence) & (confidence <= high) & (high <= 1)).all()


def test_what_is_shown_is_nearer_to_the_truth():
    rng = np.random.default_rng(3)
    mood = rng.integers(0, 2, 1000)[:, None] == np.arange(8) // 4
    truth = rng.random((1000, 8)) < np.where(mood, 0.8, 0.1)
    errors = []
    for seed in range(4):
        found = frequent_itemsets(disguise_transactions(truth, PLAN, rng=seed), PLAN, 0.1, target="table")
        true = np.array(
            [truth[:, [ITEMS.index(item) for item in items]].all(axis=1).mean() for items in found.itemsets]
        )
        long = found.length > 1
        errors.append([np.square(each - true)[long].mean() for each in (found.support, found.estimate)])
    shown, raw = np.sqrt(np.mean(errors, axis=0))
    assert shown < 0.9 * raw


def test_sets_without_their_subsets_are_bounded_by_what_is_there():
    """As sets that somebody asks about: only some single items are known."""
    single = Level(np.array([[0], [2]]), np.array([0.3, 0.1]), np.zeros(2))
    triple = Level(np.array([[0, 1, 2], [3, 4, 5]]), np.array([0.2, 0.2]), np.zeros(2))
    assert [shown.tolist() for shown in possible_supports([single, triple])] == [[0.3, 0.1], [0.1, 0.2]]


def test_a_set_of_something_nobody_holds():
    single = Level(np.array([[0], [1]]), np.array([0.0, 0.5]), np.zeros(2))
    pair = Level(np.array([[0, 1]]), np.array([0.1]), np.array([0.1]))
    assert possible_supports([single, pair])[1].tolist() == [0]
