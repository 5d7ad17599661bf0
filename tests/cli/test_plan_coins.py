"""`sottovoce plan new` for sets of items: coins given, and budgets where there are too many items for one."""

import json

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("basket,day\nale;bread,1\n,2\ncheese,1\nale,2\n")
    (tmp_path / "wide.csv").write_text("basket\n" + ";".join(map(str, range(63))) + "\n")
    return tmp_path


def test_coins_of_items(run, folder):
    """From a CSV file to itemsets without a line of Python; the odds of one item are max(.9 / .2, .8 / .1) = 8."""
    new = ("plan", "new", "t.csv", "--items", "basket", "--columns", "basket", "--coins", ".9,.8")
    code, out, err = run(*new, "-o", "p.json", "--json", "-")
    assert (code, err.startswith("\nWritten to p.json")) == (0, True)
    found = json.loads(out)
    assert found["one_answer"]["odds"] == "8"
    assert found["plan"]["schema"] == [{"kind": "items", "name": "basket", "items": ["ale", "bread", "cheese"]}]
    assert run("disguise", "t.csv", "r.csv", "--plan", "p.json", "--drop", "day")[0] == 0
    code, out, _ = run("mine", "itemsets", "r.csv", "--min-support", ".9", "--json", "-")
    assert (code, json.loads(out)["respondents"]) == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("t.csv", "--coins", ".9,.8"),
            "error: --coins must be for columns of sets (see --items and --columns). Got ['day']",
        ),
        (("t.csv", "--columns", "basket", "--coins", ".9"), "error: --coins must be two probabilities, P,Q. Got '.9'"),
        (("t.csv", "--columns", "basket", "--coins", ".3,.7"), "error: --coins must not be 1 - q = 0.3"),
        (
            ("t.csv", "--columns", "basket", "--coins", ".9,.8", "--odds", "9"),
            "error: --coins must be given without a budget: the odds follow from the coins. Got '.9,.8'",
        ),
        (
            ("wide.csv", "--odds", "9"),
            "error: --coins must be given for 'basket', which has 63 items; see",
        ),
        (("t.csv", "--items", "baskets", "--odds", "9"), "error: --items must be columns of the table (basket, day)"),
    ],
)
def test_refused(run, arguments, message):
    items = () if "--items" in arguments else ("--items", "basket")
    code, _, err = run("plan", "new", *arguments, *items, "-o", "p.json")
    assert code == 2
    assert err.startswith(message)


def test_a_budget_for_few_items(run):
    code, out, _ = run("plan", "new", "t.csv", "--items", "basket", "--odds", "9", "-o", "p.json", "--json", "-")
    assert (code, json.loads(out)["odds"]) == (0, "9")
