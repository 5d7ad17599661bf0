"""`sottovoce mine itemsets`: a table for people, JSON for programs."""

import json

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_file
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.tables.plan_file import write_plan

PLAN = Plan.of(Schema([ItemSet("basket", list("abcdef"))]), {"basket": Emask(p=0.95, q=0.95)})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(1)
    sets = [";".join(np.array(list("abcdef"))[rng.random(6) < [0.8, 0.8, 0.7, 0.6, 0.3, 0.1]]) for _ in range(2000)]
    (tmp_path / "t.csv").write_text("basket,day\n" + "".join(f"{s},1\n" for s in sets))
    disguise_file("t.csv", "d.csv", PLAN, rng=1, drop="others")
    return tmp_path


def test_a_table(run):
    code, out, err = run("mine", "itemsets", "d.csv", "--min-support", ".5")
    assert (code, err) == (0, "")
    assert out.startswith("2000 reports, min_support 0.5, supports in the population: 4 of length 1")
    assert "a, b" in out
    assert "probability of" in out


def test_json(run, folder):
    code, out, err = run("mine", "itemsets", "d.csv", "--min-support", ".5", "--json", "-", "--longest", "1")
    first = json.loads(out)["itemsets"][0]
    assert (code, err, first["items"], first["length"]) == (0, "", ["a"], 1)
    assert set(first) >= {"items", "length", "support", "standard_error", "low", "high"}
    assert first["low"] < 0.8 < first["high"]
    assert run("mine", "itemsets", "d.csv", "--min-support", ".5", "--json", "f.json")[0] == 0
    assert len(json.loads((folder / "f.json").read_text())["itemsets"]) > 4


def test_the_highest_supports_of_every_length_are_shown(run, monkeypatch):
    monkeypatch.setattr("sottovoce.cli.mine.MOST_ROWS", 6)
    asked = ("mine", "itemsets", "d.csv", "--min-support", ".3", "--longest", "3")
    sets = json.loads(run(*asked, "--json", "-")[1])["itemsets"]
    ranked = sorted(sets, key=lambda row: (row["length"], -row["support"]))
    expected = [[row for row in ranked if row["length"] == k][place] for k in (1, 2, 3) for place in (0, 1)]
    _, out, _ = run(*asked)
    shown = [line.split("\u2502")[1].strip() for line in out.splitlines() if line.startswith("\u2502")]
    assert shown == [", ".join(row["items"]) for row in expected]
    assert f"{len(sets) - 6} more sets are in the JSON." in out


@pytest.mark.parametrize("keep", ["maximal", "closed"])
def test_fewer_sets(run, keep):
    _, out, _ = run("mine", "itemsets", "d.csv", "--min-support", ".3", "--keep", keep, "--json", "-")
    _, whole, _ = run("mine", "itemsets", "d.csv", "--min-support", ".3", "--json", "-")
    assert 0 < len(json.loads(out)["itemsets"]) <= len(json.loads(whole)["itemsets"])


def test_a_warning_is_a_line(run):
    code, out, err = run("mine", "itemsets", "d.csv", "--min-support", ".0005", "--attributes", "basket")
    assert code == 0
    assert err.startswith("warning: --min-support 0.0005 is below what 2000 reports can resolve at length ")
    assert "more sets are in the JSON." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv", "--min-support", ".5"), "error: t.csv must have its plan beside it"),
        (("none.csv", "--min-support", ".5"), "error: [Errno 2] No such file or directory: 'none.csv'"),
        (("d.csv", "--min-support", "2"), "error: --min-support must be above 0 and at most 1. Got 2.0"),
        (("d.csv", "--min-support", ".5", "--keep", "some"), "error: --keep must be one of all, maximal, closed"),
        (("d.csv", "--min-support", ".5", "--selection", "1"), "error: --selection must be smoothed, threshold, or a"),
        (
            ("d.csv", "--min-support", ".5", "--selection", "all"),
            "error: --selection must be smoothed, threshold, or a",
        ),
    ],
)
def test_mistakes(run, arguments, message):
    code, _, err = run("mine", "itemsets", *arguments)
    assert code == 2
    assert err.startswith(message)


def test_sets_are_selected_as_asked(run):
    asked = ("mine", "itemsets", "d.csv", "--min-support", ".45", "--target", "table", "--json", "-", "--selection")
    bare, more = (json.loads(run(*asked, way)[1])["itemsets"] for way in ("threshold", ".99"))
    assert 0 < len(bare) < len(more)
    assert min(row["support"] for row in bare) >= 0.45 > min(row["support"] for row in more)


def test_a_plan_from_elsewhere(run):
    write_plan(PLAN, "plan.json")
    assert run("mine", "itemsets", "d.csv", "--min-support", ".5", "--plan", "plan.json")[0] == 0


