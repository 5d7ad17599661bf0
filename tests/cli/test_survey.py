"""The survey on the command line, from a sample to estimates."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest

from sottovoce.cli.survey import demo as demo_module
from sottovoce.cli.survey import demo as live_module
from sottovoce.cli.survey import results as results_module
from sottovoce.estimates import independence
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import read_definition


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def serving(*arguments: str):
    """The server as people start it; its address, and the process."""
    command = [sys.executable, "-m", "sottovoce", "survey", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split(" at ")[1].split(". ")[0], process
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert errors == ""


def test_the_whole_way(run, folder, monkeypatch):
    code, out, _ = run("survey", "new", "draft.yaml", "--json", "-")
    assert (code, json.loads(out)) == (0, {"draft": "draft.yaml", "sample": "workplace"})
    assert run("survey", "new", "draft.yaml")[0] == 2
    code, out, _ = run("survey", "preview", "draft.yaml", "--respondents", "500", "--json", "-")
    shown = json.loads(out)
    assert (code, shown["odds"], shown["respondents"]) == (0, "243", 500)
    assert [question["question"] for question in shown["questions"]] == ["sick", "days", "drink", "harassment", "theft"]
    assert "For margins of 5.0% in every question" in run("survey", "preview", "draft.yaml")[1]
    with serving() as (address, _):
        code, out, _ = run("survey", "freeze", "draft.yaml", "--url", address, "--json", "frozen.json")
        frozen = json.loads((folder / "frozen.json").read_text())
        assert code == 0
        assert f"Link for all respondents: {frozen['link']}" in out
        refused = run("survey", "estimate")
        assert (refused[0], "must be at least 100, the survey's minimum" in refused[2]) == (2, True)
        code, out, _ = run("survey", "simulate", frozen["link"], "--respondents", "150", "--json", "-")
        assert (code, json.loads(out)) == (0, {"survey": frozen["id"], "acknowledged": 150})
        code, out, _ = run("survey", "estimate", "--cross", "sick,drink", "--json", "-")
        results = json.loads(out)["results"]
        assert [result["questions"] for result in results][-2:] == [["theft"], ["sick", "drink"]]
        assert results[0]["respondents"] == 150
    code, out, _ = run("survey", "estimate", frozen["id"][:6], "--cross", "sick,drink")
    assert "independence of sick and drink" in out
    assert "is not known" not in out
    assert "not tested" not in out
    monkeypatch.setattr(independence, "FEWEST_A_CELL", 10)
    out = run("survey", "estimate", "--cross", "days,theft", "--cross", "days,drink")[1]
    assert "independence of days and theft" in out
    assert "days and drink are not tested for independence: reports must be at least 160" in out
    assert "not asked" in out
    assert run("survey", "estimate", "--cross", "sick")[0] == 2
    code, out, _ = run("survey", "status", "--json", "-")
    assert json.loads(out)["surveys"][0]["reports"] == 150
    code, out, _ = run("survey", "export", "reports.csv", "--json", "-")
    assert (code, json.loads(out)) == (0, {"survey": frozen["id"], "reports": 150, "output": "reports.csv"})
    assert run("survey", "export", "reports.csv")[0] == 2
    assert "OUT must end in .csv or .parquet" in run("survey", "export", "reports.xlsx")[2]
    assert run("estimate", "reports.csv", "--attributes", "drink")[0] == 0


def test_invitations(run, folder):
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    code, out, _ = run("survey", "freeze", "draft.yaml")
    assert "Next: sottovoce survey invite" in out
    code, out, _ = run("survey", "invite", "--count", "1")
    assert (code, len(out.split())) == (0, 1)
    code, out, _ = run("survey", "invite", "--count", "1", "--json", "-")
    assert (code, len(json.loads(out)["links"])) == (0, 1)
    code, out, _ = run("survey", "invite", "--count", "120", "-o", "links.txt", "--url", "http://127.0.0.1:1")
    assert (folder / "links.txt").stat().st_mode & 0o777 == 0o600
    assert len((folder / "links.txt").read_text().split()) == 120
    assert run("survey", "invite", "-o", "links.txt")[0] == 2
    (folder / "none.txt").write_text("\n")
    assert (
        "LINK|FILE must lead to one survey. Got 0 links in none.txt instead."
        in run("survey", "simulate", "none.txt")[2]
    )
    (folder / "bytes.txt").write_bytes(b"\xff\xfe")
    assert "LINK|FILE must look like https://HOST" in run("survey", "simulate", "bytes.txt")[2]
    with serving() as (address, _):
        links = (folder / "links.txt").read_text().replace("http://127.0.0.1:1", address)
        (folder / "links.txt").write_text(links)
        assert run("survey", "simulate", "links.txt", "--seed", "1")[1].startswith(
            "120 reports of simulated respondents"
        )
    store = Store("surveys.db")
    (name,) = store.surveys()
    assert store.counts(name) == {"issued": 122, "unspent": 2, "reports": 120}
    store.close()


def test_refusals_name_the_line_and_the_survey(run, folder):
    (folder / "draft.yaml").write_text("title: T\ncolour: red\n")
    assert "colour is not known here" in run("survey", "preview", "draft.yaml")[2]
    assert "(line 2)" in run("survey", "freeze", "draft.yaml")[2]
    for command in (["estimate"], ["status"], ["export", "reports.csv"], ["invite"]):
        assert "--db must be a database; `sottovoce survey freeze` creates one. Got" in run("survey", *command)[2]
        assert not (folder / "surveys.db").exists()
    Store("surveys.db").close()
    assert "none; freeze one first" in run("survey", "estimate")[2]


def test_a_database_that_fails_says_so_without_a_traceback(run, folder):
    """Another program's tables, a disk that is full or cannot be written: what the database says, in one line."""
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    with closing(sqlite3.connect("other.db")) as other:
        other.execute("CREATE TABLE surveys (id TEXT PRIMARY KEY)")
        other.execute("INSERT INTO surveys VALUES ('ab')")
        other.commit()
    for command in (["freeze", "draft.yaml"], ["status"], ["estimate"]):
        code, _, errors = run("survey", *command, "--db", "other.db")
        assert code == 2
        assert re.fullmatch(
            r"error: --db must be a database that can be used \(.*document.*\)\. Got 'other.db' instead\.\n", errors
        )


