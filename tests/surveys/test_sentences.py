"""The audit page and the page of refusals speak the languages of the survey and of the browser."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from string import Formatter

import pytest

from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.audit import _odds, _whole, audit_document, audit_sentences
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.questions import PartialTexts
from sottovoce.surveys.sentences import FOLDER, languages, preferred_language, sentences_in
from sottovoce.surveys.timing import timing_statement

ALL = ("ar", "de", "en", "es", "fr")
HEADINGS = {
    "ar": "ما الذي نعد به",
    "de": "was versprochen wird",
    "en": "what is promised",
    "es": "qué se promete",
    "fr": "ce qui est promis",
}


def entries(language: str) -> dict:
    return json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def survey_in(*tags: str):
    def texts(text):
        return "{" + ", ".join(f'{tag}: "{text} in {tag}"' for tag in tags) + "}"

    answers = f"{{a: {texts('A')}, b: {texts('B')}}}"
    return survey_from_text(
        f"languages: [{', '.join(tags)}]\ntitle: {texts('Title')}\nasker: {texts('Asker')}\npurpose: {texts('Why')}\n"
        f"until: 2999-12-31\ninvitation: open\nodds: 9:2\nquestions:\n"
        f"  - {{id: q, kind: single, text: {texts('Question')}, answers: {answers}}}\n"
    )


@pytest.mark.parametrize("language", ALL)
def test_every_language_has_every_sentence_with_every_value(language):
    english, other = entries("en"), entries(language)
    assert list(other) == list(english)
    for key, text in english.items():
        assert type(other[key]) is type(text), key
        if isinstance(text, list):
            assert len(other[key]) == len(text), key
            assert all(part and not placeholders(part) for part in other[key]), key
        elif isinstance(text, dict):
            assert set(other[key]) >= {"one", "other"}, key
            assert all(placeholders(form) <= {"n"} for form in other[key].values()), key
            assert placeholders(other[key]["other"]) == {"n"}
        else:
            assert placeholders(other[key]) == placeholders(text), key
            assert other[key].strip() == other[key] != ""


def test_no_sentence_was_left_in_english():
    english = entries("en")
    for language in set(ALL) - {"en"}:
        for key, text in entries(language).items():
            if key not in ("decimal", "invitations_title", *("minute",) * (language == "fr")):
                assert text != english[key], (language, key)


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize("interval", [0, 600])
def test_times_have_the_same_numbers_in_every_language(language, interval):
    say = sentences_in(language)
    told = timing_statement(interval, 3, language=language)
    numbers = [re.findall(r"\d+(?:\.\d+)?", sentence) for sentence in timing_statement(interval, 3)]
    found = [re.findall(r"\d+(?:[.,]\d+)?", sentence) for sentence in told]
    assert [sorted(one) for one in found] == [sorted(map(say.number, one)) for one in numbers]


@pytest.mark.parametrize("language", ALL)
def test_odds_and_what_they_mean(language):
    say = sentences_in(language)

    def whole(odds, *public):
        return _whole(say, Guarantee(odds and Fraction(odds), public))

    assert "9 : 2" in _odds(say, Guarantee(Fraction(9, 2)))
    assert whole(Fraction(9, 2)) == [say("whole", factor="9 / 2")]
    assert whole(1) == [say("whole_nothing")]
    assert whole(100) == [say("whole", factor=100)]
    assert whole(101) == [say("whole", factor=101), say("weak", advised=100)]
    assert whole(1001) == [say("very_weak", factor=1001)]
    assert (_odds(say, Guarantee(None)), whole(None)) == (say("unbounded"), [say("very_weak_unbounded")])
    public = Guarantee(Fraction(3), ("ward", "age"))
    assert _odds(say, public) == say("given_public", odds=_odds(say, Guarantee(Fraction(3))))
    assert _whole(say, public) == [say("public", names="ward, age"), say("whole_given_public", factor="3")]


def test_values_keep_their_direction_in_texts_from_right_to_left(survey):
    assert "\u20682999-12-31\u2069" in audit_sentences(survey, "ar")["taken"]
    assert audit_sentences(survey, "ar")["questions"][0][0].startswith("\u20683 : 1 (")
    assert "\u2068" not in audit_sentences(survey, "fr")["taken"]


def test_the_audit_says_how_each_question_is_disguised(survey):
    joint = audit_sentences(survey, "de")["questions"]
    assert joint[0][0].startswith("3 : 1 (epsilon 1,0986")
    assert joint[0][1] == "Verfahren: randomized response"
    together = survey_from_text(
        "{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 20, questions: [{id: a, kind: yes_no, text: A}, "
        "{id: b, kind: yes_no, text: B}, {id: ward, kind: single, text: W, answers: [x, y], public: true}], "
        "groups: [{questions: [a, b], scheme: subset_selection}]}"
    )
    say, told = sentences_in("fr"), audit_sentences(together, "fr")["questions"]
    assert told[0][2:] == [
        "Le même tirage déguise les réponses à : b",
        say("other_reports"),
        say("weak", advised=10),
    ]
    assert told[2] == [say("public_question")]


def test_the_audit_page_has_a_link_for_every_language_of_the_survey():
    published = PublishedSurvey(survey_in("de", "ar", "pt-BR"))
    shown = {tag: published.audit_page(tag).content.decode() for tag in published.survey.languages}
    assert '<html lang="de" dir="ltr">' in shown["de"]
    assert '<html lang="ar" dir="rtl">' in shown["ar"]
    assert '<html lang="en" dir="ltr">' in shown["pt-BR"]  # there are no sentences in Portuguese
    for tag, page in shown.items():
        assert f"Title in {tag}" in page
        assert f'<dt lang="{tag}" dir="auto">Question in {tag}</dt>' in page
        assert HEADINGS.get(tag, HEADINGS["en"]) in page
        assert '<a href="?language=de" lang="de" hreflang="de"' in page
        assert f'hreflang="{tag}" aria-current="true"' in page
    assert ">Deutsch</a>" in shown["ar"]
    assert ">pt-BR</a>" in shown["de"]
    assert published.audit_page("de") is published.audit_page("de")
    assert 'class="languages"' not in PublishedSurvey(survey_in("de")).audit_page("de").content.decode()


def test_the_audit_of_a_rehearsal_says_so():
    trial = survey_in("es").as_rehearsal()
    assert audit_document(trial)["rehearsal"] is True
    assert '<aside class="rehearsal">Esto es un ensayo' in PublishedSurvey(trial).audit_page("es").content.decode()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"),
        ("de;q=0.1, en;q=0.2", "en"),
        ("DE-at", "de"),
        ("de;q=high, en;q=0.2", "en"),
        ("de;q=2, en", "en"),
        ("de;q=nan, en;q=0.1", "en"),
        ("pt", None),
        ("", None),
        (";;;,=,\xff", None),
        ("xx," * 60 + "de", None),
    ],
)
def test_preferred_languages(accepted, language):
    assert preferred_language(accepted, languages()) == language


@pytest.mark.parametrize(
    ("query", "accepted", "language"),
    [
        ("", "ar", "ar"),
        ("?language=en", "ar", "en"),
        ("?language=fr", "ar", "ar"),
        ("?language=%00&language=x", "", "en"),
        ("", "fr", "en"),
    ],
)
def test_the_audit_is_in_the_language_that_was_asked_for(served, store, query, accepted, language):
    frozen = store.freeze(survey_in("en", "ar"))
    reply = served().ask("GET", f"/s/{frozen.id}/audit{query}", headers={"Accept-Language": accepted})
    assert reply.status == 200
    assert f'<html lang="{language}"' in reply.body.decode()


@pytest.mark.parametrize("language", ALL)
def test_an_unknown_survey_says_whom_to_ask(server, language):
    headers = {"Accept": "text/html", "Accept-Language": f"{language}-XX, pt"}
    reply = server.ask("GET", f"/s/{'0' * 16}", headers=headers)
    say = sentences_in(language)
    assert reply.status == 404
    page = reply.body.decode()
    assert f'<html lang="{language}" dir="{say.direction}">' in page
    assert say("ask_sender") in page
    other = server.ask("GET", "/nothing", headers=headers).body.decode()
    assert '<html lang="en"' in other
    assert say("ask_sender") not in other


def test_texts_that_a_language_lacks_are_those_of_the_first():
    partly = replace(survey_in("en", "de"), title=PartialTexts({"en": "Title"}, "en"))
    assert '<h1 lang="de" dir="auto">Title</h1>' in PublishedSurvey(partly).audit_page("de").content.decode()


def test_before_its_script_runs_the_page_speaks_all_languages_of_the_survey():
    """It is the same for everybody, so that it tells nothing about its reader; languages without words have English."""
    page = PublishedSurvey(survey_in("ar", "pt", "en", "xx")).page.content.decode()
    assert '<html lang="ar" dir="rtl">' in page
    for key in ("no_script", "not_arrived"):
        told = [sentences_in(tag)(key) for tag in ("ar", "en")]
        assert [page.count(sentence) for sentence in told] == [1, 1]
        assert page.index(told[0]) < page.index(told[1])
    assert page.count('lang="en" dir="ltr"') == 2
