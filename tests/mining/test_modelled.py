"""Frequent combinations of categories: against a plain search, from joint models and from models of their own."""

from itertools import combinations, product

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import FactorCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.mining.itemsets import pattern_model as module
from sottovoce.mining.itemsets.frequent import ResolutionWarning, frequent_itemsets
from sottovoce.mining.itemsets.pattern_model import itemsets_of, modelled_itemsets
from sottovoce.mining.rules import association_rules
from sottovoce.mining.small_set_plan import mining_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.warner import Warner

SIZES = (2, 3, 2)
SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), boolean("c")])


def joint(value, factor=None):
    spread = FactorCovariance(np.zeros((12, 1)) if factor is None else factor)
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
    found = as_dict(itemsets_of(joint(value), least).levels)
    expected = searched(value, least)
    assert list(found) == sorted(expected, key=lambda items: (len(items), items))
    np.testing.assert_allclose([found[items] for items in expected], list(expected.values()))


def test_standard_errors_are_those_of_sums():
    factor = np.random.default_rng(2).normal(size=(12, 2)) / 50
    levels = itemsets_of(joint(np.full(12, 1 / 12), factor), 0.01, longest=2).levels
    assert [level.items.shape for level in levels] == [(7, 1), (16, 2)]
    expected = np.linalg.norm(factor.reshape(2, 3, 2, 2)[1].sum(axis=(0, 1)))
    assert levels[0].standard_error[1] == pytest.approx(expected)


def test_from_reports_at_once_and_set_by_set(monkeypatch):
    """Models of their own cells say nearly what the joint one says, where those are few enough."""
    rng = np.random.default_rng(0)
    a = rng.random(30_000) < 0.3
    table = {"a": a, "b": np.where(a, "x", rng.choice(["y", "z"], 30_000)), "c": rng.random(30_000) < 0.4}
    plan = mining_plan(SCHEMA, 9)
    reports = disguise_frame(table, plan, rng=1)
    once = modelled_itemsets(reports, plan, 0.05).levels
    codes = SCHEMA.ravel(SCHEMA.encode(table))
    true = itemsets_of(joint(np.bincount(codes, minlength=12) / 30_000), 0.05).levels
    assert [level.items.tolist() for level in once] == [level.items.tolist() for level in true]
    monkeypatch.setattr(module, "MOST_CELLS", 6)
    monkeypatch.setattr("sottovoce.estimates.log_linear.MOST_CELLS", 6)
    apart = modelled_itemsets(reports, plan, 0.05, longest=2)
    assert [level.items.tolist() for level in apart.levels] == [level.items.tolist() for level in true[:2]]
    assert (apart.respondents, apart.target) == (30_000, "population")
    np.testing.assert_allclose(apart.levels[1].support, once[1].support, atol=0.02)
    with pytest.raises(SottovoceError, match="attributes must have at most 6 joint cells for a joint model"):
        modelled_itemsets(reports, plan, 0.05)
    assert set(modelled_itemsets(reports, plan, 0.05, attributes=["c", "a"]).labels) == {
        "a=False", "a=True", "c=False", "c=True",
    }  # fmt: skip


def test_estimates_without_standard_errors_can_be_mined():
    value = np.random.default_rng(1).dirichlet(np.full(12, 0.5))
    blind = itemsets_of(joint(value, np.full((12, 1), np.nan)), 0.05)
    assert blind.itemsets == itemsets_of(joint(value), 0.05).itemsets
    assert np.isnan(blind.standard_error).all()


def test_without_a_model_what_was_not_asked_together_is_left_out():
    wide = Schema([Attribute("a", range(5)), Attribute("b", range(5)), Attribute("c", range(5))])
    plan = mining_plan(wide, 19)
    rng = np.random.default_rng(0)
    table = {name: np.minimum(rng.geometric(0.5, 5000) - 1, 4) for name in wide.names}
    reports = disguise_frame(table, plan, rng=1)
    with pytest.warns(ResolutionWarning, match=r"^no respondent was asked these attributes .* --model\): a, b, c$"):
        plain = frequent_itemsets(reports, plan, 0.1, selection="threshold", target="table")
    assert set(plain.by_length) == {1, 2}
    assert set(modelled_itemsets(reports, plan, 0.1).by_length) == {1, 2, 3}
    two = frequent_itemsets(reports, plan, 0.1, selection="threshold", attributes=["c", "a"], target="table")
    pairs = dict(zip(plain.itemsets, plain.estimate, strict=True))
    assert two.estimate[two.itemsets.index(("c=0", "a=0"))] == pytest.approx(pairs["a=0", "c=0"])


@pytest.mark.parametrize("least", [0, 1.5, True, "a"])
def test_supports_that_are_none(least):
    with pytest.raises(SottovoceError, match="min_support must be above 0 and at most 1"):
        itemsets_of(joint(np.full(12, 1 / 12)), least)


@pytest.mark.parametrize("longest", [0, True, 1.5])
def test_lengths_that_are_none(longest):
    with pytest.raises(SottovoceError, match="longest must be a positive whole number"):
        itemsets_of(joint(np.full(12, 1 / 12)), 0.1, longest=longest)


def test_the_plan_and_the_attributes_are_checked():
    plan = mining_plan(SCHEMA, 9)
    reports = {"a": [True, False] * 50, "b": ["x", "y"] * 50, "c": [True, False] * 50}
    with pytest.raises(SottovoceError, match=r"plan must be the one that the reports were disguised under\. Got none"):
        modelled_itemsets(reports, min_support=0.1)
    assert modelled_itemsets(reports, plan, 0.1, attributes="a").labels == ("a=False", "a=True")
    schema = Schema([ItemSet("basket", ["ale", "bread"]), boolean("adult")])
    mixed = Plan.of(schema, {"basket": Emask(p=0.9, q=0.9), "adult": Warner(p=0.7)})
    with pytest.raises(
        SottovoceError, match=r"attributes must be one attribute that holds sets of items \(basket\), or"
    ):
        modelled_itemsets({"basket": [["ale"], ["bread"]], "adult": [True, False]}, mixed, 0.1)


def test_rules_have_the_errors_of_the_model():
    """Confidence of a=0 -> c=0, and its error by the delta method from a joint covariance of 1e-4 for every cell."""
    value = np.array([0.3, 0.1, 0.1, 0.1, 0.05, 0.05, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025])
    rules = association_rules(itemsets_of(joint(value, np.eye(12) / 100), 0.15), 0.1)
    place = list(zip(rules.antecedents, rules.consequents, strict=True)).index((("a=0",), ("c=0",)))
    table = value.reshape(SIZES)
    support, alone = table[0, :, 0].sum(), table[0].sum()
    assert rules.estimate("confidence")[place] == pytest.approx(support / alone)
    gradient = np.zeros(SIZES)
    gradient[0] -= support / alone**2
    gradient[0, :, 0] += 1 / alone
    assert rules.standard_error("confidence")[place] == pytest.approx(np.sqrt((gradient**2).sum() * 1e-4))
