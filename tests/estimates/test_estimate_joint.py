"""Joint proportions by a model, under any plan, and by likelihood alone."""

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates import log_linear
from sottovoce.estimates.covariance import FactorCovariance, MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.log_linear import estimate_joint, most_likely_joint
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.subset_selection import SubsetSelection

SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), boolean("c")])
PAIRS = Plan.of(SCHEMA, {("c", "a", "b"): AttributeSampling(odds=9, size=2)})
PLANS = {
    "pairs": PAIRS,
    "columns": new_plan(SCHEMA, odds=64),
    "joint": new_plan(SCHEMA, odds=19, joint=True),
    "groups": Plan.of(SCHEMA, {("c", "b"): AttributeSampling(odds=9, size=2), "a": GammaDiagonal(gamma=5)}),
    "sets": Plan.of(SCHEMA, {("a", "b", "c"): SubsetSelection(odds=19)}),
}


def people(count, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.random(count) < 0.3
    b = np.where(
        a, rng.choice(list("xyz"), count, p=[0.6, 0.2, 0.2]), rng.choice(list("xyz"), count, p=[0.2, 0.3, 0.5])
    )
    return {"a": a, "b": b, "c": rng.random(count) < np.where(b == "x", 0.7, 0.2)}


def shares(table, names):
    wanted = SCHEMA.project(names)
    return np.bincount(wanted.ravel(wanted.encode(table)), minlength=wanted.cells) / len(table["a"])


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("names", [["b", "c", "a"], pytest.param(["a", "b", "c"], marks=pytest.mark.slow)])
def test_any_plan_will_do(plan, names):
    table = people(20_000)
    found = estimate_joint(disguise_frame(table, plan, rng=3), plan, names)
    gaps = (found.value - shares(table, names)) / found.standard_error
    assert np.abs(gaps).max() < 4
    assert (found.attributes, found.respondents, found.target) == (tuple(names), 20_000, "population")
    assert found.value.sum() == pytest.approx(1)
    assert "log-linear model" in str(found)


def test_some_attributes_are_a_margin_of_all():
    reports = disguise_frame(people(2000), PAIRS, rng=3)
    joint, pair = estimate_joint(reports, PAIRS), estimate_joint(reports, PAIRS, ["c", "b"])
    expected = joint.value.reshape(2, 3, 2).sum(axis=0).T.ravel()
    np.testing.assert_allclose(pair.value, expected)
    sets = PLANS["sets"]
    whole, part = (estimate_joint(disguise_frame(people(900), sets, rng=3), sets, names) for names in (None, "b"))
    np.testing.assert_allclose(part.value, whole.value.reshape(2, 3, 2).sum(axis=(0, 2)))
    alone = estimate_joint(reports, PAIRS, "b")
    np.testing.assert_allclose(alone.value, joint.value.reshape(2, 3, 2).sum(axis=(0, 2)))


def test_too_many_joint_cells_leave_those_wanted(monkeypatch):
    monkeypatch.setattr(log_linear, "MOST_CELLS", 6)
    table = people(20_000)
    reports = disguise_frame(table, PAIRS, rng=3)
    pair = estimate_joint(reports, PAIRS, ["c", "b"])
    assert np.abs((pair.value - shares(table, ["c", "b"])) / pair.standard_error).max() < 4
    with pytest.raises(
        SottovoceError, match="attributes must have at most 6 joint cells for a joint model; model fewer"
    ):
        estimate_joint(reports, PAIRS)


def test_bad_requests_are_refused():
    reports = disguise_frame(people(10), PAIRS, rng=3)
    for order in (0, True, 2.5):
        with pytest.raises(SottovoceError, match="order must be a positive whole number"):
            estimate_joint(reports, PAIRS, order=order)
    with pytest.raises(SottovoceError, match="reports must be at least 2"):
        estimate_joint({name: values[:1] for name, values in reports.items()}, PAIRS)


def test_rounds_that_did_not_suffice_are_said(monkeypatch):
    monkeypatch.setattr(log_linear, "ROUNDS", 1)
    found = estimate_joint(disguise_frame(people(2000), PAIRS, rng=3), PAIRS)
    assert found.method == "log-linear model, NOT converged after 1 rounds"


def test_the_most_likely_law_fits_best_and_has_no_standard_errors():
    table = people(20_000)
    reports = disguise_frame(table, PAIRS, rng=3)
    found = most_likely_joint(reports, PAIRS, most_steps=20_000)
    assert found.method.startswith("em, ")
    assert "NOT" not in found.method
    np.testing.assert_allclose(found.value, shares(table, SCHEMA.names), atol=0.03)
    assert np.isnan(found.standard_error).all()
    observed = log_linear.count_by_part(reports, PAIRS, PAIRS.groups[0].attributes).reports
    inverse = np.argsort(PAIRS.cell_order(SCHEMA.names))
    model = estimate_joint(reports, PAIRS)
    assert observed.log_likelihood(found.value[inverse]) >= observed.log_likelihood(model.value[inverse])
    assert "NOT converged after 1 steps" in most_likely_joint(reports, PAIRS, most_steps=1).method


def test_margins_by_factor_and_by_matrix_agree():
    rng = np.random.default_rng(0)
    factor, value = rng.normal(size=(12, 3)) / 100, rng.dirichlet(np.ones(12))
    categories = ((0, 1), ("x", "y", "z"), (0, 1))
    spreads = FactorCovariance(factor), MatrixCovariance(factor @ factor.T)
    joints = [Estimate(("a", "b", "c"), categories, value, s, value, 10, "population", "model") for s in spreads]
    sums = np.zeros((6, 12))
    for cell, (_, b, c) in enumerate(np.ndindex(2, 3, 2)):
        sums[c * 3 + b, cell] = 1
    for joint in joints:
        found = joint.marginal(["c", "b"])
        assert found.categories == ((0, 1), ("x", "y", "z"))
        np.testing.assert_allclose(found.value, sums @ value)
        np.testing.assert_allclose(found.covariance, sums @ factor @ factor.T @ sums.T, atol=1e-15)
        np.testing.assert_allclose(found.covariances.variances, np.diag(found.covariance))
    for bad in (["d"], [], ["a", "a"]):
        with pytest.raises(SottovoceError, match="attributes must be some of a, b, c, once each"):
            joints[0].marginal(bad)
