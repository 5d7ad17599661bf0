"""Estimates from sets of many categories: covariances against all pairs, whichever way memberships are kept."""

import numpy as np
import pytest

from sottovoce.counts.counter import as_counter, count_inclusions
from sottovoce.counts.tally import Tally
from sottovoce.disguises.tables import disguise_frame
from sottovoce.estimates.from_sets import Memberships
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import OptimizedUnary, RandomSet, SubsetSelection

N, CATEGORIES = 400, 15
SCHEMA = Schema([Attribute("drug", [f"d{number}" for number in range(CATEGORIES)])])
TRUTH = {"drug": [f"d{number % CATEGORIES}" for number in range(N)]}


def bits_of(reports, plan):
    """Membership of every category in every report, from the codes of the reports."""
    from sottovoce.tables.source import open_source

    (columns,) = open_source(reports).coded(plan.report_schema)
    return np.stack(columns).astype(float)


@pytest.mark.parametrize("scheme", [SubsetSelection(odds=5), OptimizedUnary(odds=5)])
@pytest.mark.parametrize("target", ["population", "table"])
def test_covariances_are_those_of_the_memberships(scheme, target):
    plan = Plan.of(SCHEMA, {"drug": scheme})
    reports = disguise_frame(TRUTH, plan, rng=3)
    estimate = estimate_proportions(reports, plan, "drug", target=target)
    bits, channel = bits_of(reports, plan), plan.channel(["drug"])
    gain = float(channel.inside - channel.outside)
    expected = np.cov(bits, bias=True) / gain**2 / N
    if target == "table":
        expected -= (np.diag(estimate.value) - np.outer(estimate.value, estimate.value)) / N
    np.testing.assert_allclose(estimate.value, (bits.mean(axis=1) - float(channel.outside)) / gain)
    np.testing.assert_allclose(estimate.covariance, expected, atol=1e-12)
    np.testing.assert_allclose(estimate.standard_error**2, np.diag(expected), atol=1e-12)
    np.testing.assert_allclose(estimate.covariances.block([4, 2]), expected[np.ix_([4, 2], [4, 2])], atol=1e-12)


def test_a_counter_gives_the_same():
    plan = Plan.of(SCHEMA, {"drug": SubsetSelection(odds=5)})
    reports = disguise_frame(TRUTH, plan, rng=3)
    table = estimate_proportions(reports, plan, "drug")
    counted = estimate_proportions(as_counter(reports), plan, "drug")
    np.testing.assert_allclose(counted.value, table.value)
    np.testing.assert_allclose(counted.covariance, table.covariance, atol=1e-15)
    doubled = estimate_proportions(reports, plan, "drug", frequencies=np.full(N, 2))
    np.testing.assert_allclose(doubled.standard_error**2, table.standard_error**2 / 2)


def test_scores_are_the_same_from_a_table_its_batches_and_its_tally():
    """To the last digit: they are summed over the different sets, in one order."""
    plan = Plan.of(SCHEMA, {"drug": RandomSet([(1, 3, [1] * CATEGORIES)], odds=5)})
    reports = disguise_frame(TRUTH, plan, rng=3)
    found = estimate_proportions(reports, plan, "drug", target="table")
    assert found.standard_error.min() > 0
    tally = Tally(plan)
    tally.update(reports)
    turned = {"drug": list(reports["drug"])[::-1]}
    for other in (as_counter(reports), tally, turned):
        again = estimate_proportions(other, plan, "drug", target="table")
        assert again.value.tolist() == found.value.tolist()
        assert again.standard_error.tolist() == found.standard_error.tolist()


def test_bits_become_counts_of_pairs_where_these_are_smaller():
    rng, held = np.random.default_rng(1), Memberships(6)
    columns = rng.integers(0, 2, (6, 1000))
    expected = np.zeros((6, 6), int)
    for start in range(0, 6000, 500):
        batch = columns[:, start % 1000 : start % 1000 + 500]
        held.add(list(batch))
        expected += count_inclusions(list(batch))
        np.testing.assert_array_equal(held(np.array([5, 0])), expected[np.ix_([5, 0], [5, 0])])
    assert (held.total, held.singles.tolist()) == (6000, np.diag(expected).tolist())
    assert held._pairs is not None


def test_thousands_of_categories_do_not_take_the_square_of_their_number():
    """Variances and intervals of 3,000 categories without a matrix; blocks of a few."""
    schema = Schema([Attribute("code", range(3000))])
    plan = Plan.of(schema, {"code": SubsetSelection(odds=20)})
    reports = disguise_frame({"code": [0] * 60 + list(range(1, 141))}, plan, rng=4)
    estimate = estimate_proportions(reports, plan, "code")
    assert estimate.standard_error.shape == (3000,)
    assert abs(estimate.value[0] - 0.3) < 4 * estimate.standard_error[0]
    low, high = estimate.interval()
    assert (low <= np.clip(estimate.value, 0, 1)).all()
    assert (np.clip(estimate.value, 0, 1) <= high).all()
    assert (low < high).all()
    assert estimate.covariances.block([0, 2999]).shape == (2, 2)
