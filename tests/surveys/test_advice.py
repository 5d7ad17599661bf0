"""Advice about the budget: which questions it starves, and what other plans would give."""

import json
from time import process_time

import pytest

from sottovoce.surveys.definition.advice import budget_advice
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.preview import preview, respondents_needed
from sottovoce.surveys.definition.survey import survey_from_bytes

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2100-12-31\ninvitation: open\n"


def made(rest: str):
    return survey_from_text(HEAD + rest)


SEVERAL = """odds: 9
questions:
  - {id: ward, kind: single, text: W, answers: [n, s], public: true}
  - {id: tax, kind: yes_no, text: T}
  - {id: fare, kind: yes_no, text: F, when: {tax: yes}}
  - {id: seen, kind: several, text: S, answers: [ANSWERS]}
EXTRA"""
EIGHT, FOUR = "a, b, c, d, e, f, g, h", "a, b, c, d"


def several(answers=EIGHT, extra=""):
    return made(SEVERAL.replace("ANSWERS", answers).replace("EXTRA", extra))


def test_a_starved_question_and_what_would_help():
    """All numbers are those of the surveys that the advice speaks of."""
    survey = several()
    shown = {each.question.id: each for each in preview(survey, 400)}
    assert sum(each.share for each in shown.values()) == pytest.approx(1)
    assert shown["seen"].starved
    assert shown["seen"].margin > 0.3
    merge, drop, people = (advice.to_json() for advice in budget_advice(survey, 400))
    assert [merge["kind"], drop["kind"], people["kind"]] == ["merge", "drop", "respondents"]
    assert merge["problem"].startswith("With 400 respondents, the budget is too small for seen (+- ")
    assert merge["margin"] == shown["seen"].margin
    smaller = {each.question.id: each.margin for each in preview(several(FOUR), 400)}
    assert merge["margin_after"] == pytest.approx(smaller["seen"])
    assert f"With 4 choices instead of 8, seen would be known to +- {100 * smaller['seen']:.1f}" in merge["suggestion"]
    without = made(
        "odds: 9\nquestions: [{id: tax, kind: yes_no, text: T}, {id: fare, kind: yes_no, text: F, when: {tax: yes}}]"
    )
    assert drop["margin_of_others"] == pytest.approx(max(each.margin for each in preview(without, 400)))
    assert drop["margin_of_others_before"] == max(shown["tax"].margin, shown["fare"].margin)
    assert people["respondents"] == respondents_needed(survey, 0.05)["seen"]
    assert json.loads(json.dumps(merge)) == merge


def test_odds_of_its_own_are_advised_where_they_help_more():
    survey = made(
        "odds: 20\nsplit: true\nquestions:\n"
        + "".join(f"  - {{id: q{number}, kind: yes_no, text: Q, odds: 2}}\n" for number in range(4))
        + "  - {id: poor, kind: yes_no, text: P}\n"
    )
    weigh = budget_advice(survey, 1000)[0].to_json()
    assert (weigh["kind"], weigh["question"], "respondents" in weigh) == ("respondents", "poor", True)  # all is spent
    survey = made(
        "odds: 20\nsplit: true\nquestions:\n"
        "  - {id: rich, kind: yes_no, text: R}\n  - {id: poor, kind: yes_no, text: P, odds: 1.2}\n"
    )
    weigh, *others = budget_advice(survey, 1000)
    assert weigh.kind == "weigh"
    richer = made(
        "odds: 20\nsplit: true\nquestions:\n"
        f"  - {{id: rich, kind: yes_no, text: R}}\n"
        f"  - {{id: poor, kind: yes_no, text: P, odds: {weigh.numbers['odds'].replace(' ', '')}}}\n"
    )
    margins = {each.question.id: each.margin for each in preview(richer, 1000)}
    assert weigh.numbers["margin_after"] == pytest.approx(margins["poor"])
    assert weigh.numbers["margin_of_others"] == pytest.approx(margins["rich"])
    assert "of its own, poor would be known to +- " in str(weigh)
    assert [advice.kind for advice in others] == ["respondents"]  # without it, the other one gains next to nothing


def test_no_advice_starves_another_question_instead():
    """Odds of its own would know one of three questions to 9 points, and the others to 26 in place of 12."""
    questions = "".join(f"  - {{id: {name}, kind: yes_no, text: Q, decline: true}}\n" for name in "abc")
    survey = made(f"odds: 9\ntogether: [[a, b]]\nquestions:\n{questions}")
    advice = budget_advice(survey, 400)
    assert advice
    assert "weigh" not in [each.kind for each in advice]


def test_groups_and_pairs_lose_the_question_that_is_dropped():
    extra = "groups: [{questions: [tax, fare]}]\n"
    kinds = [advice.kind for advice in budget_advice(several(EIGHT, extra), 400)]
    assert kinds == ["merge", "drop", "respondents"]
    survey = made(
        "odds: 4\nquestions:\n  - {id: a, kind: yes_no, text: A}\n"
        "  - {id: b, kind: single, text: B, answers: [x, y, z, u, v, w]}\n"
        "  - {id: c, kind: yes_no, text: C}\ntogether: [[a, b], [a, c]]\ngroups: [{questions: [b, c]}]\n"
    )
    assert budget_advice(survey, 100)[0].question == "b"


def test_no_advice_without_need_and_little_about_frozen_surveys():
    survey = several()
    assert budget_advice(survey, 1_000_000) == []
    frozen = survey_from_bytes(survey.document)
    assert frozen == survey
    assert [advice.kind for advice in budget_advice(frozen, 400)] == ["respondents"]


def test_where_an_answer_can_be_ruled_out_there_are_no_shares():
    survey = made(
        "odds: 3\nweak: accepted\nquestions:\n  - {id: a, kind: yes_no, text: A}\n"
        "  - {id: b, kind: yes_no, text: B, scheme: {name: forced_response, truth: 0.5, yes: 0.5}}\n"
    )
    assert [each.share for each in preview(survey, 100)] == [None, None]
    assert budget_advice(survey, 20)[-1].kind == "respondents"


def test_a_single_question_needs_respondents():
    survey = made("odds: 3\nquestions: [{id: a, kind: yes_no, text: A}]")
    assert [advice.kind for advice in budget_advice(survey, 100)] == ["respondents"]


def test_advice_about_twelve_questions_is_fast():
    questions = "".join(f"  - {{id: q{n}, kind: single, text: Q, answers: [a, b, c, d, e]}}\n" for n in range(12))
    survey = made(f"odds: 20\nquestions:\n{questions}")
    before = process_time()
    assert len(budget_advice(survey, 300)) > 1
    assert process_time() - before < 4
