"""`sottovoce design goals`: the thesis' first row, for people and programs."""

import json

import pytest

FIRST = ("--density", ".01", "--transactions", "1000000", "--breach", ".06", "--error", ".03", "--slowdown", "5")


def test_table_3_1_as_json(run):
    """Agrawal (2004), Table 3.1: g = .2507, breach .075, error .0375."""
    code, out, err = run("design", "goals", *FIRST, "--json", "-")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["attainment"] == pytest.approx(0.2507, abs=1e-4)
    assert (found["breach"], found["error"]) == pytest.approx((0.075, 0.0375), abs=1e-4)
    assert found["tie"] == "odds"
    assert found["odds"] == min(coins["odds"] or 1e99 for coins in found["equal_optima"])


def test_a_table_for_people(run):
    code, out, _ = run("design", "goals", *FIRST, "--tie", "pair-error")
    assert code == 0
    assert "Best, with the smallest pair-error" in out
    assert "Attainment 0.2507: all goals are missed by the same multiple of their weights." in out
    easy = ("--density", ".01", "--transactions", "1e8", "--breach", ".2", "--error", ".1", "--slowdown", "9")
    assert "all goals are met" in run("design", "goals", *easy, "--weights", "1,1,1")[1]


def test_a_breach_below_the_support_is_never_met(run):
    """Without any report an item is guessed as often as it is held: no coins can promise less."""
    code, out, _ = run("design", "goals", *FIRST, "--breach", ".005")
    assert code == 0
    assert "No probabilities have a breach below .01, the average support" in out
    assert "No probabilities" not in run("design", "goals", *FIRST)[1]


def test_mistakes_are_told(run):
    code, _, err = run("design", "goals", *FIRST, "--weights", "0,0,1")
    assert code == 2
    assert "the nearest feasible value is 0.0431417" in err
    assert "--tie must be one of" in run("design", "goals", *FIRST, "--tie", "luck")[2]
