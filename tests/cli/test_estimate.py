"""`sottovoce estimate`: from a disguised file to numbers for people and for programs."""

import json
import shutil

import pytest


@pytest.fixture(scope="module")
def files(tmp_path_factory, run_in):
    made = tmp_path_factory.mktemp("estimate")
    people = ["yes,low", "no,low", "no,high", "no,high"] * 500
    (made / "t.csv").write_text("\n".join(["tax,income", *people]) + "\n")
    run_in(
        made,
        ("plan", "new", "t.csv", "--odds", "9:1", "--purpose", "split", "-o", "plan.json"),
        ("disguise", "t.csv", "r.parquet", "--plan", "plan.json", "--seed", "1"),
        ("disguise", "t.csv", "r.csv", "--plan", "plan.json", "--seed", "1"),
    )
    return made


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, files):
    monkeypatch.chdir(shutil.copytree(files, tmp_path, dirs_exist_ok=True))
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
    assert told["log-odds-ratio"]["low"] > 0
    assert (told["log-odds-ratio"]["high"], told["log-odds-ratio"]["reason"]) == (None, None)  # nobody in (yes, high)
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax", "--derive", "entropy,mean", "--scores", "0,1")
    assert (code, "mean: 0.2" in out, " bits  [" in out) == (0, True, True)
    code, _, err = run("estimate", "r.csv", "--attributes", "tax", "--derive", "mean")
    assert (code, "error: --derive must suit the categories: those of tax are text" in err) == (2, True)
    code, _, err = run("estimate", "r.csv", "--attributes", "tax", "--derive", "entropy", "--scores", "0,1")
    assert (code, "error: --scores must come with --derive mean" in err) == (2, True)


@pytest.mark.parametrize("path", ["r.parquet", "r.csv"])
def test_another_plan_than_the_files_own_is_refused(run, path):
    run("plan", "new", "t.csv", "--odds", "4:1", "-o", "other.json")
    code, _, err = run("estimate", path, "--attributes", "tax", "--plan", "other.json")
    assert (code, err) == (
        2,
        "error: --plan must be the one that the file was disguised under. Got 'other.json' instead.\n",
    )


def test_negative_estimates_are_explained(run, folder):
    (folder / "few.csv").write_text("tax,income\n" + "no,low\n" * 5)
    code, out, _ = run("estimate", "few.csv", "--attributes", "tax", "--plan", "plan.json")
    assert (code, "A negative estimate is noise" in out) == (0, True)
    (folder / "few.csv").write_text("tax,income\n" + "no,low\n" * 90)
    code, out, _ = run("estimate", "few.csv", "--attributes", "tax", "--plan", "plan.json")
    assert (code, "90 of 90 reports speak for no, more than under any proportion" in " ".join(out.split())) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--attributes", "shoe"), "error: --attributes must be one of tax, income. Got 'shoe' instead."),
        (
            ("--attributes", "tax", "--method", "magic"),
            "error: --method must be one of best, inversion, blue, em, simplex",
        ),
        (("--attributes", "tax", "--target", "world"), "error: --target must be one of population, table"),
        (("--attributes", "tax", "--level", "95"), "error: --level must be between 0 and 1"),
        (("--attributes", "tax", "--derive", "magic"), "error: --derive must be one of entropy, mean"),
        (
            ("--attributes", "tax", "--derive", "correlation"),
            "error: --derive must fit the attributes: corr",
        ),
        (
            ("--attributes", "tax", "--by", "income", "--plot", "a.png"),
            "error: --plot must be used without --by",
        ),
        (("--attributes", "tax", "--independence"), "error: --independence must be used with two attributes"),
        (
            ("--attributes", "tax,income", "--independence", "--by", "town"),
            "error: --independence must be used",
        ),
    ],
)
def test_mistakes(run, arguments, message):
    code, _, err = run("estimate", "r.csv", *arguments)
    assert (code, message in err) == (2, True)


