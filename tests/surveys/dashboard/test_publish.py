"""Results are published from the browser: files, a report, a page for ethics boards, a methods paragraph."""

import csv
import io
import os
import re
import zipfile
from html import unescape
from urllib.parse import unquote

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.plans.document import plan_to_text
from sottovoce.surveys.client.simulate import random_shares, simulate_respondents
from sottovoce.surveys.codebook import codebook, codebook_text
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.dashboard import publish_pages
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.publish_pages import (
    PLAIN_FILES,
    REPORT_FILES,
    RESULT_FILES,
    Mistake,
    make_ethics_context,
    make_file,
)
from sottovoce.surveys.dashboard.report import chance_sentences, ethics_context, html_report
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.results import survey_results
from tests.surveys.test_publications import CARDS, HEAD, MANY, MIXED, ONE, PICKED, UNRELATED

EVIL = "<img src=x onerror=alert(1)>"
HARM = f"""
title: "{EVIL}"
asker: "{EVIL}"
purpose: "{EVIL}"
until: 2999-12-31
minimum: 20
invitation: open
odds: 81:1
split: true
consent: "{EVIL}"
questions:
  - {{id: "{EVIL}", kind: yes_no, text: "{EVIL}", help: "{EVIL}", answers: {{"no": "{EVIL}0", "yes": "{EVIL}1"}}}}
  - {{id: b, kind: single, text: "{EVIL}", answers: ["{EVIL}", other], when: {{"{EVIL}": "yes"}}}}
  - {{id: c, kind: scale, text: "{EVIL}", steps: 3, ends: ["{EVIL}", "{EVIL}"], wanted: trend}}
  - {{id: d, kind: several, text: "{EVIL}", answers: ["{EVIL}", other]}}
"""
ARABIC = f"title: الصدق في العمل\n{HEAD}\nodds: 3:1\nlanguages: [ar]\nquestions: [{{id: q, kind: yes_no, text: هل}}]"
LOADS = re.compile(
    r"""(?:src|href|srcset|data|action)\s*=\s*["']?\s*(?:https?:)?//|url\(|@import|<(?:script|link|iframe|img|object|embed)""",
    re.IGNORECASE,
)


def fill(store, survey, count: int = 60):
    rng = np.random.default_rng(1)
    made = simulate_respondents(survey, count, rng, random_shares(survey, rng)).reports()
    store.commit([Entry(survey.id, os.urandom(16), report) for report in made])
    return survey


def frozen(office, text: str = MIXED, count: int = 60):
    return fill(office.store, office.store.freeze(survey_from_text(text)), count)


def place(survey, name: str = "") -> str:
    return f"/research/surveys/{survey.id}/publish{name}"


def database(office) -> str:
    return str(office.store.engine.url.database)


@pytest.mark.parametrize("role", [Role.READER, pytest.param(Role.EDITOR, marks=pytest.mark.slow)])
def test_every_file_is_offered_and_can_be_saved(office, role):
    survey, visitor = frozen(office), office.researcher(role)
    page = visitor.get(place(survey)).text
    for offer in (*REPORT_FILES, *RESULT_FILES, *PLAIN_FILES):
        assert f'href="{place(survey)}/files/{offer.name}' in page
        answer = visitor.get(place(survey, f"/files/{offer.name}"))
        assert answer.status == 200
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-disposition"].startswith(
            f'attachment; filename="Everything-at-once-{offer.name}"; filename*='
        )
        assert answer.body
    assert visitor.get(place(survey, "/files/other.csv")).status == 404
    assert "copy" in page
    assert visitor.get(place(survey, "/ethics")).status == 200


def test_what_is_saved_gives_the_numbers_of_the_results(office, tmp_path):
    survey, visitor = frozen(office), office.researcher(Role.READER)
    results = survey_results(survey, office.store.reports(survey.id))
    zipfile.ZipFile(io.BytesIO(visitor.get(place(survey, "/files/reports.zip")).body)).extractall(tmp_path / "out")
    (tmp_path / "reports.parquet").write_bytes(visitor.get(place(survey, "/files/reports.parquet")).body)
    for path in (tmp_path / "out" / "reports.csv", tmp_path / "reports.parquet"):
        rows = sv.read(path).estimate("sick", method="best").to_rows(0.95)
        found = [(row["estimate"], row["low"], row["high"]) for row in rows]
        assert found == [(line.estimate, line.low, line.high) for line in results[1].lines]
    table = list(csv.DictReader(io.StringIO(visitor.get(place(survey, "/files/estimates.csv")).text)))
    assert [float(row["estimate"]) for row in table if row["question"] == "sick"] == [row[0] for row in found]
    document = visitor.get(place(survey, "/files/estimates.json?level=0.9")).json()
    assert (document["level"], document["reports"]) == (0.9, 60)
    assert visitor.get(place(survey, "/files/survey.json")).body == survey.document
    assert visitor.get(place(survey, "/files/codebook.csv")).text == codebook_text(codebook(survey))
    assert visitor.get(place(survey, "/files/plan.json")).text == plan_to_text(survey.plan)


def test_everything_is_withheld_below_the_minimum(office):
    survey, visitor = frozen(office, count=19), office.researcher(Role.READER)
    page = visitor.get(place(survey)).text
    assert "withheld below 20 reports. There are 19 so far" in page
    for offer in (*REPORT_FILES, *RESULT_FILES):
        assert offer.name not in page
        answer = visitor.get(place(survey, f"/files/{offer.name}"))
        assert answer.status == 422
        assert answer.alert.startswith("reports must be at least 20")
    for offer in PLAIN_FILES:
        assert visitor.get(place(survey, f"/files/{offer.name}")).status == 200


