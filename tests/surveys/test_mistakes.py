"""All mistakes of a definition at once, with their fields and lines."""

from datetime import date

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.definition import sample_definition, sample_names, survey_from_text
from sottovoce.surveys.definition.mistakes import Mistake, examine
from sottovoce.surveys.definition.preview import preview

TODAY = date(2030, 1, 1)


def no_file(name: str) -> bytes:
    raise FileNotFoundError(2, "not here", name)


def found(text: str) -> list[tuple[str, int | None]]:
    return [(mistake.field, mistake.line) for mistake in examine(text, no_file, TODAY)[1]]


def test_every_part_that_can_be_read_alone_has_its_own_mistake():
    text = """title: {en: Tax, de: Steuer}
asker:
purpose: P
contact: [a]
until: soon
invitation: closed
minimum: none
send_interval: 5
odds: often
colour: yellow
logo: logo.png
comprehension_check: perhaps
groups: []
questions:
  - {id: ward, kind: single, text: Ward, answers: [a, b], public: true}
  - {id: tax, kind: guess, text: Tax}
  - {id: fare, kind: yes_no}
  - {id: days, kind: yes_no, text: Days, when: {ward: a}}
  - {id: hours, kind: yes_no, text: Hours, when: {tax: yes}}
"""
    assert found(text) == [
        ("questions[1].kind", 16),  # found first, because questions are read first
        ("title.de", 1),
        ("asker", 2),
        ("contact", 4),
        ("until", 5),
        ("invitation", 6),
        ("minimum", 7),
        ("send_interval", 8),
        ("odds", 9),
        ("colour", 10),
        ("logo", 11),
        ("comprehension_check", 12),
        ("questions[2]", 17),
        ("questions[4].when.tax", 19),
    ]


def test_a_text_that_cannot_be_read_has_one_mistake():
    assert found("title: [T\n") == [("survey", 2)]
    assert found("- a") == [("survey", 1)]
    assert found("") == [("survey", None)]
    assert found("title: T\nquestions: none\nlanguages: [en, en]") == [("survey", 1), ("languages", 3)]


def test_mistakes_do_not_repeat_the_line():
    (mistake,) = examine("title: [T\n", no_file, TODAY)[1]
    assert "(line" not in mistake.text
    assert mistake.to_json() == {"field": "survey", "line": 2, "text": mistake.text}
    assert Mistake.of(SottovoceError("questions[1]: id", "must fit (line 7)", "x")) == Mistake(
        "questions[1]", 7, "questions[1]: id must fit. Got 'x' instead."
    )


def test_a_last_day_that_has_passed_is_a_mistake_of_a_survey():
    text = "title: T\nasker: A\npurpose: P\nuntil: 2029-12-31\nodds: 3\nquestions: [{id: a, kind: yes_no, text: A}]"
    survey, mistakes = examine(text, no_file, TODAY)
    assert survey is not None
    assert [(mistake.field, mistake.line) for mistake in mistakes] == [("until", 4)]
    assert examine(text.replace("2029", "2030"), no_file, TODAY)[1] == []


@pytest.mark.parametrize("name", sample_names())
def test_samples_are_deniable_and_worth_asking(name):
    survey, mistakes = examine(sample_definition(name, TODAY), no_file, TODAY)
    assert mistakes == []
    assert survey.strength == "deniable"
    margins = {each.question.id: each.margin for each in preview(survey, 1000)}
    assert max(margins.values()) < (0.15 if name == "workplace" else 0.065)


def test_definitions_in_the_browser_read_no_file_of_the_server(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n secret")
    text = sample_definition("minimal", TODAY) + f"logo: {secret}\n"
    assert survey_from_text(text).logo is not None
    assert found(text) == [("logo", 11)]
