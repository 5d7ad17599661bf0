"""Reports: a table and its plan in one object, whatever kind of table it is."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.plans.budget import new_plan
from sottovoce.plans.document import plan_hash
from sottovoce.schemes import Emask, ForcedResponse, UnrelatedQuestion

SCHEMA = sv.Schema([sv.boolean("tax"), sv.Attribute("drug", ["never", "once", "often"])])
PLAN = new_plan(SCHEMA, odds=9)


def people(n: int = 400, seed: int = 1) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    tax = rng.random(n) < 0.3
    drug = np.where(tax, rng.choice(["never", "often"], n), rng.choice(["never", "once"], n))
    return {"tax": tax.tolist(), "drug": drug.tolist()}


KINDS = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.fixture(params=[*KINDS, "parquet", "csv"])
def kind(request):
    return request.param


def reports_of(kind: str, tmp_path, table: dict, plan: sv.Plan = PLAN, seed: int = 5) -> sv.Reports:
    """The same reports in every kind of table."""
    if kind in KINDS:
        return sv.disguise(KINDS[kind](table), plan, rng=seed)
    return sv.disguise(table, plan, rng=seed, to=tmp_path / f"reports.{kind}")


def test_every_kind_gives_the_same_estimates(kind, tmp_path):
    expected = reports_of("mapping", tmp_path, people())
    found = reports_of(kind, tmp_path, people())
    assert len(found) == 400
    for names in ("tax", ["drug", "tax"]):
        assert found.estimate(names).value.tolist() == expected.estimate(names).value.tolist()
        assert found.estimate(names).covariance.tolist() == expected.estimate(names).covariance.tolist()
    assert found.test("tax", "drug") == expected.test("tax", "drug")


def test_tables_come_back_in_kind():
    for name, make in KINDS.items():
        table = sv.disguise(make(people()), PLAN, rng=1).table
        assert type(table) is type(make({"a": [1]})), name


def test_saved_reports_are_read_with_their_plan(kind, tmp_path):
    reports = reports_of(kind, tmp_path, people())
    for suffix in ("parquet", "csv"):
        path = tmp_path / f"again.{suffix}"
        reports.save(path)
        read = sv.read(path)
        assert plan_hash(read.plan) == plan_hash(PLAN)
        assert read.estimate("drug").value.tolist() == reports.estimate("drug").value.tolist()
        with pytest.raises(SottovoceError, match="must not exist yet"):
            reports.save(path)
        reports.save(path, overwrite=True)


def test_plans_are_checked_where_they_can_be(tmp_path):
    other = new_plan(SCHEMA, odds=4)
    reports = sv.disguise(pd.DataFrame(people()), PLAN, rng=1)
    with pytest.raises(SottovoceError, match="plan must be the plan that the table was disguised under"):
        sv.Reports(reports.table, other)
    reports.save(tmp_path / "r.parquet")
    with pytest.raises(SottovoceError, match="plan must be"):
        sv.read(tmp_path / "r.parquet", other)
    with pytest.raises(SottovoceError, match="plan must be given with a table in memory"):
        sv.read(reports.table)
    with pytest.raises(SottovoceError, match="plan must be the Plan"):
        sv.Reports(reports.table, SCHEMA)
    with pytest.raises(SottovoceError, match="table must be a table, not Reports"):
        sv.Reports(reports, PLAN)
    with pytest.raises(SottovoceError, match="must have a column 'drug'"):
        sv.Reports({"tax": [True]}, PLAN)
    with pytest.raises(SottovoceError, match="table must be a pandas, polars or Arrow table"):
        sv.Reports([["a"]], PLAN)


def test_reports_are_not_disguised_again(tmp_path):
    reports = sv.disguise(people(), PLAN, rng=1)
    with pytest.raises(SottovoceError) as reason:
        sv.disguise(reports, PLAN)
    assert f"reports disguised at 9 : 1 (epsilon 2.19723) under plan {plan_hash(PLAN)[:12]}" in str(reason.value)
    twice = sv.disguise(reports, PLAN, rng=2, again=True)
    assert twice.table != reports.table
    frame = sv.disguise(pd.DataFrame(people()), PLAN, rng=1).table
    with pytest.raises(SottovoceError, match="again"):
        sv.disguise(frame, PLAN)
    assert len(sv.disguise(frame, PLAN, again=True)) == 400
    sv.disguise(people(), PLAN, to=tmp_path / "r.parquet")
    with pytest.raises(SottovoceError, match="again"):
        sv.disguise(tmp_path / "r.parquet", PLAN, to=tmp_path / "s.parquet")
    assert len(sv.disguise(tmp_path / "r.parquet", PLAN, to=tmp_path / "s.parquet", again=True)) == 400


def test_arguments_in_the_wrong_order_are_named():
    with pytest.raises(SottovoceError, match="plan must be a Plan"):
        sv.disguise(PLAN, people())
    with pytest.raises(SottovoceError, match="to must name the file"):
        sv.disguise("truths.csv", PLAN)


def test_published_counts_are_data():
    plan = sv.Plan.of(sv.Schema([sv.boolean("bribe")]), {"bribe": ForcedResponse("2/3", "1/6")})
    reports = sv.Reports.from_counts({True: 831, False: 1604}, plan)
    assert len(reports) == 2435
    found = reports.estimate("bribe")
    assert found["yes" if "yes" in found.categories[0] else True] == pytest.approx(0.26191, abs=5e-6)
    assert found.standard_error[1] == pytest.approx(0.01441, abs=5e-6)
    joint = sv.Reports.from_counts({(True, "never"): 30, (False, "often"): 50, (True, "once"): 20}, PLAN)
    expanded = {
        "tax": [True] * 30 + [False] * 50 + [True] * 20,
        "drug": ["never"] * 30 + ["often"] * 50 + ["once"] * 20,
    }
    assert (
        joint.estimate(["tax", "drug"]).value.tolist()
        == sv.Reports(expanded, PLAN).estimate(["tax", "drug"]).value.tolist()
    )
    assert sv.Reports.from_counts({"never": 10, "often": 40}, PLAN, "drug").estimate("drug").respondents == 50


@pytest.mark.parametrize("counts", [{True: -1}, {True: 1.5}, {"maybe": 3}, {}])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(SottovoceError):
        sv.Reports.from_counts(counts, new_plan(sv.Schema([sv.boolean("bribe")]), odds=3))


def test_transactions_are_reports():
    plan = sv.Plan.of(sv.Schema([sv.ItemSet("basket", ["ale", "bread", "cheese"])]), {"basket": Emask(p=0.95, q=0.95)})
    baskets = [["ale", "bread"]] * 450 + [["bread"]] * 300 + [["cheese"]] * 250
    reports = sv.disguise(baskets, plan, rng=1)
    assert len(reports) == 1000
    assert reports.supports([["ale"]]).value == pytest.approx(0.45, abs=0.05)
    found = reports.itemsets(min_support=0.3)
    assert ("ale", "bread") in found.itemsets
    assert found.rules(min_confidence=0.5).to_rows() == reports.rules(0.3, 0.5).to_rows()
    joined = reports.concat(sv.disguise(baskets, plan, rng=2))
    assert len(joined) == 2000
    with pytest.raises(SottovoceError, match="where must be asked of a table"):
        reports.where(town="Ulm")
    assert "1000 reports of basket" in reports._repr_html_()


def test_waves_are_joined():
    waves = [sv.disguise(people(seed=seed), PLAN, rng=seed) for seed in (1, 2)]
    both = waves[0].concat(waves[1])
    assert len(both) == 800
    total = sum(wave.estimate("drug").value for wave in waves) / 2
    assert both.estimate("drug").value == pytest.approx(total)
    with pytest.raises(SottovoceError, match="under the same plan"):
        waves[0].concat(sv.disguise(people(), new_plan(SCHEMA, odds=4)))
    with pytest.raises(SottovoceError, match="others must be Reports"):
        waves[0].concat(people())


def test_rows_and_counts_are_not_joined():
    rows = sv.disguise(people(), PLAN)
    counts = sv.Reports(sv.disguise(people(), PLAN).counts())
    for first, second, got in ((rows, counts, "counts"), (counts, rows, "rows")):
        with pytest.raises(
            SottovoceError, match=f"^others must be rows if these are rows, or else counts .* Got {got} i"
        ):
            first.concat(second)


def test_two_samples_tell_both_questions():
    plans = [sv.Plan.of(sv.Schema([sv.boolean("tax")]), {"tax": UnrelatedQuestion(t)}) for t in (0.75, 0.25)]
    samples = [
        sv.Reports({"tax": [True] * yes + [False] * (400 - yes)}, plan)
        for yes, plan in zip((120, 200), plans, strict=True)
    ]
    assert samples[0].two_samples(samples[1], "tax").sensitive.value == pytest.approx([0.8, 0.2])


def test_classifiers_learn_from_reports():
    reports = sv.disguise(people(4000), PLAN, rng=3)
    for model in ("naive_bayes", "tree"):
        learned = reports.classify("tax", features=["drug"], model=model)
        assert set(learned.predict({"drug": ["often", "once"]})) <= {True, False}
    with pytest.raises(SottovoceError, match="model must be one of naive_bayes, tree"):
        reports.classify("tax", model="forest")


def test_reports_introduce_themselves():
    reports = sv.disguise(people(), PLAN, rng=1)
    assert repr(reports) == "400 reports of tax, drug, disguised at 9 : 1 (epsilon 2.19723)"
    assert "<th>drug</th>" in reports._repr_html_()


def test_frequencies_count_everywhere():
    """Published counts give what a table with a row for each report gives."""
    counts = {(True, "never"): 300, (False, "once"): 500, (True, "often"): 200}
    counted = sv.Reports.from_counts(counts, PLAN)
    rows = [labels for labels, number in counts.items() for _ in range(number)]
    listed = sv.Reports({"tax": [tax for tax, _ in rows], "drug": [drug for _, drug in rows]}, PLAN)
    assert len(counted) == len(listed) == 1000
    assert counted.test("tax", "drug") == listed.test("tax", "drug")
    assert counted.itemsets(0.2).to_rows() == listed.itemsets(0.2).to_rows()
    assert counted.rules(0.2, 0.5).to_rows() == listed.rules(0.2, 0.5).to_rows()
    assert counted.classify("tax").respondents_ == 1000
    assert (
        counted.estimate(method="blue")["drug"].value.tolist() == listed.estimate("drug", method="blue").value.tolist()
    )


def test_counts_are_saved_report_by_report(tmp_path):
    counted = sv.Reports.from_counts({(True, "never"): 30, (False, "once"): 50}, PLAN)
    counted.save(tmp_path / "counts.csv")
    assert len(sv.read(tmp_path / "counts.csv")) == 80
    assert set(counted.to_frame("polars").columns) == {"tax", "drug", "frequency"}


@pytest.mark.parametrize("path", [None, 5])
def test_reports_are_saved_to_a_path(path):
    with pytest.raises(SottovoceError, match=r"^path must be the path of a file\. Got"):
        sv.disguise(people(), PLAN).save(path)


def test_supports_by_size_of_the_true_transactions(tmp_path):
    plan = sv.Plan.of(
        sv.Schema([sv.ItemSet("basket", ["ale", "bread", "cheese"])]), {"basket": sv.schemes.CutAndPaste(1, 0.25)}
    )
    baskets = [["ale"]] * 70 + [["bread"]] * 30
    whole = sv.Reports(baskets, plan)
    assert whole.supports([["ale"]], sizes=[1] * 100).value == pytest.approx(1.2)
    table = sv.Reports({"basket": baskets, "size": [1] * 100}, plan)
    assert table.supports([["ale"]], sizes="size").value == pytest.approx(1.2)
    assert whole.itemsets(0.5, sizes=[1] * 100, longest=1).itemsets == (("ale",),)
    for reports, sizes, message in (
        (whole, [1], "sizes must be one for each of the 100 reports"),
        (whole, "size", "sizes must be one for each"),
        (whole, 5, "sizes must be one for each of the 100 reports. Got 5"),
        (whole, [1] * 99 + ["x"], "sizes must be whole numbers from 0 to 3, .*; row 100. Got 'x'"),
        (whole, [1.5] * 100, "sizes must be whole numbers from 0 to .*; row 1. Got 1.5"),
        (whole, [9] * 100, "sizes must be whole numbers from 0 to .*; row 1. Got 9"),
        (whole, None, "sizes must be those of the true transactions, one for each report, .* Got None"),
        (sv.Reports(table.counts(itemsets=[["ale"]])), [1] * 100, "sizes must be those of the true .* Got a tally"),
        (table, "weight", "sizes must be a column of the table"),
        (sv.disguise(people(), PLAN), [1] * 400, "sizes must be left out for attributes with categories"),
    ):
        with pytest.raises(SottovoceError, match=message):
            reports.supports([["ale"]], sizes=sizes)
    whole.save(tmp_path / "baskets.parquet")
    assert len(sv.read(tmp_path / "baskets.parquet")) == 100


def test_progress_is_shown_where_it_is_asked_for(capsys):
    reports = sv.disguise(people(), PLAN, rng=1)
    reports.estimate("tax", method="em", progress=True)
    reports.itemsets(0.2, progress=True)
    assert "counting sets" in capsys.readouterr().err
    reports.itemsets(0.2, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(SottovoceError, match="model must be left out"):
        reports.itemsets(0.2, model=True, target="table")


@pytest.mark.slow
def test_sampled_attributes_by_the_better_estimate():
    """Mean squared errors over 100 disguises: no method beats the default by more than chance."""
    plan = sv.plan(sv.Schema([sv.boolean(name) for name in "abcd"]), odds=9, purpose="marginals")
    truths = {name: [True, False, False, False] * 500 for name in "abcd"}
    samples = [sv.disguise(truths, plan, rng=seed) for seed in range(100)]
    for names, share in ((["a"], [0.75, 0.25]), (["a", "b"], [0.75, 0, 0, 0.25])):
        errors = {
            method: np.mean([(each.estimate(names, method=method).value - share) ** 2 for each in samples])
            for method in ("best", "inversion", "blue")
        }
        assert errors["best"] <= 1.02 * min(errors.values())


def test_tables_that_do_not_match_are_not_joined():
    first = sv.disguise(people(), PLAN, rng=1)
    with pytest.raises(SottovoceError, match="others must be of other respondents"):
        first.concat(first)
    other = sv.Reports({**sv.disguise(people(), PLAN, rng=2).table, "town": ["Ulm"] * 400}, PLAN)
    with pytest.raises(SottovoceError, match="others must have the columns"):
        first.concat(other)
    frames = [sv.disguise(pd.DataFrame(people()), PLAN, rng=seed) for seed in (1, 2)]
    assert isinstance(frames[0].concat(frames[1]).table, pd.DataFrame)
    with pytest.raises(SottovoceError, match="other must be the Reports"):
        first.two_samples(people(), "tax")


def test_planning_says_what_it_was_given():
    with pytest.raises(SottovoceError, match="bins must be left out for a Schema"):
        sv.plan(SCHEMA, odds=3, bins={"age": [1, 2]})
    with pytest.raises(SottovoceError, match="table must be a table of truths or a Schema"):
        sv.plan(PLAN, odds=3)
    weighted = {**people(), "weight": [1.0, 2.0] * 200}
    assert sv.plan(weighted, odds=3, public=["weight"]).public[0].name == "weight"


def test_plans_are_read_from_files(tmp_path):
    sv.write_plan(PLAN, tmp_path / "plan.json")
    reports = sv.disguise(people(), PLAN, rng=1)
    assert len(sv.read(reports.table, tmp_path / "plan.json")) == 400
    reports.save(tmp_path / "r.csv")
    assert len(sv.read(tmp_path / "r.csv", PLAN)) == 400
    assert len(sv.read(tmp_path / "r.csv", tmp_path / "plan.json")) == 400


def test_models_and_reports_as_tables():
    """Long combinations by a model; and functions that take a disguised table take reports."""
    reports = sv.disguise(people(), PLAN, rng=1)
    assert ("tax=False", "drug=never") in reports.itemsets(0.2, model=True).itemsets
    model = sv.mining.NaiveBayes(PLAN, "tax").fit(reports)
    assert sv.mining.score_disguised(model, reports).respondents == 400


def test_no_row_of_a_batch_may_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 100)
    plan = PLAN.with_public([sv.Attribute("town", ["Bonn", "Ulm"])])
    truths = {**people(), "town": ["Bonn"] * 250 + ["Ulm"] * 150}
    reports = sv.disguise(truths, plan, rng=1, to=tmp_path / "r.parquet")
    assert len(reports.where(town="Ulm")) == 150


def test_sizes_of_a_table_may_be_listed():
    plan = sv.Plan.of(sv.Schema([sv.ItemSet("basket", ["ale", "bread"])]), {"basket": sv.schemes.CutAndPaste(1, 0.25)})
    table = sv.Reports({"basket": [["ale"]] * 70 + [["bread"]] * 30}, plan)
    assert table.supports([["ale"]], sizes=[1] * 100).respondents == 100


@pytest.mark.parametrize("kind", ["mapping", "csv", "polars", "lazy", "duckdb"])
def test_rows_that_the_plan_does_not_know_are_left_out_if_asked_for(kind, tmp_path):
    import duckdb
    import polars as pl

    rows = {"tax": [True, False, True, False], "drug": ["never", "daily", "often", "daily"]}
    frame = pl.DataFrame(rows)
    (tmp_path / "r.csv").write_text("tax,drug\nTrue,never\nFalse,daily\nTrue,often\nFalse,daily\n")
    tables = {"mapping": rows, "csv": tmp_path / "r.csv", "polars": frame, "lazy": frame.lazy()}
    tables["duckdb"] = duckdb.connect().sql("SELECT * FROM frame")
    plan = tmp_path / "plan.json"
    sv.write_plan(PLAN, plan)
    with pytest.raises(sv.SottovoceError, match=r"^drug must be one of its categories .* Got 'daily'"):
        sv.read(tables[kind], plan).estimate("drug")
    with pytest.warns(sv.SottovoceWarning, match=r"^2 of 4 rows are left out: their reports are not among those"):
        reports = sv.read(tables[kind], plan, unseen="drop")
    assert reports.estimate("drug").respondents == len(reports) == 2
    assert reports.counts("tax").to_table() == {"tax": [True], "frequency": [2]}


def test_known_rows_of_sets_and_of_all_rows(tmp_path):
    plan = sv.Plan.of(sv.Schema([sv.ItemSet("basket", ["ale", "bread"])]), {"basket": sv.schemes.Emask(p=0.9, q=0.8)})
    with pytest.warns(sv.SottovoceWarning, match=r"^1 of 3 rows are left out"):
        assert len(sv.read({"basket": [["ale"], ["wine"], []]}, plan, unseen="drop")) == 2
    assert len(sv.read({"basket": [["ale"], []]}, plan, unseen="drop")) == 2
    with pytest.raises(sv.SottovoceError, match=r"^unseen must be one of refuse, drop\. Got 'keep'"):
        sv.read({"basket": [["ale"]]}, plan, unseen="keep")


def test_values_that_can_be_no_label_are_left_out_if_asked_for():
    table = people(10)
    table["drug"][:3] = [{"how": "often"}, [{"how": "often"}], {"once"}]
    with pytest.warns(sv.SottovoceWarning, match="3 of 10 rows are left out"):
        assert len(sv.read(table, PLAN, unseen="drop")) == 7


def test_frequencies_of_a_text_file_are_numbers(tmp_path):
    (tmp_path / "counts.csv").write_text("tax,drug,n\nTrue,never,3\nFalse,once,4\n")
    assert len(sv.Reports(tmp_path / "counts.csv", PLAN, frequencies="n")) == 7
    with pytest.raises(SottovoceError, match=r"^frequencies must be whole numbers from 0 to 2\^53; row 2\. Got -1"):
        len(sv.Reports({"tax": [True] * 2, "drug": ["once"] * 2, "n": [1, -1]}, PLAN, frequencies="n"))


def test_empty_sets_beside_public_columns_of_a_text_file(tmp_path):
    basket = sv.ItemSet("basket", ["ale", "bread"])
    town = sv.Attribute("town", ["Bonn", "Ulm"])
    plan = sv.Plan.of(sv.Schema([basket]), {"basket": Emask(p=0.95, q=0.95)}, public=[town])
    truths = {"basket": [["ale"], [], ["ale", "bread"], []] * 50, "town": ["Bonn", "Ulm"] * 100}
    listed = sv.disguise(truths, plan, rng=1)
    listed.save(tmp_path / "reports.csv")
    saved = sv.read(tmp_path / "reports.csv")
    for ask in (
        lambda r: r.itemsets(0.1),
        lambda r: r.where(town="Ulm").itemsets(0.1),
        lambda r: r.where(town="Ulm").concat(r.where(town="Bonn")).itemsets(0.1),
        lambda r: r.known().itemsets(0.1),
    ):
        assert str(ask(saved)) == str(ask(listed))


@pytest.mark.parametrize("to", [None, 5])
def test_reports_of_a_file_are_written_to_a_file(tmp_path, to):
    (tmp_path / "truths.csv").write_text("tax,drug\nTrue,never\n")
    with pytest.raises(SottovoceError, match=r"^to must name the file that the reports of a file are written to\. Got"):
        sv.disguise(tmp_path / "truths.csv", PLAN, to=to)


def test_what_a_plan_is_read_from(tmp_path):
    sv.disguise(people(), PLAN).save(tmp_path / "reports.parquet")
    for source in (tmp_path / "reports.parquet", people()):
        with pytest.raises(SottovoceError, match=r"^plan must be a Plan, or the path of a file that holds one\. Got 5"):
            sv.read(source, 5)
