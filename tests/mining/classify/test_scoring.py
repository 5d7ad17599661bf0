"""Accuracy from disguised test sets: unbiased, with the variance of the formula, and covered by its intervals."""

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.mining.classify import confusion, whole_record
from sottovoce.mining.classify.decision_tree import DecisionTree
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.mining.classify.scoring import Scores, score_disguised
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Matrix, UnrelatedQuestion, Warner

PAIR = Schema([boolean("smokes"), boolean("ill")])


def pairs(count: int) -> dict[str, list[bool]]:
    return {
        "smokes": [True] * (count // 2) + [False] * (count // 2),
        "ill": ([True] * 4 + [False] * 1) * (count // 10) + ([False] * 9 + [True]) * (count // 20),
    }


def clear_model(plan: Plan, table: dict, label: str = "ill") -> NaiveBayes:
    """A classifier of this plan that was fitted to records that happen to be as they are: its rule is fixed."""
    return NaiveBayes(plan, label).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.3, 0.6])
def test_the_variance_of_the_formula(theta):
    """P_Y(cc) = .5: of the table, `(1 - theta^2) / (4 n theta^2)` whatever the accuracy (coins only)."""
    plan = Plan.of(PAIR, {PAIR.names: UnrelatedQuestion(theta)})
    table = pairs(400)
    model = clear_model(plan, table)
    truth = model.score(table)
    drawn = [score_disguised(model, disguise_frame(table, plan, rng=s), target="table").accuracy for s in range(250)]
    values = np.array([number.value for number in drawn])
    variance = (1 - theta**2) / (4 * 400 * theta**2)
    assert values.mean() == pytest.approx(truth, abs=4 * (variance / 250) ** 0.5)
    assert values.var() == pytest.approx(variance, rel=0.36)  # chi-square of 249: four standard deviations
    assert np.mean([number.standard_error**2 for number in drawn]) == pytest.approx(variance, rel=0.02)
    covered = np.mean([number.low <= truth <= number.high for number in drawn])
    assert 0.895 < covered < 0.99


@pytest.mark.slow
def test_every_plan_is_unbiased_and_covered(people, any_plan):
    """Samples of a population with a known accuracy, each cell of the confusion matrix within four standard errors."""
    model = clear_model(any_plan, disguise_frame(people(10_000, 99), any_plan, rng=5))
    population = people(40_000, 98)
    truth = model.score(population)
    predicted, ill = model.predict(population), population["ill"]
    cells = np.array([np.mean((ill == t) & (predicted == p)) for t in (False, True) for p in (False, True)])
    found = [score_disguised(model, disguise_frame(people(1500, s), any_plan, rng=500 + s)) for s in range(25)]
    values = np.array([each.cells for each in found])
    errors = np.array([np.sqrt(np.diag(each.covariance)) for each in found])
    assert np.all(np.abs(values.mean(axis=0) - cells) < 4.5 * errors.mean(axis=0) / 25**0.5 + 0.008)
    assert values.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=0.6)
    covered = [each.accuracy.low <= truth <= each.accuracy.high for each in found if each.accuracy.low is not None]
    assert np.mean(covered) > 0.8


def test_the_related_question_and_one_report_for_all(yes_no_people, related, indivisible):
    table = yes_no_people(20_000)
    for plan in (related(0.7), indivisible):
        model = clear_model(plan, disguise_frame(table, plan, rng=1))
        found = score_disguised(model, disguise_frame(table, plan, rng=2), target="table").accuracy
        assert abs(found.value - model.score(table)) < 4 * found.standard_error


def test_trees_are_tested_alike(people, plans):
    plan, table = plans["unrelated"], people(5000)
    tree = DecisionTree(plan, "ill").fit(disguise_frame(table, plan, rng=11))
    found = score_disguised(tree, disguise_frame(table, plan, rng=12), plan, target="table")
    assert abs(found.accuracy.value - tree.score(table)) < 4 * found.accuracy.standard_error
    assert found.method == "whole records"


def test_precision_and_recall(people, plans):
    """In clear they are the ones everyone computes, with the binomial's standard errors."""
    plan, table = plans["clear"], people(3000)
    model = clear_model(plan, table)
    found = score_disguised(model, table)
    predicted, ill = model.predict(table), table["ill"]
    precision, recall = np.mean(ill[predicted]), np.mean(predicted[ill])
    assert found.precision[1].value == pytest.approx(precision)
    assert found.precision[1].standard_error == pytest.approx((precision * (1 - precision) / predicted.sum()) ** 0.5)
    assert found.recall[1].value == pytest.approx(recall)
    assert found.recall[1].standard_error == pytest.approx((recall * (1 - recall) / ill.sum()) ** 0.5)
    assert found.confusion.sum() == pytest.approx(1)
    assert found.confusion[1, 0] == pytest.approx(np.mean(ill & ~predicted))
    assert found.recall[0].name == "recall of False"
    document = found.to_json()
    assert document["accuracy"]["value"] == pytest.approx(model.score(table))
    assert [row["values"] for row in document["confusion"]][1] == {"truth": False, "prediction": True}
    assert found.to_frame("polars").shape == (4, 6)
    lines = str(found).splitlines()
    assert lines[0] == "3000 disguised test records, whole records, population"
    assert len(lines) == 6


