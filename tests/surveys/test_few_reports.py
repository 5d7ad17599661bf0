"""Questions of which hardly any report tells, where devices pick the answers that they send."""

import csv
import io
import json

import numpy as np
import pytest

from sottovoce.cli.app import main
from sottovoce.errors import SottovoceError
from sottovoce.surveys.client.client import disguised_reports
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.crossing import cross_sides, side_named
from sottovoce.surveys.dashboard.report import html_report
from sottovoce.surveys.dashboard.result_cards import group_cards, question_cards
from sottovoce.surveys.dashboard.result_words import association_words
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.publications import estimates_document, estimates_text, json_text
from sottovoce.surveys.results import TOO_FEW, CodedReports, detailed_results, results_by, survey_results

TEXT = """title: Many questions
asker: A
purpose: P
until: 2999-12-31
minimum: 1
odds: 9:1
questions:
  - {id: ward, kind: single, public: true, text: Ward, answers: [a, b]}
  - {id: tax, kind: yes_no, text: Tax}
  - {id: drink, kind: single, text: Drink, answers: [never, once, often]}
  - {id: mood, kind: scale, text: Mood, steps: 5, ends: [low, high], wanted: mean}
  - {id: theft, kind: yes_no, text: Theft}
"""
COUNTS = {"reports": 5, "replaced": 0}


@pytest.fixture(scope="module")
def survey():
    return survey_from_text(TEXT).as_rehearsal()


@pytest.fixture(scope="module")
def reports(survey):
    """Five reports, none of which tells of one of the questions while others are told of twice."""
    truths = {"ward": ["a"] * 5, "tax": ["yes"] * 5, "drink": ["never"] * 5, "mood": ["5"] * 5, "theft": ["no"] * 5}
    words = np.random.default_rng(0)
    for _ in range(200):
        found = disguised_reports(survey, truths, _Words(words))
        coded = CodedReports.of(survey, found)
        missing = [result.missing is not None for result in survey_results(survey, coded)]
        if 0 < sum(missing) < len(missing) - 1:
            return found
    pytest.fail("every question is told of")


class _Words:
    """Random words that can be repeated."""

    def __init__(self, rng):
        self._rng = rng

    def take(self, count):
        return self._rng.integers(0, 2**32, count, np.uint32)


def missing_of(results):
    return {result.questions[0] for result in results if result.missing is not None}


def test_other_questions_keep_their_estimates(survey, reports):
    results = survey_results(survey, reports)
    assert [result.questions[0] for result in results] == ["ward", "tax", "drink", "mood", "theft"]
    assert missing_of(results)
    for result in results:
        assert (result.lines == ()) == (result.missing == TOO_FEW)
        assert (TOO_FEW in repr(result)) == (result.lines == ())
        assert result.to_json()["missing"] == result.missing
    details = detailed_results(survey, CodedReports.of(survey, reports))
    assert missing_of([detail.result for detail in details]) == missing_of(results)


def test_one_report_is_refused_as_before(survey, reports):
    with pytest.raises(SottovoceError, match="reports must be at least 2"):
        survey_results(survey, reports[:1])


def test_pages_show_what_there_is(survey, reports):
    coded = CodedReports.of(survey, reports)
    found = question_cards(survey, coded, 0.95)
    absent = missing_of(survey_results(survey, coded))
    assert {card.id for card in found.cards if card.chart is None} == absent
    assert all(card.sentences == (TOO_FEW,) for card in found.cards if card.chart is None)
    (all_yes_no, *others) = group_cards(survey, coded, 0.95, "ward").cards
    assert {card.text for card in others} == {"Drink", "Mood"}
    rows = [row for card in (all_yes_no, *others) for row in card.rows]
    assert any(row[2:] == ("-", "too few reports tell of it") for row in rows)
    assert any(row[2].endswith(" %") for row in rows)
    groups, small = results_by(survey, coded, ["ward"])
    assert missing_of(groups) == absent
    assert small == {}


def test_files_say_what_is_missing(survey, reports):
    results = survey_results(survey, reports)
    absent = missing_of(results)
    rows = list(csv.DictReader(io.StringIO(estimates_text(survey, results))))
    assert {row["question"] for row in rows if row["estimate"] == ""} == absent
    assert {row["answer"] for row in rows if row["estimate"] == ""} == {TOO_FEW}
    document = json.loads(json_text(estimates_document(survey, results, COUNTS)))
    assert {result["questions"][0] for result in document["results"] if result["missing"]} == absent
    page = html_report(survey, results, COUNTS)
    assert page.count(TOO_FEW) == len(absent)
    assert page.count("<table>") + page.count("<table ") >= len(results) - len(absent)


def test_a_group_of_one_report_is_not_estimated(survey, reports):
    columns = CodedReports.of(survey, reports).columns
    *disguised, ward = columns
    changed = CodedReports((*disguised, np.array([1, *ward[1:]], ward.dtype)))
    groups, small = results_by(survey, changed, ["ward"])
    assert {result.group for result in groups} == {("a",)}
    assert small == {("b",): 1}


def test_the_command_says_what_is_missing(survey, reports, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    store = Store("surveys.db")
    frozen = store.freeze(survey)
    store.store_simulated(frozen, reports)
    store.close()
    with pytest.raises(SystemExit) as stopped:
        main(["survey", "estimate", "--by", "ward"])
    assert not stopped.value.code
    out = capsys.readouterr().out
    absent = missing_of(survey_results(survey, reports))
    assert all(f"{name}: {TOO_FEW}" in out and f"{name}, a: {TOO_FEW}" in out for name in absent)


RARE = """title: T
asker: A
purpose: P
until: 2999-12-31
minimum: 1
odds: 20:1
questions:
  - {id: n, kind: single, text: N, answers: [few, some, many, all], decline: true}
  - {id: a, kind: yes_no, text: A, when: {n: [many]}}
"""


def test_a_table_with_an_answer_that_does_not_occur_has_no_association():
    """Nobody declines, and the share of those who do is estimated below zero."""
    survey, rng = survey_from_text(RARE), np.random.default_rng(0)
    n = rng.choice(["few", "some", "many", "all"], 2000).tolist()
    asked = rng.choice(["no", "yes"], 2000)
    a = [told if each == "many" else survey.question("a").not_asked for each, told in zip(n, asked, strict=True)]
    coded = CodedReports.of(survey, disguised_reports(survey, {"n": n, "a": a}, _Words(rng)))
    found = cross_sides(survey, coded, side_named(survey, "n"), side_named(survey, "a"))
    assert sum(line.estimate for line in found.result.lines if line.labels[0] == "no answer") < 0
    assert found.association.value is None
    assert found.association.reason == "an answer to one of the two is estimated not to occur"
    assert "are associated: Cramér's V not defined, p < .001" in association_words(found, "N", "A")
