"""The survey on the command line, from a sample to estimates."""

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from fractions import Fraction
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

from sottovoce.cli.survey import demo as demo_module
from sottovoce.cli.survey import results as results_module
from sottovoce.cli.survey.options import database_option
from sottovoce.estimates import independence
from sottovoce.surveys.client.client import Client
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import Store, opened
from sottovoce.surveys.dashboard.accounts import MOST_FAILURES, Accounts, LoginError, Role
from sottovoce.surveys.definition.definition import read_definition
from sottovoce.surveys.drill import drill as drill_module
from sottovoce.surveys.drill.drill import DrillResult, ScenarioOutcome
from sottovoce.surveys.drill.state import Finding
from sottovoce.surveys.links import read_link
from tests.surveys.dashboard.conftest import Researcher

MINIMAL = """
title: Honesty
asker: Institute of Examples
purpose: To learn how common it is.
until: 2999-12-31
minimum: 2
odds: 3:1
questions: [{id: q, kind: yes_no, text: "Did you?"}]
"""


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


def answered(name: str, count: int) -> None:
    """Store reports like those of people."""
    with opened("surveys.db") as store:
        people = simulate_respondents(store.select(name), count, np.random.default_rng(1))
        store.commit([Entry(name, os.urandom(16), report) for report in people.reports()])


def test_the_whole_way(run, folder, monkeypatch):
    code, out, _ = run("survey", "new", "draft.yaml", "--json", "-")
    assert (code, json.loads(out)) == (0, {"draft": "draft.yaml", "sample": "workplace"})
    assert run("survey", "new", "draft.yaml")[0] == 2
    code, out, _ = run("survey", "preview", "draft.yaml", "--respondents", "500", "--json", "-")
    shown = json.loads(out)
    assert (code, shown["respondents"]) == (0, 500)
    assert Fraction(shown["odds"]) <= 100
    assert [question["question"] for question in shown["questions"]] == ["sick", "days", "drink", "harassment", "theft"]
    assert "For margins of 5.0% in every question" in run("survey", "preview", "draft.yaml")[1]
    with serving() as (address, _):
        code, out, _ = run("survey", "freeze", "draft.yaml", "--url", address, "--json", "frozen.json")
        frozen = json.loads((folder / "frozen.json").read_text())
        assert code == 0
        assert f"Link for all respondents: {frozen['link']}" in out
        refused = run("survey", "estimate")
        assert (refused[0], "must be at least 100, the survey's minimum" in refused[2]) == (2, True)
        code, _, errors = run("survey", "simulate", frozen["link"], "--respondents", "150")
        assert code == 2
        assert f"To make one: sottovoce survey rehearse {frozen['id']}" in " ".join(errors.split())
        code, out, _ = run("survey", "rehearse", "--respondents", "0", "--url", address, "--json", "-")
        trial = json.loads(out)
        code, out, _ = run("survey", "simulate", trial["link"], "--respondents", "150", "--json", "-")
        assert (code, json.loads(out)) == (0, {"survey": trial["id"], "acknowledged": 150})
        assert run("survey", "delete", trial["id"])[0] == 0  # nobody is asked
        answered(frozen["id"], 150)
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
    assert (folder / "reports.csv").stat().st_mode & 0o777 == 0o600
    assert run("survey", "export", "reports.csv")[0] == 2
    assert "OUT must end in .csv, .parquet, .zip, .sav or .dta" in run("survey", "export", "reports.xlsx")[2]
    assert run("estimate", "reports.csv", "--attributes", "drink")[0] == 0


def test_files_and_a_report_to_publish(run, folder):
    (folder / "draft.yaml").write_text(MINIMAL)
    run("survey", "freeze", "draft.yaml")
    frozen = json.loads(run("survey", "status", "--json", "-")[1])["surveys"][0]
    answered(frozen["id"], 150)
    assert "150 reports with labels written to reports.sav" in run("survey", "export", "reports.sav")[1]
    assert "150 reports and their plan written to reports.zip" in run("survey", "export", "reports.zip")[1]
    code, out, _ = run("survey", "report", "report.html", "--level", "0.9", "--json", "-")
    written = {"survey": frozen["id"], "reports": 150, "level": 0.9, "output": "report.html"}
    assert (code, json.loads(out)) == (0, written)
    assert "90 % interval" in (folder / "report.html").read_text()
    assert run("survey", "report", "report.html")[0] == 2
    assert run("survey", "report", "report.html", "--force")[0] == 0
    assert "OUT must end in .html" in run("survey", "report", "report.pdf")[2]


