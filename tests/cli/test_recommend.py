"""`sottovoce recommend`: words, tables, JSON, pictures, plans, mistakes."""

import json

import pytest

from sottovoce.tables.plan_file import read_plan

DRUG = ("--attribute", "drug=8", "--odds", "3:1", "--respondents", "5000")
RARE = ("--attribute", "d=6", "--prior", ".9,.02,.02,.02,.02,.02", "--prior-source", "public: census 2021")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


def test_a_recommendation_in_words_with_its_plan_and_picture(run, folder):
    code, out, err = run("recommend", *DRUG, "-o", "plan.json", "--plot", "bars.png", "--json", "found.json")
    assert (code, err) == (0, "")
    assert out.startswith("Ask every respondent about 'drug'. The report is a set of categories that contains the true")
    assert "it gains 19% over plain randomized response in error variance" in out
    assert "subset selection *" in out
    assert read_plan("plan.json").groups[0].scheme == "subset_selection"
    assert read_plan("plan.json").schema["drug"].categories == tuple("12345678")
    assert (folder / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "found.json").read_text())["recommended"] == "subset selection"
    assert run("recommend", *DRUG, "-o", "plan.json")[0] == 2  # it exists
    assert run("recommend", *DRUG, "-o", "plan.json", "--force")[0] == 0


def test_a_prior_its_source_and_the_warning(run):
    code, out, _ = run("recommend", *RARE, "--odds", "3", "--respondents", "5000", "-o", "plan.json")
    assert code == 0
    assert "Warning: 'd' relies on the prior." in out
    assert read_plan("plan.json").prior.note == "census 2021"


def test_several_attributes_as_json(run):
    given = ("--attribute", "tax=no,yes", "--items", "drugs=x,y", "--epsilon", "2", "--respondents", "900")
    code, out, err = run("recommend", *given, "--purpose", "pairs", "--level", ".9", "--json", "-")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["purpose"], found["level"]) == ("pairs", 0.9)
    assert found["widths"][0]["columns"] == ["tax", "drugs: x"]
    assert found["epsilon"] <= 2


def test_the_smallest_epsilon_for_a_margin_of_error(run):
    code, out, err = run("recommend", "--attribute", "tax=no,yes", "--respondents", "5000", "--margin", ".03")
    assert (code, err) == (0, "")
    assert "(epsilon 1)" in out
    assert "The margin of error is at most 0.03, whatever the truth is." in out
    budget = ("--odds", "3", "--prior", "worst", "--json", "-")
    found = json.loads(run("recommend", "--attribute", "d=5", "--respondents", "5000", *budget)[1])
    assert found["worst_case"] is True
    assert found["margin"] == found["widths"][0]["widest"] / 2 > found["widths"][0]["typical"] / 2


def test_columns_of_a_table(run, folder):
    (folder / "answers.csv").write_text("tax,age,name\nyes,23,a\nno,45,b\nno,70,c\n")
    bins = ("--columns", "tax,age", "--bins", "age=18,40,65,inf")
    code, out, _ = run("recommend", "answers.csv", *bins, "--odds", "9", "--respondents", "500")
    assert (code, "'tax', 'age'" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (),
            "TABLE or --attribute must be given: a table, or attributes with their categories",
        ),
        (("x.csv", "--attribute", "a=2"), "TABLE or --attribute must be given"),
        (("--attribute", "a"), "--attribute must look like NAME=A,B,.... Got 'a' instead."),
        (("--items", "=a"), "--items must look like NAME=A,B,.... Got '=a' instead."),
        (("--attribute", "a=2", "--purpose", "fun"), "--purpose must be one of marginals, pairs, triples, joint"),
        (("--attribute", "a=2", "--prior", ".5,.5"), "--prior-source must say where the prior is from"),
        (("--attribute", "a=2", "--prior", "a=x"), "--prior must look like NAME=.7,.2,.1. Got 'a=x' instead."),
        (("--attribute", "a=2", "--margin", ".1"), "--margin must be left out where odds or epsilon are given"),
        (("--attribute", "a=2", "--level", "2"), "--level must be between 0 and 1, both excluded. Got 2.0 instead."),
    ],
)
def test_mistakes_are_told(run, arguments, message):
    code, out, err = run("recommend", *arguments, "--odds", "3", "--respondents", "100")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
