"""Plain estimates: unbiased, with the right standard error, from every kind of disguised table."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_file, disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.warner import Warner
from sottovoce.tables.plan_file import read_plan

LAW = np.array([0.6, 0.3, 0.1])


def test_by_hand():
    """Warner 1965: p_hat = (lam - (1 - p)) / (2 p - 1), variance lam (1 - lam) / (N (2 p - 1)^2)."""
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(3, 4))})
    estimate = estimate_proportions({"tax": [True] * 45 + [False] * 55}, plan, "tax")
    np.testing.assert_allclose(estimate.value, [0.6, 0.4])
    np.testing.assert_allclose(estimate.standard_error, np.sqrt(0.45 * 0.55 / 100) / 0.5)
    np.testing.assert_allclose(estimate.covariance.sum(), 0, atol=1e-15)
    np.testing.assert_allclose(estimate.reported, [0.55, 0.45])


@pytest.mark.slow
@pytest.mark.parametrize("attribute", ["drug", "age", "tax", "children"])
def test_unbiased_and_honest_by_simulation(attribute, plan, schema):
    """400 samples of 500: mean within 5 Monte-Carlo errors, standard errors within 15 %, coverage near 95 %."""
    rng = np.random.default_rng(8)
    categories = schema[attribute].categories
    law = np.arange(1, len(categories) + 1) / sum(range(len(categories) + 1))
    estimates = []
    for _ in range(400):
        table = {
            "tax": rng.choice([False, True], 500, p=[1 / 3, 2 / 3]),
            "drug": rng.choice(["never", "once", "often"], 500, p=[1 / 6, 2 / 6, 3 / 6]),
            "age": rng.choice([20, 50, 70], 500, p=[1 / 6, 2 / 6, 3 / 6]),
            "children": rng.choice(4, 500, p=[0.1, 0.2, 0.3, 0.4]),
        }
        estimates.append(estimate_proportions(disguise_frame(table, plan, rng), plan, attribute))
    values = np.array([e.value for e in estimates])
    spread = values.std(axis=0, ddof=1)
    assert (np.abs(values.mean(axis=0) - law) < 5 * spread / 20).all()
    stated = np.mean([e.standard_error for e in estimates], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.15)
    covered = np.mean([(e.interval()[0] <= law) & (law <= e.interval()[1]) for e in estimates], axis=0)
    assert (covered > 0.91).all()  # 95 % less 3.7 binomial errors


def test_more_reports_than_truths():
    schema = Schema([Attribute("drug", ["no", "yes"])])
    plan = Plan.of(schema, {"drug": Matrix([[0.5, 0.1], [0.1, 0.5], [0.4, 0.4]], ["no", "yes", "either"])})
    reports = {"drug": ["no"] * 380 + ["yes"] * 220 + ["either"] * 400}
    np.testing.assert_allclose(estimate_proportions(reports, plan, "drug").value, [0.7, 0.3])


def test_a_column_of_its_own_for_reports_of_several_attributes():
    schema = Schema([Attribute("a", ["x", "y"])])
    plan = Plan.of(schema, {("a",): Matrix([[0.8, 0.3], [0.2, 0.7]], ["one", "two"])})
    np.testing.assert_allclose(estimate_proportions({"a": ["one"] * 55 + ["two"] * 45}, plan, "a").value, [0.5, 0.5])


def test_from_a_file_with_its_plan(tmp_path, plan, truths):
    import csv

    with open(tmp_path / "t.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([truths, *zip(*truths.values(), strict=True)])
    disguise_file(tmp_path / "t.csv", tmp_path / "r.parquet", plan)
    estimate = estimate_proportions(tmp_path / "r.parquet", read_plan(tmp_path / "r.parquet"), "age")
    assert estimate.respondents == 4
    assert estimate.value.sum() == pytest.approx(1)


def test_negative_estimates_are_shown_and_explained():
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(3, 4))})
    estimate = estimate_proportions({"tax": [False] * 80 + [True] * 20}, plan, "tax")
    assert estimate.value[1] == pytest.approx(-0.1)
    assert "negative estimate is noise" in str(estimate)
    assert estimate.to_rows()[1]["values"] == {"tax": True}


def test_levels():
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(3, 4))})
    estimate = estimate_proportions({"tax": [False] * 60 + [True] * 40}, plan, "tax")
    low, high = estimate.interval(0.6826894921370859, kind="wald")
    np.testing.assert_allclose(high - low, 2 * estimate.standard_error)  # one standard deviation either way
    with pytest.raises(SottovoceError, match=r"^level must be between 0 and 1, both excluded\. Got 95 instead"):
        estimate.interval(95)


def test_a_channel_that_says_nothing_cannot_be_inverted():
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(1, 2))})
    with pytest.raises(
        SingularChannelError, match=r"^tax \(warner: p must not be 1/n.*\) cannot be estimated: keep must not be 0"
    ):
        estimate_proportions({"tax": [True, False]}, plan, "tax")


def test_item_sets_have_no_categories():
    plan = Plan.of(Schema([ItemSet("s", ["x"])]), {"s": Warner(p=Fraction(3, 4))})
    with pytest.raises(SottovoceError, match=r"^attributes must have categories"):
        estimate_proportions({"s": [["x"]]}, plan, "s")


def test_reports_outside_the_plan_are_refused(plan):
    with pytest.raises(SottovoceError, match=r"^tax must be one of its categories"):
        estimate_proportions({"tax": [True, "maybe"]}, plan, "tax")
