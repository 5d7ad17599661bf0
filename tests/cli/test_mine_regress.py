"""`sottovoce mine regress`: from a disguised file to a table of coefficients."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.plans.public import PublicNumber
from sottovoce.tables.plan_file import write_plan

FORMULA = "evaded ~ age + C(region)"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"region": rng.choice(["north", "south"], 2000), "age": rng.integers(18, 80, 2000)})
    people["evaded"] = rng.random(2000) < 1 / (1 + np.exp(2 - 0.04 * people.age))
    people["ward"] = np.arange(2000) // 20
    plan = sv.plan(people[["evaded", "region"]], odds=9, public=["region"], purpose="split")
    plan = plan.with_public([*plan.public, PublicNumber("age"), PublicNumber("ward")])
    for name in ("reports.csv", "reports.parquet"):
        sv.disguise(people, plan, rng=2).save(name)
    write_plan(plan, "plan.json")
    return tmp_path


def test_json_is_the_librarys(run):
    code, out, err = run("mine", "regress", "reports.parquet", "--formula", FORMULA, "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out) == sv.read("reports.parquet").regress(FORMULA).to_json()


def test_a_table_of_coefficients(run):
    arguments = ["--formula", FORMULA, "--clusters", "ward", "--level", ".9", "--plot", "coefficients.svg"]
    code, out, err = run("mine", "regress", "reports.csv", *arguments)
    assert (code, err) == (0, "")
    for text in ("standard errors by scores of clusters", "C(region)[T.south]", "90% interval", "log-likelihood"):
        assert text in out
    assert "<svg" in Path("coefficients.svg").read_text()


def test_formats_agree(run):
    found = [
        json.loads(run("mine", "regress", file, "--formula", FORMULA, "--json", "-", "--plan", "plan.json")[1])
        for file in ("reports.csv", "reports.parquet")
    ]
    rows = [[row["estimate"] for row in each["coefficients"]] for each in found]
    assert rows[0] == pytest.approx(rows[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--formula", "evaded ~ agee"], "--formula must name attributes and columns of the table"),
        (["--formula", FORMULA, "--family", "gamma"], "--family must be one of"),
        (["--formula", FORMULA, "--weights", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_name_the_option(run, arguments, message):
    code, _, err = run("mine", "regress", "reports.csv", *arguments)
    assert code == 2
    assert message in err
