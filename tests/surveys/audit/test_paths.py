"""Paths follow branches and limits, and the two truths differ wherever they can."""

import numpy as np
import pytest

from sottovoce.mechanisms.coins import random_words
from sottovoce.surveys.audit.paths import coded, expected_reports, random_path, two_truths
from sottovoce.surveys.client.client import is_asked
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.audit.dishonest import ONE, UNBOUNDED, WIDE
from tests.surveys.browser.states import EVERYTHING
from tests.surveys.browser.test_same_bytes import DEFINITION


@pytest.fixture(scope="module")
def everything():
    return survey_from_text(EVERYTHING.replace("logo: logo.png\n", ""))


def test_random_paths_answer_what_is_asked(everything):
    rng = np.random.default_rng(1)
    for _ in range(50):
        path = random_path(everything, rng)
        asked = [question.id for question in everything.questions if is_asked(question, path.chosen)]
        assert list(path.chosen) == asked
        assert len(path.screens) == 8  # two items of a matrix share one
        several = path.chosen["seen"]
        assert several == ("no answer",) or 1 <= len(several) <= 2
        assert path.public_codes == (0,)


def test_two_truths_differ_in_every_protected_question():
    first, second = two_truths(survey_from_text(DEFINITION), np.random.default_rng(1))
    assert all(first.truth[q.id] != second.truth[q.id] for q in first.survey.protected)
    assert first.public_codes == second.public_codes
    assert "smokes = " in first.words()


def test_public_answers_lead_to_most_questions():
    path = random_path(survey_from_text(WIDE), np.random.default_rng(1))
    assert path.chosen["region"] == ("c",)
    assert path.chosen["town"] == ("d",)


def test_sets_beyond_counting_differ_in_many_items():
    first, second = two_truths(survey_from_text(WIDE), np.random.default_rng(1))
    assert len(set(first.truth["fruit"]) ^ set(second.truth["fruit"])) >= 8


def test_expected_reports_are_those_of_the_plan():
    survey = survey_from_text(ONE)
    first, second = two_truths(survey, np.random.default_rng(1))
    assert sorted(int(column[0]) for column in coded(survey, [first])) != sorted(
        int(column[0]) for column in coded(survey, [second])
    )
    (reports,) = expected_reports(survey, [first] * 10_000, random_words(1))
    assert np.mean(reports == coded(survey, [first])[0][0]) == pytest.approx(0.75, abs=0.02)


def test_reports_that_rule_an_answer_out():
    first, second = two_truths(survey_from_text(UNBOUNDED), np.random.default_rng(1))
    assert {first.truth["a"], second.truth["a"]} == {"no", "yes"}
