"""Scores where each respondent is asked a few attributes: unbiased for what was asked together, else bounded."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from sottovoce.channels.channel import Part
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.sampled import Sampled
from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.estimates.proportions import NeverAskedError
from sottovoce.mining.classify import confusion
from sottovoce.mining.classify.confusion import asked_together
from sottovoce.mining.classify.decision_tree import DecisionTree
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.mining.classify.scoring import DisguisedScorer, score_disguised
from sottovoce.mining.small_set_plan import mining_plan
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import plan_for_purpose
from sottovoce.reports.reports import Reports
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import AttributeSampling, OptimizedUnary, RandomizedResponse, SubsetSelection, UnrelatedQuestion

SCHEMA = Schema([boolean("smokes"), Attribute("drinks", ["never", "some", "much"]), boolean("ill")])


def sampled_plans() -> dict[str, Plan]:
    names = SCHEMA.names
    return {
        "pairs": plan_for_purpose(SCHEMA, odds=9),
        "pairs only": Plan.of(SCHEMA, {names: AttributeSampling(odds=9, size=2)}),
        "spread": Plan.of(SCHEMA, {names: AttributeSampling(odds=3, subsets=[[0, 1, 2], [1, 2]], spread=True)}),
        "joint": plan_for_purpose(SCHEMA, odds=9, purpose="joint"),
        "split": plan_for_purpose(SCHEMA, odds=200, purpose="split"),
        "mining": mining_plan(SCHEMA, odds=9),
        "mixed": Plan.of(
            SCHEMA, {("smokes", "ill"): AttributeSampling(odds=9, size=2), "drinks": OptimizedUnary(odds=9)}
        ),
        "subset": Plan.of(SCHEMA, {name: SubsetSelection(odds=6) for name in names}),
    }


@pytest.mark.parametrize("name", list(sampled_plans()))
@pytest.mark.parametrize("kind", [NaiveBayes, DecisionTree])
def test_every_plan_is_scored(name, kind, people):
    """Within four standard errors of the truth or, where there is none, within the interval."""
    plan, table = sampled_plans()[name], people(6000)
    model = kind(plan, "ill").fit(disguise_frame(people(6000, seed=2), plan, rng=3))
    found = score_disguised(model, disguise_frame(table, plan, rng=4), widest=9)
    truth, accuracy = model.score(table), found.accuracy
    if found.method.startswith("log-linear"):
        assert kind is NaiveBayes
        assert name.startswith("pairs")
        assert accuracy.low <= truth <= accuracy.high
        assert accuracy.standard_error is None
    else:
        assert abs(accuracy.value - truth) < 4 * accuracy.standard_error
    assert found.confusion.sum() == pytest.approx(1, abs=0.2)


def test_what_was_not_asked_together_is_bounded(people):
    """Bounds hold whatever the joint distribution; precision and recall of the model have no interval."""
    plan, table = sampled_plans()["pairs only"], people(20_000)
    model = NaiveBayes(plan, "ill").fit(disguise_frame(people(20_000, seed=2), plan, rng=3))
    reports = disguise_frame(table, plan, rng=4)
    found = score_disguised(model, reports)
    assert found.bounds.low <= found.accuracy.value <= found.bounds.high
    assert found.bounds.low < model.score(table) < found.bounds.high
    assert "by bounds that hold whatever was not asked together" in str(found.accuracy)
    assert "a model fills in" in str(found.recall[0])
    assert found.to_rows()[0].keys() == {"values", "share"}
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["method"] == "log-linear model"
    assert "more than 0.01" in score_disguised(model, reports, widest=0.01).accuracy.reason
    with pytest.raises(NeverAskedError, match="smokes and drinks and ill"):
        score_disguised(model, reports, method="unbiased")
    with pytest.raises(SottovoceError, match="target must be the population if a model fills in"):
        score_disguised(model, reports, target="table")
    with pytest.raises(SottovoceError, match="method must be one of best, unbiased, model"):
        score_disguised(model, reports, method="guess")


def test_bounds_are_left_out_where_they_cannot_be_found(people, monkeypatch):
    plan, table = sampled_plans()["pairs only"], people(2000)
    reports = disguise_frame(table, plan, rng=4)
    model = NaiveBayes(plan, "ill").fit(reports)
    monkeypatch.setattr(confusion, "LARGEST_TERM", 0.01)  # no such terms reach the accuracy
    assert score_disguised(model, reports).bounds is None
    monkeypatch.setattr(confusion, "MOST_BOUNDED_CELLS", 11)
    found = score_disguised(model, reports)
    assert "a model fills in" in found.accuracy.reason
    assert found.plot().get_ylabel() == "truth"


def test_three_that_were_asked_together_bound_more_than_pairs(yes_no_people):
    """Bounds from triples lie within those from pairs of the same distribution; a model on request has bounds, too."""
    schema = Schema([boolean("smokes"), boolean("coughs"), boolean("old"), boolean("ill")])
    table = yes_no_people(10_000) | {"old": np.arange(10_000) % 3 == 0}
    widths = []
    for size in (2, 3):
        plan = Plan.of(schema, {schema.names: AttributeSampling(odds=200, size=size)})
        reports = disguise_frame(table, plan, rng=size)
        model = NaiveBayes(plan, "ill").fit(reports)
        bounds = score_disguised(model, reports, method="model").bounds
        assert bounds.low - 3 * bounds.low_error < model.score(table) < bounds.high + 3 * bounds.high_error
        widths.append(bounds.high - bounds.low)
    assert widths[1] < 0.8 * widths[0]


def test_many_features_are_modelled_in_blocks(people, monkeypatch):
    """Illness makes both answers independent, so that blocks of one are no worse."""
    plan, table = sampled_plans()["pairs only"], people(20_000)
    reports = disguise_frame(table, plan, rng=4)
    model = NaiveBayes(plan, "ill").fit(reports)
    monkeypatch.setattr(confusion, "MOST_MODEL_CELLS", 6)
    found = score_disguised(model, reports, rng=1)
    assert found.method == "log-linear model of 2 blocks of attributes"
    assert found.accuracy.value == pytest.approx(model.score(table), abs=0.03)


def test_standard_errors_are_those_of_repeated_disguises(people):
    """Trees whose leaves were asked of different people: the spread of 40 estimates against the standard error."""
    plan, table = sampled_plans()["pairs only"], people(1500)
    model = DecisionTree(plan, "ill", max_depth=1).fit(disguise_frame(people(20_000, seed=2), plan, rng=3))
    found = [
        score_disguised(model, disguise_frame(table, plan, rng=seed), target="table").accuracy for seed in range(40)
    ]
    values, errors = np.array([(one.value, one.standard_error) for one in found]).T
    assert values.mean() == pytest.approx(model.score(table), abs=3 * errors.mean() / 40**0.5)
    assert values.std() == pytest.approx(errors.mean(), rel=0.3)


def test_a_model_on_request(people):
    plan, table = sampled_plans()["joint"], people(6000)
    reports = disguise_frame(table, plan, rng=4)
    model = NaiveBayes(plan, "ill").fit(reports)
    found = score_disguised(model, reports, method="model")
    assert found.method == "log-linear model"
    assert found.accuracy.value == pytest.approx(model.score(table), abs=0.05)


def test_an_unbiased_score_that_says_nothing_gives_way_to_a_model(people):
    """Three to one shared by three attributes: the unbiased accuracy of 500 reports is anything."""
    plan, table = plan_for_purpose(SCHEMA, odds=3, purpose="split"), people(500)
    model = NaiveBayes(plan, "ill").fit(disguise_frame(people(20_000), plan, rng=1))
    reports = disguise_frame(table, plan, rng=2)
    assert score_disguised(model, reports, method="unbiased").accuracy.standard_error > 0.25
    found = score_disguised(model, reports)
    assert found.method == "log-linear model"
    assert 0 <= found.accuracy.value <= 1
    assert score_disguised(model, reports, target="table").method == "through the channel"


def test_intervals_stay_between_0_and_1(people):
    plan = Plan.of(SCHEMA, {SCHEMA.names: UnrelatedQuestion(theta=0.3)})
    table = people(300)
    table["smokes"] = table["ill"]
    model = NaiveBayes(plan, "ill").fit(disguise_frame(people(5000) | {"smokes": people(5000)["ill"]}, plan, rng=1))
    measures = [score_disguised(model, disguise_frame(table, plan, rng=seed), widest=9).accuracy for seed in range(9)]
    assert max(measure.value for measure in measures) > 1
    assert {measure.high for measure in measures} == {1.0}


@pytest.mark.parametrize("name", ["pairs", "joint", "split", "subset"])
@pytest.mark.parametrize("kind", [NaiveBayes, DecisionTree])
def test_a_few_reports_that_agree_are_not_certain(name, kind, people):
    """Equal reports have no variance; intervals of zero width would claim that the accuracy is known."""
    plan = sampled_plans()[name]
    model = kind(plan, "ill").fit(disguise_frame(people(6000), plan, rng=1))
    one = disguise_frame({"smokes": [True], "drinks": ["much"], "ill": [True]}, plan, rng=2)
    reports = {column: list(values) * 8 for column, values in one.items()}
    answered = all(values[0] != "not asked" for values in one.values())
    if kind is DecisionTree and not answered:
        with pytest.raises(SottovoceError, match="must be at least 2 that answer"):
            score_disguised(model, reports)
    else:
        accuracy = score_disguised(model, reports, widest=1).accuracy
        assert accuracy.low is None or accuracy.high - accuracy.low > 0.2


def test_reports_that_answer_too_little_are_refused():
    plan = Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=9, subsets=[[0, 1, 2], [1, 2]])})
    truths = {"smokes": [True, False] * 300, "drinks": ["never"] * 600, "ill": [True, False] * 300}
    reports = disguise_frame(truths, plan, rng=1)
    model = NaiveBayes(plan, "ill").fit(reports)
    answered = [row for row, smokes in enumerate(reports["smokes"]) if smokes != "not asked"]
    rows = [answered[0], *(row for row in range(600) if row not in answered)]
    few = {name: [values[row] for row in rows] for name, values in reports.items()}
    with pytest.raises(SottovoceError, match=r"must be at least 2 that answer smokes and drinks and ill\. Got 1"):
        score_disguised(model, few)


def test_channels_of_those_asked_together():
    thirds, half = KeepOrUniform((2, 2), Fraction(1, 3)), KeepOrUniform((2, 2), Fraction(1, 2))
    assert asked_together(half) is half
    both = Sampled((2, 2), [Part((0, 1), thirds), Part((0, 1), half, 3), Part((), None)])
    assert asked_together(both) == KeepOrUniform((2, 2), Fraction(11, 24))
    matrix = Dense([[3, 1, 1, 1], [1, 3, 1, 1], [1, 1, 3, 1], [1, 1, 1, 3]], 6, (2, 2), (2, 2))
    mixed = asked_together(Sampled((2, 2), [Part((0, 1), matrix), Part((0, 1), half)]))
    np.testing.assert_allclose(mixed.dense(), (matrix.dense() + half.dense()) / 2)


def test_scikit_learn_scores_through_the_channel(people):
    """Plain cross-validation compares guesses with disguised labels, and says so; the scorer has the truth."""
    plan, table = Plan.of(SCHEMA, {name: RandomizedResponse(odds=6) for name in SCHEMA.names}), people(8000)
    reports = disguise_frame(pd.DataFrame(table), plan, rng=1)
    model = NaiveBayes(plan, "ill")
    truth = model.fit(reports).score(table)
    error = score_disguised(model, reports).accuracy.standard_error
    with pytest.warns(SottovoceWarning, match="X is disguised"):
        plain = cross_val_score(model, reports, cv=3).mean()
    through = cross_val_score(model, reports, cv=3, scoring=DisguisedScorer()).mean()
    assert plain < truth - 0.1
    assert abs(through - truth) < 3 * error < 0.1
    given = cross_val_score(model, reports[["smokes", "drinks"]], reports["ill"], cv=3, scoring=DisguisedScorer())
    assert abs(given.mean() - truth) < 3 * error
    search = GridSearchCV(model, {"smoothing": [0.5, 2.0]}, scoring=DisguisedScorer("balanced_accuracy"), cv=2)
    assert abs(search.fit(reports).best_score_ - 0.76) < 3 * error


def test_plain_scores_of_marked_tables_warn(people, tmp_path):
    plan = Plan.of(SCHEMA, {name: RandomizedResponse(odds=4) for name in SCHEMA.names})
    frame = disguise_frame(pd.DataFrame(people(300)), plan, rng=1)
    model = NaiveBayes(plan, "ill").fit(frame)
    Reports(frame, plan).save(tmp_path / "reports.parquet")
    for table in (frame, Reports(frame, plan), tmp_path / "reports.parquet"):
        with pytest.warns(SottovoceWarning, match=r"X is disguised.*scoring=DisguisedScorer\(\)"):
            model.score(table)
    assert 0 < model.score(people(300)) < 1
    for settings, message in (
        ({"measure": "f1"}, "measure must be one of"),
        ({"method": "x"}, "method must be one of"),
    ):
        with pytest.raises(SottovoceError, match=message):
            DisguisedScorer(**settings)
