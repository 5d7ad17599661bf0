"""`sottovoce tally`: count files, merge tallies, and estimate from them as from the files."""

import json
import shutil

import pytest


@pytest.fixture(scope="module")
def files(tmp_path_factory, run_in):
    made = tmp_path_factory.mktemp("tally")
    people = ["yes,low,n", "no,low,n", "no,high,s", "no,high,s"] * 500
    (made / "t.csv").write_text("\n".join(["tax,income,region", *people]) + "\n")
    plan = ("plan", "new", "t.csv", "--odds", "9:1", "--public", "region")
    run_in(
        made,
        (*plan, "-o", "plan.json"),
        (*plan, "--purpose", "split", "-o", "other-plan.json"),
        ("disguise", "t.csv", "a.parquet", "--plan", "plan.json", "--seed", "1"),
        ("disguise", "t.csv", "b.csv", "--plan", "plan.json", "--seed", "2"),
        ("disguise", "t.csv", "other.csv", "--plan", "other-plan.json", "--seed", "2"),
    )
    return made


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, files):
    monkeypatch.chdir(shutil.copytree(files, tmp_path, dirs_exist_ok=True))
    return tmp_path


def result(run, *command):
    code, out, err = run(*command, "--json", "-")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("suffix", ["json", "arrow"])
def test_a_tally_gives_what_its_files_give(run, suffix):
    tally = f"a.{suffix}"
    code, out, _ = run("tally", "a.parquet", "-o", tally)
    assert code == 0
    assert (
        out.splitlines()[0]
        == f"2000 reports in {tally}, disguised at 9 : 1 (epsilon 2.19723), given the public answers"
    )
    for options in (
        ("--attributes", "tax,income"),
        ("--attributes", "tax", "--by", "region"),
        ("--attributes", "tax,income", "--independence"),
    ):
        assert result(run, "estimate", tally, *options) == result(run, "estimate", "a.parquet", *options)
    found, expected = (result(run, "mine", "itemsets", path, "--min-support", "0.2") for path in (tally, "a.parquet"))
    assert found == expected
    for options in (("--label", "tax", "--test", "b.csv"), ("--label", "tax", "--model", "tree")):
        assert result(run, "mine", "classify", tally, *options) == result(
            run, "mine", "classify", "a.parquet", *options
        )
    code, _, err = run("mine", "classify", "a.parquet", "--label", "tax", "--test", tally)
    assert (code, err.strip()) == (
        2,
        f"error: --test must be a disguised file; tallies can be trained on only. Got '{tally}' instead.",
    )


def test_files_and_tallies_add_up(run):
    run("tally", "a.parquet", "-o", "a.json")
    whole = result(run, "tally", "a.parquet", "b.csv", "-o", "whole.json")
    assert result(run, "tally", "a.json", "b.csv", "-o", "mixed.arrow") == whole
    run("tally", "b.csv", "-o", "b.json", "--plan", "plan.json")
    assert result(run, "tally", "a.json", "b.json", "-o", "merged.json") == whole
    assert whole["reports"] == "4000"
    assert result(run, "estimate", "whole.json", "--attributes", "tax")["respondents"] == 4000
    assert run("estimate", "a.json", "--attributes", "tax", "--against", "b.json")[0] == 0
    few = result(run, "tally", "a.parquet", "--attributes", "tax,region", "-o", "few.json")
    assert few["columns"] == ["tax", "region"]


def test_sets_of_items(run, folder):
    baskets = "\n".join(["basket", *["ale;bread", "ale", "ale", "bread"] * 50]) + "\n"
    (folder / "baskets.csv").write_text(baskets)
    code, _, err = run("plan", "new", "baskets.csv", "--items", "basket", "--coins", ".9,.8", "-o", "basket-plan.json")
    assert code == 0, err
    assert run("disguise", "baskets.csv", "reports.csv", "--plan", "basket-plan.json")[0] == 0
    code, out, _ = run("tally", "reports.csv", "--itemset", "ale,bread", "-o", "sets.json")
    assert (code, len(out.splitlines())) == (0, 1)
    assert len(json.loads((folder / "sets.json").read_text())["sets"]) == 3


def test_many_combinations_are_shortened(run, folder):
    rows = [f"{a},{b}" for a in range(8) for b in range(8)] * 20
    (folder / "many.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    run("plan", "new", "many.csv", "--odds", "9:1", "--purpose", "joint", "-o", "many-plan.json")
    run("disguise", "many.csv", "many-reports.csv", "--plan", "many-plan.json", "--seed", "1")
    _, out, _ = run("tally", "many-reports.csv", "-o", "many.json")
    assert out.splitlines()[-1] == "24 more combinations are in the file."


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("a.parquet", "-o", "a.csv"), "--output must end in .json or .arrow. Got 'a.csv'"),
        (("a.parquet", "-o", "plan.json"), "--output must not exist yet"),
        (
            ("a.parquet", "other.csv", "-o", "x.json"),
            "FILE... must have been disguised under the plan of the tally",
        ),
        (("a.parquet", "--attributes", "wage", "-o", "x.json"), "--attributes must be among tax, income, region"),
        (
            ("a.parquet", "--itemset", "ale", "-o", "x.json"),
            "--itemset must come with a plan that has one attribute",
        ),
        (
            ("a.parquet", "--plan", "other-plan.json", "-o", "x.json"),
            "--plan must be the one that the file was disg",
        ),
        (("plan.json", "-o", "x.json"), "error: plan.json must be a saved tally"),
        (("a.parquet", "b.csv", "./a.parquet", "-o", "x.json"), "FILE... must be different files, lest reports are co"),
        (("a.parquet", "-o", "nowhere/x.json"), "--output must be in a folder that exists"),
        (("missing.parquet", "-o", "x.json"), "missing.parquet"),
    ],
)
def test_bad_input_leaves_nothing_behind(run, folder, command, message):
    code, _, err = run("tally", *command)
    assert code == 2
    assert message in err
    assert not (folder / "x.json").exists()


def test_tallies_of_other_plans_and_attributes(run):
    run("tally", "a.parquet", "-o", "a.json")
    run("tally", "other.csv", "-o", "other.json")
    for command, message in (
        (("tally", "a.json", "other.json", "-o", "x.json"), "FILE... must have the same plan"),
        (("tally", "a.json", "--plan", "other-plan.json", "-o", "x.json"), "--plan must be that of the tally"),
        (
            ("tally", "a.json", "--attributes", "tax", "-o", "x.json"),
            "--attributes must be left out where tallies",
        ),
        (("tally", "a.json", "--itemset", "tax", "-o", "x.json"), "--itemset must be left out where tallies"),
        (
            ("estimate", "a.json", "--attributes", "tax", "--plan", "other-plan.json"),
            "--plan must be that of the tally",
        ),
    ):
        code, _, err = run(*command)
        assert code == 2
        assert message in err
