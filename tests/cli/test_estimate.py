"""`sottovoce estimate`: from a disguised file to numbers for people and for programs."""

import json

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    people = ["yes,low", "no,low", "no,high", "no,high"] * 500
    (tmp_path / "t.csv").write_text("\n".join(["tax,income", *people]) + "\n")
    for command in (
        ("plan", "new", "t.csv", "--odds", "9:1", "-o", "plan.json"),
        ("disguise", "t.csv", "r.parquet", "--plan", "plan.json", "--seed", "1"),
        ("disguise", "t.csv", "r.csv", "--plan", "plan.json", "--seed", "1"),
    ):
        run(*command)
    return tmp_path


@pytest.mark.parametrize("path", ["r.parquet", "r.csv"])
def test_json_of_a_joint_estimate(run, path):
    code, out, _ = run("estimate", path, "--attributes", "tax,income", "--json", "-")
    told = json.loads(out)
    assert code == 0
    assert (told["attributes"], told["target"], told["method"]) == (["tax", "income"], "population", "inversion")
    assert told["respondents"] == 2000
    cells = {tuple(cell["values"].values()): cell for cell in told["cells"]}
    truth = {("no", "high"): 0.5, ("no", "low"): 0.25, ("yes", "high"): 0, ("yes", "low"): 0.25}
    for values, share in truth.items():
        assert abs(cells[values]["estimate"] - share) < 4.5 * cells[values]["standard_error"]
        assert cells[values]["low"] < cells[values]["estimate"] < cells[values]["high"]


def test_a_table_for_people_and_other_methods(run):
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax", "--target", "table", "--level", "0.9")
    assert (code, out.splitlines()[0]) == (0, "tax: 2000 reports, proportions in the table by inversion")
    assert "90% interval" in out
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax,income", "--method", "em", "--plan", "plan.json")
    assert (code, "by em, " in out) == (0, True)


def test_derived_measures(run):
    asked = ("--attributes", "tax,income", "--derive", "correlation,log-odds-ratio")
    code, out, _ = run("estimate", "r.csv", *asked, "--json", "-")
    told = json.loads(out)["derived"]
    assert code == 0
    assert told["correlation"]["low"] < 0.577 < told["correlation"]["high"]  # .25 / sqrt(.25 .75 .5 .5), low after high
    assert told["log-odds-ratio"]["reason"] is not None  # nobody in (yes, high)
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax", "--derive", "entropy,mean")
    assert (code, "mean: 0.2" in out) == (0, True)


@pytest.mark.parametrize("path", ["r.parquet", "r.csv"])
def test_another_plan_than_the_files_own_is_refused(run, path):
    run("plan", "new", "t.csv", "--odds", "4:1", "-o", "other.json")
    code, _, err = run("estimate", path, "--attributes", "tax", "--plan", "other.json")
    assert (code, err) == (
        2,
        "error: plan must be the one that the file was disguised under. Got 'other.json' instead.\n",
    )


def test_negative_estimates_are_explained(run, folder):
    (folder / "few.csv").write_text("tax,income\n" + "no,low\n" * 30)
    code, out, _ = run("estimate", "few.csv", "--attributes", "tax", "--plan", "plan.json")
    assert (code, "A negative estimate is noise" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--attributes", "shoe"), "error: name must be one of tax, income. Got 'shoe' instead."),
        (("--attributes", "tax", "--method", "magic"), "error: method must be one of inversion, blue, em, simplex"),
        (("--attributes", "tax", "--target", "world"), "error: target must be one of population, table"),
        (("--attributes", "tax", "--level", "95"), "error: level must be between 0 and 1"),
        (("--attributes", "tax", "--derive", "magic"), "error: derive must be one of entropy, mean"),
        (
            ("--attributes", "tax", "--derive", "correlation"),
            "error: derive must fit the attributes: corr",
        ),
    ],
)
def test_mistakes(run, arguments, message):
    code, _, err = run("estimate", "r.csv", *arguments)
    assert (code, message in err) == (2, True)
