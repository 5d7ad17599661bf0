"""Priors with equal entries: the reduced problem against all sets, and bounds for priors that are nearly so."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.designs.large.bound import climb, pair_cuts
from sottovoce.designs.large.mixture import best_mixture
from sottovoce.designs.large.set_measures import mean_squared_error
from sottovoce.designs.large.solve import large_least_error, symmetric_sets
from sottovoce.designs.least_error import symmetry
from sottovoce.designs.least_error.column_generation import least_error
from sottovoce.designs.least_error.symmetry import (
    MOST_GROUPS,
    SymmetricOptimum,
    group_equal,
    group_similar,
    random_reports,
    symmetric_optimum,
)
from sottovoce.measures.matrices import basic_weights

PRIORS = [
    [0.25] * 4,
    [0.91] + [0.01] * 9,
    [0.6] + [0.05] * 4 + [0.02] * 5 + [0.1],
    [0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1],
    [0.5, 0.3, 0.2],
]


def error_of(prior, trace):
    return (trace - prior @ prior) / len(prior)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_the_optimum_is_that_of_all_reports(prior, epsilon):
    prior, odds = np.array(prior), np.exp(epsilon)
    found, known = symmetric_optimum(group_equal(prior), odds), least_error(prior, odds=odds)
    assert error_of(prior, found.trace) == pytest.approx(known.value, rel=1e-6)
    assert known.lower_bound * (1 - 1e-9) <= error_of(prior, found.trace)
    assert 0 <= found.trace / found.lower - 1 + 1e-12 < 1e-6


def test_the_information_is_that_of_all_sets():
    """Brute force: J and the sums of columns, over every set of the kinds that the optimum draws."""
    prior, odds = np.array([0.4] + [0.1] * 4 + [0.05] * 4), 3.0
    grouping = group_equal(prior)
    found = symmetric_optimum(grouping, odds)
    members = [np.flatnonzero(grouping.groups == group) for group in range(3)]
    information, sums = np.zeros((9, 9)), np.zeros(9)
    for counts, weight in zip(found.counts, found.weights, strict=True):
        sets = [
            [*one, *two, *three]
            for one in combinations(members[0], counts[0])
            for two in combinations(members[1], counts[1])
            for three in combinations(members[2], counts[2])
        ]
        for inside in sets:
            ratios = np.ones(9)
            ratios[inside] = odds
            ratios /= ratios @ prior
            information += weight / len(sets) * np.outer(ratios, ratios)
            sums += weight / len(sets) * ratios
    np.testing.assert_allclose(sums, 1, atol=1e-8)
    assert np.trace(np.linalg.inv(information)) == pytest.approx(found.trace, rel=1e-7)
    design = symmetric_sets(grouping, found, odds)
    assert mean_squared_error(design, prior) == pytest.approx(error_of(prior, found.trace), rel=1e-7)


def dominated(categories):
    return np.array([0.99] + [0.01 / (categories - 1)] * (categories - 1))


@pytest.mark.parametrize("categories", [50, 100])
def test_a_dominating_category_is_solved_exactly(categories):
    assert abs(large_least_error(dominated(categories), odds=np.e).gap) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("categories", "excess"), [(50, 0.025), (100, 0.027)])
def test_the_excess_of_mixtures_is_the_one_found_before(categories, excess):
    """WORKLOADS.md: the relaxation leaves mixtures gaps of 41 % and 65 %; their true excess is 2.5 % and 2.7 %."""
    prior = dominated(categories)
    mixture = best_mixture(max(climb(prior, np.e, pair_cuts(prior)), key=lambda each: each.bound), lambda step: None)
    assert mixture[1] / large_least_error(prior, odds=np.e).value - 1 == pytest.approx(excess, abs=0.0005)


def test_an_unfinished_search_still_proves_a_bound(monkeypatch):
    grouping = group_equal(np.array([0.6] + [0.05] * 4 + [0.02] * 10))
    best = symmetric_optimum(grouping, 3.0)
    monkeypatch.setattr(symmetry, "_ROUNDS", 1)
    early = symmetric_optimum(grouping, 3.0)
    assert early.lower < best.lower <= best.trace * (1 + 1e-12) < early.trace


@pytest.mark.parametrize("odds", [np.e, 20.0])
@pytest.mark.parametrize("prior", [[0.7] + [0.3 / 13] * 13, [0.08] * 10 + [0.04] * 5])
def test_large_designs_attain_the_certified_optimum(prior, odds):
    found, known = large_least_error(prior, odds=odds), least_error(prior, odds=odds)
    assert found.lower_bound == pytest.approx(known.value, rel=1e-6)
    assert known.value * (1 - 1e-6) <= found.value <= known.value * 1.0051


def test_a_prior_that_is_nearly_symmetric():
    """The bound loses what entries exceed the least of their group by, and the gap says so."""
    rng = np.random.default_rng(3)
    prior = np.append(0.8, 0.2 / 13 * (1 + 0.01 * rng.random(13)))
    prior /= prior.sum()
    known = least_error(prior, odds=np.e**2)
    similar = group_similar(prior, 2)
    assert similar.sizes.tolist() == [1, 13]
    assert 0.998 < similar.share < 1
    bound = error_of(prior, similar.share * symmetric_optimum(similar, np.e**2).lower)
    assert 0.98 < bound / known.value <= 1
    found = large_least_error(prior, odds=np.e**2)
    assert bound * (1 - 1e-9) <= found.lower_bound <= known.value * (1 + 1e-9) <= found.value * (1 + 2e-9)
    assert found.gap < 0.02


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_groups_lose_the_least_share(number):
    prior = np.array([0.3, 0.25, 0.12, 0.11, 0.1, 0.06, 0.06])
    found = group_similar(prior, number)
    losses = [
        1 - sum(part.min() * len(part) for part in np.split(prior, cuts))
        for cuts in map(list, combinations(range(1, 7), number - 1))
    ]
    assert 1 - found.share == pytest.approx(min(losses))
    assert found.prior @ found.sizes == pytest.approx(1)
    assert (prior >= found.share * found.prior[found.groups] - 1e-12).all()


def test_too_many_groups_are_not_reduced(monkeypatch):
    assert group_equal(np.arange(1, MOST_GROUPS + 2) / 28) is None
    monkeypatch.setattr(symmetry, "MOST_KINDS", 5)
    assert group_equal(np.array([0.4, 0.2, 0.2, 0.2])) is None


def test_sets_of_two_large_groups_would_be_too_long_to_draw():
    prior = np.array([0.06] * 13 + [0.22 / 13] * 13)
    grouping = group_equal(prior)
    assert symmetric_sets(grouping, symmetric_optimum(grouping, 3.0), 3.0) is None
    found = large_least_error(prior, odds=np.e**3)
    assert 0 <= found.gap < 0.03


def test_random_reports_are_of_the_best_kinds_and_repeatable():
    prior = np.array([0.5] + [0.05] * 10)
    reports = random_reports(prior, 3.0)
    np.testing.assert_array_equal(reports, random_reports(prior, 3.0))
    np.testing.assert_allclose(reports @ prior, 1)
    kinds = {tuple(map(int, (row[0] > 1.2 * row.min(), (row[1:] > 1.2 * row.min()).sum()))) for row in reports}
    assert kinds == set(map(tuple, symmetric_optimum(group_equal(prior), 3.0).counts.tolist()))


def test_few_weights_with_the_same_moments():
    rng = np.random.default_rng(1)
    moments, weights = rng.random((30, 4)), rng.random(30)
    few = basic_weights(moments, weights)
    np.testing.assert_allclose(few @ moments, weights @ moments)
    assert (few > 1e-9).sum() <= 4
    assert few.min() >= 0


def test_components_of_very_different_lengths_are_not_drawn():
    """Eleven and sixty equal categories have lengths 1 and 12: sets of 1 and of 50 would differ by a factor 2^21000."""
    grouping = group_equal(np.array([0.05] * 11 + [0.45 / 60] * 60))
    wide = SymmetricOptimum(np.array([[0, 1], [0, 50]]), np.array([0.5, 0.5]), 1.0, 1.0)
    near = SymmetricOptimum(np.array([[0, 1], [0, 9]]), np.array([0.5, 0.5]), 1.0, 1.0)
    assert symmetric_sets(grouping, wide, 3.0) is None
    assert len(symmetric_sets(grouping, near, 3.0).components) == 2