def test_every_question_has_a_margin_and_says_what_another_one_takes(run, folder):
    """Also where two questions have one report that does not split."""
    (folder / "draft.yaml").write_text(
        "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\nodds: 9\nquestions:\n"
        "  - {id: a, kind: yes_no, text: A}\n  - {id: b, kind: yes_no, text: B}\n"
        "groups: [{questions: [a, b], scheme: subset_selection}]\n"
    )
    code, out, _ = run("survey", "preview", "draft.yaml", "--margin", "0.1", "--json", "preview.json")
    assert code == 0
    shown = json.loads((folder / "preview.json").read_text())
    needed = [question["respondents_for_margin"] for question in shown["questions"]]
    assert shown["respondents_for_margin"] == max(needed)
    assert f"For margins of 10.0% in every question: {max(needed)} respondents." in out
    for question, respondents in zip(shown["questions"], needed, strict=True):
        assert question["margin"] == pytest.approx(0.1 * (respondents / 1000) ** 0.5, rel=0.01)


def test_a_draft_is_tried_in_a_browser_and_forgotten(run, folder, monkeypatch):
    from sottovoce.surveys.collect import server

    served = []
    monkeypatch.setattr(server, "serve", lambda app, listening: served.append(listening.close()))
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    code, out, _ = run("survey", "preview", "draft.yaml", "--browse")
    assert (code, len(served)) == (0, 1)
    assert "Try it: http://127.0.0.1:" in out
    assert not (folder / "surveys.db").exists()


