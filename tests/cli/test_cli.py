"""The command line as a newcomer meets it: files in, files out, JSON for programs, no tracebacks."""

import io
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from sottovoce.cli.app import main
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan, PriorSource
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.matrix import Matrix
from sottovoce.tables.plan_file import read_plan, write_plan

CSV = "tax,drug,age\nyes,never,23\nno,often,45\nno,once,70\nyes,never,31\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(CSV)
    return tmp_path


def made_plan(run, *more: str) -> Plan:
    arguments = ("plan", "new", "answers.csv", "--bins", "age=18,40,inf", "-o", "plan.json", *more)
    code, _, err = run(*arguments, *(() if "--odds" in more else ("--epsilon", "3")))
    assert (code, err) == (0, "")
    return read_plan("plan.json")


def test_a_newcomer_plans_shows_and_disguises_a_csv_file(run, folder):
    plan = made_plan(run)
    assert plan.guarantee.epsilon == pytest.approx(3, rel=1e-6)
    assert [v.categories for v in plan.schema] == [
        ("no", "yes"),
        ("never", "often", "once"),
        ("[18, 40)", "[40, inf)"),
    ]
    code, out, _ = run("plan", "show", "plan.json")
    assert code == 0
    assert out.startswith("Whole record: 20.0856 : 1 (epsilon 3)")
    assert "No report proves any answer" in out
    code, out, _ = run("disguise", "answers.csv", "out.csv", "--plan", "plan.json")
    assert (code, out.splitlines()[0][:27]) == (0, "4 records disguised into ou")
    assert (folder / "out.csv").read_text().startswith("tax,drug,age\n")
    assert read_plan("out.csv") == plan


@pytest.mark.parametrize(
    ("purpose", "scheme", "answers"),
    [("marginals", "attribute_sampling", 1), ("pairs", "attribute_sampling", 2), ("joint", "gamma_diagonal", 3)],
)
def test_plans_for_a_purpose(run, folder, purpose, scheme, answers):
    plan = made_plan(run, "--odds", "3", "--purpose", purpose)
    assert [group.scheme for group in plan.groups] == [scheme]
    assert plan.guarantee.odds == 3
    _, out, _ = run("plan", "show", "plan.json")
    assert (f"Each report speaks of {answers} of 3 answers, drawn at random." in out) == (answers < 3)
    _, out, _ = run("plan", "show", "plan.json", "--json", "-")
    assert json.loads(out)["answers_per_report"] == [answers, answers]


def test_pairs_are_the_default_purpose(run, folder):
    assert made_plan(run, "--odds", "3", "--force") == made_plan(run, "--odds", "3", "--purpose", "pairs", "--force")


def test_parquet(run, folder):
    pq.write_table(pa.table({"tax": [True, False], "n": [1, 2]}), "t.parquet")
    assert run("plan", "new", "t.parquet", "--odds", "9:1", "-o", "p.json")[0] == 0
    assert run("disguise", "t.parquet", "r.parquet", "--plan", "p.json")[0] == 0
    code, out, _ = run("plan", "show", "r.parquet")
    assert (code, out.splitlines()[0]) == (0, "Whole record: 9 : 1 (epsilon 2.19723)")


def test_seeds_repeat_and_warn(run, folder):
    made_plan(run)
    for name in ("a.csv", "b.csv"):
        code, _, err = run("disguise", "answers.csv", name, "--plan", "plan.json", "--seed", "5")
        assert code == 0
        assert "A seeded disguise protects nobody" in err
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text()


def test_json_for_programs(run, folder):
    plan = made_plan(run, "--odds", "27:1", "--purpose", "split")
    code, out, _ = run("plan", "show", "plan.json", "--json", "-")
    shown = json.loads(out)
    assert (code, shown["odds"], shown["deniable"]) == (0, "27", True)
    assert shown["one_answer"]["odds"] == "3"
    assert shown["answers_per_report"] == [3, 3]
    assert [group["odds"] for group in shown["groups"]] == ["3", "3", "3"]
    code, out, err = run("disguise", "answers.csv", "o.csv", "--plan", "plan.json", "--json", "-")
    assert json.loads(out) == {"rows": 4, "output": "o.csv", "sha256": shown["sha256"], "seeded": False} | {
        "small_combinations": 0
    }
    assert "4 records" in err
    code, out, _ = run("plan", "show", "plan.json", "--json", "shown.json")
    assert json.loads((folder / "shown.json").read_text()) == shown
    assert out.startswith("Whole record: 27 : 1")
    assert plan.guarantee.odds == 27


def test_streams(run, folder, monkeypatch):
    made_plan(run)
    monkeypatch.setattr(sys, "stdin", io.StringIO(CSV))
    code, out, err = run("disguise", "-", "-", "--plan", "plan.json")
    assert (code, len(out.splitlines()), out.splitlines()[0]) == (0, 5, "tax,drug,age")
    assert "4 records disguised into -" in err


