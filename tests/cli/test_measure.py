"""`sottovoce measure`, `width` and `respondents`: tables for people, JSON for programs."""

import json

import pytest

from sottovoce.disguises.tables import disguise_file
from sottovoce.estimates.sample_size import expected_width, respondents_needed
from sottovoce.measures.functionals import Entropy
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import CutAndPaste, GammaDiagonal, Mask, Warner
from sottovoce.tables.plan_file import read_plan, write_plan

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


@pytest.fixture
def two_questions(tmp_path):
    path = str(tmp_path / "predicted.json")
    schema = Schema([boolean("tax"), Attribute("drug", ["no", "once", "often"]), ItemSet("items", ["x", "y"])])
    write_plan(new_plan(schema, odds=81), path)
    return path


def test_widths_are_those_of_the_library(run, two_questions):
    plan = read_plan(two_questions)
    code, out, _ = run("width", two_questions, "--respondents", "5000", "--json", "-")
    found = json.loads(out)
    assert (code, [table["attributes"] for table in found["tables"]]) == (0, [["tax"], ["drug"]])
    widths = [row["width"] for row in found["tables"][1]["cells"]]
    assert widths == expected_width(plan, "drug", 5000).tolist()
    assert found["tables"][1]["margin"] == max(widths) / 2
    assert [row["cell"] for row in found["tables"][1]["cells"]] == [["no"], ["once"], ["often"]]
    joint = ("--attributes", "tax,drug", "--prior", ".1,.2,.1,.2,.3,.1", "--level", ".9")
    found = json.loads(run("width", two_questions, "--respondents", "5000", *joint, "--json", "-")[1])
    expected = expected_width(plan, ["tax", "drug"], 5000, prior=[0.1, 0.2, 0.1, 0.2, 0.3, 0.1], level=0.9)
    assert [row["width"] for row in found["tables"][0]["cells"]] == expected.tolist()
    code, out, _ = run("width", two_questions, "--respondents", "5000")
    assert (code, "If proportions are uniform" in out, "often" in out) == (0, True, True)
    code, out, _ = run("width", two_questions, "--respondents", "5000", "--attributes", "tax", "--prior", ".9,.1")
    assert (code, "If proportions are uniform" in out) == (0, False)


def test_the_width_of_a_measure(run, two_questions):
    asked = ("--attributes", "tax", "--prior", ".7,.3", "--derive", "entropy")
    code, out, _ = run("width", two_questions, "--respondents", "5000", *asked, "--json", "-")
    expected = expected_width(read_plan(two_questions), "tax", 5000, prior=[0.7, 0.3], functional=Entropy())
    assert (code, json.loads(out)["tables"][0]["cells"][0]["width"]) == (0, expected[0])


def test_respondents_for_a_margin_or_a_width(run, two_questions):
    plan = read_plan(two_questions)
    code, out, _ = run("respondents", two_questions, "--margin", ".03", "--json", "-")
    found = json.loads(out)
    needed = [respondents_needed(plan, name, 0.06) for name in ("tax", "drug")]
    assert (code, [table["respondents"] for table in found["tables"]]) == (0, needed)
    assert (found["respondents"], found["width"], found["margin"]) == (max(needed), 0.06, 0.03)
    code, out, _ = run("respondents", two_questions, "--width", ".06")
    assert (code, f"For everything: {max(needed):,} respondents." in out) == (0, True)
    given = ("--attributes", "tax", "--prior", ".9,.1")
    code, out, _ = run("respondents", two_questions, "--width", ".06", *given)
    assert (code, "If proportions are uniform" in out) == (0, False)


def test_long_tables_are_cut(run, tmp_path):
    path = str(tmp_path / "predicted.json")
    write_plan(new_plan(Schema([Attribute("many", range(50))]), odds=9), path)
    code, out, _ = run("width", path, "--respondents", "5000")
    assert (code, "10 more rows are in the JSON." in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("respondents",), "--margin or --width must be given, exactly one of them. Got none instead."),
        (("respondents", "--margin", ".1", "--width", ".1"), "--margin or --width must be given, exactly one of them."),
        (("respondents", "--margin", "-1"), "--margin must be a number above 0. Got -1.0 instead."),
        (("respondents", "--width", "0"), "--width must be a number above 0. Got 0.0 instead."),
        (("width", "--respondents", "0"), "--respondents must be a positive whole number. Got 0 instead."),
        (("width", "--respondents", "9", "--prior", ".5,.5"), "--attributes must be given with --prior or --derive."),
        (("width", "--respondents", "9", "--attributes", "sex"), "--attributes must be one of tax, drug, items."),
        (("width", "--respondents", "9", "--attributes", "tax", "--prior", ".5"), "--prior must"),
        (("width", "--respondents", "9", "--attributes", "tax", "--derive", "luck"), "--derive must be one of entropy"),
    ],
)
def test_mistakes_in_predictions_are_told(run, two_questions, arguments, message):
    command, *options = arguments
    code, out, err = run(command, two_questions, *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")


def test_widths_of_sets_of_items_are_not_predicted(run, tmp_path):
    path = str(tmp_path / "predicted.json")
    write_plan(new_plan(Schema([ItemSet("items", ["x", "y"])]), odds=9), path)
    code, _, err = run("width", path, "--respondents", "100")
    assert (code, "Got sets of items only instead" in err) == (2, True)
