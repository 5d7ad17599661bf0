"""Rehearsals in the browser: truths of one's choosing, results beside them, thrown away when rehearsed again."""

import pytest

from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.drafts import Drafts
from sottovoce.surveys.dashboard.rehearsal_pages import MOST_RESPONDENTS, suggested_percents
from sottovoce.surveys.dashboard.truths import rehearsal_truths
from sottovoce.surveys.definition.definition import survey_from_text

DEFINITION = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
odds: 100:1
questions:
  - {id: sick, kind: yes_no, text: "Did you call in sick?", decline: true}
  - {id: drink, kind: single, text: "How often?", answers: [never, once, weekly], when: {sick: yes}}
  - {id: seen, kind: several, text: "What did you see?", answers: {words: Insults, touch: Touching}}
"""
TRUTH = {
    "respondents": "400",
    **{"sick.0": "70", "sick.1": "", "sick.2": "10 %"},
    **{"drink.0": "50", "drink.1": "25", "drink.2": "25"},
    **{"seen.0": "0", "seen.1": "33,5"},
}


@pytest.fixture
def survey(office):
    return office.store.freeze(survey_from_text(DEFINITION))


def rehearse(editor, survey, **changes):
    return editor.post(f"/research/surveys/{survey.id}/rehearse", TRUTH | changes)


def rehearsal(office):
    (name,) = office.store.rehearsals()
    return office.store.survey(name)


def test_truths_are_those_of_the_form(office, survey):
    editor = office.researcher(Role.EDITOR)
    form = editor.get(f"/research/surveys/{survey.id}/rehearse")
    assert 'name="seen.1" type="number"' in form.text
    assert 'name="sick.2"' in form.text  # declining
    answer = rehearse(editor, survey)
    trial = rehearsal(office)
    assert (answer.status, answer.headers["location"]) == (303, f"/research/surveys/{trial.id}/results")
    assert office.store.counts(trial.id)["reports"] == 400
    truths = rehearsal_truths(office.store, trial.id)
    assert sum(truths["sick"].values()) == pytest.approx(1)
    assert truths["sick"]["no"] == pytest.approx(0.7, abs=0.15)
    assert truths["sick"]["yes"] == pytest.approx(0.2, abs=0.15)
    assert truths["drink"]["not asked"] == pytest.approx(0.8, abs=0.15)
    assert truths["seen"] == {"words": 0, "touch": pytest.approx(0.335, abs=0.15)}
    assert rehearsal_truths(office.store, survey.id) is None


def test_rehearsing_again_throws_the_earlier_one_away(office, survey):
    editor = office.researcher(Role.EDITOR)
    rehearse(editor, survey)
    first = rehearsal(office)
    rehearse(editor, survey, respondents="120")
    second = rehearsal(office)
    assert first.id != second.id  # its admission key is another one
    assert office.store.counts(second.id)["reports"] == 120
    assert office.store.counts(survey.id)["reports"] == 0
    assert rehearsal_truths(office.store, first.id) is None
    rehearse(editor, second, respondents="130")  # also from the rehearsal itself
    assert office.store.counts(rehearsal(office).id)["reports"] == 130


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"respondents": "0"}, f"from 1 to {MOST_RESPONDENTS:,}"),
        ({"respondents": "20001"}, f"from 1 to {MOST_RESPONDENTS:,}"),
        ({"respondents": "many"}, f"from 1 to {MOST_RESPONDENTS:,}"),
        ({"sick.0": "101"}, "sick must have percentages from 0 to 100"),
        ({"sick.0": "-1"}, "sick must have percentages from 0 to 100"),
        ({"sick.0": "NaN"}, "sick must have percentages from 0 to 100"),
        ({"sick.0": "a lot"}, "sick must have percentages from 0 to 100"),
        ({"drink.0": "50.5"}, "drink must have percentages that add up to 100"),
        ({"drink.0": "49"}, "drink must have percentages that add up to 100"),
        ({"sick.0": "95"}, "sick must have percentages that add up to 100"),
    ],
)
def test_mistakes_are_told_and_nothing_is_lost(office, survey, changes, rule):
    editor = office.researcher(Role.EDITOR)
    answer = rehearse(editor, survey, **changes)
    assert answer.status == 422
    assert rule in answer.alert
    assert f'value="{next(iter(changes.values()))}"' in answer.text
    assert 'value="33,5"' in answer.text  # what else was written
    assert office.store.rehearsals() == set()


def test_drafts_are_rehearsed(office):
    editor = office.researcher(Role.EDITOR)
    draft = Drafts(office.store.engine).create(DEFINITION, "editor")
    assert "<strong>Honesty at work</strong>" in editor.get(f"/research/drafts/{draft.id}/rehearse").text
    assert editor.post(f"/research/drafts/{draft.id}/rehearse", TRUTH).status == 303
    assert office.store.counts(rehearsal(office).id)["reports"] == 400
    wrong = Drafts(office.store.engine).create(DEFINITION.replace("odds: 100:1", "odds: much"), "editor")
    answer = editor.get(f"/research/drafts/{wrong.id}/rehearse")
    assert (answer.status, "odds must be a number (line 6)" in answer.alert) == (422, True)
    assert editor.get("/research/drafts/0000000000000000/rehearse").status == 404


def test_readers_rehearse_nothing(office, survey):
    reader = office.researcher(Role.READER)
    assert reader.get(f"/research/surveys/{survey.id}/rehearse").status == 403
    assert rehearse(reader, survey).status == 403
    assert office.researcher().get("/research/surveys/0000000000000000/rehearse").status == 404


def test_suggestions_add_up():
    survey = survey_from_text(DEFINITION)
    sick, drink, seen = survey.questions
    assert suggested_percents(sick) == ["71.4", "28.6", "0"]
    assert sum(map(float, suggested_percents(drink))) == pytest.approx(100)
    assert suggested_percents(seen) == ["60", "24"]
