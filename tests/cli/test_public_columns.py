"""Public columns on the command line: named in a plan, passed on by a disguise, told as not protected."""

import json

import pytest

from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute
from sottovoce.tables.plan_file import read_plan

LINES = [f"{('yes', 'no')[i % 2]},{('north', 'south')[i % 3 == 0]},{1 + i / 10},id{i}" for i in range(12)]
CSV = "\n".join(["tax,region,weight,id", *LINES]) + "\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(CSV)
    return tmp_path


def made(run, *more: str) -> tuple[int, str, str]:
    arguments = ("plan", "new", "answers.csv", "--columns", "tax", "--odds", "3", "-o", "plan.json")
    return run(*arguments, "--public", "region,weight", *more)


def test_a_plan_names_its_public_columns(run):
    code, out, _ = made(run)
    assert code == 0
    plan = read_plan("plan.json")
    assert (plan.schema.names, plan.guarantee.odds) == (("tax",), 3)
    assert plan.public == (Attribute("region", ["north", "south"]), PublicNumber("weight"))
    assert out.startswith(
        "Whole record: 3 : 1 (epsilon 1.09862), given the public answers\nNot protected, and passed on"
    )
    assert "Public, not protected: region, weight\n" in out
    assert run("plan", "show", "plan.json")[1].startswith("Whole record: 3 : 1")


def test_json_lists_public_columns(run):
    assert made(run)[0] == 0
    shown = json.loads(run("plan", "show", "plan.json", "--json", "-")[1])
    assert [column["name"] for column in shown["public"]] == ["region", "weight"]
    assert shown["plan"]["version"] == 2
    assert "Given the public answers" in shown["promise"]
    arguments = ("disguise", "answers.csv", "r.csv", "--plan", "plan.json", "--drop", "id")
    code, out, err = run(*arguments, "--json", "-")
    told = json.loads(out)
    assert (code, told["rows"], told["small_combinations"]) == (0, 12, 1)
    assert "Passed on as they are, not protected: region, weight." in err
    assert "warning: 1 combination of public answers is held by fewer than 5 rows (region)" in err


def test_reports_keep_public_columns_and_are_not_disguised_again(run, folder):
    assert made(run)[0] == 0
    assert run("disguise", "answers.csv", "r.csv", "--plan", "plan.json", "--drop", "id")[0] == 0
    header, *rows = (folder / "r.csv").read_text().splitlines()
    assert header == "tax,region,weight"
    expected = [line.split(",") for line in LINES]
    assert [row.split(",")[1] for row in rows] == [line[1] for line in expected]
    assert [float(row.split(",")[2]) for row in rows] == [float(line[2]) for line in expected]
    code, _, err = run("disguise", "r.csv", "s.csv", "--plan", "plan.json")
    assert (code, "error: IN must not be disguised already; it was, under the plan" in err) == (2, True)
    assert run("disguise", "r.csv", "s.csv", "--plan", "plan.json", "--again")[0] == 0
    assert run("estimate", "r.csv", "--attributes", "tax", "--by", "region")[0] == 0
    assert run("estimate", "r.csv", "--attributes", "tax", "--weights", "weight")[0] == 0


def test_a_public_column_that_is_not_there(run):
    arguments = ("plan", "new", "answers.csv", "--columns", "tax", "--odds", "3", "-o", "plan.json")
    code, _, err = run(*arguments, "--public", "town")
    assert (code, "error: --public must be columns of the table (tax, region, weight, id)" in err) == (2, True)
