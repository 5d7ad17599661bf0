"""Results keep up with the reports, wait for nobody for long, and come from a process that may end."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sottovoce.errors import MissingExtraError
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.app_state import RefusedError
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard import analyses, app, live_results
from sottovoce.surveys.dashboard.app import Dashboard
from sottovoce.surveys.dashboard.live_results import Found, Inquiry, LiveResults, answer
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.results import CodedReports

TEXT = """title: T
asker: A
purpose: P
until: 2999-12-31
invitation: open
odds: 81
split: true
minimum: 2
questions:
  - {id: q, kind: yes_no, text: Q}
  - {id: s, kind: several, text: S, answers: [a, b, c]}
"""


@pytest.fixture
def filled(tmp_path):
    """A store with a rehearsal of 300 reports."""
    store = Store(str(tmp_path / "surveys.db"))
    survey = store.freeze(survey_from_text(TEXT).as_rehearsal())
    store.store_simulated(survey, simulate_respondents(survey, 300, np.random.default_rng(1)).reports())
    yield store, survey
    store.close()


@pytest.fixture(autouse=True)
def forgotten():
    """What this process keeps as if it were the other one."""
    yield
    for store in live_results._stores.values():
        store.close()
    live_results._stores.clear()
    live_results._decoded.clear()


def here(function, *arguments):
    """Run in this process, at once."""
    future = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as reason:
        future.set_exception(reason)
    return future


def add(store, survey, count, seed=2):
    store.store_simulated(survey, simulate_respondents(survey, count, np.random.default_rng(seed)).reports())


def test_results_are_computed_once_for_the_same_reports(filled, monkeypatch):
    store, survey = filled
    calls = []
    monkeypatch.setitem(analyses.ANALYSES, "count", lambda survey, reports, level: calls.append(1) or len(reports))
    live, inquiry = LiveResults(here, rest=0), Inquiry(survey.id, "count", 0.95)
    assert [live.ask(store, inquiry).value for _ in range(3)] == [300] * 3
    assert len(calls) == 1
    add(store, survey, 10)
    found = live.ask(store, inquiry)
    assert (found.value, found.reports, len(calls)) == (310, 310, 2)
    assert live.ask(store, Inquiry(survey.id, "count", 0.9)).value == 310
    assert len(calls) == 3


def test_results_rest_while_reports_arrive(filled, monkeypatch):
    store, survey = filled
    monkeypatch.setitem(analyses.ANALYSES, "count", lambda survey, reports, level: len(reports))
    live, inquiry = LiveResults(here, rest=1e6), Inquiry(survey.id, "count", 0.95)
    assert live.ask(store, inquiry).value == 300
    add(store, survey, 10)
    assert live.ask(store, inquiry).value == 300
    store.delete_survey(survey.id)
    store.freeze(survey_from_text(TEXT).as_rehearsal())
    add(store, survey, 310)
    assert live.ask(store, inquiry).value == 310


def test_a_slow_computation_leaves_the_last_results(filled):
    store, survey = filled
    inquiry, asked = Inquiry(survey.id, "count", 0.95), []

    def submit(function, *arguments):
        asked.append(Future())
        return asked[-1]

    live = LiveResults(submit, rest=0)
    assert live.ask(store, inquiry, patience=0.01) is None
    assert live.ask(store, inquiry, patience=0.01) is None
    assert len(asked) == 1
    asked[0].set_result(Found(store.mark(survey.id), 300, None, 5.0))
    assert live.ask(store, inquiry, patience=0.01).value == 300
    add(store, survey, 5)
    late = live.ask(store, inquiry, patience=0.01)
    assert (late.value, late.reports, len(asked)) == (300, 300, 2)
    asked[1].cancel()
    asked[1].set_running_or_notify_cancel()
    assert live.ask(store, inquiry, patience=0.01).value == 300
    assert len(asked) == 3


def test_who_has_just_seen_results_waits_briefly(filled, monkeypatch):
    store, survey = filled
    inquiry, asked = Inquiry(survey.id, "count", 0.95), []

    def submit(function, *arguments):
        asked.append(Future())
        return asked[-1]

    live = LiveResults(submit, rest=0)
    assert live.ask(store, inquiry, patience=0) is None
    asked[0].set_result(Found(store.mark(survey.id), 300, None, 0.1))
    add(store, survey, 5)
    start = time.monotonic()
    assert live.ask(store, inquiry).value == 300
    assert time.monotonic() - start < 1.5
    monkeypatch.setattr(live_results, "RECENT", 0.0)
    assert live.ask(store, inquiry, patience=0.3).value == 300
    assert time.monotonic() - start > 0.3


def test_only_the_newest_results_are_kept(filled, monkeypatch):
    store, survey = filled
    monkeypatch.setattr(live_results, "MOST_FOUND", 2)
    monkeypatch.setitem(analyses.ANALYSES, "count", lambda survey, reports, level: len(reports))
    live = LiveResults(here)
    for level in (0.9, 0.95, 0.99):
        live.ask(store, Inquiry(survey.id, "count", level))
    assert [inquiry.level for inquiry in live._kept] == [0.95, 0.99]


def test_the_other_process_reads_again_what_has_changed(filled, monkeypatch):
    store, survey = filled
    monkeypatch.setitem(analyses.ANALYSES, "count", lambda survey, reports, level: len(reports))
    inquiry = Inquiry(survey.id, "count", 0.95)
    assert answer(store.place, inquiry).value == 300
    kept = live_results._decoded[store.place, survey.id][2]
    assert answer(store.place, inquiry).value == 300
    assert live_results._decoded[store.place, survey.id][2] is kept
    add(store, survey, 1)
    assert answer(store.place, inquiry).value == 301
    monkeypatch.setattr(live_results, "MOST_DECODED", 1)
    other = store.freeze(survey_from_text(TEXT.replace("title: T", "title: U")).as_rehearsal())
    add(store, other, 7)
    assert answer(store.place, Inquiry(other.id, "count", 0.95)).value == 7
    assert list(live_results._decoded) == [(store.place, other.id)]
    store.delete_survey(other.id)
    assert answer(store.place, Inquiry(other.id, "count", 0.95)) is None
    assert answer(store.place, Inquiry(other.id, "count", 0.95)) is None


def test_mistakes_and_missing_extras_come_back_as_reasons(filled, monkeypatch):
    store, survey = filled

    def missing(survey, reports, level):
        raise MissingExtraError("a classifier", "scikit-learn", "mine")

    monkeypatch.setitem(analyses.ANALYSES, "missing", missing)
    found = answer(store.place, Inquiry(survey.id, "missing", 0.95))
    assert found.value is None
    assert found.reason == "a classifier needs scikit-learn; install it with: pip install 'sottovoce[mine]'"
    assert (
        "must be one with several choices"
        in answer(store.place, Inquiry(survey.id, "patterns", 0.95, ("q", "0.1", "0.5"))).reason
    )


def test_rules_of_choices_that_are_disguised_together():
    survey = survey_from_text(TEXT.replace("text: S,", "text: S, scheme: randomized_response,"))
    coded = CodedReports.of(survey, simulate_respondents(survey, 5000, np.random.default_rng(1)).reports())
    found = analyses.patterns(survey, coded, 0.95, "s", "0.05", "0.1")
    assert found.rules
    assert all(0 <= rule.confidence <= 1 for rule in found.rules)


@pytest.mark.parametrize(("label", "features"), [("s", ("q",)), ("q", ("s",)), ("q", ()), ("q", ("q",))])
def test_a_classifier_needs_questions_with_one_answer(label, features):
    survey = survey_from_text(TEXT)
    with pytest.raises(ValueError, match="Predict it from must be"):
        analyses.classifier(survey, CodedReports(()), 0.95, label, "tree", *features)


def test_a_classifier_may_have_bounds_only():
    text = TEXT.replace("split: true\n", "") + "".join(f"  - {{id: x{n}, kind: yes_no, text: X}}\n" for n in range(6))
    survey = survey_from_text(text)
    coded = CodedReports.of(survey, simulate_respondents(survey, 5000, np.random.default_rng(1)).reports())
    found = analyses.classifier(survey, coded, 0.95, "x0", "naive_bayes", "x1", "x2", "x3")
    assert found.accuracy.name == "accuracy"
    assert len(found.recall) in (0, 2)


@pytest.mark.parametrize("model", ["naive_bayes", "tree"])
def test_questions_that_no_report_tells_of_together_cannot_predict_each_other(model):
    asked = "".join(f"  - {{id: x{n}, kind: yes_no, text: Is it {n}}}\n" for n in range(2))
    head = TEXT.partition("questions:")[0].replace("odds: 81\nsplit: true", "odds: 3")
    survey = survey_from_text(f"{head}questions:\n{asked}")
    coded = CodedReports.of(survey, simulate_respondents(survey, 500, np.random.default_rng(1)).reports())
    with pytest.raises(
        ValueError, match=r"Predict it from must be questions that some reports tell of together\."
    ) as told:
        analyses.classifier(survey, coded, 0.95, "x0", model, "x1")
    assert "“Is it 0”" in str(told.value)
    assert "“Is it 1”" in str(told.value)
    assert "purpose=" not in str(told.value)


def test_what_few_reports_cannot_resolve_is_said_without_terms_of_the_library(filled):
    store, survey = filled
    notes = answer(store.place, Inquiry(survey.id, "patterns", 0.95, ("s", "0.01", "0.5"))).value.notes
    (note,) = [note for note in notes if "can resolve" in note]
    assert note.startswith(
        "A share of 0.01 is below what 300 reports can resolve for single choices: there, shares under"
    )


def test_a_process_that_was_ended_is_started_again(filled):
    store, survey = filled
    dashboard = Dashboard(store)
    inquiry = Inquiry(survey.id, "questions", 0.95)
    deadline = time.monotonic() + 60
    while dashboard.results.ask(store, inquiry) is None:
        assert time.monotonic() < deadline
    dashboard.worker.submit(os._exit, 1).exception()
    other = Inquiry(survey.id, "questions", 0.9)
    while (found := dashboard.results.ask(store, other)) is None:
        assert time.monotonic() < deadline
    assert found.reports == 300
    dashboard.close()


def broken():
    future = Future()
    future.set_exception(BrokenProcessPool())
    return future


def test_a_process_that_ends_at_work_is_replaced(filled):
    store, survey = filled
    inquiry, mark = Inquiry(survey.id, "count", 0.95), store.mark(survey.id)
    futures = iter([broken(), here(lambda: Found(mark, 300, None, 0.1))])
    assert LiveResults(lambda *arguments: next(futures)).ask(store, inquiry).value == 300
    slow = iter([broken(), Future()])
    assert LiveResults(lambda *arguments: next(slow)).ask(store, inquiry, patience=0.01) is None
    with pytest.raises(RefusedError):
        LiveResults(lambda *arguments: broken()).ask(store, inquiry)


def test_what_ended_meanwhile_is_begun_anew(filled):
    """The end of a computation may be noticed before it is noted."""
    store, survey = filled
    inquiry = Inquiry(survey.id, "count", 0.95)
    live = LiveResults(lambda *arguments: here(lambda: Found(store.mark(survey.id), 300, None, 0.1)))
    live._running[inquiry] = ended = broken()
    assert live.ask(store, inquiry).value == 300
    live._running[inquiry] = newer = Future()
    live._keep(inquiry, ended)
    assert live._running[inquiry] is newer


def test_results_of_a_postgresql_database(postgres):
    store = Store(postgres.database())
    survey = store.freeze(survey_from_text(TEXT).as_rehearsal())
    add(store, survey, 50)
    found = answer(store.place, Inquiry(survey.id, "questions", 0.95))
    assert found.reason is None
    assert found.reports == 50
    assert len(found.value.cards) == 2
    store.close()


def test_an_interrupt_is_left_to_the_server(monkeypatch):
    started, before = [], signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(app, "Thread", lambda **settings: SimpleNamespace(start=lambda: started.append(settings)))
    monkeypatch.setattr(os, "nice", lambda niceness: None)  # nobody but root may take it back
    app.stay_with_server()
    assert not started
    monkeypatch.setattr(app, "parent_process", lambda: SimpleNamespace(sentinel=7))
    app.stay_with_server()
    os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert started[0]["args"] == (7,)


KILLED = """
import os, sys
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.app import Dashboard

if __name__ == "__main__":
    dashboard = Dashboard(Store(sys.argv[1]))
    print(dashboard.submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), 9)
"""


def test_the_process_does_not_outlive_a_server_that_is_killed(tmp_path):
    (tmp_path / "server.py").write_text(KILLED)
    command = [sys.executable, str(tmp_path / "server.py"), str(tmp_path / "surveys.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -9
    worker, deadline = Path(f"/proc/{done.stdout.strip()}"), time.monotonic() + 10
    while worker.exists() and "Z" not in (worker / "stat").read_text().rpartition(")")[2].split()[0]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


SCRIPT = """
import sys
print("the script runs")
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.app import Dashboard
dashboard = Dashboard(Store(sys.argv[1]))
print(dashboard.submit(abs, -3).result())
dashboard.close()
"""


def test_a_script_that_serves_is_not_run_again(tmp_path):
    """Nobody has to write `if __name__ == "__main__"` to serve surveys."""
    script = tmp_path / "serve.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script, tmp_path / "surveys.db"], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["the script runs", "3"]
