"""Patterns of a few items: cells and supports by brute force, and fits that miss less than inversion does."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import em
from sottovoce.mining.itemsets.pattern_fits import (
    cells_from_supports,
    fit_cells,
    simulate_counts,
    subset_sums,
    supports_from_cells,
    unbiased_supports,
    unbiased_variances,
)
from sottovoce.mining.itemsets.reconstruct import item_coins
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask

ITEMS = ItemSet("basket", list("abcd"))
P, Q = 0.55, 0.97


def coins(p=P, q=Q, items=ITEMS):
    return item_coins(Plan.of(Schema([items]), {"basket": Emask(p=p, q=q)}), items)


@given(st.lists(st.integers(0, 15), min_size=1, max_size=40))
def test_cells_and_supports_by_brute_force(transactions):
    bits = np.array([[t >> (3 - i) & 1 for i in range(4)] for t in transactions])
    patterns = [np.array(pattern) for pattern in product((0, 1), repeat=4)]
    cells = np.array([(bits == pattern).all(axis=1).sum() for pattern in patterns]).reshape((2,) * 4)
    supports = np.array([(bits >= pattern).all(axis=1).sum() for pattern in patterns]).reshape((2,) * 4)
    np.testing.assert_array_equal(supports_from_cells(cells), supports)
    np.testing.assert_array_equal(cells_from_supports(supports), cells)


def test_unbiased_supports_are_those_of_the_inverse_channel():
    rng, own = np.random.default_rng(1), coins()
    reports = rng.integers(1, 50, (2,) * 4).astype(float)
    solved = own.channel.solve(reports.ravel() / reports.sum()).reshape(reports.shape)
    np.testing.assert_allclose(unbiased_supports(supports_from_cells(reports), own), supports_from_cells(solved))


def test_items_may_have_coins_of_their_own():
    own = coins([0.5, 0.6, 0.7, 0.8], [0.9, 0.95, 0.97, 0.99])
    assert own.select(np.array([1, 3])).ones.tolist() == [0.6, 0.8]
    cells = np.random.default_rng(2).dirichlet(np.ones(16)).reshape((2,) * 4)
    counts = supports_from_cells(1e6 * own.channel.matvec(cells.ravel()).reshape(cells.shape))
    np.testing.assert_allclose(unbiased_supports(counts, own), supports_from_cells(cells))


@pytest.mark.parametrize("own", [coins(), coins([0.5, 0.6, 0.7, 0.8], [0.9, 0.95, 0.97, 0.99])])
def test_noise_of_unbiased_supports_by_brute_force(own):
    """Supports are linear in the shares of reports, whose covariance is that of a multinomial law."""
    cells = np.random.default_rng(3).dirichlet(np.ones(16))
    law = own.channel.matvec(cells)
    # Of each single report: what it counts for, at each set.
    counted = [unbiased_supports(supports_from_cells(report.reshape((2,) * 4)), own).ravel() for report in np.eye(16)]
    expected = (law @ np.square(counted) - (law @ counted) ** 2) / 50
    found = unbiased_variances(supports_from_cells(cells.reshape((2,) * 4)), own, 50)
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-15)


def test_steps_lead_towards_the_most_likely_cells():
    """The mean log-likelihood after the steps, beside that of `em`, which stops on a proven gap of 1e-9."""
    own = coins(0.9, 0.95)
    cells = np.random.default_rng(3).dirichlet(np.ones(16))
    seen = np.random.default_rng(4).multinomial(5000, own.channel.matvec(cells)).astype(float)
    found = fit_cells([supports_from_cells(seen.reshape((2,) * 4))], own)[0].ravel()
    best = em(own.channel, seen)
    assert found.sum() == pytest.approx(1)
    assert seen @ np.log(own.channel.matvec(found)) == pytest.approx(best.log_likelihood, abs=0.05)


def test_counts_side_by_side_are_fitted_each_by_itself():
    own, rng = coins(), np.random.default_rng(11)
    counts = [simulate_counts(rng.dirichlet(np.ones(16)).reshape((2,) * 4), 900, own, rng) for _ in range(3)]
    for found, each in zip(fit_cells(counts, own), counts, strict=True):
        np.testing.assert_allclose(found, fit_cells([each], own)[0], atol=1e-14)


def test_what_nothing_hides_is_found_exactly():
    own = coins(1, 1)
    cells = np.random.default_rng(5).multinomial(1000, np.random.default_rng(6).dirichlet(np.ones(16)))
    counts = supports_from_cells(cells.reshape((2,) * 4).astype(float))
    (fitted,) = fit_cells([counts], own)
    np.testing.assert_allclose(fitted, cells.reshape((2,) * 4) / 1000, atol=1e-12)


@pytest.mark.parametrize("length", [1, 3, 4])
def test_sums_over_subsets_by_brute_force(length):
    supports = np.random.default_rng(7).integers(0, 100, (2,) * 4)
    sets = [*combinations(range(4), length)]
    for items, found in zip(sets, subset_sums([supports], np.array(sets))[0], strict=True):
        parts = [[*combinations(items, number)] for number in range(length + 1)]
        cells = [[tuple(int(place in part) for place in range(4)) for part in own] for own in parts]
        assert found.tolist() == [sum(supports[cell] for cell in own) for own in cells]


def test_long_sets_scatter_less_than_by_inversion():
    """Of 60 disguises of 20,000 transactions, three quarters empty, an eighth with five items of six, five without.

    The support of five items is .125; fits scatter by less than half as much as inversion does.
    """
    items = ItemSet("basket", list("abcdef"))
    own, rng = coins(items=items), np.random.default_rng(8)
    cells = np.zeros((2,) * 6)
    cells[0, 0, 0, 0, 0, 0], cells[1, 1, 1, 1, 1, 0], cells[1, 0, 0, 0, 0, 1] = 0.75, 0.125, 0.125
    inverted, fitted = [], []
    for _ in range(60):
        counts = simulate_counts(cells, 20_000, own, rng)
        inverted.append(unbiased_supports(counts, own)[1, 1, 1, 1, 1, 0])
        fitted.append(supports_from_cells(fit_cells([counts], own)[0])[1, 1, 1, 1, 1, 0])
    assert np.std(fitted) < 0.5 * np.std(inverted)
    assert np.mean(fitted) == pytest.approx(0.125, rel=0.1)  # few steps leave it a little too low


def test_reports_must_split_into_items():
    plan = Plan.of(Schema([ITEMS]), {"basket": CutAndPaste(cutoff=2, rho=0.3)})
    with pytest.raises(SottovoceError, match=r"basket must be disguised item by item, for a model\. Got cut_and_paste"):
        item_coins(plan, ITEMS, ", for a model")


def test_a_single_item():
    alone = ItemSet("basket", ["a"])
    assert coins(items=alone).ones.tolist() == [P]