@pytest.fixture
def table_of_habits(folder, run):
    """A table disguised under a plan for mining, made by the command line."""
    rng = np.random.default_rng(2)
    smokes = rng.random(4000) < 0.4
    drinks = np.where(rng.random(4000) < 0.2, ~smokes, smokes)
    age = rng.choice(["young", "old"], 4000)
    rows = zip(smokes, drinks, age, strict=True)
    (folder / "h.csv").write_text("smokes,drinks,age\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    code, out, _ = run("plan", "new", "h.csv", "--mining", "--odds", "9", "-o", "h.json")
    assert (code, out.splitlines()[0]) == (0, "Whole record: 9 : 1 (epsilon 2.19723)")
    assert "attribute_sampl" in out
    assert run("disguise", "h.csv", "hd.csv", "--plan", "h.json", "--seed", "1")[0] == 0


@pytest.mark.usefixtures("table_of_habits")
def test_by_a_model(run):
    code, out, err = run("mine", "itemsets", "hd.csv", "--min-support", ".12", "--model", "--json", "-")
    found = json.loads(out)
    assert (code, err, found["target"]) == (0, "", "population")
    assert ["drinks=True", "smokes=True"] in [sorted(row["items"]) for row in found["itemsets"]]
    assert max(row["length"] for row in found["itemsets"]) == 3
    code, out, err = run("mine", "rules", "hd.csv", "--min-support", ".12", "--model", "--min-confidence", ".7")
    assert (code, err) == (0, "")
    assert "drinks=True" in out
    code, out, _ = run("mine", "itemsets", "hd.csv", "--min-support", ".12", "--model", "--longest", "1")
    assert "supports in the population: 6 of length 1\n" in out
    assert "--model" in run("mine", "itemsets", "--help")[1]


@pytest.mark.usefixtures("table_of_habits")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--selection", ".6"), "error: --selection must not be given with --model, whose supports decide. Got"),
        (("--target", "table"), "error: --target must be population with --model. Got 'table'"),
        (("--longest", "0"), "error: --longest must be a positive whole number"),
    ],
)
def test_what_a_model_has_no_choice_of(run, options, message):
    code, _, err = run("mine", "itemsets", "hd.csv", "--min-support", ".1", "--model", *options)
    assert code == 2
    assert err.startswith(message)


def test_a_model_of_sets_of_items(run):
    code, out, _ = run("mine", "itemsets", "d.csv", "--min-support", ".5", "--model", "--json", "-")
    assert code == 0
    assert json.loads(out)["target"] == "population"
    code, out, _ = run(
        "mine", "rules", "d.csv", "--min-support", ".1", "--min-confidence", "0", "--model", "--json", "-"
    )
    assert code == 0
    assert json.loads(out)["target"] == "population"
    assert json.loads(out)["rules"]


def test_plans_for_mining(run, folder):
    (folder / "h.csv").write_text("a,b\nx,1\ny,2\n")
    code, _, err = run("plan", "new", "h.csv", "--mining", "--purpose", "joint", "--odds", "9", "-o", "h.json")
    assert (code, err) == (2, "error: --purpose and --mining must not be used together. Got both instead.\n")
    code, out, _ = run("plan", "new", "h.csv", "--mining", "--epsilon", "2", "-o", "h.json", "--json", "-")
    assert json.loads(out)["groups"][0]["scheme"] == "attribute_sampling"
    assert json.loads(out)["epsilon"] == pytest.approx(2)
    code, _, err = run("plan", "new", "h.csv", "--mining", "-o", "i.json")
    assert code == 2
    assert "odds" in err


def test_rules(run):
    code, out, err = run("mine", "rules", "d.csv", "--min-support", ".3", "--min-confidence", ".75")
    assert (code, err) == (0, "")
    assert out.startswith("2000 reports, min_confidence 0.75, in the population:")
    assert "antecedents" in out
    code, out, err = run("mine", "rules", "d.csv", "--min-support", ".3", "--min-confidence", ".1", "--json", "-")
    first = json.loads(out)["rules"][0]
    assert (code, err) == (0, "")
    assert first["confidence_low"] < first["confidence"] < first["confidence_high"]
    assert isinstance(first["antecedents"][0], str)


def test_more_rules_than_one_looks_at(run):
    code, out, _ = run("mine", "rules", "d.csv", "--min-support", ".1", "--min-confidence", ".1")
    assert code == 0
    assert "more rules are in the JSON" in out


def test_raw_numbers_are_shown_on_request(run):
    for command in (("itemsets",), ("rules", "--min-confidence", ".2", "--sort-by", "leverage")):
        asked = ("mine", *command, "d.csv", "--min-support", ".3", "--top", "4")
        code, out, _ = run(*asked, "--raw")
        assert (code, out.count("+-") > 0) == (0, True)
        assert "estimate" in out
        assert "picked out of" in out
        assert "+-" not in run(*asked)[1]
        document = json.loads(run(*asked, "--raw", "--json", "-")[1])
        rows = document["itemsets" if command == ("itemsets",) else "rules"]
        assert len(rows) == document["interval"]["picked"] == 4
        assert all(any(name.endswith("estimate") for name in row) for row in rows)


def test_one_half_picks(run):
    asked = ("mine", "rules", "d.csv", "--min-support", ".3", "--min-confidence", ".2", "--halves", "--seed", "1")
    code, out, _ = run(*asked)
    assert (code, "Picked on 1,000 other reports: 95 % intervals need no adjustment." in out) == (0, True)
    document = json.loads(run(*asked, "--json", "-")[1])
    assert (document["respondents"], document["interval"]["picked_on"]) == (1000, 1000)


def test_nothing_is_found(run):
    code, out, _ = run("mine", "rules", "d.csv", "--min-support", ".5", "--min-confidence", "1")
    assert (code, "0 rules" in out, "picked out of" in out) == (0, True, False)
    code, out, _ = run("mine", "itemsets", "d.csv", "--min-support", "1", "--selection", "threshold")
    assert (code, "none" in out, "picked out of" in out) == (0, True, False)
