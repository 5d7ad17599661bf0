"""`sottovoce measure`: a table for people, JSON for programs."""

import json

import pytest

from sottovoce.disguises.tables import disguise_file
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import CutAndPaste, GammaDiagonal, Mask, Warner
from sottovoce.tables.plan_file import write_plan

SCHEMA = Schema([boolean("tax"), Attribute("drug", ["never", "once", "often"])])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    write_plan(Plan.of(SCHEMA, {"tax": Warner(p=3 / 4), "drug": Warner(p=3 / 5)}), "plan.json")
    return tmp_path


def test_a_table(run):
    code, out, err = run("measure", "plan.json", "--prior", "drug=.7,.2,.1")
    assert (code, err) == (0, "")
    assert out.startswith("Whole record: 9 : 1 (epsilon 2.19723)")
    assert "tax *" in out
    assert "drug *" not in out
    assert "0.8750" in out  # worst posterior of drug: .7 x .6 / (.7 x .6 + .3 x .2)
    assert "* no prior was given: uniform." in out


def test_json(run, folder):
    arguments = ("plan.json", "--prior", "drug=.7,.2,.1", "--prior", "tax=.75,.25")
    code, out, err = run("measure", *arguments, "--json", "-")
    told = json.loads(out)
    assert (code, told["odds"], told["epsilon"]) == (0, "9", pytest.approx(2.1972246))
    tax, drug = told["attributes"]
    assert (tax["name"], tax["prior"], tax["worst_posterior"]) == ("tax", [0.75, 0.25], pytest.approx(0.9))
    assert set(drug) == {
        "name",
        "prior",
        "prior_given",
        "seen",
        "accuracy",
        "worst_posterior",
        "mutual_information",
        "conditional_entropy",
        "individual_reconstruction",
        "distortion",
    }
    assert drug["distortion"] == pytest.approx(0.4)
    assert "uniform" not in err
    assert run("measure", *arguments, "--json", "told.json")[0] == 0
    assert json.loads((folder / "told.json").read_text()) == told


def test_a_disguised_file_carries_its_plan(run, folder):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=1)})
    (folder / "t.csv").write_text("tax\nTrue\nFalse\n")
    disguise_file("t.csv", "r.csv", plan)
    code, out, _ = run("measure", "r.csv", "--prior", ".9,.1", "--json", "-")
    told = json.loads(out)
    assert (code, told["odds"], told["epsilon"]) == (0, None, None)
    assert told["attributes"][0]["prior"] == [0.9, 0.1]
    assert told["attributes"][0]["accuracy"] == 1


def test_many_items_and_large_groups(run):
    schema = Schema([ItemSet("basket", range(50)), ItemSet("bag", range(40)), Attribute("a", range(5000))])
    schemes = {"basket": Mask(p=0.9), "bag": CutAndPaste(cutoff=3, rho=0.4), "a": Warner(p=0.5)}
    write_plan(Plan.of(schema, schemes), "many.json")
    code, out, _ = run("measure", "many.json")
    assert (code, out.count("basket: ")) == (0, 40)
    assert "51 more rows are in the JSON." in out  # 50 + 40 + 1 - 40
    assert "Empty rows" in out
    wide = Schema([Attribute("a", range(70)), Attribute("b", range(70))])
    write_plan(Plan.of(wide, {("a", "b"): GammaDiagonal(gamma=50)}), "wide.json")
    code, out, _ = run("measure", "wide.json")
    assert (code, "only the attribute's own columns" in out) == (0, True)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (["drug"], "--prior must look like NAME=.7,.2,.1. Got 'drug' instead."),
        ([".5,.5"], "--prior must look like NAME=.7,.2,.1. Got '.5,.5' instead."),
        (["tax=.5,.5", "tax=.6,.4"], "--prior must be given once for tax. Got 'tax=.6,.4' instead."),
        (["tax=.5,.6"], "--prior of tax must sum to 1; the sum is 1.1. Got [0.5, 0.6] instead."),
        (["taxes=1"], "--prior must be one of tax, drug. Got 'taxes' instead."),
    ],
)
def test_mistakes_are_told(run, prior, message):
    code, out, err = run("measure", "plan.json", *(word for text in prior for word in ("--prior", text)))
    assert (code, out, err) == (2, "", f"error: {message}\n")
