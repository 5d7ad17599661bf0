"""`sottovoce mine classify`: from a disguised file to a classifier and its test."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sottovoce.disguises.tables import disguise_file
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import GammaDiagonal, SubsetSelection, UnrelatedQuestion
from sottovoce.tables.plan_file import write_plan

SCHEMA = Schema([boolean("smokes"), boolean("coughs"), boolean("ill")])
PLAN = Plan.of(SCHEMA, {SCHEMA.names: UnrelatedQuestion(theta=0.5)})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(1)
    ill = rng.random(4000) < 0.4
    draw = {name: rng.random(4000) < np.where(ill, 0.8, 0.3) for name in ("smokes", "coughs")}
    pd.DataFrame(draw | {"ill": ill}).to_csv("people.csv", index=False)
    disguise_file("people.csv", "learn.csv", PLAN, rng=2)
    disguise_file("people.csv", "test.csv", PLAN, rng=3)
    return tmp_path


def test_json_and_the_test_set(run):
    code, out, err = run("mine", "classify", "learn.csv", "--label", "ill", "--test", "test.csv", "--json", "-")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["model"], found["label"], found["classes"], found["odds"]) == (
        "naive-bayes",
        "ill",
        [False, True],
        "9",
    )
    assert found["respondents"] == 4000
    assert found["tables"][0]["value"] == "all"
    assert sum(found["tables"][0]["shares"]) == pytest.approx(1)
    assert found["test"]["accuracy"]["value"] == pytest.approx(0.76, abs=0.08)
    assert found["privacy"]["after"] <= found["privacy"]["before"]


def test_tables_for_people(run):
    code, out, _ = run(
        "mine", "classify", "learn.csv", "--label", "ill", "--test", "test.csv", "--attributes", "smokes"
    )
    assert code == 0
    assert out.startswith("ill by naive-bayes; whole record: 9 : 1 (epsilon 2.19723)")
    assert "4000 disguised test records, whole records, population" in out
    assert "Least privacy of an entry: " in out
    assert "coughs" not in out


def test_a_tree(run):
    code, out, _ = run("mine", "classify", "learn.csv", "--label", "ill", "--model", "tree", "--json", "tree.json")
    assert code == 0
    assert "-> True" in out
    found = json.loads(Path("tree.json").read_text())
    assert found["tree"]["attribute"] in ("smokes", "coughs")
    assert [branch["value"] for branch in found["tree"]["branches"]] == [False, True]
    assert found["test"] is None


def test_a_picture_of_the_test(run):
    asked = ("mine", "classify", "learn.csv", "--label", "ill")
    code, _, _ = run(*asked, "--test", "test.csv", "--plot", "confusion.svg")
    assert (code, Path("confusion.svg").read_text()[:5]) == (0, "<?xml")
    code, _, err = run(*asked, "--plot", "nothing.svg")
    assert (code, "error: --plot must come with --test" in err) == (2, True)


def test_a_report_for_all_has_no_privacy_of_entries(run):
    plan = Plan.of(SCHEMA, {SCHEMA.names: SubsetSelection(odds=20)})
    disguise_file("people.csv", "sets.csv", plan, rng=2)
    code, out, _ = run("mine", "classify", "sets.csv", "--label", "ill", "--json", "sets.json")
    assert code == 0
    assert json.loads(Path("sets.json").read_text())["privacy"] is None
    assert "Least privacy" not in out


def test_a_plan_beside_the_files(run, folder):
    write_plan(PLAN, "plan.json")
    (folder / "learn.csv.plan.json").unlink()
    (folder / "test.csv.plan.json").unlink()
    code, out, _ = run("mine", "classify", "learn.csv", "--plan", "plan.json", "--label", "ill", "--test", "test.csv")
    assert code == 0
    assert "accuracy" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--label", "age"), "--label must be one of the plan's attributes (smokes, coughs, ill). Got 'age'"),
        (("--label", "ill", "--model", "forest"), "--model must be one of naive-bayes, tree"),
        (("--label", "ill", "--test", "other.csv"), "--test must be the one that the classifier was fitted under"),
    ],
)
def test_refused(run, arguments, message):
    disguise_file("people.csv", "other.csv", Plan.of(SCHEMA, {SCHEMA.names: GammaDiagonal(gamma=9)}), rng=3)
    code, out, err = run("mine", "classify", "learn.csv", *arguments)
    assert (code, out) == (2, "")
    assert message in err