def test_invitations(run, folder):
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    code, out, _ = run("survey", "freeze", "draft.yaml")
    assert "Next: sottovoce survey invite" in out
    run("survey", "delete", json.loads(run("survey", "status", "--json", "-")[1])["surveys"][0]["id"], "--yes")
    assert (
        "Answer it yourself: sottovoce survey invite" in run("survey", "rehearse", "draft.yaml", "--respondents=0")[1]
    )
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
    assert store.counts(name) == {"issued": 122, "replaced": 0, "unspent": 2, "admitted": 120, "reports": 120}
    store.close()


def test_the_end_of_a_survey(run, folder, monkeypatch):
    """Withdraw lost links and replace them, close, look at the results, delete."""
    (folder / "draft.yaml").write_text(MINIMAL)
    frozen = json.loads(run("survey", "freeze", "draft.yaml", "--json", "-")[1])["id"]
    run("survey", "invite", "--count", "3", "-o", "lost.txt")
    assert "3 invitations withdrawn." in run("survey", "revoke", "--links", "lost.txt")[1]
    run("survey", "invite", "--count", "3", "--replacing", "-o", "links.txt")
    with serving() as (address, _):
        links = (folder / "links.txt").read_text().replace("http://127.0.0.1:8000", address).split()
        with closing(Client(address)) as client:
            for link in links[:2]:
                receipt = client.answer(read_link(link), {"q": "yes"}, at_once=True)
        assert run("survey", "receipt", links[1], receipt)[:2] == (0, "Stored: the receipt is in the server's list.\n")
        code, out, _ = run("survey", "receipt", links[1], "0" * 16, "--json", "-")
        assert (code, json.loads(out)) == (1, {"receipt": "0" * 16, "stored": False})
        assert "RECEIPT must be 16 hexadecimal digits" in run("survey", "receipt", links[1], "0")[2]
    code, out, _ = run("survey", "revoke", "--json", "-")
    assert (code, json.loads(out)) == (0, {"survey": frozen, "withdrawn": 1, "admitted": 2})
    assert "2 were used already: their credentials cannot be told" in run("survey", "revoke")[1]
    (folder / "open.txt").write_text(links[0].rpartition(".")[0])
    for wrong in ("open.txt", "draft.yaml"):
        assert "--links" in run("survey", "revoke", "--links", wrong)[2]
    assert "3 replacement invitations were issued" in run("survey", "estimate")[1]
    assert "Closed with 2 reports." in run("survey", "close")[1]
    row = json.loads(run("survey", "status", "--json", "-")[1])["surveys"][0]
    assert (row["closed"], row["issued"], row["replaced"], row["reports"]) == (True, 6, 3, 2)
    assert "closed" in run("survey", "status")[1]
    assert "ID must not be closed" in run("survey", "invite")[2]
    assert run("survey", "estimate")[0] == 0
    assert run("survey", "delete", frozen[:5])[0] != 0  # nobody says yes here
    assert "Deleted Honesty and its 2 reports." in run("survey", "delete", frozen[:5], "--yes")[1]
    assert json.loads(run("survey", "status", "--json", "-")[1])["surveys"] == []


