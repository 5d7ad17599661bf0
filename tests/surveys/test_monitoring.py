"""Health and metrics: what operators see of a server, and that it is nothing about a respondent."""

import asyncio
import json
import re
import threading
import time
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import OperationalError

from sottovoce.surveys.collect import app_state as app_state_module
from sottovoce.surveys.collect import monitoring
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.monitoring import CROWD, Health, Metrics
from tests.surveys.test_server import admission, body

LINE = re.compile(r'(# (HELP|TYPE) )?sottovoce_[a-z_]+(\{status="\d+"\})?( [a-z]+| [A-Z0-9].*)?( \d+)?')
"""What Prometheus reads: a comment about a name, or a name and a number."""


def values(server) -> dict[str, int]:
    """Metrics by their names, with their labels."""
    reply = server.ask("GET", "/metrics")
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = reply.body.decode().splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    told = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name.removeprefix("sottovoce_"): int(value) for name, value in told}


def test_a_server_whose_database_answers_is_well(served, monkeypatch):
    """It says so to everybody, as often as they ask."""
    server = served(per_window=1)
    for _ in range(20):
        reply = server.ask("GET", "/health")
        assert (reply.status, json.loads(reply.body)) == (200, {"status": "ok"})
    assert reply.headers["cache-control"] == "no-store"
    monkeypatch.setattr(monitoring, "FRESH_SECONDS", -1)

    def fail(connection):
        raise OperationalError("SELECT", {}, Exception("gone"))

    monkeypatch.setattr(app_state_module, "levels_of", fail)
    reply = server.ask("GET", "/health")
    assert (reply.status, json.loads(reply.body)) == (503, {"status": "database"})


def test_a_database_that_hangs_is_asked_once(finished):
    asked, go_on = [], threading.Event()

    def hang():
        asked.append(1)
        go_on.wait(60)

    async def ask() -> list[bool]:
        health = Health(hang)
        early = [await health.answers(0.01) for _ in range(3)]
        together = asyncio.gather(*(health.answers(60) for _ in range(5)))
        go_on.set()
        return early + await together

    assert finished(ask()) == [False] * 3 + [True] * 5
    assert asked == [1]


def test_an_answer_is_told_again_for_a_moment(finished):
    now, asked = [0.0], []

    async def ask() -> None:
        health = Health(lambda: asked.append(now[0]), clock=lambda: now[0])
        for moment in (0.0, 0.9, 1.1, 1.2):
            now[0] = moment
            assert await health.answers()

    finished(ask())
    assert asked == [0.0, 1.1]


def test_a_server_that_ends_meanwhile_is_not_told(finished):
    go_on = threading.Event()

    async def ask() -> bool:
        return await Health(lambda: go_on.wait(60)).answers(0)

    assert not finished(ask())
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "survey health"]
    go_on.set()
    thread.join(60)  # raises nothing, although its loop is closed


def test_metrics_are_there_only_if_asked_for(server, served):
    assert server.ask("GET", "/metrics").status == 404
    assert set(values(served(metrics=True))) == {
        "database_up",
        "storing_fails",
        "faults_total",
        "uptime_hours",
        "memory_bytes",
        "waiting",
        "admissions_total",
        "reports_total",
    }


def test_one_respondent_changes_nothing(served, store, survey, open_survey):
    """An admission, a report, a repetition, and refusals: whoever looks every second sees no difference."""
    server = served(per_window=None, metrics=True)
    before = values(server) | {"memory_bytes": 0}
    (token,) = store.invite(survey, 1)
    blinded = survey.admission.blind(bytes(32)).message
    assert server.post(survey, admission(token, blinded), route="admission")[0] == 200
    sent = body(open_survey)
    assert [server.post(open_survey, sent)[0] for _ in range(2)] == [201, 200]
    assert server.post(open_survey, b"broken")[0] == 400
    assert server.post(survey, admission("x", blinded), route="admission")[0] == 403
    assert server.ask("GET", "/s/0000000000000000").status == 404
    assert values(server) | {"memory_bytes": 0} == before


def test_crowds_are_counted_in_steps(served, open_survey):
    server = served(per_window=None, metrics=True)
    for count in range(1, CROWD + 1):
        assert server.post(open_survey, body(open_survey))[0] == 201
        assert server.post(open_survey, b"broken")[0] == 400
        if count in (CROWD - 1, CROWD):
            reached = count == CROWD
            told = values(server)
            assert told["reports_total"] == CROWD * reached
            assert told.get('refusals_total{status="400"}') == (CROWD if reached else None)


def test_failures_of_the_machine_are_exact(served, open_survey, monkeypatch):
    def full(entries):
        raise OSError("disk full")

    server = served(metrics=True, commit=full)
    assert values(server)["storing_fails"] == 0
    assert server.post(open_survey, body(open_survey)) == (503, "busy")
    assert values(server)["storing_fails"] == 1
    monkeypatch.setattr(PublishedSurvey, "read_submission", lambda self, submission: 1 / 0)
    assert server.post(open_survey, body(open_survey)) == (500, "failed")
    told = values(server)
    assert (told["faults_total"], told["database_up"]) == (1, 1)
    assert 'refusals_total{status="503"}' not in told


def test_time_and_memory_are_coarse(monkeypatch, tmp_path):
    now = [0.0]
    metrics = Metrics(lambda: now[0])
    now[0] = 3599.0
    assert "sottovoce_uptime_hours 0\n" in metrics.text()
    now[0] = 3600.0
    assert "sottovoce_uptime_hours 1\n" in metrics.text()
    assert int(re.search(r"memory_bytes (\d+)\n", metrics.text())[1]) % 2**24 == 0
    monkeypatch.setattr(monitoring, "_STATM", tmp_path / "none")
    assert "sottovoce_memory_bytes 0\n" in metrics.text()
    assert "sottovoce_waiting 128\n" in metrics.text(waiting=191)
    assert str(datetime.now(UTC).year) not in metrics.text()


@pytest.mark.slow
def test_a_postgresql_that_is_stopped_and_comes_back(postgres, monkeypatch):
    from sottovoce.surveys.collect.server import listen, make_app, running
    from sottovoce.surveys.collect.store import Store
    from tests.surveys.conftest import Server

    with running(make_app(Store(postgres.database()), metrics=True), listen("127.0.0.1", 0)) as address:
        server = Server(address)
        assert server.ask("GET", "/health").status == 200
        postgres.stop()
        time.sleep(1.1)
        began = time.monotonic()
        assert server.ask("GET", "/health").status == 503
        assert time.monotonic() - began < 5
        assert values(server)["database_up"] == 0
        postgres.start()
        time.sleep(1.1)
        assert server.ask("GET", "/health").status == 200
        assert values(server)["database_up"] == 1
