"""Rehearsals are surveys of their own: marked in the document, filled with simulated reports, and never mixed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.surveys.client.simulate import send_reports, simulate_respondents
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.publications import export_reports
from sottovoce.surveys.rehearsal import read_shares, rehearse
from sottovoce.surveys.results import cross_table

SHARES = {"sick": {"no": 0.7, "yes": 0.3}}


def some(number=1):
    return np.random.default_rng(number)


def test_a_rehearsal_has_another_hash_and_says_so(survey, open_survey):
    trial = open_survey.as_rehearsal()
    assert trial.hash != open_survey.hash
    assert json.loads(trial.document)["rehearsal"] is True
    assert json.loads(open_survey.document)["rehearsal"] is False
    assert survey_from_bytes(trial.document) == trial
    assert repr(trial).startswith("rehearsal of Honesty at work: ")
    assert survey.as_rehearsal().admission is None
    first = replace(open_survey, send_interval=0)
    assert json.loads(first.document)["version"] == 1
    assert json.loads(replace(first, rehearsal=True).document)["version"] == 2
    with pytest.raises(SottovoceError, match="rehearsal must be true or false"):
        survey_from_bytes(canonical_bytes(json.loads(trial.document) | {"rehearsal": 1}))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_simulated_reports_go_into_a_rehearsal_only(kind, request, tmp_path, draft, open_survey):
    database = str(tmp_path / "surveys.db") if kind == "sqlite" else request.getfixturevalue("postgres").database()
    store = Store(database)
    live = store.freeze(open_survey)
    people = simulate_respondents(live, 3, some())
    with pytest.raises(SottovoceError, match="survey must be a rehearsal: simulated reports are never stored among"):
        store.store_simulated(live, people.reports())
    assert store.select() == live
    found = rehearse(store, live, 600, some(), SHARES)
    trial = found.survey
    assert store.rehearsals() == {trial.id}
    assert (store.counts(live.id)["reports"], store.counts(trial.id)["reports"]) == (0, 600)
    assert store.select() == live  # a rehearsal must be named
    assert store.select(trial.id[:9]) == trial
    (first, *_) = found.results
    assert first.rehearsal
    assert first.headline == "sick: 600 reports of a rehearsal, 95 % intervals"
    assert found.truth(first)[1] == pytest.approx(0.3, abs=0.1)
    with pytest.raises(SottovoceError, match=f"throw {trial.id} away first: sottovoce survey delete {trial.id}"):
        rehearse(store, trial, 10, some())
    store.delete_survey(trial.id)
    assert rehearse(store, live, 10, some()).results == []  # fewer than the minimum
    store.delete_survey(live.id)
    assert store.select().rehearsal  # there is nothing else
    assert rehearse(store, draft, 0, some()).survey.admission is not None
    store.close()


def test_results_and_exports_say_what_they_are_of(tmp_path, open_survey):
    store = Store(str(tmp_path / "surveys.db"))
    trial = rehearse(store, open_survey, 60, some()).survey
    assert cross_table(trial, store.reports(trial.id), "sick", "drink").rehearsal
    with pytest.raises(SottovoceError, match="output must have 'rehearsal' in its name"):
        export_reports(store, trial, tmp_path / "reports.csv")
    assert export_reports(store, trial, tmp_path / "Rehearsal.csv") == 60
    store.close()


def test_nothing_simulated_is_sent_to_a_survey_that_counts(survey):
    with pytest.raises(SottovoceError, match=f"To make one: sottovoce survey rehearse {survey.id}"):
        send_reports(survey, [], [])


def test_truths_are_stated_in_a_line_or_in_a_file(tmp_path, survey):
    (tmp_path / "truth.yaml").write_text("drink: {never: 0.5, daily: 0.1}\nseen: {words: 0.4}\n")
    shares = read_shares(survey, ["sick=yes:0.3, no answer:0.1", str(tmp_path / "truth.yaml")])
    assert shares == {
        "sick": {"no": 0.6, "yes": 0.3, "no answer": 0.1},
        "drink": pytest.approx({"never": 0.5, "once": 0.2, "often": 0.2, "daily": 0.1}),
        "seen": {"words": 0.4, "touch": 0.0, "threats": 0.0},
    }
    assert read_shares(survey, ["sick=yes:0.3,no:0.7"]) == {"sick": {"no": 0.7, "yes": 0.3}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sick=maybe:0.5", "truth must name answers of sick: no, yes, no answer. Got 'maybe'"),
        ("sick=yes:much", r"truth must state shares from 0 to 1, as in sick=yes:0\.3\. Got 'much'"),
        ("sick=yes", "truth must name answers of sick"),
        ("sick=yes:1.1", "truth must state shares from 0 to 1"),
        ("sick=yes:nan", "truth must state shares from 0 to 1"),
        ("drink=never:0.9,once:0.2", "truth must state shares of drink that add up to 1"),
        ("sick=yes:0.3,no:0.6", "truth must state shares of sick that add up to 1"),
        ("age=yes:0.3", "question must be one of sick, days"),
    ],
)
def test_wrong_truths(survey, text, message):
    with pytest.raises(SottovoceError, match=message):
        read_shares(survey, [text])
