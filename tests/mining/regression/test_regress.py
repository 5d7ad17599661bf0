"""Regressions of reports: any plan, any outcome, samples of every design, and what is refused."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.mining.regression.families import Binary, Logit
from sottovoce.mining.regression.likelihood import Problem, maximise
from sottovoce.plans.public import PublicNumber

NUMBERS = ("age", "ward", "income", "visits", "weight")


@pytest.fixture(scope="module")
def truth() -> pd.DataFrame:
    rng, n = np.random.default_rng(3), 6000
    people = pd.DataFrame({"age": rng.normal(size=n).round(2), "region": rng.choice(["north", "south"], n)})
    people["drug"] = rng.choice(["never", "once", "often"], n, p=[0.5, 0.3, 0.2])
    line = -0.5 + 0.8 * people.age + 0.6 * (people.region == "south") + 0.7 * (people.drug == "often")
    people["evaded tax"] = rng.random(n) < 1 / (1 + np.exp(-line))
    people["ward"] = np.arange(n) // 20
    people["income"] = 2 + 0.5 * people.age + 1.5 * people["evaded tax"] + rng.normal(size=n)
    people["visits"] = rng.poisson(np.exp(0.2 + 0.5 * (people.drug == "once")))
    people["weight"] = rng.uniform(0.5, 2, n)
    return people


def reports_of(truth, plan, seed=1):
    public = [column for column in plan.public if column.name not in NUMBERS]
    return sv.disguise(truth, plan.with_public([*public, *map(PublicNumber, NUMBERS)]), rng=seed)


@pytest.fixture(scope="module")
def reports(truth):
    names = ["drug", "evaded tax", "region"]
    return reports_of(truth, sv.plan(truth[names], odds="81:1", public=["region"], purpose="split"))


def unmarked(reports) -> pd.DataFrame:
    """Two columns of the reports, without the mark of their plan."""
    return pd.DataFrame({name: reports.table[name].to_numpy() for name in ("evaded tax", "region")})


def near(found, name, value):
    at = found.names.index(name)
    assert abs(found.estimate[at] - value) < 4 * found.standard_error[at]


def test_a_disguised_outcome(reports):
    found = reports.regress("`evaded tax` ~ age + C(region) + drug")
    assert found.names == ("Intercept", "age", "C(region)[T.south]", "drug[T.often]", "drug[T.once]")
    for name, value in zip(found.names, (-0.5, 0.8, 0.6, 0.7, 0.0), strict=True):
        near(found, name, value)
    assert found.reports == 6000
    assert found.fit.converged


@pytest.mark.parametrize("purpose", ["pairs", "joint"])
def test_other_plans_give_the_same_answers(truth, purpose):
    """Attributes that are sampled, or disguised together by one coin."""
    names = ["drug", "evaded tax", "region"]
    plan = sv.plan(truth[names], odds="81:1", public=["region"], purpose=purpose)
    found = reports_of(truth, plan).regress("`evaded tax` ~ age + drug")
    near(found, "age", 0.8)
    near(found, "drug[T.often]", 0.7)
    near(found, "drug[T.once]", 0.0)


def test_several_and_ordered_categories(reports):
    several = reports.regress("drug ~ age")
    assert several.names == ("often: Intercept", "often: age", "once: Intercept", "once: age")
    near(several, "often: Intercept", np.log(0.2 / 0.5))
    near(several, "once: age", 0.0)
    ordered = reports.regress("drug ~ age", family="ordinal", link="probit")
    assert ordered.names == ("never | often", "often | once", "age")
    near(ordered, "often | once", 0.5244)


def test_ordered_categories_have_thresholds_instead_of_an_intercept(reports):
    with_one, without = (reports.regress(f"drug ~ age{rest}", family="ordinal") for rest in ("", " - 1"))
    assert with_one.names == without.names
    assert with_one.estimate == pytest.approx(without.estimate)


def test_clear_outcomes_of_disguised_predictors(reports):
    income = reports.regress("income ~ age + `evaded tax`")
    near(income, "`evaded tax`[T.True]" if "`evaded tax`[T.True]" in income.names else "evaded tax[T.True]", 1.5)
    near(income, "log(standard deviation)", 0.0)
    visits = reports.regress("visits ~ drug", family="poisson")
    near(visits, "drug[T.once]", 0.5)
    region = reports.regress("region ~ drug")
    near(region, "drug[T.once]", 0.0)


def test_clear_columns_alone_are_an_ordinary_regression(reports, truth):
    found = reports.regress("region ~ age")
    design = np.column_stack([np.ones(6000), truth.age])
    codes = (truth.region == "south").astype(int).to_numpy()
    direct = maximise(Problem(Binary(Logit()), [design], codes, np.eye(2)[:, None, :], np.ones(6000)), np.zeros(2))
    assert found.estimate == pytest.approx(direct.coefficients, abs=1e-8)
    assert found.disguised == ()
    whole = reports.regress("ward ~ 1")
    assert whole.estimate[0] == pytest.approx(truth.ward.mean())


def test_predictors_with_numbers_are_numbers():
    rng = np.random.default_rng(8)
    people = pd.DataFrame({"step": rng.integers(1, 5, 4000)})
    people["yes"] = rng.random(4000) < 0.1 + 0.2 * (people.step - 1)
    plan = sv.plan(sv.Schema([sv.Attribute("step", [1, 2, 3, 4]), sv.boolean("yes")]), odds="100:1", purpose="split")
    found = sv.disguise(people, plan, rng=3).regress("yes ~ step")
    assert found.names == ("Intercept", "step")
    near(found, "step", 0.95)
    levels = sv.disguise(people, plan, rng=3).regress("yes ~ C(step)")
    assert levels.names == ("Intercept", "C(step)[T.2.0]", "C(step)[T.3.0]", "C(step)[T.4.0]")


def test_counts_are_rows(reports):
    table = unmarked(reports).value_counts().rename("times").reset_index()
    plan = sv.plan(sv.Schema([sv.boolean("evaded tax")]), odds=9, purpose="split")
    counted = sv.Reports(table, plan, frequencies="times").regress("`evaded tax` ~ region")
    rows = sv.Reports(unmarked(reports), plan).regress("`evaded tax` ~ region")
    assert counted.estimate == pytest.approx(rows.estimate, abs=1e-7)
    assert counted.standard_error == pytest.approx(rows.standard_error, abs=1e-7)
    assert counted.reports == 6000


def test_expected_information_is_near_the_observed(reports):
    observed = reports.regress("`evaded tax` ~ age")
    expected = reports.regress("`evaded tax` ~ age", information="expected")
    assert expected.estimate == pytest.approx(observed.estimate)
    assert expected.standard_error == pytest.approx(observed.standard_error, rel=0.1)
    assert (expected.standard_error != observed.standard_error).all()


def test_samples_with_weights_clusters_and_strata(reports, truth):
    plain = reports.regress("`evaded tax` ~ age")
    scores, inverse = plain.fit.scores, np.linalg.inv(plain.fit.information)

    def errors(variance):
        return np.sqrt(np.diag(inverse @ variance @ inverse))

    clustered = reports.regress("`evaded tax` ~ age", clusters="ward")
    sums = pd.DataFrame(scores).groupby(truth.ward).sum().to_numpy()
    assert clustered.standard_error == pytest.approx(errors(sums.T @ sums * 300 / 299), rel=1e-6)
    assert clustered.covariance_of_all.freedom == 299
    own = reports.regress("`evaded tax` ~ age", clusters=np.arange(6000))
    assert own.standard_error == pytest.approx(errors(scores.T @ scores * 6000 / 5999), rel=1e-6)
    layered = reports.regress("`evaded tax` ~ age", strata="region")
    variance = sum(
        len(part) / (len(part) - 1) * (part - part.mean(axis=0)).T @ (part - part.mean(axis=0))
        for part in (scores[truth.region == region] for region in ("north", "south"))
    )
    assert layered.standard_error == pytest.approx(errors(variance), rel=1e-6)
    weighted = reports.regress("`evaded tax` ~ age", weights="weight")
    twice = reports.regress("`evaded tax` ~ age", weights=2 * truth.weight.to_numpy())
    assert weighted.estimate == pytest.approx(twice.estimate, abs=1e-6)
    assert weighted.standard_error == pytest.approx(twice.standard_error, rel=1e-4)
    assert weighted.standard_error[1] > plain.standard_error[1]
    low, high = clustered.interval()
    assert (high - low)[0] > 2 * 1.96 * clustered.standard_error[0]


def test_a_column_may_be_a_predictor_and_describe_the_sample(reports):
    both = reports.regress("`evaded tax` ~ C(region)", strata="region", clusters="ward", weights="weight")
    apart = reports.regress(
        "`evaded tax` ~ C(region)", strata=reports.table["region"].tolist(), clusters="ward", weights="weight"
    )
    assert both.standard_error == pytest.approx(apart.standard_error)


@pytest.mark.parametrize("parameter", ["weights", "clusters", "strata"])
def test_disguised_columns_do_not_describe_a_sample(reports, parameter):
    with pytest.raises(SottovoceError, match=f"{parameter} must be a column that was not disguised. Got 'drug'"):
        reports.regress("`evaded tax` ~ age", **{parameter: "drug"})
    with pytest.raises(SottovoceError, match="must have the column 'nowhere'"):
        reports.regress("`evaded tax` ~ age", **{parameter: "nowhere"})


def test_levels_are_checked(reports):
    found = reports.regress("`evaded tax` ~ age")
    for asked in (found.interval, found.to_frame, found.odds_ratios, found.plot):
        with pytest.raises(SottovoceError, match="level must be"):
            asked(level=2).to_rows() if asked == found.odds_ratios else asked(level=2)
    with pytest.raises(SottovoceError, match="level must be"):
        found.profile_interval("age", 0)
    with pytest.raises(SottovoceError, match="level must be"):
        found.predict({"age": [1]}, 1.5)


def test_rows_with_missing_values_are_left_out_and_said(reports):
    table = reports.table.copy()
    table.loc[:9, "age"] = np.nan
    found = sv.Reports(table, reports.plan).regress("`evaded tax` ~ age")
    assert found.reports == 5990
    assert "10 reports with missing values were left out" in found.notes


def test_results_are_shown(reports):
    found = reports.regress("`evaded tax` ~ age + C(region)")
    frame = found.to_frame()
    assert list(frame.columns) == ["name", "estimate", "standard_error", "low", "high", "p_value"]
    assert frame.p_value[1] < 1e-10
    assert "observed information" in str(found)
    told = json.loads(json.dumps(found.to_json()))
    assert list(told) == ["coefficients", "log_likelihood", "reports", "notes"]
    assert told["coefficients"][0]["name"] == "Intercept"
    ratios = found.odds_ratios()
    assert ratios.to_frame().estimate.tolist() == pytest.approx(np.exp(found.estimate[1:]))
    assert "Odds ratios" in str(ratios)
    axes = found.plot()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["C(region)[T.south]", "age"]
    assert found.plot(axes=axes) is axes


def test_profiles_are_where_the_likelihood_ratio_ends(reports):
    found = reports.regress("`evaded tax` ~ age")
    low, high = found.profile_interval("age")
    wald = found.interval()
    assert low == pytest.approx(wald[0][1], abs=0.02)
    assert high == pytest.approx(wald[1][1], abs=0.02)
    point = found.fit.coefficients.copy()
    point[1] = high
    there = maximise(found.fit.problem, point, fixed=1)
    assert there.coefficients[1] == high
    assert 2 * (found.log_likelihood - there.log_likelihood) == pytest.approx(3.8415, abs=1e-3)


def test_separation_has_a_one_sided_interval(reports):
    """Everybody in the south says yes: any large coefficient will do."""
    table = unmarked(reports).head(400)
    table["clear"] = np.where(table.region == "south", "yes", np.where(np.arange(400) % 3 == 0, "yes", "no"))
    plan = sv.plan(sv.Schema([sv.boolean("evaded tax")]), odds=9, purpose="split")
    found = sv.Reports(table, plan).regress("clear ~ region")
    low, high = found.profile_interval("region[T.south]")
    assert 2 < low < found.estimate[1]
    assert high == np.inf


def test_models_are_compared(reports):
    larger, smaller = reports.regress("`evaded tax` ~ age + C(region)"), reports.regress("`evaded tax` ~ age")
    test = larger.compare(smaller)
    assert test.df == 1
    assert test.p_value < 1e-4
    assert str(test).startswith("likelihood ratio ")
    assert smaller.compare(reports.regress("`evaded tax` ~ 1")).statistic > 50


@pytest.mark.parametrize(
    ("other", "rule"),
    [
        (lambda reports: 3, "must be a regression of the same family. Got int"),
        (lambda reports: reports.regress("drug ~ 1"), "must be a regression of the same family"),
        (lambda reports: reports.regress("`evaded tax` ~ drug"), "must be of the same 6000 reports of evaded tax"),
        (lambda reports: reports.regress("`evaded tax` ~ age + C(region)"), "must have fewer coefficients than 2"),
    ],
)
def test_models_that_cannot_be_compared(reports, other, rule):
    with pytest.raises(SottovoceError, match=rule):
        reports.regress("`evaded tax` ~ age").compare(other(reports))


def test_sampled_models_are_not_compared_by_likelihoods(reports):
    sampled = [reports.regress(f"`evaded tax` ~ {terms}", clusters="ward") for terms in ("age", "1")]
    rule = "must be asked of a sample without weights, clusters and strata"
    with pytest.raises(SottovoceError, match=rule):
        sampled[0].compare(sampled[1])
    with pytest.raises(SottovoceError, match=f"profile_interval {rule}"):
        sampled[0].profile_interval("age")


def test_models_that_are_not_nested_are_not_compared(reports):
    with pytest.raises(SottovoceError, match="smaller must have coefficients that this model has, too"):
        reports.regress("`evaded tax` ~ age + visits").compare(reports.regress("`evaded tax` ~ C(region)"))


def test_predictions(reports):
    found = reports.regress("`evaded tax` ~ age + drug")
    people = {"age": [0.0, 1.0], "drug": ["never", "often"]}
    rows = found.predict(people).to_frame()
    assert rows.outcome.tolist() == [False, True, False, True]
    assert rows.estimate[1] == pytest.approx(1 / (1 + np.exp(-found.estimate[0])))
    line = found.estimate[[0, 1, 2]].sum()
    assert rows.estimate[3] == pytest.approx(1 / (1 + np.exp(-line)))
    gradient = np.array([1, 1, 1, 0])
    error = np.sqrt(gradient @ found.covariance @ gradient)
    ends = 1 / (1 + np.exp(-(line + error * np.array([-1.959964, 1.959964]))))
    assert rows.loc[3, ["low", "high"]].tolist() == pytest.approx(ends, rel=1e-6)
    assert "2 people" in str(found.predict(people))
    several = reports.regress("drug ~ age", family="ordinal").predict({"age": [0.3]}).to_frame()
    assert several.estimate.sum() == pytest.approx(1)
    income = reports.regress("income ~ age").predict({"age": [1]}).to_frame()
    assert income.low[0] < income.estimate[0] < income.high[0]
    visits = reports.regress("visits ~ drug", family="poisson").predict({"drug": ["once"]}).to_frame()
    assert visits.estimate[0] == pytest.approx(np.exp(0.7), rel=0.2)
    assert 0 < visits.low[0] < visits.high[0]


@pytest.mark.parametrize(
    ("people", "rule"),
    [
        ({"age": [0]}, "frame must have all predictors"),
        ({"age": [0], "drug": ["daily"]}, "frame must have values of drug that the plan knows"),
    ],
)
def test_predictions_of_people_that_are_not_known(reports, people, rule):
    with pytest.raises(SottovoceError, match=rule):
        reports.regress("`evaded tax` ~ age + drug").predict(people)


@pytest.mark.parametrize(
    ("formula", "options", "rule"),
    [
        ("`evaded tax` ~ agee", {}, "formula must name attributes and columns of the table .*; 'agee' is none"),
        ("evaded", {}, "formula must have one column to the left of ~"),
        ("drug + region ~ age", {}, "formula must have one column to the left of ~"),
        ("log(income) ~ age", {}, "formula must have one column to the left of ~"),
        ("drug ~ (", {}, "formula must be a formula such as"),
        ("", {}, "formula must be a formula such as"),
        (None, {}, "formula must be a formula such as"),
        ("drug ~ drug", {}, "formula must not have its outcome among its predictors"),
        ("drug ~ age + I(2 * age)", {}, r"formula must have predictors that are not sums .* 'I\(2 \* age\)' follows"),
        ("drug ~ log(region)", {}, "formula must have a design matrix"),
        ("drug ~ age", {"family": "gamma"}, "family must be one of"),
        ("drug ~ age", {"family": "binary"}, "family must be multinomial or ordinal for an outcome of 3 categories"),
        ("drug ~ age", {"family": "linear"}, "family must be binary, multinomial or ordinal for a disguised outcome"),
        ("drug ~ age", {"link": "log"}, "link must be one of"),
        ("drug ~ age", {"link": "probit"}, "link must be logit for the family multinomial"),
        ("drug ~ age", {"information": "fisher"}, "information must be one of"),
        ("income ~ age", {"family": "poisson"}, "formula must have an outcome of counts for the family poisson"),
        ("region ~ age", {"family": "linear"}, "formula must have an outcome of numbers for the family linear"),
        ("drug ~ age", {"weights": "region"}, "weights must be finite numbers"),
        ("drug ~ age", {"weights": -np.ones(6000)}, "weights must be finite numbers that are not negative; row 1"),
        ("drug ~ age", {"clusters": np.zeros(6000)}, "clusters must leave at least 2 clusters"),
        ("drug ~ age", {"strata": np.arange(6000)}, "strata must leave at least 2 respondents in each stratum"),
        ("drug ~ age", {"strata": [None] * 6000}, "strata must be known for every respondent; row 1"),
    ],
)
def test_what_is_refused(reports, formula, options, rule):
    with pytest.raises(SottovoceError, match=rule):
        reports.regress(formula, **options)


def test_odds_ratios_need_a_logistic_model(reports):
    for found in (reports.regress("income ~ age"), reports.regress("`evaded tax` ~ age", link="probit")):
        with pytest.raises(SottovoceError, match="must be asked of a logistic model"):
            found.odds_ratios()


def test_constant_outcomes_and_empty_tables(reports):
    table = reports.table.assign(always="yes", empty=np.nan)
    constant = sv.Reports(table, reports.plan)
    with pytest.raises(SottovoceError, match="must have an outcome that is not constant; always is always yes"):
        constant.regress("always ~ age")
    with pytest.raises(SottovoceError, match="must have rows in which all columns of the formula are known"):
        constant.regress("drug ~ empty")


def test_attributes_that_were_disguised_together(truth):
    from sottovoce.schemes import SubsetSelection

    truth = truth[["drug", "evaded tax", *NUMBERS]]
    plan = sv.Plan.of(sv.infer_schema(truth[["drug", "evaded tax"]]), {("drug", "evaded tax"): SubsetSelection(odds=9)})
    together = reports_of(truth, plan)
    with pytest.raises(SottovoceError, match="must name all attributes that were disguised together; evaded tax"):
        together.regress("drug ~ age")
    near(together.regress("`evaded tax` ~ age + drug"), "age", 0.8)


def test_too_many_combinations(truth):
    values = [f"v{number}" for number in range(70)]
    schema = sv.Schema([sv.Attribute("a", values), sv.Attribute("b", values)])
    plan = sv.plan(schema, odds=9, purpose="split").with_public([PublicNumber("age")])
    few = sv.Reports({"a": ["v1", "v2"], "b": ["v1", "v2"], "age": [1.0, 2.0]}, plan)
    with pytest.raises(SottovoceError, match="must have at most 4096 combinations"):
        few.regress("a ~ b")


def test_channels_beyond_memory(reports, monkeypatch):
    monkeypatch.setattr("sottovoce.mining.regression.regress.LARGEST_DENSE", 3)
    with pytest.raises(SottovoceError, match="must have fewer different reports"):
        reports.regress("drug ~ age")


def test_a_search_without_end_is_said(reports, monkeypatch):
    from sottovoce.mining.regression import likelihood

    monkeypatch.setattr(likelihood, "MOST_STEPS", 1)
    found = reports.regress("`evaded tax` ~ age")
    assert "the search for the maximum did not come to its end: do not use these numbers" in found.notes


def test_what_has_no_information_has_no_standard_error(reports):
    """Reports that do not depend on the answer: their likelihood is flat."""
    plan = sv.Plan.of(sv.Schema([sv.boolean("evaded tax")]), {"evaded tax": sv.schemes.Warner(p=0.5)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        flat = sv.Reports(unmarked(reports)[["evaded tax"]], plan).regress("`evaded tax` ~ 1")
    assert np.isnan(flat.standard_error).all()
