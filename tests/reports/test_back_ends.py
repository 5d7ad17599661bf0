"""Reports in every back end answer all questions as reports in memory do, to the last digit."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.reports.views import FilteredSource
from sottovoce.schemes import CutAndPaste, Emask
from sottovoce.tables.source import open_source

ROWS = 600
LAZY = ("lazy frame", "lazy frame in memory", "relation", "relation of files")
SCHEMA = sv.Schema(
    [sv.boolean("tax"), sv.Attribute("drug", ["never", "once", "often"]), sv.Attribute("children", [0, 1, 2])]
)
QUESTIONS = {
    "number": len,
    "summary": repr,
    "one attribute": lambda r: r.estimate("tax"),
    "every attribute": lambda r: r.estimate(),
    "joint by blue": lambda r: r.estimate(["drug", "tax"], method="blue"),
    "joint by em": lambda r: r.estimate(["drug", "tax"], method="em"),
    "joint by simplex": lambda r: r.estimate(["drug", "tax"], method="simplex"),
    "model": lambda r: r.estimate(["drug", "tax"], method="model"),
    "groups": lambda r: r.estimate("drug", by="region"),
    "weights": lambda r: r.estimate("drug", weights="weight"),
    "strata": lambda r: r.estimate("tax", strata="region"),
    "with a public column": lambda r: r.estimate(["tax", "region"]),
    "some rows": lambda r: r.where(region="south").estimate("tax"),
    "number of some rows": lambda r: len(r.where(region=["south", "north"], weight=1.5)),
    "test": lambda r: r.test("tax", "drug"),
    "itemsets": lambda r: r.itemsets(0.2, longest=2),
    "rules": lambda r: r.rules(0.2, 0.3, longest=2),
    "naive Bayes": lambda r: r.classify("tax").predict(SOME).tolist(),
    "tree": lambda r: r.classify("tax", model="tree").predict(SOME).tolist(),
    "frame": lambda r: r.to_frame(),
    "with others": lambda r: r.concat(sv.Reports(dict(REPORTS.table), PLAN)).estimate("tax"),
    "number with others": lambda r: len(r.concat(sv.Reports(dict(REPORTS.table), PLAN))),
}
ASKED_ALIKE = ("joint by blue", "joint by simplex", "rules", "number with others")
"""Questions that another one asks of the back end in the same way."""

SOME = {"drug": ["never", "once", "often"], "children": [0, 1, 2]}


def some_truths():
    rng = np.random.default_rng(3)
    tax = rng.random(ROWS) < 0.4
    return {
        "tax": tax.tolist(),
        "drug": rng.choice(SOME["drug"], ROWS, p=[0.5, 0.3, 0.2]).tolist(),
        "children": np.where(tax, 2, rng.integers(0, 3, ROWS)).tolist(),
        "region": rng.choice(["north", "south"], ROWS, p=[0.95, 0.05]).tolist(),
        "weight": rng.choice([0.5, 1.5], ROWS).tolist(),
    }


PLAN = sv.plan(some_truths(), odds=49, purpose="split", public=["region", "weight"])
REPORTS = sv.disguise(some_truths(), PLAN, rng=1)
TABLE = pa.table(REPORTS.table)


@pytest.fixture(scope="module")
def tables(back_ends):
    """The reports in one back end of each kind."""
    return one_of_each_kind(back_ends(TABLE))


def one_of_each_kind(made):
    return {name: made[name] for name in ("file", "folder", "lazy frame", "relation", "table of a file")}


def answer(question, reports):
    return str(question(reports))


@pytest.mark.parametrize(
    "question", [pytest.param(name, marks=[pytest.mark.slow] * (name in ASKED_ALIKE)) for name in QUESTIONS]
)
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
@pytest.mark.filterwarnings("ignore::sottovoce.errors.SottovoceWarning")
def test_every_back_end_answers_alike(question, tables):
    expected = answer(QUESTIONS[question], REPORTS)
    for name, table in tables.items():
        assert answer(QUESTIONS[question], sv.read(table, PLAN)) == expected, name


def test_reports_are_saved_from_every_back_end(tables, tmp_path):
    expected = str(REPORTS.estimate("drug"))
    for name, table in tables.items():
        sv.read(table, PLAN).save(tmp_path / "saved.parquet", overwrite=True)
        assert str(sv.read(tmp_path / "saved.parquet").estimate("drug")) == expected, name


def test_saved_numbers_keep_their_type(tmp_path):
    """Also of some rows, and of several files if they agree."""
    whole = TABLE.set_column(4, "weight", pa.array([1, 2] * (ROWS // 2), pa.int16()))
    for name, reports, kind in (
        ("some", sv.read(pl.from_arrow(whole).lazy(), PLAN).where(region="south"), pa.int16()),
        ("both", sv.read(whole.slice(0, 9), PLAN).concat(sv.read(pl.from_arrow(whole).lazy(), PLAN)), pa.float64()),
        ("same", sv.read(pl.from_arrow(whole).lazy(), PLAN), pa.int16()),
    ):
        path = tmp_path / f"{name}.parquet"
        (reports.concat(sv.read(pl.from_arrow(whole).lazy(), PLAN)) if name == "same" else reports).save(path)
        assert pq.read_schema(path).field("weight").type == kind


def test_plans_of_every_back_end(back_ends):
    truths = pa.table(some_truths())
    for table in one_of_each_kind(back_ends(truths)).values():
        assert sv.plan(table, odds=49, purpose="split", public=["region", "weight"]).hash == PLAN.hash


def test_notebooks_show_the_first_rows(tables):
    for table in tables.values():
        shown = sv.read(table, PLAN)._repr_html_()
        assert "600 reports of tax, drug, children" in shown
        assert shown.count("<tr>") == 6


def test_what_needs_a_fixed_order_is_refused_for_queries(tables):
    for name, table in tables.items():
        reports = sv.read(table, PLAN)
        if name not in LAZY:
            assert reports.estimate("tax", weights=[1.0, 2.0] * 300).respondents == ROWS
            continue
        with pytest.raises(SottovoceError, match=r"^halves must be given with a table whose rows always come in the"):
            reports.itemsets(0.2, halves=True, rng=1)
        with pytest.raises(SottovoceError, match=r"^weights must be a column of the table, whose rows need not come"):
            reports.estimate("tax", weights=[1.0, 2.0] * 300)


def test_transactions_of_every_back_end(back_ends):
    basket = sv.ItemSet("basket", ["ale", "bread", "cheese", "dates"])
    plan = sv.Plan.of(sv.Schema([basket]), {"basket": Emask(p=0.95, q=0.95)})
    truths = [[["ale", "bread"], ["bread", "cheese"], [], ["ale", "bread", "dates"]][row % 4] for row in range(400)]
    lists = sv.disguise({"basket": truths}, plan, rng=1)
    questions = [
        lambda r: r.supports([["ale", "bread"], ["dates"]]),
        lambda r: r.itemsets(0.2),
        lambda r: r.itemsets(0.2, model=True),
        lambda r: r.rules(0.2, 0.5),
    ]
    expected = [str(ask(lists)) for ask in questions]
    for name, table in one_of_each_kind(back_ends(pa.table(lists.table))).items():
        assert [str(ask(sv.read(table, plan))) for ask in questions] == expected, name


def test_sizes_of_transactions_in_every_back_end(back_ends):
    basket = sv.ItemSet("basket", ["ale", "bread", "cheese", "dates"])
    plan = sv.Plan.of(sv.Schema([basket]), {"basket": CutAndPaste(3, 0.1)})
    truths = [
        [["ale", "bread"], ["bread", "cheese"], ["ale"], ["ale", "bread", "dates"]][row % 4] for row in range(400)
    ]
    lists = sv.disguise({"basket": truths}, plan, rng=1).table["basket"]
    sizes = [len(items) for items in truths]
    expected = str(sv.Reports(lists, plan).supports([["ale"], ["ale", "bread"]], sizes=sizes))
    for name, table in one_of_each_kind(back_ends(pa.table({"basket": lists, "size": sizes}))).items():
        reports = sv.read(table, plan)
        assert str(reports.supports([["ale"], ["ale", "bread"]], sizes="size")) == expected, name
        if name in LAZY:
            with pytest.raises(SottovoceError, match=r"^sizes must be a column of the table, whose rows need not"):
                reports.supports([["ale"]], sizes=sizes)
    with pytest.raises(SottovoceError, match=r"^sizes must be a column of the table \(basket, size\)"):
        reports.supports([["ale"]], sizes="length")


def test_conditions_on_more_values_than_an_engine_hands_over(monkeypatch):
    monkeypatch.setattr("sottovoce.tables.polars_source.MOST_GROUPS", 0)
    reports = sv.Reports(pl.from_arrow(TABLE).lazy(), PLAN)
    assert len(reports.where(weight=0.5)) == len(REPORTS.where(weight=0.5))
    source = FilteredSource(open_source(pl.from_arrow(TABLE).lazy()), {})
    assert source.grouped(["tax"]) is None


def test_numbers_beside_a_large_file_belong_to_its_rows(tables, monkeypatch):
    """A file that is counted in parts must not give each part the first of them."""
    monkeypatch.setattr("sottovoce.tables.arrow_source.PART_ROWS", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    weights, times = np.linspace(1, 3, ROWS).tolist(), [row % 3 for row in range(ROWS)]
    reports = sv.read(tables["file"], PLAN)
    for options in ({"weights": weights}, {"frequencies": times}, {"weights": weights, "frequencies": times}):
        for by in ({}, {"by": "region"}):
            assert str(reports.estimate("drug", **options, **by)) == str(REPORTS.estimate("drug", **options, **by))
    close = [r.estimate("drug", weights="weight").value for r in (reports, REPORTS)]
    assert np.allclose(*close, rtol=1e-12, atol=0)
    assert str(reports.estimate("drug", by="region")) == str(REPORTS.estimate("drug", by="region"))


def test_errors_of_a_large_file_name_the_row_of_the_file(back_ends, monkeypatch):
    monkeypatch.setattr("sottovoce.tables.arrow_source.PART_ROWS", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    wrong = TABLE["weight"].to_pylist()
    wrong[549] = -1.0
    path = back_ends(TABLE.set_column(TABLE.column_names.index("weight"), "weight", [wrong]))["file"]
    with pytest.raises(SottovoceError, match=r"^weights must .*; row 550\. Got -1\.0"):
        sv.read(path, PLAN).estimate("tax", weights="weight")


def test_very_many_joint_cells_are_counted_once(tables, monkeypatch):
    """Not part by part: the counts of each part would be as many."""
    monkeypatch.setattr("sottovoce.counts.counter.MOST_CELLS_HELD", 2)
    assert str(sv.read(tables["file"], PLAN).estimate("drug")) == str(REPORTS.estimate("drug"))