def test_a_rehearsal(run, folder):
    """It is frozen beside the survey, says everywhere what it is, and is thrown away by one command."""
    (folder / "draft.yaml").write_text(MINIMAL.replace("odds", "invitation: open\nodds"))
    frozen = json.loads(run("survey", "freeze", "draft.yaml", "--json", "-")[1])["id"]
    code, out, _ = run(
        "survey", "rehearse", "draft.yaml", "--respondents", "500", "--truth", "q=yes:0.2", "--seed", "1"
    )
    assert code == 0
    assert "Rehearsal of 'Honesty'" in out
    assert "truth" in out
    assert "Answer it yourself: http://127.0.0.1:8000/s/" in out
    trial = out.split("frozen as ")[1][:16]
    assert f"Throw it away: sottovoce survey delete {trial}" in out
    assert trial != frozen
    assert "rehearsal" in run("survey", "status")[1]
    rows = json.loads(run("survey", "status", "--json", "-")[1])["surveys"]
    assert {row["id"]: (row["rehearsal"], row["reports"]) for row in rows} == {frozen: (False, 0), trial: (True, 500)}
    assert "Rehearsal of Honesty: 500 reports" in run("survey", "estimate", trial)[1]
    assert json.loads(run("survey", "estimate", trial, "--json", "-")[1])["rehearsal"] is True
    assert "ID must have a rehearsal without reports" in " ".join(run("survey", "rehearse", frozen)[2].split())
    assert run("survey", "delete", trial)[0] == 0
    found = json.loads(run("survey", "rehearse", frozen, "--respondents", "400", "--json", "-")[1])
    assert (found["id"], found["rehearsal"], found["results"][0]["respondents"]) == (trial, True, 400)
    assert sum(found["results"][0]["truth"]) == pytest.approx(1)
    run("survey", "delete", trial)
    assert "Results are shown from 2 reports on" in run("survey", "rehearse", "--respondents", "1")[1]
    assert "--truth must name answers of q" in run("survey", "rehearse", "--truth", "q=maybe:1")[2]


def test_databases_are_named_without_their_passwords(run, folder, monkeypatch):
    (folder / "draft.yaml").write_text(MINIMAL)
    (folder / "where.txt").write_text("elsewhere.db\n")
    out = run("survey", "freeze", "draft.yaml", "--db", "@where.txt")[1]
    assert "sottovoce survey serve --db @where.txt" in out
    assert (folder / "elsewhere.db").exists()
    monkeypatch.setenv("SOTTOVOCE_DB", "elsewhere.db")
    assert len(json.loads(run("survey", "status", "--json", "-")[1])["surveys"]) == 1
    (folder / "where.txt").write_text("\n")
    assert "--db must name a file that holds" in run("survey", "status", "--db", "@where.txt")[2]
    (folder / "where.txt").write_bytes(b"\xff\xfe")
    assert "--db must name a file that holds" in run("survey", "status", "--db", "@where.txt")[2]
    (folder / "where.txt").write_text("  my surveys.db  \r\n")
    run("survey", "freeze", "draft.yaml", "--db", "@where.txt")
    assert (folder / "my surveys.db").exists()
    for nothing in ("", ":memory:"):
        assert "--db must be an SQLite file or" in run("survey", "freeze", "draft.yaml", "--db", nothing)[2]
    error = run("survey", "freeze", "draft.yaml", "--db", "postgresql://me:sec@ret:w0rd@host/x")[2]
    assert "--db must be an SQLite file or the URL of a PostgreSQL database" in error
    assert "w0rd" not in error
    error = run("survey", "status", "--db", "postgresql://me:secret@127.0.0.1:1/x")[2]
    assert "--db must be a database that can be opened" in error
    assert "secret" not in error
    assert database_option("postgresql://me:secret@host/x") == " --db URL"
    assert database_option("surveys.db") == ""


