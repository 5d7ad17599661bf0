"""Repeated experiments: fast draws have the law of slow ones, curves rise, and enough respondents are enough."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mining.classify import experiments
from sottovoce.mining.classify.experiments import (
    IndividualRecords,
    Trial,
    accuracy_by_plan,
    accuracy_by_respondents,
    records_of,
    report_simulator,
    respondents_for_accuracy,
)
from sottovoce.mining.classify.joint_table import class_tables
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.plans.plan import Plan
from sottovoce.schemes import GammaDiagonal, UnrelatedQuestion


@pytest.mark.parametrize("name", ["unrelated", "unrelated, turned order", "gamma"])
def test_fast_draws_have_the_law_of_slow_ones(people, plans, name):
    """Means and standard deviations of all counts over 400 drawn samples, by both ways."""
    _same_law(plans[name], people(500))


def test_turned_records_have_the_law_of_slow_ones(yes_no_people, related):
    _same_law(related(), yes_no_people(500))


def _same_law(plan: Plan, table: dict) -> None:
    records = records_of(table, plan, "ill")
    names = [name for name in plan.schema.names if name != "ill"]
    tables = class_tables(plan, names, "ill")
    rng = np.random.default_rng(1)
    training = np.repeat(records.counts[:, None], 400, axis=1)
    fast = report_simulator(plan, [*names, "ill"], tables, records, rng)
    assert not isinstance(fast, IndividualRecords)
    slow = IndividualRecords(plan, [*names, "ill"], tables, records, rng)
    for joint, quick, sure in zip(tables, fast(training), slow(training), strict=True):
        fine, slow_ones = joint.table(quick), joint.table(sure)
        assert fine.sum(axis=tuple(range(fine.ndim - 1))) == pytest.approx([500] * 400)
        spread = slow_ones.std(axis=-1)
        assert np.all(np.abs(fine.mean(axis=-1) - slow_ones.mean(axis=-1)) < 4.5 * spread / 200**0.5 + 1e-9)
        assert fine.std(axis=-1) == pytest.approx(spread, rel=0.25)


def test_one_repetition_is_the_classifier(people, plans):
    """Without a disguise, and with all of the population learned, a trial is fitting and scoring."""
    table = people(700)
    records = records_of(table, plans["clear"], "ill")
    drawn = records.sample(700, 1, np.random.default_rng(3))
    rows = {
        name: np.repeat(codes, drawn[:, 0])
        for name, codes in zip(("smokes", "drinks", "ill"), records.columns, strict=True)
    }
    labels = np.array(["never", "some", "much"], object)
    learned = {"smokes": rows["smokes"] == 1, "drinks": labels[rows["drinks"]], "ill": rows["ill"] == 1}
    expected = NaiveBayes(plans["clear"], "ill").fit(learned).score(table)
    found = Trial(records, 700, population=True).accuracies(plans["clear"], "ill", 1, np.random.default_rng(3))
    assert found[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["unrelated, joint law", "groups"])
def test_any_plan_can_be_tried(people, plans, name):
    table = people(1500)
    curve = accuracy_by_plan(table, "ill", {1: plans[name]}, along="number", repetitions=5, rng=1)
    assert curve.mean[0, 0] == pytest.approx(0.76, abs=0.05)


def test_accuracy_by_theta(people, monkeypatch):
    monkeypatch.setattr(experiments, "AT_ONCE", 7)
    table, seen = people(1500), []
    schema = records_schema()
    plans = {theta: Plan.of(schema, {schema.names: UnrelatedQuestion(theta)}) for theta in (0.05, 0.3, 1)}
    curve = accuracy_by_plan(
        table, "ill", plans, repetitions=20, repairs=("em", "plain"), rng=1, progress=lambda *done: seen.append(done)
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert curve.mean[0, 0] < curve.mean[0, 1] < curve.mean[0, 2] + 0.01
    assert curve.mean[0, 2] == pytest.approx(curve.undisguised, abs=0.02)
    assert curve.to_frame("polars").columns == ["theta", "repair", "accuracy", "standard_deviation", "undisguised"]
    assert curve.to_rows()[3]["repair"] == "plain"
    axes = curve.plot()
    assert axes.get_xlabel() == "theta"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["em", "plain", "undisguised"]
    assert curve.plot(axes) is axes


def records_schema():
    from sottovoce.schemas.attribute import Attribute, boolean
    from sottovoce.schemas.schema import Schema

    return Schema([boolean("smokes"), Attribute("drinks", ["never", "some", "much"]), boolean("ill")])


def test_accuracy_by_epsilon_and_respondents(people):
    table, schema = people(1500), records_schema()
    plans = {e: Plan.of(schema, {schema.names: GammaDiagonal(epsilon=e)}) for e in (0.2, 5)}
    curve = accuracy_by_plan(table, "ill", plans, along="epsilon", repetitions=20, rng=1)
    assert curve.mean[0, 0] < curve.mean[0, 1]
    more = accuracy_by_respondents(table, "ill", plans[0.2], [100, 100_000], repetitions=20, rng=1)
    assert more.mean[0, 0] < more.mean[0, 1] <= more.undisguised + 0.02
    assert more.plot().get_xscale() == "log"


def test_respondents_for_accuracy(people):
    """At theta = .2 a report is worth about a fortieth of a clear record: more people are needed than at .8."""
    table, schema = people(1500), records_schema()
    plans = {theta: Plan.of(schema, {schema.names: UnrelatedQuestion(theta)}) for theta in (0.2, 0.8)}
    needed = {theta: respondents_for_accuracy(table, "ill", plan, rng=1) for theta, plan in plans.items()}
    assert needed[0.8] < needed[0.2] < 10**5
    curve = accuracy_by_respondents(table, "ill", plans[0.2], [needed[0.2]], repetitions=100, rng=2)
    assert curve.mean[0, 0] > curve.undisguised - 0.016
    with pytest.raises(SottovoceError, match=r"most must be higher for an accuracy within 0\.01"):
        respondents_for_accuracy(table, "ill", plans[0.2], most=60, rng=1)


def test_refused(people, plans):
    with pytest.raises(SottovoceError, match="plans must be at least one"):
        accuracy_by_plan(people(10), "ill", {})
    two = {"smokes": [True, True], "drinks": ["much", "much"], "ill": [True, False]}
    with pytest.raises(SottovoceError, match="train must be a whole number from 1 to 1"):
        Trial(records_of(two, plans["clear"], "ill"), 2)
    with pytest.raises(SottovoceError, match="train must be a positive whole number"):
        accuracy_by_respondents(people(10), "ill", plans["clear"], [0])
    with pytest.raises(SottovoceError, match="repetitions must be a positive whole number"):
        accuracy_by_plan(people(10), "ill", {1: plans["clear"]}, repetitions=0)
    with pytest.raises(SottovoceError, match="respondents must be at least one number of them"):
        accuracy_by_respondents(people(10), "ill", plans["clear"], [])
    for repairs in ((), ("em", "magic"), "em"):
        with pytest.raises(SottovoceError, match="repairs must be some of em, simplex, plain"):
            accuracy_by_plan(people(10), "ill", {1: plans["clear"]}, repairs=repairs)
    with pytest.raises(SottovoceError, match="within must be a number above 0"):
        respondents_for_accuracy(people(10), "ill", plans["clear"], within=0)
    with pytest.raises(SottovoceError, match="most must be a positive whole number"):
        respondents_for_accuracy(people(10), "ill", plans["clear"], most=0)


def test_trials_are_told(people, plans):
    told = []
    respondents_for_accuracy(people(300), "ill", plans["clear"], rng=1, progress=lambda *done: told.append(done))
    assert told == [(place, None) for place in range(1, len(told) + 1)]
    assert told


def test_summaries(people, plans):
    curve = accuracy_by_plan(people(300), "ill", {0.5: plans["unrelated"]}, repetitions=3, rng=1)
    assert repr(curve) == f"<LearningCurve {curve.headline}>"
    assert f"{curve.mean[0, 0]:.4f}" in str(curve)
    assert "<th>theta</th><th>repair</th><th>accuracy</th><th>standard_deviation</th>" in curve._repr_html_()