@pytest.fixture
def towns(folder):
    """A second wave, and the first with columns that were not disguised."""
    rows = (folder / "r.csv").read_text().splitlines()
    beside = [f"{row},{beside}" for row, beside in zip(rows[1:], ["N,1", "S,3"] * 1000, strict=True)]
    (folder / "towns.csv").write_text("\n".join([rows[0] + ",town,w", *beside]) + "\n")
    return ("estimate", "towns.csv", "--plan", "plan.json", "--attributes", "tax")


def test_score_and_bootstrap_intervals(run):
    asked = ("estimate", "r.csv", "--attributes", "tax,income", "--derive", "log-odds-ratio,mutual-information")
    code, out, _ = run(*asked, "--interval", "score", "--json", "-")
    told = json.loads(out)
    assert (code, told["interval"], min(cell["low"] for cell in told["cells"])) == (0, "score", 0)
    assert told["derived"]["mutual-information"]["method"] == "profile likelihood"
    repeated = [run(*asked, "--interval", "bootstrap", "--seed", "3", "--json", "-")[1] for _ in range(2)]
    assert repeated[0] == repeated[1]
    told = json.loads(repeated[0])
    assert told["interval"] == "bootstrap"
    information = told["derived"]["mutual-information"]
    assert information["method"] == "bootstrap"
    assert information["low"] < 0.3113 < information["high"]  # H(1/4) - H(1/2) / 2 bits
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax", "--interval", "bootstrap")
    assert (code, "95% interval (bootstrap)" in out) == (0, True)


def test_pictures(run, folder):
    for kind, name in (("wald", "tax.svg"), ("score", "bounded.svg")):
        run("estimate", "r.parquet", "--attributes", "tax", "--interval", kind, "--plot", name)
        assert (folder / name).read_text().startswith("<?xml")
    assert (folder / "tax.svg").read_text() != (folder / "bounded.svg").read_text()


def test_intervals_that_hold_at_once(run):
    asked = ("estimate", "r.csv", "--attributes", "tax,income")
    wald = ("--interval", "wald", "--json", "-")
    apart, together = (json.loads(run(*asked, *more, *wald)[1]) for more in ((), ("--simultaneous",)))
    assert (apart.get("simultaneous"), together["simultaneous"]) == (None, True)
    widths = [told["cells"][0]["high"] - told["cells"][0]["low"] for told in (apart, together)]
    assert widths[1] / widths[0] == pytest.approx(2.4977 / 1.95996, rel=1e-4)  # normal quantiles, 5 % over 4 cells
    code, out, _ = run(*asked, "--simultaneous", "--interval", "score", "--level", ".975")
    assert (code, "97.5% interval" in out, "(score," in out, "simultaneous)" in out) == (0, True, True, True)


def test_independence(run, towns):
    code, _, err = run(*towns[:-1], "tax,income", "--strata", "town", "--independence")
    assert (code, "error: --independence must be used without --weights or --strata" in err) == (2, True)
    asked = ("estimate", "r.csv", "--attributes", "tax,income", "--independence")
    told = json.loads(run(*asked, "--json", "-")[1])["independence"]
    assert (told["attributes"], told["degrees"], told["p_value"] < 1e-4) == (["tax", "income"], 1, True)
    assert "independence of tax and income: statistic" in run(*asked)[1]


def test_many_cells_are_not_all_printed(run, monkeypatch):
    monkeypatch.setattr("sottovoce.cli.estimate.MOST_ROWS", 3)
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax,income")
    assert (code, out.splitlines()[-1]) == (0, "1 more cells are in the JSON.")


def test_what_is_not_a_number_is_null(run, folder):
    """One cell holds all: a log odds ratio is not defined, and JSON has no NaN."""
    (folder / "few.csv").write_text("tax,income\n" + "no,low\n" * 30)
    asked = ("estimate", "few.csv", "--plan", "plan.json", "--attributes", "tax,income", "--derive", "log-odds-ratio")
    code, out, _ = run(*asked, "--json", "-")
    told = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert (code, told["derived"]["log-odds-ratio"]["value"]) == (0, None)
    assert "log odds ratio: nan  [-inf, inf], by profile likelihood" in run(*asked)[1]


