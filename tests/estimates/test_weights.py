"""Survey weights: by hand, by brute force, refused by row, and covering for both targets."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.proportions import by_blue, by_inversion, estimate_proportions
from sottovoce.estimates.weights import Weighted
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

COIN = KeepOrUniform((3,), Fraction(1, 2))
PLAN = Plan.of(Schema([boolean("tax"), boolean("drug")]), {"tax": Warner(p=0.75), "drug": Warner(p=0.8)})
REPORTS = {
    "tax": [True, False, True, True, False],
    "drug": [False, False, True, False, True],
    "w": [1.0, 2.0, 0.5, 3.0, 1.0],
}


def counted(codes: np.ndarray, weights: np.ndarray) -> Counted:
    sums, squares = (np.bincount(codes, w, minlength=3) for w in (weights, weights**2))
    counts = np.bincount(codes, minlength=3)
    return Counted(("a",), ((0, 1, 2),), COIN, counts, np.arange(3), Weighted(sums, squares))


@pytest.mark.parametrize("method", ["inversion", "blue"])
@pytest.mark.parametrize("target", ["population", "table"])
def test_by_brute_force(method, target):
    """Sums over single reports: `sum w^2 (B e - p)(B e - p)^T / (sum w)^2`; for the table only the coins are random."""
    found = estimate_proportions(REPORTS, PLAN, ["tax", "drug"], weights="w", method=method, target=target)
    inverse, w = np.linalg.inv(PLAN.channel().dense()), np.array(REPORTS["w"])
    each = inverse[:, [2 * t + d for t, d in zip(REPORTS["tax"], REPORTS["drug"], strict=True)]].T
    p = w @ each / w.sum()
    if target == "population":
        expected = (each - p).T @ (w[:, None] ** 2 * (each - p))
    else:
        expected = each.T @ (w[:, None] ** 2 * each) - np.diag(w**2 @ each)
    np.testing.assert_allclose(found.value, p)
    np.testing.assert_allclose(found.covariance, expected / w.sum() ** 2, atol=1e-12)
    np.testing.assert_allclose(found.covariances.variances, np.diag(found.covariance).clip(0), atol=1e-12)
    assert found.effective == pytest.approx(7.5**2 / 15.25)
    assert found.to_json()["effective_respondents"] == found.effective
    assert "5 reports (worth 3.7 of equal weight)" in str(found)


def test_equal_weights_change_nothing():
    plain = estimate_proportions(REPORTS, PLAN, "tax")
    equal = estimate_proportions(REPORTS, PLAN, "tax", weights=[7.0] * 5)
    np.testing.assert_allclose(equal.covariance, plain.covariance)
    assert (equal.effective, plain.effective) == (pytest.approx(5), None)
    assert "effective_respondents" not in plain.to_json()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("estimate", [by_inversion, by_blue])
def test_weighted_intervals_cover(target, estimate):
    """2,000 samples of 800 people, the rarer category with three times the weight: 93.5 to 96.5 % of cells."""
    rng, law, covered = np.random.default_rng([3, len(target)]), np.array([0.5, 0.3, 0.2]), 0
    tilted = law / np.array([1, 1, 3])
    asked, columns = tilted / tilted.sum(), COIN.dense()
    truths = rng.choice(3, 800, p=asked)
    weights = np.where(truths == 2, 3.0, 1.0) * rng.uniform(0.5, 1.5, 800)
    truth = law if target == "population" else np.bincount(truths, weights) / weights.sum()
    for _ in range(2000):
        if target == "population":
            truths = rng.choice(3, 800, p=asked)
            weights = np.where(truths == 2, 3.0, 1.0) * rng.uniform(0.5, 1.5, 800)
        reports = (rng.random(800)[:, None] > columns.cumsum(axis=0).T[truths]).sum(axis=1)
        low, high = estimate(counted(reports, weights), target).interval()
        covered += ((low <= truth) & (truth <= high)).mean()
    assert 0.935 < covered / 2000 < 0.965


@pytest.mark.parametrize("make", [lambda t: t, pd.DataFrame, pl.DataFrame], ids=["mapping", "pandas", "polars"])
def test_weights_from_any_table_and_beside_it(make):
    by_name = estimate_proportions(make(REPORTS), PLAN, "tax", weights="w")
    beside = estimate_proportions(make(REPORTS), PLAN, "tax", weights=make(REPORTS)["w"])
    np.testing.assert_allclose(by_name.value, beside.value)
    np.testing.assert_allclose(by_name.covariance, beside.covariance)


def test_weights_from_a_file(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("tax,w\nTrue,1\nFalse,2.5\nTrue,1\n")
    assert estimate_proportions(path, PLAN, "tax", weights="w").effective == pytest.approx(4.5**2 / 8.25)
    path.write_text('tax,w\nTrue,1\nFalse,"a"b\nTrue,1\n')  # not plain: the standard library reads it, and refuses
    with pytest.raises(SottovoceError):
        estimate_proportions(path, PLAN, "tax", weights="w")
    path.write_text("tax,w\nTrue,1\nFalse,\n")
    with pytest.raises(SottovoceError, match=r"^weights must be finite .* row 2\. Got a missing one instead\.$"):
        estimate_proportions(path, PLAN, "tax", weights="w")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -2, 1, 1], r"^weights must be finite numbers that are not negative; row 3\. Got -2 instead"),
        ([1, np.inf, 1, 1, 1], r"row 2\. Got inf instead"),
        ([1, 1, 1, 1, None], r"row 5\. Got a missing one instead"),
        ([1, 1, 1, 1, "many"], r"row 5\. Got 'many' instead"),
        ([0] * 5, r"^weights must not all be zero\. Got zeros instead"),
        ([1, 1], r"^weights must be as many as the reports, of which there are at least 5\. Got 2 instead"),
        ([1] * 6, r"^weights must be as many as the 5 reports\. Got 6 instead"),
        ([0, 0, 1, 0, 0], r"^weights must leave at least 2 reports that count"),
        ("drug", r"^weights must be a column that was not disguised\. Got 'drug' instead"),
        ("shoe", r"^table must have the column 'shoe'\. Got a table with"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(SottovoceError, match=message):
        estimate_proportions(REPORTS, PLAN, "tax", weights=weights)


def test_what_weights_do_not_go_with():
    with pytest.raises(SottovoceError, match=r"^method must be inversion, blue or simplex with weights"):
        estimate_proportions(REPORTS, PLAN, "tax", weights="w", method="em")
    with pytest.raises(SottovoceError, match=r"^kind must be default or wald here; score is for"):
        estimate_proportions(REPORTS, PLAN, "tax", weights="w").interval(kind="score")
    plan = Plan.of(Schema([Attribute("a", range(20))]), {"a": SubsetSelection(odds=3)})
    with pytest.raises(SottovoceError, match=r"^weights must be left out for sets of many categories"):
        estimate_proportions({"a": [[1], [2]]}, plan, "a", weights=[1, 1])


def test_counts_given_as_weights_are_recognised():
    """Published counts are frequencies; as weights they would count as two respondents."""
    table = {"tax": [True, False], "n": [831, 1604]}
    with pytest.raises(SottovoceError, match=r"^weights must be survey weights; .* pass them as frequencies\. Got 'n'"):
        estimate_proportions(table, PLAN, "tax", weights="n")
    with pytest.raises(SottovoceError, match=r"pass them as frequencies\. Got whole numbers"):
        estimate_proportions(table, PLAN, "tax", weights=[831, 1604])
    assert estimate_proportions(table, PLAN, "tax", frequencies="n").respondents == 2435
    assert estimate_proportions(table, PLAN, "tax", weights=[0.9, 1.3]).respondents == 2
