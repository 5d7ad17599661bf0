"""Public columns: groups, strata, weights, tests and joint tables, from every kind of table."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.plans.public import PublicNumber

N = 3000
SCHEMA = sv.Schema([sv.boolean("tax"), sv.Attribute("drug", ["never", "once"])])
PUBLIC = (sv.Attribute("year", [2024, 2025]), sv.Binned("age", [18, 40, 99], closed="left"), PublicNumber("weight"))
PLANS = {
    "split": sv.plan(SCHEMA, odds=9, purpose="split").with_public(PUBLIC),
    "sampled": sv.plan(SCHEMA, odds=9, purpose="marginals").with_public(PUBLIC),
}
KINDS = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def people() -> dict[str, list]:
    rng = np.random.default_rng(7)
    year = rng.choice([2024, 2025], N)
    tax = rng.random(N) < np.where(year == 2024, 0.2, 0.5)
    return {
        "tax": tax.tolist(),
        "drug": rng.choice(["never", "once"], N).tolist(),
        "year": year.tolist(),
        "age": rng.integers(18, 99, N).tolist(),
        "weight": rng.uniform(0.5, 2, N).round(3).tolist(),
    }


@pytest.fixture(params=PLANS)
def plan(request):
    return PLANS[request.param]


@pytest.fixture(params=[*KINDS, "parquet", "csv", "joined"])
def reports(request, plan, tmp_path):
    if request.param in KINDS:
        return sv.disguise(KINDS[request.param](people()), plan, rng=5)
    if request.param == "joined":  # two files, of which the same reports come in the same order
        whole = sv.disguise(people(), plan, rng=5)
        paths = [tmp_path / f"{name}.{suffix}" for name, suffix in (("a", "csv"), ("b", "parquet"))]
        for path, rows in zip(paths, (slice(0, 1000), slice(1000, None)), strict=True):
            sv.Reports({name: values[rows] for name, values in whole.table.items()}, plan).save(path)
        return sv.read(paths[0]).concat(sv.read(paths[1]))
    return sv.disguise(people(), plan, rng=5, to=tmp_path / f"reports.{request.param}")


@pytest.fixture
def expected(plan):
    return sv.disguise(people(), plan, rng=5)


def test_groups_are_the_same_from_every_table(reports, expected):
    for by in ("year", "age", ["age", "year"]):
        found, wanted = reports.estimate("tax", by=by), expected.estimate("tax", by=by)
        assert list(found) == list(wanted)
        for group in wanted:
            np.testing.assert_allclose(found[group].value, wanted[group].value, atol=1e-12)
            assert found[group].respondents == wanted[group].respondents
    assert list(expected.estimate("tax", by="age")) == list(PUBLIC[1].categories)


def test_rows_are_chosen_by_public_columns(reports, expected):
    for chosen in ({"year": 2025}, {"year": [2024, 2025], "age": PUBLIC[1].categories[0]}):
        part, wanted = reports.where(**chosen), expected.where(**chosen)
        assert len(part) == len(wanted) < N + 1
        np.testing.assert_allclose(part.estimate("tax").value, wanted.estimate("tax").value, atol=1e-12)
        assert len(part.table) > 0
        assert set(part.to_frame("polars").columns) == {"tax", "drug", "year", "age", "weight"}
    assert reports.where() is reports


def test_weights_and_strata(reports, expected):
    for options in ({"weights": "weight"}, {"strata": "year"}, {"strata": {"year": {2024: 0.3, 2025: 0.7}}}):
        np.testing.assert_allclose(
            reports.estimate("tax", **options).value, expected.estimate("tax", **options).value, atol=1e-12
        )
    everything = reports.estimate(strata="year")
    assert list(everything) == ["tax", "drug"]


def test_public_columns_in_joint_tables_and_tests(reports):
    joint = reports.estimate(["year", "tax"])
    assert joint.attributes == ("year", "tax")
    shares = joint.marginal(["year"])
    assert shares[2025] == pytest.approx(np.mean([year == 2025 for year in people()["year"]]), abs=0.02)
    assert joint[2025, True] / shares[2025] == pytest.approx(0.5, abs=0.15)
    assert reports.test("year", "tax").p_value < 0.01
    assert reports.test("drug", "year").p_value > 1e-6
    assert joint.derive("risk_difference").value == pytest.approx(0.3, abs=0.2)


def test_differences_name_their_groups_and_refuse_overlaps(reports):
    years = reports.estimate("tax", by="year")
    change = years[2025] - years[2024]
    assert change.names == ("year = 2025", "year = 2024")
    assert change.difference[1] == pytest.approx(years[2025][True] - years[2024][True])
    assert change.p_value < 0.01
    for other in (reports.estimate("tax"), reports.estimate("tax", by="age")["[18, 40)"], years[2025]):
        with pytest.raises(SottovoceError, match="must be of different respondents"):
            years[2025] - other
    with pytest.raises(TypeError):
        years[2025] - 0.5


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.where(tax=True), "where must be a public column"),
        (lambda r: r.where(town="Ulm"), r"where must name a public column \(year, age, weight\)"),
        (lambda r: r.where(year=1999), "year"),
        (lambda r: r.estimate(by="year"), "by must come with the names"),
        (lambda r: r.estimate("tax", by="year", strata="year"), "by must be left out where strata"),
        (lambda r: r.estimate("tax", strata={"year": {}, "age": {}}), "strata must be a public column"),
        (lambda r: r.estimate(["weight", "tax"]), "names must have categories"),
        (lambda r: r.estimate("tax", method="magic"), "method must be one of best, inversion"),
        (lambda r: r.estimate("tax", method="model", weights="weight"), "weights must be left out for the method"),
        (lambda r: r.estimate("tax", method="model", frequencies=[1]), "frequencies must be"),
        (lambda r: r.estimate("tax", by="tax"), "by must be"),
        (lambda r: r.estimate("tax", by="year")[1999], "year must be one of 2024, 2025"),
        (lambda r: r.estimate("tax", strata="tax"), "strata must be a column that was not disguised"),
        (lambda r: r.estimate(5), "names must be a name, or a list of names. Got 5"),
        (lambda r: r.estimate([]), "names must be a name, or a list of names"),
        (lambda r: r.estimate("height"), "names must be among tax, drug, year, age, weight. Got 'height'"),
        (lambda r: r.test("height", "tax"), "first must be one of tax, drug, year, age, weight. Got 'height'"),
        (lambda r: r.test("tax", 5), "second must be one of tax, drug, .* Got 5"),
        (lambda r: r.estimate()["height"], "attribute must be one of 'tax', 'drug'"),
    ],
)
def test_questions_without_an_answer(expected, ask, message):
    with pytest.raises(SottovoceError, match=message):
        ask(expected)


def sampled_reports():
    """Reports of a plan that asks everyone two of three questions, in two years."""
    rng = np.random.default_rng(1)
    truth = {name: rng.random(400) < 0.3 for name in ("tax", "drug", "theft")} | {"year": np.array([2024, 2025] * 200)}
    return sv.disguise(truth, sv.plan(truth, odds=9, purpose="pairs", public=["year"]), rng=1)


def test_groups_of_a_plan_that_asks_some_questions():
    reports = sampled_reports()
    groups = reports.estimate("tax", by=["year"])
    assert json.loads(json.dumps(groups.to_json())) == groups.to_json()
    assert {type(key) for key in groups} == {int}
    assert str(groups[2025]) == str(reports.where(year=2025).estimate("tax"))


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ([], "by must be the name of a column, or a list of names"),
        (5, "by must be the name of a column, or a list of names"),
        ("town", "table must have the column 'town'"),
        ("tax", "by must be a column that was not disguised"),
        ("person", "reports must be at least 2 for a standard error, where person is 0. Got 1"),
    ],
)
def test_groups_that_a_plan_of_some_questions_does_not_have(by, message):
    reports = sampled_reports()
    numbered = sv.Reports(reports.table | {"person": list(range(400))}, reports.plan)
    with pytest.raises(SottovoceError, match=message):
        numbered.estimate("tax", by=by)


@pytest.mark.parametrize("kind", [pa.int8(), pa.string(), pa.float64(), pa.decimal128(20, 0)])
@pytest.mark.parametrize("sampled", [False, True])
def test_groups_are_called_as_the_plan_calls_them(kind, sampled):
    """Whatever type a table has for them, also if tables of different types are joined."""
    reports = sampled_reports()
    if not sampled:
        plan = sv.Plan.of(sv.Schema([sv.boolean("tax")]), {"tax": sv.schemes.Warner(p=0.75)})
        table = {"tax": [value == "True" for value in reports.table["tax"]], "year": reports.table["year"]}
        reports = sv.Reports(table, plan.with_public([sv.Attribute("year", [2024, 2025])]))
    table = pa.table({name: np.asarray(column) for name, column in reports.table.items()})
    short = pa.array([year - 2000 for year in table["year"].to_pylist()])
    short_plan = sv.Plan(
        reports.plan.schema, reports.plan.groups, reports.plan.guarantee, None, (sv.Attribute("year", [24, 25]),)
    )
    expected = sv.Reports(table.set_column(table.schema.get_field_index("year"), "year", short), short_plan)
    other = sv.Reports(table.set_column(table.schema.get_field_index("year"), "year", short.cast(kind)), short_plan)
    wanted = expected.estimate("tax", by="year")
    assert list(wanted) == [24, 25]
    assert other.estimate("tax", by="year").to_json() == wanted.to_json()
    both = {"tax": [*expected.table["tax"].to_pylist()], "year": [24, "24"] * 200}
    if not sampled:
        assert list(sv.Reports(both, short_plan).estimate("tax", by=["year"])) == [24]


def test_other_columns_of_a_table_group_too():
    """A table that was disguised elsewhere may have columns that its plan does not name."""
    plan = sv.plan(SCHEMA, odds=9, purpose="split")
    table = sv.disguise({name: people()[name] for name in ("tax", "drug")}, plan, rng=1).table
    reports = sv.Reports(table | {"town": ["Bonn", "Ulm"] * (N // 2)}, plan)
    assert list(reports.estimate("tax", by="town")) == ["Bonn", "Ulm"]
    assert len(reports.where(town="Ulm")) == N // 2
    assert reports.estimate("tax", by="town", method="em")["Ulm"].method.startswith("em")


def test_models_fill_in_by_group(expected):
    joint = expected.estimate(["tax", "drug"], method="model")
    assert joint.value.sum() == pytest.approx(1)
    by_year = expected.estimate(["tax", "drug"], by="year", method="model")
    assert list(by_year) == [2024, 2025]


def test_estimates_show_themselves(expected):
    years = expected.estimate("tax", by="year")
    assert "tax by year: 2 groups" in str(years)
    assert "<th>year</th>" in years._repr_html_()
    assert years.to_frame("polars").columns[:2] == ["year", "tax"]
    assert years.to_json()["groups"][0]["group"] == {"year": 2024}
    assert len(years) == 2
    assert 2024 in years
    assert years.stratified().respondents == N
    assert years.plot().get_title(loc="left") == "tax by year: 2 groups"
    everything = expected.estimate()
    assert everything.to_rows()[0]["values"] == {"attribute": "tax", "category": False}
    assert "proportions of 2 attributes" in repr(everything)
    assert everything.to_json()["groups"][1]["group"] == {"attribute": "drug"}


def test_cells_and_measures_are_asked_for_by_name(expected):
    joint = expected.estimate(["tax", "drug"])
    assert joint[True, "once"] == joint.value[3]
    for ask, message in (
        (lambda: joint[True], "cell must have a category of each of tax, drug"),
        (lambda: joint[True, "often"], "drug must be one of never, once"),
        (lambda: joint.derive("magic"), "derive must be one of entropy, mean"),
    ):
        with pytest.raises(SottovoceError, match=message):
            ask()


def test_other_tables_are_of_other_respondents(plan):
    waves = [sv.disguise(people(), plan, rng=seed).estimate("tax") for seed in (1, 2)]
    assert (waves[0] - waves[1]).names == ("first", "second")