def test_links_are_for_their_owner_only(run, folder):
    (folder / "draft.yaml").write_text(MINIMAL)
    run("survey", "freeze", "draft.yaml")
    run("survey", "invite", "-o", "links.txt", "--json", "links.json")
    for name in ("links.txt", "links.json", "surveys.db"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600


def test_a_lost_secret_key_is_said_before_serving(run, folder, monkeypatch):
    from sottovoce.surveys.collect import server

    monkeypatch.setattr(server, "serve", lambda app, listening: None)
    (folder / "draft.yaml").write_text(MINIMAL)
    run("survey", "freeze", "draft.yaml")
    with closing(sqlite3.connect("surveys.db")) as plain, plain:
        plain.execute("UPDATE surveys SET secret = NULL")
    out = run("survey", "serve", "--port", "0")[1]
    assert "Warning: survey" in out
    assert "no stored report is lost" in " ".join(out.split())


def test_refusals_name_the_line_and_the_survey(run, folder):
    (folder / "draft.yaml").write_text("title: T\ncolor: red\n")
    assert "color is not known here" in run("survey", "preview", "draft.yaml")[2]
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
        assert " ".join(errors.split()) == (
            "error: --db must be a database of Sottovoce's surveys, or an empty one; this one has other tables. "
            "Got surveys instead."
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
    monkeypatch.setattr(server, "serve", lambda app, listening: served.append(listening.close()))
    code, out, _ = run("survey", "serve", "--host", "0.0.0.0", "--port", "0", "--per-window", "5")  # noqa: S104
    assert code == 0
    assert "browsers need HTTPS" in out
    assert "Create the first account with this link, which works once: http://127.0.0.1:" in out
    assert "There is no survey yet" not in out  # it can be created in the browser
    code, out, _ = run("survey", "serve", "--port", "0", "--respondents-only", "--json", "only.json")
    assert "There is no survey yet: sottovoce survey freeze DRAFT\n" in out
    assert "research" not in out
    assert json.loads((folder / "only.json").read_text())["first_account"] is None
    run("survey", "new", "draft.yaml", "--sample", "minimal")
    run("survey", "freeze", "draft.yaml")
    code, out, _ = run("survey", "serve", "--port", "0", "--json", "served.json")
    assert out.startswith("Serving 1 survey at http://127.0.0.1:")
    with closing(Store("surveys.db")) as store:
        accounts = Accounts(store.engine)
        accounts.use_link(accounts.new_link(Role.OWNER), "anna", "correct horse battery")
    again = run("survey", "serve", "--port", "0", "--url", "https://survey.test")[1]
    assert "Researchers log in at https://survey.test/research" in again
    assert "There is no survey" not in out
    assert "HTTPS" not in out
    assert json.loads((folder / "served.json").read_text())["address"] in out
    assert len(served) == 4


def test_the_first_account_comes_by_a_link_that_the_server_prints(run, folder):
    """Of two servers that start over one database, the link of the later one works, once."""
    with serving() as (address, first), serving("--url", "https://survey.example.org/") as (other, second):
        lines = [first.stdout.readline(), second.stdout.readline()]
        links = [line.split("works once: ")[1].strip() for line in lines]
        assert links[0].startswith(f"{address}/research/link/")
        assert links[1].startswith("https://survey.example.org/research/link/")
        paths = [urlsplit(link).path for link in links]
        assert [status_of(other, path) for path in paths] == [410, 200]
        fields = {"name": "anna", "password": "correct horse battery", "again": "correct horse battery"}
        assert [status_of(address, path, fields) for path in (*paths, paths[1])] == [410, 303, 410]
    with serving() as (address, process):
        assert process.stdout.readline() == f"Researchers log in at {address}/research\n"
        assert status_of(address, "/research/login") == 200
    with serving("--respondents-only") as (address, process):
        assert [status_of(address, path) for path in ("/research", "/research/login", paths[1])] == [404] * 3


def status_of(address: str, path: str, fields: dict | None = None) -> int:
    """Status of a response to a visit, or to a form."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        connection.request("POST" if fields else "GET", path, urlencode(fields or {}), form if fields else {})
        return connection.getresponse().status


def test_accounts(run, folder, monkeypatch):
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    assert "--db must be a database" in run("survey", "accounts", "list")[2]
    code, out, _ = run("survey", "accounts", "add", "--role", "owner", "--url", "https://a.org/", "--json", "-")
    added = json.loads(out)
    assert (code, added["role"], added["link"][:28]) == (0, "owner", "https://a.org/research/link/")
    code, out, _ = run("survey", "accounts", "add")
    assert out.startswith("Link for a new account, works once within three days: http://127.0.0.1:8000/research/link/")
    with opened("surveys.db") as store:
        accounts = Accounts(store.engine)
        token = out.strip().rpartition("/")[2]
        accounts.use_link(added["link"].rpartition("/")[2], "anna", "correct horse battery")
        accounts.use_link(token, "ben", "correct horse battery")
        for _ in range(MOST_FAILURES):
            with pytest.raises(LoginError):
                accounts.log_in("ben", "wrong")
        listed = json.loads(run("survey", "accounts", "list", "--json", "-")[1])
        ben = {"name": "ben", "role": "editor", "locked": True, "sessions": 1}
        assert listed == {"accounts": [{"name": "anna", "role": "owner", "locked": False, "sessions": 1}, ben]}
        assert re.search(r"ben\W+editor\W+yes\W+1", run("survey", "accounts", "list")[1])
        assert "Ended 1 session of anna." in run("survey", "accounts", "end-sessions", "anna")[1]
        assert json.loads(run("survey", "accounts", "end-sessions", "anna", "--json", "-")[1])["ended"] == 0
        out = run("survey", "accounts", "reset", "ben", "--url", "https://a.org")[1]
        assert out.startswith(
            "Link for a new password of ben, works once within three days: https://a.org/research/link/"
        )
        accounts.use_link(out.strip().rpartition("/")[2], "", "seven purple umbrellas")
        assert accounts.log_in("ben", "seven purple umbrellas").role == Role.EDITOR
        assert json.loads(run("survey", "accounts", "reset", "ben", "--json", "-")[1])["name"] == "ben"
        assert "NAME must not be that of the last owner" in run("survey", "accounts", "remove", "anna", "--yes")[2]
        monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
        assert run("survey", "accounts", "remove", "ben")[0] == 1
        assert len(accounts.all()) == 2
        monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
        code, out, asked = run("survey", "accounts", "remove", "ben")
        assert (code, out.strip(), asked[:35]) == (0, "Removed ben.", "Remove the account ben, editor? [y/")
        assert [account.name for account in accounts.all()] == ["anna"]


def test_the_demo_ends_by_itself_where_nobody_looks(run, folder):
    code, out, _ = run("survey", "demo", "--respondents", "250")
    assert code == 0
    assert "250 reports" in out
    account, rehearsal, results, link, *_ = out.splitlines()
    assert re.match(r"Account: demo, password \S{16}\. The demo ends by itself", account)
    assert "250 made-up people" in rehearsal
    assert results.endswith(":")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/research/login\?next=/research/surveys/[0-9a-f]{16}/results", link)
    code, out, _ = run("survey", "demo", "--respondents", "200", "--exit", "--json", "-")
    assert json.loads(out)["results"][0]["respondents"] == 200


def test_the_demo_stays_until_it_is_interrupted(run, folder, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "pause", interrupted)
    code, out, _ = run("survey", "demo", "--respondents", "1000", "--stay", "--json", "found.json")
    assert (code, "Ctrl-C ends the demo" in out) == (0, True)
    assert json.loads((folder / "found.json").read_text())["results"] == []  # nobody has to wait for all of them


def test_the_demo_waits_a_moment_at_a_time(monkeypatch):
    waited = []
    monkeypatch.setattr(demo_module.time, "sleep", waited.append)
    demo_module.pause()
    assert waited == [demo_module.SECONDS]


def test_the_demo_can_be_watched(run, folder, monkeypatch):
    """Its account logs in, and the results come beside the truth while made-up people answer."""
    seen = []

    def look():
        address, name, password = told()
        researcher = Researcher(address.partition("/research")[0])
        researcher.post("/research/login", {"name": name, "password": password})
        seen.append(researcher.get(address.partition("next=")[2]).text)
        raise KeyboardInterrupt

    def told():
        account, _, _, link = said
        name, password = re.match(r"Account: (\w+), password (\S+)\.", account).groups()
        return link, name, password

    said = []
    monkeypatch.setattr(demo_module, "say", lambda text, _target: said.append(text))
    monkeypatch.setattr(demo_module, "pause", look)
    assert run("survey", "demo", "--respondents", "200", "--stay")[0] == 0
    assert "This is a rehearsal." in seen[0]


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


def test_weak_protection_is_warned_about_and_must_be_accepted(run, folder):
    draft = folder / "weak.yaml"
    draft.write_text(MINIMAL.replace("odds: 3:1", "odds: 12:1"))
    code, out, errors = run("survey", "preview", "weak.yaml", "--json", "-")
    shown = json.loads(out)
    warning = (
        "q: odds of 12 : 1 are above 10 : 1, the ceiling of a question; the page says that its protection is weak."
    )
    assert (code, shown["strength"], shown["warnings"]) == (0, "weak", [warning])
    assert f"warning: {warning}" in errors
    assert shown["questions"][0]["shares"][1] == {"label": "yes", "share": "1/13", "count": 7}
    code, out, errors = run("survey", "freeze", "weak.yaml", "--json", "-")
    frozen = json.loads(out)
    assert (code, frozen["strength"], frozen["warnings"]) == (0, "weak", [warning])
    assert f"warning: {warning}" in errors
    draft.write_text(MINIMAL.replace('"Did you?"', '"Did you?", scheme: {name: mangat, p: 0.7}'))
    code, _, errors = run("survey", "preview", "weak.yaml")
    assert (code, "must not let a report rule out an answer" in errors) == (2, True)
    draft.write_text(draft.read_text() + "weak: accepted\n")
    code, out, errors = run("survey", "preview", "weak.yaml")
    assert (code, "unbounded" in out, "very weak" in errors) == (0, True, True)
    assert json.loads(run("survey", "preview", "weak.yaml", "--json", "-")[1])["questions"][0]["odds"] is None


def test_the_preview_says_how_many_answers_are_picked(run, folder):
    questions = "".join(f"  - {{id: q{number}, kind: yes_no, text: Q{number}}}\n" for number in range(12))
    (folder / "draft.yaml").write_text(MINIMAL.partition("odds:")[0] + f"odds: 10:1\nquestions:\n{questions}")
    code, out, _ = run("survey", "preview", "draft.yaml")
    assert code == 0
    assert "Each report speaks of" in out


def test_public_questions_on_the_command_line(run, folder):
    (folder / "draft.yaml").write_text("""
title: Trust
asker: Institute of Examples
purpose: To learn whom people trust.
languages: [en, de]
until: 2999-12-31
minimum: 100
invitation: open
odds: 9:1
split: true
questions:
  - {id: ward, kind: single, text: Ward, answers: {n: North, s: South, w: West}, public: true}
  - {id: fear, kind: scale, text: Fear, steps: 3, ends: [low, high], wanted: mean}
  - {id: pain, kind: scale, text: Pain, steps: 3, ends: [low, high], wanted: trend}
""")
    code, out, _ = run("survey", "preview", "draft.yaml", "--respondents", "20", "--json", "-")
    shown = json.loads(out)
    assert (code, shown["public"], len(shown["warnings"])) == (0, ["ward"], 2)
    assert [question["question"] for question in shown["questions"]] == ["fear", "pain"]
    told = run("survey", "preview", "draft.yaml", "--respondents", "20")[2]
    assert "warning: Public answers (ward) have 3 combinations: with 20 respondents, 6.7 share each" in told
    assert "warning: Missing in de, and shown in en instead: title, asker" in run("survey", "freeze", "draft.yaml")[2]

    store = Store("surveys.db")
    survey = store.select(None)
    shares = {"ward": {"n": 1.0, "s": 1.0, "w": 0.1}, "fear": {"1": 1.0}, "pain": {"3": 1.0}}
    reports = simulate_respondents(survey, 800, np.random.default_rng(1), shares).reports(rng=1)
    store.commit([Entry(survey.id, index.to_bytes(16), report) for index, report in enumerate(reports)])
    store.close()
    code, out, _ = run("survey", "estimate", "--by", "ward")
    assert code == 0
    assert "fear (n)" in out
    assert "mean" in out
    assert "1 to 2" in out
    assert re.search(r"w: \d+ reports, fewer than the minimum of 100; not estimated\.", out)
    found = json.loads(run("survey", "estimate", "--by", "ward", "--json", "-")[1])
    assert [each["group"] for each in found["too_few"]] == [["w"]]
    assert run("survey", "estimate", "--by", "fear")[0] == 2
    code, out, _ = run("survey", "export", "out.csv", "--codebook", "codebook.csv", "--json", "-")
    assert (code, json.loads(out)["codebook"]) == (0, "codebook.csv")
    assert (folder / "codebook.csv").read_text().splitlines()[:5] == [
        "column,kind,public,question,label,answer,scheme,odds,variable,code",
        "ward,single,yes,Ward,n,North,,,ward,1",
        "ward,single,yes,Ward,s,South,,,ward,2",
        "ward,single,yes,Ward,w,West,,,ward,3",
        "fear,scale,no,Fear,1,1 (low),randomized_response,3,fear,1",
    ]
    assert run("survey", "export", "other.csv", "--codebook", "codebook.csv")[0] == 2


def test_a_backup_and_its_restore(run, folder):
    (folder / "draft.yaml").write_text(MINIMAL)
    run("survey", "freeze", "draft.yaml")
    run("survey", "invite", "--count", "3", "-o", "links.txt")
    frozen = json.loads(run("survey", "status", "--json", "-")[1])["surveys"][0]
    answered(frozen["id"], 150)
    code, out, _ = run("survey", "backup", "backup.db")
    assert code == 0
    numbers = "1 survey with 150 reports and 3 invitations, 0 accounts and 0 drafts"
    assert f"Backup of {numbers} written to backup.db, and restored once to check it." in out
    assert (folder / "backup.db").stat().st_mode & 0o777 == 0o600
    code, _, errors = run("survey", "backup", "backup.db")
    assert (code, "FILE must not exist yet" in errors) == (2, True)
    code, out, _ = run("survey", "backup", "backup.db", "--force", "--json", "-")
    counts = {"surveys": 1, "reports": 150, "invitations": 3, "accounts": 0, "drafts": 0, "remarks": []}
    assert (code, json.loads(out)) == (0, {"output": "backup.db", **counts})
    code, _, errors = run("survey", "restore", "backup.db")
    assert (code, "--db must not exist yet" in errors) == (2, True)
    estimates = run("survey", "estimate", "--json", "-")[1]
    (folder / "where").write_text("again.db\n")
    code, out, _ = run("survey", "restore", "backup.db", "--db", "@where")
    assert code == 0
    assert f"Restored {numbers}." in out
    assert "Reports that came after the backup are lost." in out
    assert run("survey", "estimate", "--db", "again.db", "--json", "-")[1] == estimates
    code, out, _ = run("survey", "restore", "backup.db", "--db", "third.db", "--json", "-")
    assert (code, json.loads(out)) == (0, {"backup": "backup.db", **counts})
    (folder / "half.db").write_bytes((folder / "backup.db").read_bytes()[:20_000])
    code, _, errors = run("survey", "restore", "half.db", "--db", "fourth.db")
    assert (code, "FILE must be whole; this one is damaged or cut off" in errors) == (2, True)
    assert not (folder / "fourth.db").exists()


def test_a_backup_tells_what_is_wrong_with_the_database(run, folder):
    (folder / "draft.yaml").write_text(MINIMAL)
    run("survey", "freeze", "draft.yaml")
    with closing(sqlite3.connect("surveys.db")) as database:
        database.execute("UPDATE surveys SET secret = NULL")
        database.commit()
    code, _, errors = run("survey", "backup", "backup.db")
    assert code == 0
    assert errors.startswith("Warning: survey ")
    assert "must have the secret key of its document" in errors


def test_a_drill_says_what_it_did_and_passes(run, folder):
    code, out, _ = run(
        *["survey", "drill", "--seed", "1", "--respondents", "8", "--only", "replays", "--json", "found.json"]
    )
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Drill with seed 1 over a new SQLite database. No existing survey is touched."
    assert lines[1].startswith("replays: Every request is sent again")
    assert lines[1].endswith(" ok")
    assert lines[-1] == "All 9 acknowledged reports are stored, once each, and nothing leaked."
    found = json.loads((folder / "found.json").read_text())
    assert (found["passed"], found["lost"], found["leaked"], found["broken"]) == (True, [], [], [])
    assert [scenario["name"] for scenario in found["scenarios"]] == ["replays", "end"]


def test_a_drill_that_fails_says_what_was_found_and_how_to_repeat_it(run, folder, monkeypatch):
    """Also of PostgreSQL by a URL in a file, which no message repeats, and with a definition."""
    asked = []

    def failing(survey, course, *, database, progress, **_):
        asked.append((survey.default_title, database))
        lost = Finding("lost", "crash", 1.25, "a report is not stored")
        outcome = ScenarioOutcome("crash", "The server is killed.", 2.0, ((1.0, "killed"),), 9, 3, (lost, lost))
        progress(outcome)
        return DrillResult(course.seed, "postgresql", (outcome,))

    monkeypatch.setattr(drill_module, "run_drill", failing)
    (folder / "url.txt").write_text("postgresql://me:secret@host/db\n")
    run("survey", "new", "draft.yaml")
    code, out, err = run(*["survey", "drill", "--survey", "draft.yaml", "--db", "@url.txt", "--json", "-"])
    assert code == 1
    seed = json.loads(out)["seed"]
    assert json.loads(out)["lost"][0]["what"] == "a report is not stored"
    assert "crash: The server is killed. 2 lost" in err
    assert "lost (crash, after 1.2 s): a report is not stored" in err
    assert f"Failed: 2 lost, 0 leaked, 0 broken. The same faults again: sottovoce survey drill --seed {seed}" in err
    assert "secret" not in out + err
    assert [database for _, database in asked] == ["postgresql://me:secret@host/db"]
