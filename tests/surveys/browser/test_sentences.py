"""Every number in a sentence about the coins is that of the plan, in every language of the page."""

import json
import re
from fractions import Fraction
from hashlib import sha256
from math import ceil
from pathlib import Path

import pytest

from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.facts import facts_of, per_hundred
from sottovoce.surveys.page.files import FOLDER

LANGUAGES = ("en", "de", "es", "fr", "ar")
SCRIPT = Path(__file__).parent / "sentences.mjs"
NUMBER = re.compile(r"\d+(?:[.,\u066b\u066c\u00a0\u202f\s\u2019]\d+)*")
"""A number as any of the languages writes it, with separators of thousands or of decimals."""

HEAD = """
until: 2100-12-31
invitation: open
send_interval: 0
"""


def texts(text):
    """A text in all languages."""
    return json.dumps(dict.fromkeys(LANGUAGES, text))


def definition(*questions, odds="9:1", more=""):
    """A definition in all languages, of questions as (id, kind, answers, further fields)."""
    lines = [f"languages: {json.dumps(LANGUAGES)}", f"odds: {odds}", more, "questions:"]
    for name, kind, answers, fields in questions:
        named = ", ".join(f'"{answer}": {texts(answer.capitalize())}' for answer in answers)
        lines.append(
            f"  - {{id: {name}, kind: {kind}, text: {texts(f'Question {name}')}, answers: {{{named}}}{fields}}}"
        )
    heads = "".join(f"{field}: {texts('T')}\n" for field in ("title", "asker", "purpose"))
    return heads + HEAD + "\n".join(lines) + "\n"


def numbers(sentence):
    """All numbers of a sentence, in order; separators of thousands are dropped, and so are those of decimals."""
    return [int(re.sub(r"\D", "", found)) for found in NUMBER.findall(sentence)]


def in_numbers(share: Fraction):
    """The numbers with which a sentence states a share: so many of 100, one in so many, or none."""
    words = per_hundred(share)
    if "count" in words:
        return [words["count"], 100]
    return [words["one_in"]] if "one_in" in words else []


def expected_fact(facts):
    """The numbers of the sentence about a question."""
    if facts.form == "yes_no" and set(facts.shares) == {"no", "yes"}:
        no, yes = (facts.shares[label] for label in ("no", "yes"))
        return in_numbers(yes) + in_numbers(no)
    if len(facts.shares) == 2 and 0 in facts.shares.values() and facts.form == "yes_no":
        return in_numbers(max(facts.shares.values()))  # of the answer that is also sent by others
    least = in_numbers(min(facts.shares.values()))
    return least if facts.omitted is None else least + in_numbers(min(facts.omitted.values()))


def expected_lines(facts):
    """The numbers below a report that names one label, for every label of its column."""
    if facts.omitted is None:
        return [in_numbers(share) for share in facts.shares.values()]
    lines = []
    for label, share in facts.shares.items():
        left = [omitted for other, omitted in facts.omitted.items() if other != label]
        lines.append(in_numbers(share) + (in_numbers(min(left)) if left else []))
    return lines


SCREENS = {"en": "en-US", "ar": "ar-EG"}
"""Languages whose screens are read in a browser, and its locales."""