def test_weights(run, towns):
    code, out, _ = run(*towns, "--weights", "w", "--json", "-")
    assert (code, json.loads(out)["effective_respondents"]) == (0, pytest.approx(4000**2 / 10_000))
    code, out, _ = run(*towns, "--weights", "w")
    assert out.startswith("tax: 2000 reports (worth 1600.0 of equal weight), proportions in the population")


def test_groups(run, towns):
    code, out, _ = run(*towns, "--by", "town", "--json", "-")
    told = json.loads(out)
    assert (code, told["by"], list(told["groups"])) == (0, "town", ["N", "S"])
    assert told["groups"]["N"]["respondents"] == 1000
    assert told["comparison"]["degrees"] == 1
    code, out, _ = run(*towns, "--by", "town")
    assert (code, "town: N\ntax: 1000 reports" in out, "all alike: statistic" in out) == (0, True, True)
    code, out, _ = run(*towns, "--by", "town", "--method", "em", "--json", "-")
    assert (code, json.loads(out)["comparison"]) == (0, None)


def test_strata(run, towns):
    code, out, _ = run(*towns, "--strata", "town", "--json", "-")
    plain = json.loads(run(*towns, "--json", "-")[1])
    told = json.loads(out)
    assert (code, told["method"]) == (0, "inversion, 2 strata")
    assert told["cells"][0]["estimate"] == pytest.approx(plain["cells"][0]["estimate"])
    groups = json.loads(run(*towns, "--by", "town", "--json", "-")[1])["groups"]
    code, out, _ = run(*towns, "--strata", "town", "--shares", "N=.9,S=.1", "--json", "-")
    expected = 0.9 * groups["N"]["cells"][0]["estimate"] + 0.1 * groups["S"]["cells"][0]["estimate"]
    assert json.loads(out)["cells"][0]["estimate"] == pytest.approx(expected)


def test_waves(run, folder):
    """The same people through other coins and another plan: nothing differs."""
    run("plan", "new", "t.csv", "--odds", "4:1", "-o", "other.json")
    run("disguise", "t.csv", "second.parquet", "--plan", "other.json", "--seed", "2")
    code, out, _ = run("estimate", "r.csv", "--attributes", "tax", "--against", "second.parquet", "--json", "-")
    told = json.loads(out)
    assert (code, set(told)) == (0, {"first", "second", "comparison"})
    assert told["comparison"]["p_value"] > 1e-4
    (folder / "bare.csv").write_text((folder / "r.csv").read_text())
    code, out, _ = run(
        "estimate", "r.csv", "--attributes", "tax", "--against", "bare.csv", "--plan", "plan.json", "--target", "table"
    )
    assert (code, "differences in the table" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--interval", "magic"), "error: --interval must be one of default, exact, score, profile, wald, bootstrap"),
        (("--by", "town", "--strata", "town"), "error: --by, --strata and --against must not be used together"),
        (("--shares", "N=1"), "error: --shares must come with --strata"),
        (("--strata", "town", "--shares", "half"), "error: --shares must look like NAME=SHARE"),
        (("--strata", "town", "--shares", "N=.5,N=.5"), "error: --shares must look like NAME=SHARE"),
        (("--strata", "town", "--shares", "N=1"), "error: --shares must be of the strata ['N', 'S']"),
        (
            ("--weights", "town"),
            "error: --weights must be finite numbers that are not negative; row 1. Got 'N'",
        ),
        (("--by", "tax"), "error: --by must be a column that was not disguised"),
    ],
)
def test_mistakes_with_other_columns(run, towns, arguments, message):
    code, _, err = run(*towns, *arguments)
    assert (code, message in err) == (2, True)