def test_joint_plans_chosen_columns_and_missing_values(run, folder):
    (folder / "answers.csv").write_text('tax,"drug, ever",id\nyes,,1\nno,no,2\nno,yes,3\n')
    more = ("--columns", 'tax,"drug, ever"', "--missing", "silent", "--purpose", "joint", "--odds", "4")
    code, _, _ = run("plan", "new", "answers.csv", "-o", "plan.json", *more)
    assert code == 0
    plan = read_plan("plan.json")
    assert [group.attributes for group in plan.groups] == [("tax", "drug, ever")]
    assert plan.schema["drug, ever"].categories == ("no", "yes", "silent")
    code, _, err = run("disguise", "answers.csv", "o.csv", "--plan", "plan.json")
    assert (code, "it lacks the column 'id'" in err) == (2, True)
    assert run("disguise", "answers.csv", "o.csv", "--plan", "plan.json", "--drop", "id")[0] == 0
    assert run("disguise", "answers.csv", "p.csv", "--plan", "plan.json", "--drop-others")[0] == 0


def test_item_sets_are_shown_by_their_number_of_items(run, folder):
    pq.write_table(pa.table({"basket": [["ale"], ["bread", "cheese"]], "n": [1, 2]}), "t.parquet")
    code, out, _ = run("plan", "new", "t.parquet", "--odds", "9", "--purpose", "joint", "-o", "p.json")
    assert (code, "3 items x 2" in out) == (0, True)


def test_not_deniable_and_priors_are_said(run, folder):
    schema = Schema([boolean("a")])
    source = PriorSource("public", "census 2021")
    write_plan(Plan.of(schema, {"a": Matrix([[1, 0.5], [0, 0.5]])}, prior=source), "p.json")
    _, out, _ = run("plan", "show", "p.json")
    assert out.startswith("Whole record: not deniable (odds unbounded)\nNot deniable:")
    assert "prior from a public source: census 2021" in out
    _, out, _ = run("plan", "show", "p.json", "--json", "-")
    assert (json.loads(out)["odds"], json.loads(out)["epsilon"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("plan", "new", "answers.csv", "-o", "p.json"),
            "error: --epsilon or --odds must be given, exactly",
        ),
        (
            ("plan", "new", "answers.csv", "-o", "p.json", "--epsilon", "-1"),
            "error: --epsilon must be between 0",
        ),
        (("plan", "new", "nowhere.csv", "-o", "p.json", "--epsilon", "1"), "No such file or directory: 'nowhere.csv'"),
        (
            ("plan", "new", "answers.csv", "-o", "p.json", "--epsilon", "1", "--bins", "age"),
            "error: --bins must look like",
        ),
        (
            ("plan", "new", "answers.csv", "-o", "p.json", "--epsilon", "1", "--bins", "age=x"),
            "error: --bins must look like",
        ),
        (("plan", "new", "answers.csv", "-o", "answers.csv", "--epsilon", "1"), "error: --output must not exist yet"),
        (("plan", "show", "answers.csv"), "error: answers.csv must have its plan beside it, in answers.csv.plan.json"),
        (("plan", "show"), "Missing argument"),
        (("disguise", "answers.csv", "o.csv"), "Missing option"),
        (("dance",), "No such command"),
    ],
)
def test_mistakes_are_told_without_a_traceback(run, folder, arguments, message):
    code, _, err = run(*arguments)
    assert (code, message in " ".join(err.split())) == (2, True)
    assert "Traceback" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["answers.csv"]


def test_debug_shows_the_traceback(folder):
    (folder / "plan.json").write_text("{")
    with pytest.raises(SottovoceError, match=r"^PLAN must be JSON"):
        main(["plan", "show", "plan.json", "--debug"])


def test_overwriting_must_be_asked_for(run, folder):
    made_plan(run)
    assert run("plan", "new", "answers.csv", "--columns", "tax", "--epsilon", "1", "-o", "plan.json")[0] == 2
    made_plan(run, "--force")


def test_demo(run):
    code, out, _ = run("demo", "--respondents", "20000")
    assert code == 0
    assert "27 : 1" in out
    code, out, _ = run("demo", "--respondents", "20000", "--json", "-")
    told = json.loads(out)
    assert (code, told["odds"], len(told["estimates"])) == (0, "27", 3)
    tax = {cell["values"]["evaded tax"]: cell for cell in told["estimates"][0]["cells"]}
    assert abs(tax["yes"]["estimate"] - 0.17) < 6 * tax["yes"]["standard_error"]


def test_a_terminal_gets_a_progress_bar(run, folder, monkeypatch):
    made_plan(run)
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))
    code, _, err = run("disguise", "answers.csv", "o.csv", "--plan", "plan.json")
    assert (code, "disguising" in err) == (0, True)


def test_help_version_and_the_program_itself(run):
    assert run("--version")[1].startswith("sottovoce 0.")
    assert "disguise" in run("--help")[1]
    done = subprocess.run([sys.executable, "-m", "sottovoce", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sottovoce 0.")


def test_help_needs_no_heavy_library():
    script = (
        "import sys\nfrom sottovoce.cli.app import main\ntry:\n    main(['plan', 'new', '--help'])\n"
        "except SystemExit:\n    heavy = {'numpy', 'narwhals', 'pyarrow', 'cryptography'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