YES_NO = ("a", "yes_no", ("no", "yes"), "")
CASES = {
    "yes and no": definition(YES_NO, odds="3:1"),
    "unequal": definition(("a", "yes_no", ("no", "yes"), ", scheme: {name: forced_response, truth: 0.5, yes: 0.2}")),
    "yes first": definition(("a", "yes_no", ("yes", "no"), "")),
    "two answers": definition(("a", "single", ("x", "y"), "")),
    "one answer": definition(("a", "single", ("x",), f", decline: {texts('Not telling')}")),
    "answers": definition(("a", "single", ("x", "y", "z", "w"), "")),
    "a set": definition(("a", "single", "abcdefghij", ", scheme: subset_selection"), odds="3:1"),
    "items": definition(("a", "several", ("x", "y", "z"), ", scheme: {name: emask, p: 0.7, q: 0.6}"), odds="100:1"),
    "symbols": definition(
        (
            "a",
            "yes_no",
            ("no", "yes"),
            ", scheme: {name: matrix, matrix: [[0.7, 0.2], [0.3, 0.8]], reports: [red, blue]}",
        )
    ),
    "grouped": definition(YES_NO, ("b", "single", ("x", "y", "z"), ""), more="groups: [{questions: [a, b]}]"),
    "sampled": definition(
        YES_NO,
        ("b", "single", ("x", "y", "z"), ""),
        more="groups: [{questions: [a, b], scheme: attribute_sampling}]",
    ),
    "a joint set": definition(
        YES_NO,
        ("b", "single", ("x", "y", "z"), ""),
        more="groups: [{questions: [a, b], scheme: subset_selection}]",
    ),
    "unrelated": definition(
        (
            "a",
            "yes_no",
            ("no", "yes"),
            f", scheme: {{name: unrelated_question, known: [0.75, 0.25], theta: 0.3}}, unrelated: {texts('Spring?')}",
        )
    ),
    "weak": definition(YES_NO, odds="150:1"),
    "very weak": definition(YES_NO, odds="1234567:1", more="weak: accepted"),
    "ruled out": definition(("a", "yes_no", ("no", "yes"), ", scheme: {name: mangat, p: 0.7}"), more="weak: accepted"),
    "one answer, ruled out": definition(
        ("a", "single", ("x",), f", decline: {texts('Not telling')}, scheme: {{name: mangat, p: 0.7}}"),
        more="weak: accepted",
    ),
    "declined, ruled out": definition(
        (
            "a",
            "single",
            ("x",),
            f", decline: {texts('Not telling')}, scheme: {{name: matrix, matrix: [[1, 0.3], [0, 0.7]]}}",
        ),
        more="weak: accepted",
    ),
    "answers, ruled out": definition(
        (
            "a",
            "single",
            ("x", "y", "z"),
            ", scheme: {name: matrix, matrix: [[1, 0.3, 0.3], [0, 0.4, 0.3], [0, 0.3, 0.4]]}",
        ),
        more="weak: accepted",
    ),
    "items, ruled out": definition(
        ("a", "several", ("x", "y"), ", scheme: {name: emask, p: 0.7, q: 1}"), odds="100:1", more="weak: accepted"
    ),
    "symbols, ruled out": definition(
        (
            "a",
            "yes_no",
            ("no", "yes"),
            ", scheme: {name: matrix, matrix: [[0.7, 0], [0.3, 1]], reports: [red, blue]}",
        ),
        more="weak: accepted",
    ),
}
CERTAIN = {
    "ruled out": (
        "“Yes” is also sent by at least 30 of 100 people with the other answer, but “No” only by people who gave that"
        " answer.",
        ["Sent only by people who gave this answer.", "Also sent by 30 of 100 people for whom it is not true."],
    ),
    "one answer, ruled out": (
        "“Not telling” is also sent by at least 30 of 100 people with the other answer, but “X” only by people who gave"
        " that answer.",
        ["Sent only by people who gave this answer.", "Also sent by at least 30 of 100 people with any other answer."],
    ),
    "declined, ruled out": (
        "“X” is also sent by at least 30 of 100 people with the other answer, but “Not telling” only by people who gave"
        " that answer.",
        ["Also sent by at least 30 of 100 people with any other answer.", "Sent only by people who gave this answer."],
    ),
    "answers, ruled out": (
        "Chance does not send everything for everybody: what is sent can rule some answers out.",
        [
            "Also sent by at least 30 of 100 people with any other answer.",
            *2 * ["Not sent for everybody: it rules some answers out."],
        ],
    ),
    "items, ruled out": (
        "At least one of these is sent only by people who chose it. Each that is missing is also left out by at least"
        " 30 of 100 people who chose it.",
        2
        * [
            "At least one of these is sent only by people who chose it. Each that is missing is also left out by at"
            " least 30 of 100 people who chose it."
        ],
    ),
    "symbols, ruled out": (
        "Chance does not send everything for everybody: what is sent can rule some answers out.",
        [
            "Not sent for everybody: it rules some answers out.",
            "Also sent by at least 30 of 100 people, whatever they answer.",
        ],
    ),
}
"""The sentence about a question whose reports can rule answers out, and the lines below its reports."""

NOBODY = {"en": "none of", "de": "keinem", "es": "ninguna", "fr": "aucune", "ar": "لا أحد"}
"""Words that no sentence about at least so many people can have."""


@pytest.fixture(scope="module", params=CASES)
def case(request, node, tmp_path_factory):
    """A survey, and its sentences by language and question."""
    survey = survey_from_text(CASES[request.param])
    path = tmp_path_factory.mktemp("survey") / "survey.json"
    path.write_bytes(survey.document)
    return survey, json.loads(node(SCRIPT, FOLDER, path, sha256(survey.document).hexdigest()))


@pytest.mark.parametrize("case", CERTAIN, indirect=True)
def test_what_is_never_sent_by_others_is_said_so(request, case):
    """Of two answers it is said which one; in no language are there "at least none of the people"."""
    _, sentences = case
    said = sentences["en"]["a"]
    assert (said["fact"], said["also"]) == CERTAIN[request.node.callspec.params["case"]]
    for language, questions in sentences.items():
        for sentence in (questions["a"]["fact"], *questions["a"]["also"]):
            assert NOBODY[language] not in sentence


def test_sentences_state_the_numbers_of_the_plan(case):
    survey, sentences = case
    assert set(sentences) == set(LANGUAGES)
    for language, questions in sentences.items():
        for question in survey.questions:
            facts, said = facts_of(survey.plan, question.id), questions[question.id]
            assert numbers(said["fact"]) == expected_fact(facts), (language, said["fact"])
            if said["also"] is not None:
                lines = expected_lines(facts)
                assert [numbers(line) for line in said["also"]][: len(lines)] == lines, (language, said["also"])
            if said["unrelated"] is not None:
                mechanism = survey.plan.group_of(question.id).mechanism
                drawn = Fraction(mechanism.sides - mechanism.kept, mechanism.sides)
                assert numbers(said["unrelated"]) == in_numbers(drawn)


