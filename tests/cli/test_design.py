"""`sottovoce design`: points and fronts for people and programs, pictures, plans."""

import json

import numpy as np
import pytest

from sottovoce.cli import design
from sottovoce.cli.app import command
from sottovoce.designs.front import Front
from sottovoce.tables.plan_file import read_plan

THREE = ("--prior", ".5,.3,.2", "--respondents", "1000")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def points(run, *arguments: str) -> list[dict]:
    code, out, err = run("design", *arguments, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)["points"]


def test_the_reference_point_as_json(run):
    """OPTIMAL.md: normal prior of ten categories, delta .75, accuracy .5: 2.114e-5."""
    normal = ("--prior-name", "normal", "--categories", "10", "--respondents", "10000")
    (point,) = points(run, "--objective", "mse", *normal, "--delta", ".75", "--accuracy", ".5", "--method", "certified")
    assert point["mse"] == pytest.approx(2.114e-5, rel=2e-4)
    assert 0 <= point["gap"] < 1e-6
    assert point["lower_bound"] <= point["mse"]
    assert (point["epsilon"], point["distortion"]) == (None, None)  # not deniable; reports are no categories
    assert np.array(point["matrix"]).sum(axis=0) == pytest.approx(np.ones(10))
    assert point["channel"]["scheme"] == "matrix"


def test_several_levels_and_whole_fronts(run):
    two = points(run, *THREE, "--delta", ".75", "--accuracy", ".6,.7")
    assert [point["adversary_accuracy"] for point in two] == [pytest.approx(0.7), pytest.approx(0.6)]
    assert len(points(run, *THREE, "--delta", ".75", "--points", "4")) == 4
    (best,) = points(run, *THREE, "--epsilon", "1")  # the least error there is for an epsilon
    traded = points(run, *THREE, "--epsilon", "1", "--points", "3")  # and, where asked for, a front below it
    assert traded[0] == best
    assert len(traded) == 3
    under_odds = points(run, *THREE, "--odds", "3:1", "--points", "3")
    assert len(under_odds) == 3
    assert all(point["epsilon"] <= np.log(3) for point in under_odds)


def test_help_says_how_many_points_there_are(run):
    code, out, _ = run("design", "--help")
    assert code == 0
    assert "Bounds on accuracy or distortion give one point each" in out


def test_information(run):
    front = points(run, "--objective", "information", *THREE, "--epsilon", "1", "--points", "4")
    assert [point["mutual_information"] for point in front] == sorted(
        (p["mutual_information"] for p in front), reverse=True
    )
    (point,) = points(run, "--objective", "information", *THREE, "--epsilon", "1", "--distortion", ".45")
    assert point["lower_bound"] == pytest.approx(point["mutual_information"], rel=1e-6)
    assert point["distortion"] <= 0.45 * (1 + 1e-9)
    (warner,) = points(
        run, "--objective", "information", *THREE, "--epsilon", "1", "--distortion", ".45", "--method", "warner"
    )
    assert warner["mutual_information"] > point["mutual_information"]
    swept = points(run, "--objective", "information", *THREE, "--epsilon", "1", "--method", "warner", "--points", "99")
    assert {point["lower_bound"] for point in swept} == {None}


def test_sweeps(run):
    least = points(run, *THREE, "--epsilon", "1")[0]["mse"]
    for method in ("warner", "subset", "unary"):
        (one,) = points(run, *THREE, "--epsilon", "1", "--method", method)
        assert one["mse"] >= least * (1 - 1e-9)
        (guessed,) = points(run, *THREE, "--accuracy", ".6", "--method", method)
        assert guessed["adversary_accuracy"] <= 0.6 + 1e-9
        front = points(run, *THREE, "--delta", ".75", "--points", "9", "--method", method)
        assert all(point["worst_posterior"] <= 0.75 + 1e-9 for point in front)
    assert len(points(run, *THREE, "--method", "warner")) == 551
    assert len(points(run, *THREE, "--method", "subset")) == 31  # at epsilon .25 guesses are .5, as at .5


def test_searches(run):
    search = ("--method", "optrr", "--seed", "1", "--generations", "2")
    front = points(run, *THREE, "--delta", ".75", *search)
    assert all(point["worst_posterior"] <= 0.75 + 1e-9 for point in front)
    assert {point["lower_bound"] for point in front} == {None}
    assert points(run, *THREE, "--delta", ".75", *search, "--points", "2") == [front[0], front[-1]]
    swarm = ("--objective", "information", *THREE, "--method", "mopso", "--odds", "3", "--generations", "2")
    assert all(point["epsilon"] <= np.log(3) for point in points(run, *swarm))
    (told,) = points(run, *swarm, "--seed", "1", "--distortion", ".5")
    assert told["distortion"] <= 0.5 + 1e-9


@pytest.mark.slow
def test_searches_are_repeated_and_picked_from(run):
    search = ("--method", "optrr", "--seed", "1", "--generations", "12")
    front = points(run, *THREE, "--delta", ".75", *search)
    assert points(run, *THREE, "--delta", ".75", *search) == front
    assert points(run, *THREE, "--delta", ".75", *search, "--points", "999") == front
    picked = points(run, *THREE, *search, "--accuracy", ".6,.7")
    assert [point["adversary_accuracy"] <= level for point, level in zip(picked, (0.7, 0.6), strict=True)] == [True] * 2


def test_a_table_for_people(run, folder):
    code, out, err = run("design", *THREE, "--delta", ".75", "--points", "3", "--json", "front.json", "--plot", "f.png")
    assert (code, err) == (0, "")
    assert "information" in out
    assert "Not deniable where epsilon is inf" in out
    assert "no channel within the same bounds has less error" in out
    assert (folder / "f.png").read_bytes().startswith(b"\x89PNG")
    front = Front.from_json(json.loads((folder / "front.json").read_text()))
    assert (front.name, len(front)) == ("certified", 3)