def test_a_survey_that_is_over_is_not_frozen(run, folder):
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    text = (folder / "draft.yaml").read_text()
    (folder / "draft.yaml").write_text(re.sub(r"until: \S+", "until: 2020-01-01", text))
    assert "until must not be before today" in run("survey", "freeze", "draft.yaml")[2]
    store = Store("surveys.db")
    store.freeze(read_definition("draft.yaml"))
    store.close()
    assert "until must not be before today" in run("survey", "invite")[2]


def test_negative_estimates_are_explained(capsys):
    from sottovoce.surveys.definition.definition import survey_from_text
    from sottovoce.surveys.results import AnswerEstimate, QuestionResult

    survey = survey_from_text(
        "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\nodds: 3\nquestions: [{id: q, kind: yes_no, text: Q}]"
    )
    for estimate, explained in ((-0.01, True), (0.01, False)):
        lines = (
            AnswerEstimate(("no",), estimate, 0.1, -0.2, 0.2, 3),
            AnswerEstimate(("yes",), 0.99, 0.1, 0.8, 1.2, None),
        )
        results_module.show_results(survey, [QuestionResult(("q",), 100, 0.95, lines)], 0.95)
        out = capsys.readouterr().out
        assert ("noise around a small proportion" in out) == explained
        assert "-: the number of forged reports is not known" in out


def test_serving_off_this_machine_asks_for_https(run, folder, monkeypatch):
    from sottovoce.surveys.collect import server

    served = []
    monkeypatch.setattr(server, "serve", lambda app, listening, behind_proxy: served.append(listening.close()))
    code, out, _ = run("survey", "serve", "--host", "0.0.0.0", "--port", "0", "--per-window", "5")  # noqa: S104
    assert code == 0
    assert "browsers need HTTPS" in out
    assert "There is no survey in surveys.db yet: sottovoce survey freeze DRAFT --db surveys.db" in out
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    run("survey", "freeze", "draft.yaml")
    code, out, _ = run("survey", "serve", "--port", "0", "--json", "served.json")
    assert out.startswith("Serving 1 survey at http://127.0.0.1:")
    assert "There is no survey" not in out
    assert "HTTPS" not in out
    assert json.loads((folder / "served.json").read_text())["address"] in out
    assert len(served) == 2


def test_the_demo_ends_by_itself_where_nobody_looks(run, folder):
    code, out, _ = run("survey", "demo", "--respondents", "250")
    assert code == 0
    assert "250 reports" in out
    assert "/audit" in out
    code, out, _ = run("survey", "demo", "--respondents", "200", "--exit", "--json", "-")
    assert json.loads(out)["results"][0]["respondents"] == 200


def test_the_demo_stays_until_it_is_interrupted(run, folder, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(live_module, "pause", interrupted)
    code, out, _ = run("survey", "demo", "--respondents", "1000", "--stay", "--json", "found.json")
    assert (code, "Ctrl-C ends the demo" in out) == (0, True)
    results = json.loads((folder / "found.json").read_text())["results"]
    assert all(result["respondents"] < 1000 for result in results)  # nobody has to wait for all of them


def test_the_demo_draws_again_and_again_in_a_terminal(run, folder, monkeypatch):
    monkeypatch.setattr(live_module, "SECONDS", 0.05)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    code, out, _ = run("survey", "demo", "--respondents", "200", "--exit")
    assert code == 0
    assert out.count("95% interval") > 1


def test_a_failure_of_the_made_up_people_is_the_demos(run, folder, monkeypatch):
    from sottovoce.errors import SottovoceError
    from sottovoce.surveys.client import simulate

    def fail(*_, **__):
        raise SottovoceError("server", "must be reachable", "nobody")

    monkeypatch.setattr(simulate, "send_reports", fail)
    assert "server must be reachable" in run("survey", "demo", "--respondents", "200")[2]


def test_who_looks(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(demo_module, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    assert demo_module._stays(None)
    monkeypatch.setenv("CI", "true")
    assert not demo_module._stays(None)
    assert demo_module._stays(True)
