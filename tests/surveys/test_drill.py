"""The drill finds what it should and nothing else: the server passes, and servers with a bug do not."""

import os
from pathlib import Path
from random import Random

import pytest

from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
from sottovoce.surveys.drill import faults as faults_module
from sottovoce.surveys.drill.drill import Course, run_drill
from sottovoce.surveys.drill.faults import SCENARIOS
from sottovoce.surveys.drill.respondents import Reply
from sottovoce.surveys.drill.scratch import SqliteScratch
from sottovoce.surveys.drill.state import Drill
from tests.surveys.postgres import ROLE

ROOT = Path(__file__).parents[2]
FAST = {"queue_dropped_on_stop", "stored_twice"}
FEW = {"queue_dropped_on_stop", "stored_twice", "token_logged", "fails"}
BUGS = {
    "acknowledged_before_commit": ("crash", "lost", "is not stored"),
    "token_reusable": ("replays", "broken", "was used again, with another message"),
    "queue_dropped_on_stop": ("stop", "broken", "had been sent before the server was asked to stop"),
    "stored_twice": ("replays", "broken", "reports are stored with the receipt"),
    "order_kept": ("replays", "leaked", "tells the order of arrival"),
    "invitation_linked": ("replays", "leaked", "holds both invitations and reports"),
    "token_logged": ("replays", "leaked", "the invitation of respondent"),
    "clock_trusted": ("clock", "broken", "the survey took a report after it was closed"),
    "fails": ("replays", "broken", "got status 500"),
}
"""For each bug the scenario that finds it, the kind of what is found, and words of it."""

NAMES = [scenario.name for scenario in SCENARIOS]


@pytest.fixture(scope="module")
def sample():
    """A survey with invitations, a public question, several kinds of others, and answers that are picked."""
    return survey_from_text(sample_definition("exams", today()))


@pytest.fixture(scope="module")
def open_sample():
    return survey_from_text(sample_definition("workplace", today()))


