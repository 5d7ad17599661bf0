"""Frequent combinations of categories: against a plain search, from joint models and from models of their own."""

from itertools import combinations, product

import numpy as np
import pytest

from sottovoce.disguise.frames import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.factor import FactorSpread
from sottovoce.mine import combinations as module
from sottovoce.mine.combinations import combinations_of, frequent_combinations
from sottovoce.mine.identity import identity_errors
from sottovoce.mine.mining_plan import mining_plan
from sottovoce.schema.attribute import Attribute, boolean
from sottovoce.schema.schema import Schema

SIZES = (2, 3, 2)
SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), boolean("c")])


def joint(value, factor=None):
    spread = FactorSpread(np.zeros((12, 1)) if factor is None else factor)
    return Estimate(("a", "b", "c"), ((0, 1), (0, 1, 2), (0, 1)), value, spread, value, 10, "population", "model")


def searched(value, least):
    """Every combination and its support, one by one; frequent only where all parts are."""
    table, starts, found = value.reshape(SIZES), (0, 2, 5), {}
    for length in (1, 2, 3):
        for axes in combinations(range(3), length):
            for codes in product(*(range(SIZES[a]) for a in axes)):
                place = tuple(codes[axes.index(a)] if a in axes else slice(None) for a in range(3))
                items = tuple(starts[a] + code for a, code in zip(axes, codes, strict=True))
                parts = [items[:k] + items[k + 1 :] for k in range(length)]
                if table[place].sum() >= least and all(length == 1 or part in found for part in parts):
                    found[items] = table[place].sum()
    return found


def as_dict(levels):
    rows = ((tuple(i), s) for level in levels for i, s in zip(level.items.tolist(), level.support, strict=True))
    return dict(rows)


@pytest.mark.parametrize("least", [0.01, 0.05, 0.2, 0.6, 1.0])
def test_all_that_a_plain_search_finds(least):
    """Also from estimates below zero, of which parts can be rarer than the whole."""
    value = np.random.default_rng(1).dirichlet(np.full(12, 0.5)) + np.tile([0.02, -0.02], 6)
    found = as_dict(combinations_of(joint(value), least))
    expected = searched(value, least)
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()))


def test_standard_errors_are_those_of_sums():
    factor = np.random.default_rng(2).normal(size=(12, 2)) / 50
    levels = combinations_of(joint(np.full(12, 1 / 12), factor), 0.01, longest=2)
    assert [level.items.shape for level in levels] == [(7, 1), (16, 2)]
    expected = np.linalg.norm(factor.reshape(2, 3, 2, 2)[1].sum(axis=(0, 1)))
    assert levels[0].standard_error[1] == pytest.approx(expected)


def test_from_reports_at_once_and_set_by_set(monkeypatch):
    """Models of their own cells say nearly what the joint one says; sets of too many cells are left out."""
    rng = np.random.default_rng(0)
    a = rng.random(30_000) < 0.3
    table = {"a": a, "b": np.where(a, "x", rng.choice(["y", "z"], 30_000)), "c": rng.random(30_000) < 0.4}
    plan = mining_plan(SCHEMA, 9)
    reports = disguise_frame(table, plan, rng=1)
    once = frequent_combinations(reports, plan, 0.05)
    codes = SCHEMA.ravel(SCHEMA.encode(table))
    true = combinations_of(joint(np.bincount(codes, minlength=12) / 30_000), 0.05)
    assert [level.items.tolist() for level in once] == [level.items.tolist() for level in true]
    monkeypatch.setattr(module, "MOST_CELLS", 6)
    apart = frequent_combinations(reports, plan, 0.05)
    assert [level.items.tolist() for level in apart] == [level.items.tolist() for level in true[:2]]
    assert [len(level.items) for level in frequent_combinations(reports, plan, 0.05, longest=1)] == [7]
    np.testing.assert_allclose(apart[1].support, once[1].support, atol=0.02)


@pytest.mark.parametrize("least", [0, 1.5, True, "a"])
def test_supports_that_are_none(least):
    with pytest.raises(SottovoceError, match="min_support must be above 0 and at most 1"):
        combinations_of(joint(np.full(12, 1 / 12)), least)


def test_identity_errors_count_both_ways():
    """Four true sets; three found, of which one is false and one 10 % off: F1 = 2 2 / (4 + 3)."""
    true, found = np.array([[0, 2], [0, 3], [1, 2], [1, 3]]), np.array([[0, 2], [0, 3], [0, 4]])
    errors = identity_errors(found, np.array([0.22, 0.1, 0.1]), true, np.array([0.2, 0.1, 0.1, 0.1]))
    assert (errors.frequent, errors.found) == (4, 3)
    assert (errors.sigma_plus, errors.sigma_minus) == (25, 50)
    assert errors.rho == pytest.approx(5)
    assert errors.f1 == pytest.approx(400 / 7)
    nothing = identity_errors(found[:0], np.zeros(0), true[:0], np.zeros(0))
    assert all(np.isnan([nothing.sigma_plus, nothing.rho, nothing.f1]))
