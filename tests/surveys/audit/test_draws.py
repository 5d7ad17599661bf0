"""Statistics of reports and times: exact enough that no honest survey is convicted, sharp enough for dishonest ones."""

from math import log

import numpy as np
import pytest

from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Emask, Warner
from sottovoce.surveys.audit.draws import (
    deviations,
    epsilon_bounds,
    tables_of,
    two_sample_distance,
    two_sample_limit,
    uniform_distance,
    uniform_limit,
)

RISK = 1e-7


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def flips(rng, count, *shares):
    return tuple((rng.random(count) < share).astype(np.uint8) for share in shares)


def test_pairs_are_counted_unless_columns_are_many():
    assert len(tables_of([2] * 10)) == 10 + 45
    assert len(tables_of([2] * 50)) == 50 + 49


def test_equal_samples_do_not_deviate(rng):
    assert deviations(flips(rng, 300, 0.25, 0.5), flips(rng, 50_000, 0.25, 0.5), [2, 2], RISK) == []


def test_shares_that_are_wrong(rng):
    wrong = deviations(flips(rng, 300, 0.6, 0.5), flips(rng, 50_000, 0.25, 0.5), [2, 2], RISK)
    assert wrong[0].columns[0] == 0
    assert wrong[0].size > 0.2
    assert deviations(flips(rng, 300, 0.02), flips(rng, 50_000, 0.5), [2], RISK)[0].size > 0.4


def test_what_looks_wrong_is_counted_exactly(rng):
    """Four standard errors are suspicious, and not enough at this risk."""
    seen = (np.repeat([0, 1], [168, 132]).astype(np.uint8),)
    expected = (np.repeat([0, 1], [33_000, 17_000]).astype(np.uint8),)
    assert deviations(seen, expected, [2], RISK) == []


def test_coins_that_two_columns_share(rng):
    (coin,) = flips(rng, 300, 0.5)
    wrong = deviations((coin, coin), flips(rng, 50_000, 0.5, 0.5), [2, 2], RISK)
    assert {deviation.columns for deviation in wrong} == {(0, 1)}


@pytest.fixture
def plan():
    schema = Schema([boolean("a"), boolean("b"), ItemSet("set", [str(item) for item in range(9)])])
    coin = Warner(p=3 / 4)
    return Plan.of(schema, {"a": coin, "b": coin, "set": Emask(0.6, 0.6)})


def test_odds_are_bounded_from_below(rng, plan):
    items = [0.5] * 9
    expected = flips(rng, 50_000, 0.75, 0.75, *items), flips(rng, 50_000, 0.25, 0.25, *items)
    honest = flips(rng, 2000, 0.75, 0.75, *items), flips(rng, 2000, 0.25, 0.25, *items)
    bounds = epsilon_bounds(plan, honest, expected, RISK)
    assert [bound.name for bound in bounds] == ["a", "b", "set", "all answers together"]
    assert 0.5 < bounds[0].seen < log(3)
    assert bounds[3].seen > bounds[0].seen
    assert all(bound.seen <= bound.promised for bound in bounds)
    truthful = flips(rng, 200, 1, 0.75, *items), flips(rng, 200, 0, 0.25, *items)
    assert epsilon_bounds(plan, truthful, expected, RISK)[0].seen > log(3)


def test_one_group_is_all_there_is(rng):
    plan = Plan.of(Schema([Attribute("a", ["x", "y"])]), {"a": Warner(p=3 / 4)})
    expected = flips(rng, 1000, 0.75), flips(rng, 1000, 0.25)
    assert [bound.name for bound in epsilon_bounds(plan, expected, expected, RISK)] == ["a"]


def test_times_of_two_samples(rng):
    first, second = rng.random(200), rng.random(200)
    assert two_sample_distance(first, second) < two_sample_limit(200, RISK)
    assert two_sample_distance(first, second / 2) > two_sample_limit(200, RISK)


def test_uniform_times(rng):
    assert uniform_distance(rng.random(200)) < uniform_limit(200, RISK)
    assert uniform_distance(rng.random(200) / 2) > uniform_limit(200, RISK)


def test_the_limit_of_two_samples_holds(rng):
    limit = two_sample_limit(50, 0.05)
    exceeded = sum(two_sample_distance(*rng.random((2, 50))) > limit for _ in range(2000))
    assert exceeded / 2000 < 0.05