def test_lines_about_picked_answers_speak_of_people_whose_device_picked_them(case):
    """Of all people, fewer send them. Only yes and no are called true or not true."""
    survey, sentences = case
    for question in survey.questions:
        facts, said = facts_of(survey.plan, question.id), sentences["en"][question.id]
        for line in (said["also"] or [])[: len(facts.shares)]:
            assert line.startswith("Among people whose device picks this question: ") == (facts.sampled is not None)
            assert "true" not in line or question.kind == "yes_no"
        assert said["fact"].startswith("If your device picks this question: ") == (facts.sampled is not None)
        assert "true" not in said["fact"] or question.kind == "yes_no"


def test_joint_reports_state_the_numbers_of_all_their_questions(case):
    survey, sentences = case
    for group in survey.plan.groups:
        name = "+".join(group.attributes)
        expected = [number for each in group.attributes for number in expected_fact(facts_of(survey.plan, each))]
        for questions in sentences.values():
            if name in questions and name not in survey.plan.schema.names:
                assert numbers(questions[name]) == expected


def test_the_numbers_change_with_the_plan():
    """The test would not notice sentences without numbers."""
    facts = [facts_of(survey_from_text(CASES[name]).plan, "a") for name in ("yes and no", "weak")]
    assert [expected_fact(one) for one in facts] == [[25, 100, 25, 100], [151, 151]]
    assert numbers("1,234 of 100, 1.234 von 1 234 ; \u0661\u066c\u0662\u0663\u0664") == [1234, 100, 1234, 1234, 1234]


def odds_numbers(odds: Fraction):
    """Odds as the page writes them, rounded up to a tenth; the separator of decimals is dropped."""
    tenths = ceil(10 * odds)
    return tenths // 10 if tenths % 10 == 0 else tenths


@pytest.mark.parametrize("language", [pytest.param(tag, marks=pytest.mark.slow) for tag in SCREENS])
def test_screens_state_the_numbers_of_the_plan(tmp_path, device, serving, walk, language):
    """The first screen, the question, and the line below what was sent."""
    phone = device(locale=SCREENS[language])
    with serving(tmp_path, definition(YES_NO, ("b", "single", ("x", "y", "z", "w"), ""), odds="50:1")) as site:
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        assert phone.get_attribute("html", "lang") == language
        plan = site.survey.plan
        facts = {name: facts_of(plan, name) for name in "ab"}
        each = max(one.odds for one in facts.values())
        odds = phone.locator(".promise .facts dd").nth(2).inner_text()
        assert numbers(odds) == [odds_numbers(each), odds_numbers(plan.guarantee.odds)]
        first, pictured = phone.locator(".promise > p:not(.question)").all_inner_texts()[1:3]
        assert numbers(first) == expected_fact(facts["a"])
        count = per_hundred(min(facts["a"].shares.values()))["count"]
        assert sorted(numbers(pictured)) == [count, 100]
        assert phone.locator(".promise .dots .chance").count() == count
        phone.click("button.primary")
        phone.wait_for_selector("fieldset")
        assert numbers(phone.locator("main > .note").last.inner_text()) == expected_fact(facts["a"])
        phone.reload()
        walk(phone, 1, 2)
        phone.wait_for_selector(".receipt")
        lines = [numbers(line) for line in phone.locator(".sent dd .note").all_inner_texts()]
        (report,) = site.reports()
        assert lines == [expected_lines(facts[name])[code] for name, code in zip("ab", report, strict=True)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("yes and no", "Your answer goes through coins first", marks=pytest.mark.slow),
        pytest.param("weak", "Protection is weak in this survey", marks=pytest.mark.slow),
        pytest.param("very weak", "Your answers are hardly protected in this survey", marks=pytest.mark.slow),
        ("ruled out", "Your answers are hardly protected in this survey"),
    ],
)
def test_the_first_screen_follows_the_odds_and_the_survey_can_be_answered(tmp_path, phone, serving, walk, name, said):
    with serving(tmp_path, CASES[name]) as site:
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        assert phone.inner_text("#promise") == said
        assert phone.locator(".warning", has_text=said).count() == (name != "yes and no")
        assert ("nobody can tell which" in phone.inner_text("main")) == (name == "yes and no")
        certain = "some reports rule an answer out" in phone.locator(".promise .facts dd").nth(2).inner_text()
        assert certain == (name == "ruled out")
        walk(phone, 1)
        phone.wait_for_selector(".receipt")
        assert ("It proves nothing about you" in phone.inner_text("main")) == (name == "yes and no")
        assert len(site.reports()) == 1