def test_long_fronts_are_thinned_for_people(run):
    code, out, _ = run("design", *THREE, "--method", "warner")
    assert (code, "Every 14th of 551 points; the JSON has all." in out) == (0, True)
    assert "no channel" not in out


def test_a_point_becomes_a_plan(run):
    plan = ("--plan", "plan.json", "--attribute", "drug")
    code, _, err = run(
        "design", *THREE, "--epsilon", "1", *plan, "--labels", "never,once,often", "--prior-source", "pilot: May"
    )
    assert (code, err) == (0, "")
    written = read_plan("plan.json")
    assert written.schema["drug"].categories == ("never", "once", "often")
    assert (written.groups[0].scheme, written.prior.source, written.prior.note) == ("matrix", "pilot", "May")
    assert 0.999999 < written.guarantee.epsilon <= 1
    named = (
        "--prior-name",
        "zipf",
        "--categories",
        "4",
        "--respondents",
        "1000",
        "--method",
        "warner",
        "--accuracy",
        ".6,.7",
    )
    assert run("design", *named, *plan, "--point", "2", "--force")[0] == 0
    assert read_plan("plan.json").schema["drug"].categories == ("1", "2", "3", "4")
    assert read_plan("plan.json").prior.note == "zipf prior of 4 categories"


@pytest.fixture
def other_commands():
    """Commands are put together anew in this test, and again after it."""
    command.cache_clear()
    yield
    command.cache_clear()


@pytest.mark.usefixtures("other_commands")
def test_commands_may_stand_below_it(run, monkeypatch):
    monkeypatch.setattr(design.app, "registered_commands", [])
    design.app.command("goals")(lambda: print("attained"))
    assert run("design", "goals") == (0, "attained\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prior", ".5,.5"), "--respondents must be given. Got none instead."),
        (("--respondents", "9"), "--prior or --prior-name must be given, exactly one of them. Got None instead."),
        ((*THREE, "--prior-name", "normal"), "--prior or --prior-name must be given, exactly one of them."),
        (("--prior-name", "normal", "--respondents", "9"), "--categories must be given with --prior-name."),
        (("--prior", ".5,x", "--respondents", "9"), "--prior must be numbers with commas between them. Got '.5,x'"),
        (("--prior", ".5,.4", "--respondents", "9"), "--prior must sum to 1; the sum is 0.9."),
        ((*THREE, "--delta", ".4"), "--delta must be above 0.5, the largest probability of the prior:"),
        ((*THREE, "--accuracy", ".4", "--delta", ".7"), "--accuracy contradicts the prior:"),
        ((*THREE, "--objective", "fun"), "--objective must be one of mse, information. Got 'fun' instead."),
        (
            (*THREE, "--method", "magic"),
            "--method must be one of certified, warner, subset, unary, optrr, mopso. Got 'magic' instead.",
        ),
        ((*THREE, "--distortion", ".4"), "--distortion must be left out for the objective mse. Got [0.4] instead."),
        (
            (*THREE, "--objective", "information", "--accuracy", ".6"),
            "--accuracy must be left out for the objective information. Got [0.6] instead.",
        ),
        (
            (*THREE, "--objective", "information", "--odds", "3", "--distortion", ".2"),
            "--distortion must be at least 0.4, the smallest that these odds and this prior allow. Got 0.2 instead.",
        ),
        (
            (*THREE, "--objective", "information", "--method", "subset"),
            "--method must be certified or warner for the objective information. Got 'subset' instead.",
        ),
        (
            (*THREE, "--epsilon", "1", "--method", "optrr"),
            "--odds or --epsilon must be left out for the method optrr, which bounds delta. Got",
        ),
        (
            (*THREE, "--objective", "information", "--method", "optrr"),
            "--objective must be mse for the method optrr. Got 'information' instead.",
        ),
        ((*THREE, "--method", "mopso"), "--objective must be information for the method mopso. Got 'mse' instead."),
        (
            (*THREE, "--objective", "information", "--method", "mopso"),
            "--odds or --epsilon must be given, one of them, for the swarm to keep. Got none instead.",
        ),
        ((*THREE, "--accuracy", "1.5"), "--accuracy must be from 0 to 1. Got 1.5 instead."),
        (
            (*THREE, "--epsilon", "1", "--max-reports", "2"),
            "--max-reports must be a whole number of at least 3. Got 2 instead.",
        ),
        (
            (*THREE, "--epsilon", "1", "--generations", "9"),
            "--generations must be left out unless the method is optrr or mopso. Got 9 instead.",
        ),
        (
            (*THREE, "--epsilon", "1", "--method", "subset", "--max-reports", "5"),
            "--max-reports must be left out unless the method is certified. Got 5 instead.",
        ),
        (
            (*THREE, "--epsilon", "1", "--method", "warner", "--plan", "p.json"),
            "--attribute must be given for --plan. Got none instead.",
        ),
        (
            (*THREE, "--epsilon", "1", "--method", "warner", "--plan", "p.json", "--attribute", "a"),
            "--prior-source must be given for --plan, such as public:census 2021. Got none instead.",
        ),
        (
            (*THREE, "--method", "warner", "--plan", "p.json", "--attribute", "a"),
            "--point must be a number from 1 to 551 for --plan. Got None instead.",
        ),
    ],
)
def test_mistakes_are_told(run, arguments, message):
    code, out, err = run("design", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
