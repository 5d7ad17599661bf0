"""`sottovoce mine itemsets`: a table for people, JSON for programs."""

import json

import numpy as np
import pytest

from sottovoce.disguise.files import disguise_file
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.scheme.emask import Emask
from sottovoce.table.plan_file import write_plan

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
    assert out.startswith("2000 reports, min_support 0.5, supports in the table: 4 of length 1")
    assert "a, b" in out
    assert "truly frequent" in out


def test_json(run, folder):
    code, out, err = run("mine", "itemsets", "d.csv", "--min-support", ".5", "--json", "-", "--longest", "1")
    first = json.loads(out)["itemsets"][0]
    assert (code, err, first["items"], first["length"]) == (0, "", ["a"], 1)
    assert set(first) >= {"items", "length", "support", "standard_error", "low", "high"}
    assert first["low"] < 0.8 < first["high"]
    assert run("mine", "itemsets", "d.csv", "--min-support", ".5", "--json", "f.json")[0] == 0
    assert len(json.loads((folder / "f.json").read_text())["itemsets"]) > 4


@pytest.mark.parametrize("keep", ["maximal", "closed"])
def test_fewer_sets(run, keep):
    _, out, _ = run("mine", "itemsets", "d.csv", "--min-support", ".3", "--keep", keep, "--json", "-")
    _, whole, _ = run("mine", "itemsets", "d.csv", "--min-support", ".3", "--json", "-")
    assert 0 < len(json.loads(out)["itemsets"]) <= len(json.loads(whole)["itemsets"])


def test_a_warning_is_a_line(run):
    code, out, err = run("mine", "itemsets", "d.csv", "--min-support", ".0005", "--attributes", "basket")
    assert code == 0
    assert err.startswith("warning: min_support 0.0005 is below what 2000 reports can resolve at length ")
    assert "more sets are in the JSON." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv", "--min-support", ".5"), "error: t.csv must have its plan beside it"),
        (("d.csv", "--min-support", "2"), "error: min_support must be above 0 and at most 1. Got 2.0"),
        (("d.csv", "--min-support", ".5", "--keep", "some"), "error: keep must be one of all, maximal, closed"),
        (("d.csv", "--min-support", ".5", "--recall", "1"), "error: recall must be at least .5"),
    ],
)
def test_mistakes(run, arguments, message):
    code, _, err = run("mine", "itemsets", *arguments)
    assert code == 2
    assert err.startswith(message)


def test_a_plan_from_elsewhere(run):
    write_plan(PLAN, "plan.json")
    assert run("mine", "itemsets", "d.csv", "--min-support", ".5", "--plan", "plan.json")[0] == 0


def test_rules(run):
    code, out, err = run("mine", "rules", "d.csv", "--min-support", ".3", "--min-confidence", ".75")
    assert (code, err) == (0, "")
    assert out.startswith("2000 reports, min_confidence 0.75, in the table:")
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