def test_a_rehearsal_is_marked(office):
    survey = fill(office.store, office.store.freeze(survey_from_text(MIXED).as_rehearsal()))
    visitor = office.researcher(Role.READER)
    for name in ("reports.zip", "report.html", "estimates.csv"):
        answer = visitor.get(place(survey, f"/files/{name}"))
        assert f'filename="rehearsal-Everything-at-once-{name}"' in answer.headers["content-disposition"]
    assert "This is a rehearsal" in visitor.get(place(survey, "/files/report.html")).text
    assert "This is a rehearsal" in visitor.get(place(survey, "/ethics")).text


def test_names_of_files_in_any_script(office):
    survey, visitor = frozen(office, ARABIC), office.researcher(Role.READER)
    header = visitor.get(place(survey, "/files/plan.json")).headers["content-disposition"]
    assert header.startswith('attachment; filename="plan.json"; ')
    assert unquote(header.split("''")[1]) == "الصدق-في-العمل-plan.json"


@pytest.mark.parametrize("level", ["0", "1", "nan", "x", "", "inf"])
def test_levels_that_are_none(office, level):
    survey, visitor = frozen(office, ONE), office.researcher(Role.READER)
    for path in ("", "/files/estimates.csv"):
        answer = visitor.get(place(survey, f"{path}?level={level}"))
        assert (answer.status, answer.alert.startswith("level must be")) == (422, True)
    assert '<option value="0.9" selected>90 %' in visitor.get(place(survey, "?level=0.9")).text


def test_what_is_not_installed_is_said(office, monkeypatch):
    survey, visitor = frozen(office, ONE), office.researcher(Role.READER)
    found = publish_pages.find_spec
    monkeypatch.setattr(publish_pages, "find_spec", lambda name: None if name == "pyreadstat" else found(name))
    page = unescape(visitor.get(place(survey)).text)
    assert page.count("needs pyreadstat; install it with: pip install 'sottovoce[publish]'") == 2
    assert "reports.sav" not in page
    assert "reports.parquet" in page


def test_mistakes_come_back_from_the_worker(office, monkeypatch):
    few = frozen(office, ONE, 5)
    made = make_file(database(office), few.id, "estimates.csv", 0.95)
    assert made == Mistake("reports", "must be at least 20, the survey's minimum, before any result is shown", "5")
    survey = frozen(office)
    for name in ("reports.sav", "report.html", "estimates.csv", "estimates.json"):
        assert isinstance(make_file(database(office), survey.id, name, 0.95), bytes)
    monkeypatch.setattr("sottovoce.errors.find_spec", lambda _: None)
    made = make_file(database(office), survey.id, "reports.sav", 0.95)
    assert "pip install 'sottovoce[publish]'" in made.rule


@pytest.mark.parametrize("text", [MIXED, PICKED, ONE, MANY, UNRELATED, CARDS, ARABIC, HARM])
def test_the_report_is_one_file_that_loads_nothing(office, text):
    survey = frozen(office, text)
    results = survey_results(survey, office.store.reports(survey.id))
    report = html_report(survey, results, office.store.counts(survey.id))
    assert not LOADS.search(report)
    assert " style=" not in report
    assert report.count('<section class="question">') == len(survey.questions)
    assert report.count("<svg") == 2 * (len(results) + sum(bool(result.up_to) for result in results))
    assert survey.hash in report
    assert "60</span> disguised responses" in report


def test_texts_cannot_do_harm_anywhere(office):
    survey, visitor = frozen(office, HARM), office.researcher(Role.READER)
    pages = [visitor.get(place(survey, path)).text for path in ("", "/ethics", "/files/report.html")]
    for page in pages:
        assert EVIL not in page
        assert EVIL in unescape(page)
    assert visitor.get(place(survey, "/files/report.html")).headers["content-security-policy"].endswith("sandbox")


def test_the_report_says_what_is_unusual(office):
    survey = frozen(office)
    results = survey_results(survey, office.store.reports(survey.id))
    counts = office.store.counts(survey.id) | {"replaced": 4}
    report = unescape(html_report(survey, results, counts, level=0.95))
    assert "4 invitations were replacements" in report
    assert "The survey had one open link" in report
    assert "Several answers were possible" in report
    assert "Public: these answers were sent as they were given." in report
    assert "Mean of the scores among those who gave one" in report
    assert "A share below zero is noise" in report


@pytest.mark.parametrize("text", [MIXED, PICKED, ONE, MANY, UNRELATED, CARDS, HARM])
def test_the_ethics_page_has_every_question_and_its_odds(office, text):
    survey = survey_from_text(text)
    context = ethics_context(survey)
    assert len(context["asked"]) == len(survey.questions)
    for question, told in zip(survey.questions, context["asked"], strict=True):
        if question.public:
            assert told["sentences"][0].startswith("Public:")
        else:
            assert told["sentences"][0].startswith("Odds of a response: ")
            assert len(chance_sentences(survey, question)) >= 2
    assert make_ethics_context(survey.document)["asked"] == context["asked"]


def test_the_ethics_page_in_words(office):
    text = UNRELATED.replace("text: Did you?", "text: Did you?\n    help: Ever.")
    survey, visitor = frozen(office, text), office.researcher(Role.READER)
    page = unescape(visitor.get(place(survey, "/ethics")).text)
    assert "The harmless question that some devices answer instead" in page
    assert "Were you born in spring?" in page
    assert "Ever." in page
    assert survey.hash in page
    assert "A single response cannot be deleted on request" in page
    mixed = ethics_context(survey_from_text(MIXED))
    assert mixed["asked"][2]["asked_after"] == ["Sick Yes"]
    assert mixed["consent"] is None
    assert "not asked" not in mixed["asked"][2]["answers"]
