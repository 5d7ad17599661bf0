"""`sottovoce plan audit`: a table for people, JSON for programs, an exit code for both."""

import json

import pytest

from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner
from sottovoce.tables.plan_file import write_plan

SCHEMA = Schema([boolean("tax"), boolean("theft")])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_plan(Plan.of(SCHEMA, {"tax": Warner(p=3 / 4), "theft": Warner(p=1)}), "open.json")
    write_plan(Plan.of(SCHEMA, {"tax": Warner(p=3 / 4), "theft": Warner(p=4 / 5)}), "plan.json")
    return tmp_path


def test_a_sound_plan_passes(run):
    code, out, _ = run("plan", "audit", "plan.json", "--seed", "1")
    assert code == 0
    assert out.count("confirmed") == 2
    assert "Passed at level 0.99: whole record epsilon 2.48491, at least 2." in out  # ln(3 x 4)


def test_a_zero_is_shown(run):
    code, out, _ = run("plan", "audit", "open.json", "--seed", "1")
    assert (code, "zero shown" in out) == (0, True)


def test_a_violation_is_said_and_exits_with_one(run, monkeypatch):
    monkeypatch.setattr(Diagonal, "respond", lambda self, truth, flips: truth)
    code, out, _ = run("plan", "audit", "plan.json", "--samples", "1000", "--seed", "1")
    assert (code, out.count("VIOLATED")) == (1, 3)
    assert "tax: report 0 is at least" in out


def test_json(run, folder):
    arguments = ("plan.json", "--seed", "1", "--level", "0.999", "--samples", "5000")
    code, out, err = run("plan", "audit", *arguments, "--json", "-")
    told = json.loads(out)
    assert (code, set(told)) == (0, {"passed", "level", "epsilon", "lower_bound", "groups"})
    assert (told["level"], [group["samples"] for group in told["groups"]]) == (0.999, [5000, 5000])
    assert "Passed" in err
    assert run("plan", "audit", *arguments, "--json", "told.json")[0] == 0
    assert json.loads((folder / "told.json").read_text()) == told


def test_mistakes_are_told(run):
    code, _, err = run("plan", "audit", "plan.json", "--level", "1")
    assert (code, "error: --level must be between 0 and 1, both excluded. Got 1.0 instead." in err) == (2, True)