def test_the_confusion_matrix_is_drawn(people, plans):
    scores = score_disguised(
        clear_model(plans["unrelated"], people(500)), disguise_frame(people(500), plans["unrelated"])
    )
    axes = scores.plot()
    np.testing.assert_allclose(axes.images[0].get_array(), scores.confusion)
    assert (axes.get_ylabel(), axes.get_xlabel()[:10]) == ("truth", "prediction")


def test_wide_intervals_are_declined(people, plans):
    plan, table = plans["apart"], people(300)
    model = clear_model(plan, disguise_frame(people(20_000), plan, rng=3))
    found = score_disguised(model, disguise_frame(table, plan, rng=4), widest=0.01)
    assert found.accuracy.low is None
    assert "more than 0.01" in str(found.accuracy)
    with pytest.raises(SottovoceError, match="widest must be a number above 0"):
        score_disguised(model, disguise_frame(table, plan, rng=4), widest=0)


def test_a_class_that_nothing_is_said_to_be_in():
    found = Scores((0, 1), np.array([0.7, 0.0, 0.3, 0.0]), np.eye(4) * 1e-6, 100, "table", "whole records")
    assert np.isnan(found.precision[1].value)
    assert "the estimated number of such records is not positive" in str(found.precision[1])


def test_more_records_than_can_be_listed(people, plans, monkeypatch):
    """P_Y by draws: nearly the same, and with a standard error that says what the draws add."""
    plan, table = plans["unrelated"], people(2000)
    model = clear_model(plan, disguise_frame(table, plan, rng=3))
    reports = disguise_frame(table, plan, rng=4)
    exact = score_disguised(model, reports)
    monkeypatch.setattr(whole_record, "MOST_CELLS", 11)
    few = score_disguised(model, reports, rng=1)
    assert few.accuracy.value == pytest.approx(exact.accuracy.value, abs=0.5)
    assert few.accuracy.standard_error > exact.accuracy.standard_error
    assert score_disguised(model, reports, rng=1).accuracy == few.accuracy


def test_product_plans_of_more_records_than_can_be_listed_are_modelled(people, plans, monkeypatch):
    model = clear_model(plans["apart"], people(2000))
    monkeypatch.setattr(confusion, "MOST_CELLS", 11)
    with pytest.raises(SottovoceError, match="plan must have at most 11 joint records"):
        score_disguised(model, people(100), method="unbiased")
    assert score_disguised(model, people(100)).method == "log-linear model"


def test_another_plan_and_none_that_tells_are_refused(people, plans):
    model = clear_model(plans["unrelated"], people(500))
    with pytest.raises(SottovoceError, match="plan must be the one that the classifier was fitted under"):
        score_disguised(model, people(100), plans["gamma"])
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    half = Plan.of(schema, {"a": Warner(p=0.8), "b": Matrix([["1/2", "1/2"], ["1/2", "1/2"]]), "c": Warner(p=0.8)})
    table = {name: [True, False] * 50 for name in schema.names}
    # b is not looked at, so nothing of it has to be told.
    some = NaiveBayes(half, "c", attributes=["a"]).fit(table)
    assert score_disguised(some, table, widest=9).accuracy.value > 0.5


def test_bad_questions_are_refused(people, plans):
    model, few = clear_model(plans["unrelated"], people(500)), {name: own[:1] for name, own in people(10).items()}
    with pytest.raises(SottovoceError, match=r"target must be one of population, table. Got 'world' instead"):
        score_disguised(model, people(100), target="world")
    with pytest.raises(SottovoceError, match=r"reports must be at least 2 for a standard error. Got 1 instead"):
        score_disguised(model, few)
    with pytest.raises(SottovoceError, match=r"classifier must be a NaiveBayes or a DecisionTree. Got str instead"):
        score_disguised("model", people(100))


def test_whole_records_are_recognised(plans):
    assert WholeRecord.of(plans["apart"].channel()) is None
    assert WholeRecord.of(plans["unrelated"].channel()).by_attribute
    joint = WholeRecord.of(plans["unrelated, joint law"].channel())
    assert not joint.by_attribute
    assert joint.enumerated[1].sum() == pytest.approx(1)
    gamma = WholeRecord.of(plans["gamma"].channel())
    assert gamma.keep == pytest.approx(19 / 31)
    assert gamma.enumerated[1] == pytest.approx(np.full(12, 1 / 12))


def test_attributes_with_many_values_in_one_group(monkeypatch):
    """More joint records than numbers of draws: P_Y by draws, in one group of large attributes."""
    monkeypatch.setattr(whole_record, "MOST_CELLS", 2**14)
    schema = Schema([*(Attribute(f"a{i}", range(40)) for i in range(4)), boolean("c")])
    plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    rng = np.random.default_rng(1)
    table = {f"a{i}": rng.integers(0, 40, 4000) for i in range(4)}
    table["c"] = table["a0"] + rng.integers(0, 8, 4000) > 22
    model = clear_model(plan, disguise_frame(table, plan, rng=2), "c")
    found = score_disguised(model, disguise_frame(table, plan, rng=3), target="table", rng=4).accuracy
    assert abs(found.value - model.score(table)) < 4 * found.standard_error


def test_summaries(people, plans):
    table, plan = people(2000), plans["unrelated"]
    found = score_disguised(clear_model(plan, table), disguise_frame(table, plan, rng=2), widest=0.1)
    assert repr(found) == "<Scores 2000 disguised test records, whole records, population>"
    page = found._repr_html_()
    assert page.startswith(f"<div><b>{found.headline}</b>")
    assert "<th>truth</th><th>prediction</th>" in page
    assert "without an interval: it would be" in page
