"""Groups and strata: the same as apart, the same as together, by hand, and covering."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.groups import stratified
from sottovoce.estimates.proportions import by_inversion, estimate_by, estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

COIN = KeepOrUniform((3,), Fraction(1, 2))
PLAN = Plan.of(Schema([boolean("tax"), boolean("drug")]), {"tax": Warner(p=0.75), "drug": Warner(p=0.8)})
RNG = np.random.default_rng(12)
REPORTS = {
    "tax": RNG.random(300) < 0.4,
    "drug": RNG.random(300) < 0.3,
    "year": RNG.choice([2020, 2021, 1999], 300),
    "w": RNG.uniform(1, 2, 300),
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["mapping", "pandas"])
def test_groups_are_estimated_as_if_alone(make):
    found = estimate_by(make(REPORTS), PLAN, ["tax", "drug"], "year", weights="w")
    assert list(found) == [1999, 2020, 2021]
    for year, estimate in found.items():
        chosen = {name: values[REPORTS["year"] == year] for name, values in REPORTS.items()}
        alone = estimate_proportions(chosen, PLAN, ["tax", "drug"], weights="w")
        np.testing.assert_allclose(estimate.value, alone.value)
        np.testing.assert_allclose(estimate.covariance, alone.covariance)


def test_groups_across_batches(monkeypatch):
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 7)
    cut = estimate_by(REPORTS, PLAN, "tax", "year", weights=REPORTS["w"])
    monkeypatch.undo()
    for year, whole in estimate_by(REPORTS, PLAN, "tax", "year", weights="w").items():
        np.testing.assert_allclose(cut[year].value, whole.value)
        np.testing.assert_allclose(cut[year].covariance, whole.covariance)


def test_with_the_samples_own_shares_the_value_is_that_of_all():
    """The estimate is linear in the reports; its variance is less, by what lies between the strata."""
    parts, whole = estimate_by(REPORTS, PLAN, "tax", "year"), estimate_proportions(REPORTS, PLAN, "tax")
    found = stratified(parts)
    np.testing.assert_allclose(found.value, whole.value)
    np.testing.assert_allclose(found.reported, whole.reported)
    assert (found.standard_error <= whole.standard_error).all()
    assert (found.respondents, found.method) == (300, "inversion, 3 strata")


def test_by_hand():
    parts = estimate_by(REPORTS, PLAN, "tax", "year", weights="w")
    shares = {2020: 0.5, 1999: 0.2, 2021: 0.3}
    found = stratified(parts, shares)
    np.testing.assert_allclose(found.value, sum(shares[year] * part.value for year, part in parts.items()))
    expected = sum(shares[year] ** 2 * part.covariance for year, part in parts.items())
    np.testing.assert_allclose(found.covariance, expected)
    np.testing.assert_allclose(found.covariances.variances, np.diag(expected))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_stratified_intervals_cover(target):
    """2,000 samples of two strata, 300 and 900 people who are .7 and .3 of the whole: 93.5 to 96.5 % of cells."""
    rng, columns = np.random.default_rng([5, len(target)]), COIN.dense()
    distributions, people, shares = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]), (300, 900), np.array([0.7, 0.3])
    truth, covered = shares @ distributions, 0
    for _ in range(2000):
        parts = {}
        for stratum, (law, n) in enumerate(zip(distributions, people, strict=True)):
            if target == "population":
                counts = rng.multinomial(n, columns @ law)
            else:
                fixed = np.round(n * law).astype(int)
                counts = sum(rng.multinomial(m, column) for m, column in zip(fixed, columns.T, strict=True))
            parts[stratum] = by_inversion(Counted(("a",), ((0, 1, 2),), COIN, counts, np.arange(3)), target)
        low, high = stratified(parts, dict(enumerate(shares))).interval()
        covered += ((low <= truth) & (truth <= high)).mean()
    assert 0.935 < covered / 2000 < 0.965


def test_mistakes():
    parts = estimate_by(REPORTS, PLAN, "tax", "year")
    weighted = estimate_by(REPORTS, PLAN, "tax", "year", weights="w")
    table = estimate_by(REPORTS, PLAN, "tax", "year", target="table")
    for estimates, shares, message in (
        ({}, None, r"^estimates must be those of at least one stratum"),
        (parts, {1999: 1}, r"^shares must be of the strata \[1999, 2020, 2021\]\. Got \[1999\] instead"),
        (parts, {1999: 0.1, 2020: 0.1, 2021: 0.1}, r"^shares must sum to 1; the sum is 0\.3"),
        (weighted, None, r"^shares must be given where reports have weights"),
        (parts | {2020: table[2020]}, None, r"^target must be the same in all estimates \(population\)\. Got 'table'"),
        (parts | {2020: estimate_proportions(REPORTS, PLAN, "drug")}, None, r"^attributes must be the same"),
        (
            parts | {2020: estimate_proportions(REPORTS, PLAN, "tax", method="em")},
            None,
            r"^estimates must all be of",
        ),
    ):
        with pytest.raises(SottovoceError, match=message):
            stratified(estimates, shares)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("drug", r"^by must be a column that was not disguised\. Got 'drug'"),
        ("town", r"^table must have the column 'town'\. Got a table with"),
        ("gap", r"^gap must be known for every report; row 2\. Got None instead"),
        ("id", r"^by must be a column with at most 1000 different values\. Got 'id' instead"),
    ],
)
def test_columns_that_make_no_groups(by, message):
    reports = {"tax": [True] * 1001, "drug": [True] * 1001, "gap": [1, None] + [1] * 999, "id": range(1001)}
    with pytest.raises(SottovoceError, match=message):
        estimate_by(reports, PLAN, "tax", by)


def test_a_group_whose_weights_are_zero():
    reports = {"tax": [True] * 4, "town": ["a", "a", "b", "b"], "w": [1, 1, 0, 0]}
    with pytest.raises(SottovoceError, match=r"^weights must not all be zero\. Got zeros: b instead"):
        estimate_by(reports, PLAN, "tax", "town", weights="w")


def test_groups_of_large_sets():
    plan = Plan.of(Schema([Attribute("a", range(20))]), {"a": SubsetSelection(odds=3)})
    with pytest.raises(SottovoceError, match=r"^by must be left out for sets of many categories"):
        estimate_by({"a": [[1], [2]], "b": [1, 1]}, plan, "a", "b")


def test_intervals_of_strata():
    """By inversion at the effective number of reports, also with weights; by other methods from the covariance."""
    shares = {1999: 0.2, 2020: 0.5, 2021: 0.3}
    for options, method in (({}, "profile"), ({"weights": "w"}, "profile"), ({"method": "blue"}, "normal")):
        found = stratified(estimate_by(REPORTS, PLAN, "tax", "year", **options), shares)
        assert found.to_json()["interval"] == method
        low, high = found.interval()
        assert ((low < found.value) & (found.value < high)).all()
        assert (high - low) == pytest.approx(2 * 1.97 * found.standard_error, rel=0.1)
    joint = stratified(estimate_by(REPORTS, PLAN, ["tax", "drug"], "year"), shares)
    assert joint.to_json()["interval"] == "constrained score"
