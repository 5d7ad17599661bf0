"""Naive Bayes: the standard classifier in clear, the truth's own under every plan, and what it refuses."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder
from sklearn.utils.estimator_checks import check_estimator

from sottovoce.disguises.tables import disguise_file, disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError, SottovoceWarning
from sottovoce.mining.classify.decision_tree import DecisionTree
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.mining.small_set_plan import mining_plan
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import plan_for_purpose
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Matrix, OptimizedUnary, UnrelatedQuestion, Warner


def coded(table: dict) -> tuple[np.ndarray, np.ndarray]:
    drinks = {"never": 0, "some": 1, "much": 2}
    rows = np.column_stack([table["smokes"].astype(int), [drinks[d] for d in table["drinks"]]])
    return rows, table["ill"]


@pytest.mark.parametrize("smoothing", [1.0, 0.1, 3])
def test_in_clear_it_is_scikit_learns(people, plans, smoothing):
    table = people(500)
    rows, ill = coded(table)
    theirs = CategoricalNB(alpha=smoothing).fit(rows, ill)
    for ours in (
        NaiveBayes(smoothing=smoothing).fit(rows, ill),
        NaiveBayes(plans["clear"], "ill", smoothing=smoothing).fit(table),
    ):
        given = rows if ours.plan is None else table
        assert ours.predict_proba(given) == pytest.approx(theirs.predict_proba(rows), rel=1e-9)
        assert (ours.predict(given) == theirs.predict(rows)).all()
    bits = rows[:, :1]
    binary = BernoulliNB(alpha=smoothing).fit(bits, ill)
    assert NaiveBayes(smoothing=smoothing).fit(bits, ill).predict_proba(bits) == pytest.approx(
        binary.predict_proba(bits)
    )


def test_scikit_learn_checks_it():
    check_estimator(NaiveBayes(), on_skip=None)


@pytest.mark.slow
def test_every_plan_leads_to_the_truths_own_tables(people, any_plan):
    """With 40,000 reports all shares within a class are within five standard errors, which are below .02."""
    table = people(40_000, seed=7)
    found = NaiveBayes(any_plan, "ill").fit(disguise_frame(table, any_plan, rng=8))
    clear = NaiveBayes(Plan.of(any_plan.schema, {any_plan.schema.names: UnrelatedQuestion(theta=1)}), "ill").fit(table)
    for ours, theirs in zip(found.to_rows(), clear.to_rows(), strict=True):
        assert ours["shares"] == pytest.approx(theirs["shares"], abs=0.06)
    assert found.score(table) == pytest.approx(clear.score(table), abs=0.01)
    assert found.respondents_ == 40_000
    assert found.feature_names_in_.tolist() == ["smokes", "drinks"]


def test_the_related_question_and_one_report_for_all(yes_no_people, related, indivisible):
    table = yes_no_people(20_000)
    for plan in (related(), indivisible):
        found = NaiveBayes(plan, "ill").fit(disguise_frame(table, plan, rng=8))
        assert found.score(table) == pytest.approx(0.79, abs=0.02)  # .4 x 1 + ..., as the clear classifier has


def test_kinds_of_tables_are_alike(people, plans, tmp_path):
    plan = plans["groups"]
    table = people(2000)
    reports = disguise_frame(pd.DataFrame(table), plan, rng=3)
    reports.to_csv(tmp_path / "reports.csv", index=False)
    expected = NaiveBayes(plan, "ill").fit(reports).predict_proba(pd.DataFrame(table))
    without = reports[["smokes", "drinks"]]
    fits = [
        NaiveBayes(plan, "ill").fit(pl.from_pandas(reports)),
        NaiveBayes(plan, "ill").fit(reports.to_dict("list")),
        NaiveBayes(plan, "ill").fit(tmp_path / "reports.csv"),
        NaiveBayes(plan, "ill").fit(without, reports["ill"]),
        NaiveBayes(plan, "ill").fit(without.to_numpy(), reports["ill"].to_numpy()),
        NaiveBayes(plan, "ill").fit(without.to_numpy().tolist(), list(reports["ill"])),
    ]
    for found in fits:
        assert found.predict_proba(table) == pytest.approx(expected)
    rows = pd.DataFrame(table)[["smokes", "drinks"]].to_numpy()
    assert fits[0].predict_proba(rows) == pytest.approx(expected)
    assert fits[0].predict_proba(pd.DataFrame(table)[["smokes", "drinks", "ill"]].to_numpy()) == pytest.approx(
        expected
    )  # with the label
    assert fits[0].score(rows, table["ill"]) == fits[0].score(pd.DataFrame(table)) == fits[0].score(table)


def test_files_carry_their_plan_in_batches(people, plans, tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 300)
    table = people(1000)
    pd.DataFrame(table).to_csv(tmp_path / "people.csv", index=False)
    disguise_file(tmp_path / "people.csv", tmp_path / "reports.csv", plans["groups"], rng=1)
    found = NaiveBayes(plans["groups"], "ill", standard_errors=True).fit(tmp_path / "reports.csv")
    assert found.respondents_ == 1000
    assert found.predict(tmp_path / "people.csv").shape == (1000,)
    with pytest.raises(
        SottovoceError, match=r"plan must be the one that the classifier is fitted under\. Got another in"
    ):
        NaiveBayes(plans["gamma"], "ill").fit(tmp_path / "reports.csv")


def test_only_the_attributes_that_are_looked_at_have_to_be_there(people, plans):
    plan = plans["apart"]
    reports = disguise_frame(people(2000), plan, rng=3)
    some = {name: reports[name] for name in ("drinks", "ill")}
    found = NaiveBayes(plan, "ill", attributes=["drinks"]).fit(some)
    rows = np.array(reports["drinks"], object)[:, None]
    again = NaiveBayes(plan, "ill", attributes=["drinks"]).fit(rows, reports["ill"])
    assert found.predict_proba(rows) == pytest.approx(again.predict_proba({"drinks": reports["drinks"]}))


def test_in_a_pipeline(people, plans):
    """Labels go through encoders; a clone has the same settings."""
    plan = plans["clear"]
    table = pd.DataFrame(people(300))
    encoder = OrdinalEncoder(categories=[[False, True], ["never", "some", "much"]], dtype=np.int64)
    piped = make_pipeline(encoder, NaiveBayes()).fit(table[["smokes", "drinks"]], table["ill"])
    passing = make_pipeline(FunctionTransformer(), NaiveBayes(plan, "ill")).fit(
        table[["smokes", "drinks"]], table["ill"]
    )
    assert (piped.predict(table[["smokes", "drinks"]]) == passing.predict(table[["smokes", "drinks"]])).all()
    assert clone(passing[-1]).get_params() == passing[-1].get_params()


def test_plain_estimates_may_be_negative(people):
    """With few reports a plain table has negative cells: probabilities stay probabilities, and signs multiply."""
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.2)})
    cells = {(0, 0, 0): 5, (1, 1, 1): 9, (0, 1, 1): 9, (1, 0, 0): 9, (1, 1, 0): 1, (0, 0, 1): 3}
    rows = np.repeat(list(cells), list(cells.values()), axis=0)
    found = NaiveBayes(plan, "c", repair="plain").fit(rows[:, :2], rows[:, 2])
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    seen = {}
    for c in (0, 1):
        p = lambda rows_: (np.mean(rows_) - 0.8 / 4) / 0.2  # noqa: E731
        share = (np.mean(rows[:, 2] == c) - 0.8 / 2) / 0.2
        for x in every:
            pairs = [p((rows[:, i] == x[i]) & (rows[:, 2] == c)) / share for i in (0, 1)]
            seen[tuple(x), c] = share * pairs[0] * pairs[1]
    expected = [seen[tuple(x), 1] > seen[tuple(x), 0] for x in every]
    assert min(seen.values()) < 0
    assert found.predict(every).tolist() == expected
    shares = found.predict_proba(every)
    assert shares.sum(axis=1) == pytest.approx([1] * 4)
    for x, row in zip(every, shares, strict=True):
        positive = [max(seen[tuple(x), c], 0) for c in (0, 1)]
        assert row == pytest.approx(np.array(positive) / sum(positive) if sum(positive) else [0.5, 0.5])


def test_refused(people, plans, indivisible):
    table, plan = people(200), plans["clear"]
    cases = {
        "label must be one of the plan's attributes": (NaiveBayes(plan, "age"), table),
        "label must be one of the plan's": (NaiveBayes(plan), table),
        "plan must be given with label": (NaiveBayes(label="ill"), table),
        "attributes must be at least one other than the label": (NaiveBayes(plan, "ill", attributes=["ill"]), table),
        "repair must be one of em, simplex, plain": (NaiveBayes(plan, "ill", repair="clip"), table),
        "smoothing must be a number above 0": (NaiveBayes(plan, "ill", smoothing=0), table),
        "drinks must be one of its categories": (NaiveBayes(plan, "ill"), table | {"drinks": ["beer"] * 200}),
    }
    for message, (classifier, given) in cases.items():
        with pytest.raises(SottovoceError, match=message):
            classifier.fit(given)
    with pytest.raises(SottovoceError, match="y must be left out if its report is not a column of its own"):
        NaiveBayes(indivisible, "ill").fit(table, table["ill"])
    with pytest.raises(SottovoceError, match="y must have a value for each of the 2 rows"):
        NaiveBayes(plan, "ill").fit([[True, "much"], [False, "much"]], [True])
    with pytest.raises(SottovoceError, match=r"X must have rows of 2 values \(smokes, drinks\)"):
        NaiveBayes(plan, "ill").fit(np.zeros((4, 3)), [True] * 4)
    with pytest.raises(SottovoceError, match="y must have more than one class"):
        NaiveBayes().fit([[0], [1]], [1, 1])
    with pytest.raises(SottovoceError, match="X must have values below 2 in column 0"):
        NaiveBayes().fit([[0], [1]], [0, 1]).predict([[2]])


def test_a_model_that_is_not_identified_is_refused():
    """Noise only: what theta = 0 (unrelated) and 1/2 (related) would be; the schemes themselves refuse both."""
    schema = Schema([boolean("a"), boolean("b")])
    noise = Plan.of(schema, {"a": Warner(p=0.8), "b": Matrix([["1/2", "1/2"], ["1/2", "1/2"]])})
    with pytest.raises(
        SingularChannelError, match=r"^b \(matrix: its columns .*\) cannot be estimated: reports must identify"
    ):
        NaiveBayes(noise, "a").fit({"a": [True, False], "b": [True, False]})


@pytest.mark.parametrize("kind", [NaiveBayes, DecisionTree])
def test_a_class_that_vanishes_is_named_and_not_predicted(kind):
    schema = Schema([boolean("a"), boolean("b")])
    plan = Plan.of(schema, {"a": Warner(p=0.8), "b": Warner(p=0.8)})
    with pytest.warns(SottovoceWarning, match=r"^label: the estimated share of True \(-0\.1667\) is not positive"):
        model = kind(plan, "a").fit({"a": [True] + [False] * 9, "b": [True, False] * 5})
    assert model.predict({"b": [True, False]}).tolist() == [False, False]


@pytest.mark.parametrize("kind", [NaiveBayes, DecisionTree])
def test_two_vanishing_classes_are_listed_under_every_plan(kind):
    """Five reports and classes that nobody is in: whatever the plan, there is a classifier that predicts the third."""
    schema = Schema([boolean("a"), Attribute("c", ["x", "y", "z", "w"])])
    truths = {"a": [True, False] * 30, "c": ["x"] * 60}
    plans = [plan_for_purpose(schema, odds=9, purpose=purpose) for purpose in ("pairs", "joint", "split")]
    plans += [mining_plan(schema, 9), Plan.of(schema, {"a": Warner(p=0.8), "c": OptimizedUnary(odds=9)})]
    for number, plan in enumerate(plans):
        reports = disguise_frame(truths, plan, rng=number)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = kind(plan, "c").fit(reports)
        assert model.predict({"a": [True, False]}).tolist() == ["x", "x"]
        assert all(issubclass(warning.category, SottovoceWarning) for warning in caught)
        assert model.predict_proba({"a": [True, False]}).min() >= 0
    with pytest.warns(SottovoceWarning, match="shares of 'y' .*, 'z' .* are not positive, .* about them"):
        kind(plans[2], "c").fit({"a": [True] * 9, "c": ["x"] * 9})


def test_reports_too_many_to_count_are_refused():
    schema = Schema([Attribute("a", range(12)), Attribute("b", range(12))])
    plan = Plan.of(schema, {"a": OptimizedUnary(odds=3), "b": OptimizedUnary(odds=3)})
    with pytest.raises(SottovoceError, match="attributes must have at most 1048576 joint reports"):
        NaiveBayes(plan, "a").fit({"a": [0, 1], "b": [0, 1]})


def test_without_scikit_learn_the_extra_is_named():
    script = "import sys; sys.modules['sklearn.base'] = None; import sottovoce.mining.classify.naive_bayes"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "a classifier needs scikit-learn; install it with: pip install 'sottovoce[mine]'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("plan_name", ["clear", "unary", "unrelated", "groups"])
def test_log_odds_scatter_as_they_say(people, plans, plan_name):
    """Over 60 samples the mean squared standard score is chi-square / 60: .5 to 1.7 but for one in a thousand."""
    plan, person = plans[plan_name], {"smokes": [True, False], "drinks": ["much", "never"]}
    truth = np.log([0.4 * 0.8 * 0.5 / (0.6 * 0.3 * 0.2), 0.4 * 0.2 * 0.2 / (0.6 * 0.7 * 0.5)])
    scores = []
    for seed in range(60):
        reports = disguise_frame(people(3000, seed), plan, rng=1000 + seed)
        found = NaiveBayes(plan, "ill", standard_errors=True).fit(reports).log_odds(person)
        scores.append((found.value - truth) / found.standard_error)
        low, high = found.interval(0.9)
        assert (low < found.value).all()
        assert high - low == pytest.approx(2 * 1.6449 * found.standard_error, rel=1e-4)
    assert 0.5 < np.mean(np.square(scores)) < 1.7


def test_negative_estimates_have_no_log_odds(people, plans):
    """With 400 reports at theta = .1 plain tables have negative cells, whose logarithm would be made up."""
    plan = Plan.of(plans["unrelated"].schema, {plans["unrelated"].schema.names: UnrelatedQuestion(theta=0.1)})
    reports = disguise_frame(people(400), plan, rng=3)
    model = NaiveBayes(plan, "ill", repair="plain", standard_errors=True).fit(reports)
    with pytest.raises(SottovoceError, match=r"repair must be em or simplex if estimates are negative. Got 'plain'"):
        model.log_odds({"smokes": [True], "drinks": ["much"]})
    assert NaiveBayes(plan, "ill", standard_errors=True).fit(reports).log_odds(people(1)).standard_error[0] > 0


def test_a_path_is_no_plan(people):
    with pytest.raises(
        SottovoceError, match=r"plan must be a plan; read_plan reads one from its file. Got 'plan.json'"
    ):
        NaiveBayes("plan.json", "ill").fit(people(10))


def test_log_odds_of_named_classes(people, plans):
    found = NaiveBayes(plans["unrelated"], "drinks", standard_errors=True).fit(
        disguise_frame(people(5000), plans["unrelated"], rng=2)
    )
    person = {"smokes": [True], "ill": [True]}
    shares = found.predict_proba(person)[0]
    assert found.log_odds(person).value == pytest.approx([np.log(shares[2] / shares[0])])
    assert found.log_odds(person, "some", "much").value == pytest.approx([np.log(shares[1] / shares[2])])
    with pytest.raises(SottovoceError, match="class must be one of"):
        found.log_odds(person, "beer")
    with pytest.raises(SottovoceError, match="standard_errors must be True when fitting"):
        NaiveBayes(plans["clear"], "ill").fit(people(50)).log_odds(person | {"drinks": ["much"]})


def test_large_tables_have_no_covariance(people, plans, monkeypatch):
    monkeypatch.setattr("sottovoce.mining.classify.naive_bayes.MOST_TABLE_CELLS", 11)
    with pytest.raises(SottovoceError, match="standard_errors must be False for more than 11 cells"):
        NaiveBayes(plans["clear"], "ill", standard_errors=True).fit(people(50))


def test_summaries(people, plans):
    plan = plans["unrelated"]
    assert NaiveBayes(smoothing=2)._repr_html_() == "<pre>NaiveBayes(smoothing=2)</pre>"
    assert str(NaiveBayes(smoothing=2)) == "NaiveBayes(smoothing=2)"
    model = NaiveBayes(plan, "ill", standard_errors=True).fit(disguise_frame(people(5000), plan, rng=1))
    assert str(model).startswith("naive Bayes of ill from 5000 reports; odds ")
    assert "classes: False, True" in str(model)
    assert "drinks = much:" in str(model)
    page = model._repr_html_()
    assert page.startswith("<div><b>naive Bayes of ill from 5000 reports; odds ")
    assert "<th>attribute</th><th>value</th><th>False</th><th>True</th>" in page
    odds = model.log_odds({"smokes": [True, False], "drinks": ["much", "never"]})
    assert repr(odds) == "<LogOdds of 2 records>"
    assert str(odds).splitlines()[0].startswith(f"{odds.value[0]:.4f} +- {odds.standard_error[0]:.4f}  [")
    assert "<b>log-odds of 2 records</b>" in odds._repr_html_()