@pytest.fixture
def importable(monkeypatch):
    """Let the drill's server import the applications of the tests."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))


@pytest.fixture
def postgres_url(postgres):
    """URL of a database whose role may create others."""
    url = postgres.database()
    with postgres.superuser("postgres") as connection:
        connection.execute(f"ALTER ROLE {ROLE} CREATEDB")
        yield url
        connection.execute(f"ALTER ROLE {ROLE} NOCREATEDB")
        left = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'sottovoce_drill%'").fetchall()
        assert left == []


def passed(result, names):
    """Assert that nothing was found, and that every scenario has caused and survived something."""
    assert [str(finding) for finding in result.findings] == []
    assert [outcome.name for outcome in result.outcomes] == [*names, "end"]
    assert all(outcome.faults and outcome.acknowledged for outcome in result.outcomes[:-1])


@pytest.mark.parametrize("names", [NAMES[:2], NAMES[2:6], NAMES[6:]], ids="-".join)
def test_the_server_passes(sample, names):
    passed(run_drill(sample, Course(seed=1, respondents=8, only=names, outage=0.3)), names)


def test_the_server_passes_on_postgres(sample, postgres_url):
    names = ["crash", *NAMES[6:]]
    result = run_drill(sample, Course(seed=1, respondents=8, only=names, outage=0.3), database=postgres_url)
    passed(result, names)
    assert result.database == "postgresql"


def test_an_open_survey_passes(open_sample):
    names = ["replays", "races", "clock"]
    passed(run_drill(open_sample, Course(seed=1, respondents=8, only=names)), names)


@pytest.mark.slow
def test_the_whole_drill_with_an_outage_of_a_minute(sample):
    result = run_drill(sample, Course(seed=1, respondents=60))
    passed(result, NAMES)
    assert result.acknowledged > 600
    assert sum(outcome.retries for outcome in result.outcomes) > 100


@pytest.mark.slow
def test_the_whole_drill_on_postgres(sample, postgres_url):
    result = run_drill(sample, Course(seed=2, respondents=60, outage=12), database=postgres_url)
    passed(result, NAMES)


@pytest.mark.slow
def test_the_server_passes_with_another_seed(sample):
    names = [name for name in NAMES if name != "outage"]
    passed(run_drill(sample, Course(seed=3, respondents=50, only=names)), names)


@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize("bug", [pytest.param(bug, marks=[] if bug in FAST else [pytest.mark.slow]) for bug in BUGS])
def test_a_seeded_bug_is_found(sample, bug):
    scenario, kind, words = BUGS[bug]
    course = Course(seed=1, respondents=10 if bug in FEW else 60, only=[scenario])
    result = run_drill(sample, course, application=f"tests.surveys.drill_bugs:{bug}")
    found = [finding for finding in result.findings if finding.kind == kind and words in finding.what]
    assert found, [str(finding) for finding in result.findings]
    assert not result.passed


@pytest.mark.slow
@pytest.mark.usefixtures("importable")
@pytest.mark.parametrize("bug", ["acknowledged_before_commit", "order_kept"])
def test_a_seeded_bug_is_found_on_postgres(sample, bug, postgres_url):
    scenario, kind, _ = BUGS[bug]
    course = Course(seed=2, respondents=60, only=[scenario])
    result = run_drill(sample, course, database=postgres_url, application=f"tests.surveys.drill_bugs:{bug}")
    assert kind in {finding.kind for finding in result.findings}


@pytest.mark.usefixtures("importable")
def test_a_server_that_does_not_start_is_found(sample):
    course = Course(seed=1, respondents=8, only=["replays"])
    result = run_drill(sample, course, application="tests.surveys.drill_bugs:ends")
    first, *_ = result.findings
    assert "the scenario could not go on: SottovoceError server must run and obey the drill" in first.what
    assert "no application today" in first.what
    assert result.to_json()["broken"][0] == first.to_json()
    assert result.to_json()["passed"] is False


def test_rounds_are_repeated(sample):
    seen = []
    course = Course(seed=1, respondents=8, only=["replays"], minutes=0.02)
    result = run_drill(sample, course, progress=seen.append)
    assert result.passed
    assert [outcome.name for outcome in seen] == ["replays"] * (len(seen) - 1) + ["end"]
    assert result.outcomes == tuple(seen)
    assert result.count("lost") == 0


class Answers:
    """Stands for a server that answers every request in the same way."""

    def __init__(self, drill, reply):
        self._drill, self._reply = drill, reply
        drill.servers = [self]
        self.address = "http://127.0.0.1:1"
        drill.ask = self._ask

    async def _ask(self, *_):
        return self._reply


@pytest.fixture
def drill(tmp_path, sample):
    return Drill(SqliteScratch(tmp_path), sample, seed=1, respondents=8, outage=0.1, application="")


def test_requests_that_are_not_recognised_again_are_found(drill, finished):
    (respondent,) = drill.new_respondents(1)
    respondent.signed = lambda: None
    Answers(drill, Reply(409, {"error": "spent"}))
    finished(faults_module._replay(drill, Random(1), respondent, [respondent]))  # noqa: S311
    assert [finding.what for finding in drill.findings] == [
        "respondent 1 did not get the same signature again for the same message",
        "the report of respondent 1 was sent again, and was not recognised",
    ]


def test_races_that_nobody_or_everybody_wins_are_found(drill, finished, monkeypatch):
    respondent, other = drill.new_respondents(2)
    replies = []

    async def at_once(*_):
        return replies.pop(0)

    monkeypatch.setattr(faults_module, "_at_once", at_once)
    Answers(drill, Reply(200, {}))
    replies += [
        [Reply(409, {})] * 24,
        [Reply(200, {"signature": "ab"}), Reply(200, {"signature": "cd"})] * 12,
        [Reply(200, {"signature": "ef"})] * 24,
    ]
    finished(faults_module._race_for_admission(drill, respondent))
    finished(faults_module._race_for_admission(drill, respondent))
    respondent.signature, respondent.blinded = None, None
    monkeypatch.setattr(respondent, "signed", lambda: None)
    replies += [[Reply(201, {})] * 24, [Reply(409, {}), Reply(201, {})] * 12]
    finished(faults_module._race_with_reports(drill, respondent, [respondent, other]))
    monkeypatch.setattr(other, "signed", lambda: None)
    finished(faults_module._race_with_reports(drill, other, [respondent, other]))
    assert [finding.what for finding in drill.findings] == [
        "the invitation of respondent 1 admitted 0 of 24 messages at the same moment",
        "the invitation of respondent 1 admitted 24 of 24 messages at the same moment",
        "the same message of respondent 1 got different answers at the same moment",
        "2 reports of respondent 1 were accepted under one credential at the same moment",
        "the report of respondent 1 was stored more than once at the same moment",
        "the report of respondent 2 was stored more than once at the same moment",
    ]
    assert other.report == respondent.report  # it came first
