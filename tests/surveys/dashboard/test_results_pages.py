"""Pages of results: the same numbers as the library's, in words that hold, whatever the survey is called."""

import json
import os
import re
import time
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.crossing import Association, Crossing
from sottovoce.surveys.dashboard import result_cards, result_words
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.charts import MINUS, percent
from sottovoce.surveys.dashboard.live_results import Inquiry, LiveResults, answer
from sottovoce.surveys.dashboard.truths import save_truths
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.results import AnswerEstimate, QuestionResult, results_by, survey_results
from sottovoce.surveys.scales import ScaleSummary
from tests.surveys.dashboard.conftest import serving_office

HEAD = "title: Life at our hospital\nasker: A\npurpose: P\nuntil: 2999-12-31\n"
EVERYTHING = (
    HEAD
    + """invitation: open
odds: 729:1
split: true
minimum: 400
questions:
  - {id: ward, kind: single, text: "Ward?", answers: {n: Nurses, d: Doctors, a: Administration}, public: true}
  - {id: shift, kind: yes_no, text: "Night shift?", public: true}
  - {id: tax, kind: yes_no, text: "Evaded tax?", answers: {"yes": Yes I did, "no": No}}
  - {id: leave, kind: yes_no, text: "Leaving?", decline: Rather not}
  - {id: drink, kind: single, text: "How often?", answers: [never, once, often]}
  - {id: trust, kind: scale, steps: 5, ends: [not at all, fully], text: "Trust?", wanted: trend}
  - {id: seen, kind: several, text: "Seen?", answers: {words: Insults, touch: Touching, blows: Blows}}
"""
)
SHARES = {
    "ward": {"n": 0.6, "d": 0.38, "a": 0.02},
    "shift": {"no": 0.5, "yes": 0.5},
    "tax": {"no": 0.7, "yes": 0.3},
    "leave": {"no": 0.6, "yes": 0.4},
    "drink": {"never": 0.8, "once": 0.2, "often": 0.0},
    "trust": {"1": 0.1, "2": 0.2, "3": 0.3, "4": 0.3, "5": 0.1},
    "seen": {"words": 0.5, "touch": 0.4, "blows": 0.3},
}
COUNT = 4000
HOSTILE = "</title><script>alert('x')</script>\"&amp; 🙂 " + "long " * 90


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One server for all tests, because its process for estimates takes a while to start."""
    patch = pytest.MonkeyPatch()
    patch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    patch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
    with serving_office(str(tmp_path_factory.mktemp("results") / "surveys.db")) as office:
        yield office
    patch.undo()


@pytest.fixture(scope="module")
def reader(place):
    return place.researcher(Role.READER)


def rehearsed(store, text, count=COUNT, shares=None, *, truths=True, seed=1):
    """A rehearsal with the reports of simulated respondents."""
    survey = store.freeze(survey_from_text(text).as_rehearsal())
    if count:
        people = simulate_respondents(survey, count, np.random.default_rng(seed), shares)
        store.store_simulated(survey, people.reports())
        if truths:
            save_truths(store, people)
    return survey


@pytest.fixture(scope="module")
def everything(place):
    return rehearsed(place.store, EVERYTHING, shares=SHARES)


def got(researcher, survey, path=""):
    """The page, when its results are there."""
    for _ in range(60):
        page = researcher.get(f"/research/surveys/{survey.id}/results{path}")
        if "refresh" not in page.headers:
            return page
        assert "being computed" in page.text
        time.sleep(0.5)
    raise AssertionError(path)


def words(page) -> str:
    """What a page says, without its marks."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.text)).replace("\u2068", "").replace("\u2069", ""))


def test_every_estimate_is_that_of_the_library(place, reader, everything):
    page = got(reader, everything)
    assert page.status == 200
    for level, path in ((0.95, ""), (0.9, "?level=90"), (0.99, "?level=99")):
        text = words(got(reader, everything, path))
        for result in survey_results(everything, place.store.reports(everything.id), level=level):
            for line in result.lines:
                assert f"{percent(line.estimate)} % {percent(line.low)} to {percent(line.high)}" in text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert not re.search(r"<[^>]+ style=|<script>", page.text)


def test_four_numbers_matter_most(reader, everything):
    text = words(got(reader, everything))
    assert "4,000 reports of a rehearsal ± " in text
    assert "points, widest margin of error" in text
    assert "3.79 : 1 odds promised per question, 721 : 1 in all" in text or "in all" in text
    assert "forged answers would move the most fragile result" in text


def test_sentences_say_what_numbers_mean(reader, everything):
    text = words(got(reader, everything))
    assert re.search(r"[\d,]+ forged answers would move the share of “(Yes I did|No)” out of its interval", text)
    assert re.search(r"from 1 to 5 \(“not at all” to “fully”\): mean (2\.[89]|3\.[0-4])", text)  # the truth is 3.1
    assert re.search(r"median 3 \([23] to [34]\)", text)
    assert "Up to each step" in text
    assert "truths of the rehearsal lie" in text
    assert "This is a rehearsal" in text
    assert result_words.PUBLIC_NOTE in text
    assert "people for whom it is not true, and “No” by" in text


def test_the_promise_is_that_of_the_respondents_page():
    """Its sentences are those of the page's own words."""
    script = (Path(result_words.__file__).parents[1] / "page" / "texts" / "en.js").read_text(encoding="utf-8")
    joined = re.sub(r'" \+\s+"', "", script)
    for sentence in (*result_words.PROMISES.values(), result_words.IF_PICKED, result_words.SHARED_COINS):
        assert f'"{sentence}"' in joined
    assert f'"{result_words.PUBLIC_NOTE}"' in joined


@pytest.mark.parametrize("level", ["0", "95 ", "nan", "<script>"])
def test_other_levels_are_refused(reader, everything, level):
    page = reader.get(f"/research/surveys/{everything.id}/results?level={level.replace(' ', '%20')}")
    assert page.status == 422
    assert "level must be one of 90, 95, 99" in page.alert
    assert "<script>" not in page.text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/groups?by=tax", "by must name public questions (ward, shift)"),
        ("/groups?by=ward&by=nothing", "by must name public questions"),
        ("/cross?first=tax&second=nothing", "must name a question, or a choice"),
        ("/patterns?question=tax", "question must be one of seen"),
        ("/patterns?support=3", "support must be one of 1, 2"),
        ("/patterns?confidence=a", "confidence must be one of"),
        ("/classifier?label=seen&features=tax", "label must be one of tax"),
        ("/classifier?label=tax&features=seen", "features must be questions with one answer"),
        ("/classifier?label=tax&features=tax", "features must be questions with one answer"),
        ("/classifier?label=tax&features=ward&model=magic", "model must be one of"),
    ],
)
def test_unknown_questions_are_refused(reader, everything, path, reason):
    page = reader.get(f"/research/surveys/{everything.id}/results{path}")
    assert page.status == 422
    assert reason in page.alert


def test_nothing_is_shown_without_a_session_or_a_survey(place, reader, everything):
    from tests.surveys.dashboard.conftest import Researcher

    for end in ("", "/groups", "/cross", "/patterns", "/classifier"):
        stranger = Researcher(place.address).get(f"/research/surveys/{everything.id}/results{end}")
        assert (stranger.status, stranger.headers["location"].split("?")[0]) == (303, "/research/login")
        assert reader.get(f"/research/surveys/{'0' * 16}/results{end}").status == 404


def real(store, text, count):
    """A survey of people with so many reports."""
    survey = store.freeze(survey_from_text(text))
    commit(store, survey, count)
    return survey


def commit(store, survey, count):
    reports = simulate_respondents(survey, max(count, 1), np.random.default_rng(2)).reports()[:count]
    store.commit([Entry(survey.id, os.urandom(16), report) for report in reports])


def test_results_are_withheld_below_the_minimum(place, reader):
    survey = real(place.store, HEAD + "odds: 3\nminimum: 20\nquestions: [{id: q, kind: yes_no, text: Q}]\n", 0)
    place.store.invite(survey, 30)
    place.store.invite(survey, 2, replacing=True)
    text = words(got(reader, survey))
    assert "Withheld until there are 20 reports There are 0 so far; 20 are missing." in text
    assert "0 of 30 invited have answered" in text
    commit(place.store, survey, 19)
    for path in ("", "/cross?first=q&second=q"):
        assert "There are 19 so far; 1 is missing." in words(got(reader, survey, path))
    assert "Estimate" not in got(reader, survey).text
    commit(place.store, survey, 1)
    text = words(got(reader, survey))
    assert "Withheld" not in text
    assert "20 of 30 invited have answered" in text
    assert "rehearsal" not in text


def test_a_survey_with_one_question_and_a_minimum_of_nothing(place, reader):
    text = HEAD + "invitation: open\nodds: 3\nminimum: 1\nquestions: [{id: q, kind: yes_no, text: Q}]\n"
    survey = real(place.store, text, 0)
    assert "Withheld until there are 1 reports There are 0 so far; 1 is missing." in words(got(reader, survey))
    commit(place.store, survey, 1)
    assert "This cannot be computed" in words(got(reader, survey))
    commit(place.store, survey, 9)
    time.sleep(0.5)
    assert "10 reports, from an open link" in words(got(reader, survey))
    assert "No public questions" in words(got(reader, survey, "/groups"))
    assert "No question with several choices" in words(got(reader, survey, "/patterns"))
    assert "Nothing to predict" in words(got(reader, survey, "/classifier"))


def test_hostile_texts_come_out_harmless(place, reader):
    quoted = json.dumps(HOSTILE)
    text = f"""title: {quoted}
asker: A
purpose: P
until: 2999-12-31
languages: [ar]
odds: 81
split: true
minimum: 2
questions:
  - {{id: a, kind: single, text: {quoted}, answers: {{x: {quoted}, y: "شهريا في العمل"}}, public: true}}
  - {{id: b, kind: single, text: "هل أخفيت دخلا؟", answers: {{x: {quoted}, y: "نعم"}}}}
  - {{id: c, kind: several, text: {quoted}, answers: {{x: {quoted}, y: "'<b>"}}}}
"""
    survey = rehearsed(place.store, text, 1000)
    pages = ["", "/groups?by=a", "/cross?first=a&second=b", "/cross?first=c%3Dx&second=b", "/patterns?question=c"]
    for path in [*pages, "/classifier?label=b&features=a"]:
        page = got(reader, survey, path)
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<b>" not in page.text
        assert "شهريا" in page.text or "نعم" in page.text or "&#39;" in page.text
    assert '="rtl"' in got(reader, survey).text


def test_a_hundred_categories_and_an_answer_that_nobody_gave(place, reader):
    answers = ", ".join(f"answer {number}" for number in range(100))
    head = HEAD + "invitation: open\nodds: 9\nminimum: 2\nquestions:\n"
    text = head + f"  - {{id: q, kind: single, text: Many, answers: [{answers}]}}\n"
    survey = rehearsed(place.store, text, 3000, {"q": {f"answer {n}": 0.02 * (n < 50) for n in range(100)}})
    shown = words(got(reader, survey))
    assert "answer 99" in shown
    assert "below zero is noise around a rare answer" in shown
    assert re.search(r" and \d+ more\. A share below zero", shown)
    assert MINUS in shown


def test_most_questions_may_be_public(place, reader):
    text = HEAD + "invitation: open\nodds: 3\nminimum: 2\nquestions:\n  - {id: q, kind: yes_no, text: Q}\n"
    text += "".join(f"  - {{id: p{n}, kind: yes_no, text: P, public: true}}\n" for n in range(4))
    survey = rehearsed(place.store, text, 300)
    assert words(got(reader, survey)).count("Public question.") == 4 * 3  # above the chart, and in both drawings
    assert "3 : 1 odds promised per question, 3 : 1 in all" in words(got(reader, survey))
    assert "p = " in words(got(reader, survey, "/cross?first=p0&second=p1"))


def test_what_pages_show_is_computed_as_here(place, reader, everything):
    """The other process cannot be watched by coverage: everything once more in this one."""
    store = place.store
    found = answer(store.place, Inquiry(everything.id, "questions", 0.95)).value
    assert [card.id for card in found.cards] == [question.id for question in everything.questions]
    assert found.cards[0].odds is None
    assert found.cards[5].trend is not None
    with_truths = answer(store.place, Inquiry(everything.id, "questions", 0.95, (json.dumps(SHARES),))).value
    assert "Diamond" in with_truths.cards[5].trend
    groups = answer(store.place, Inquiry(everything.id, "groups", 0.95, ("ward",))).value
    assert [card.text for card in groups.cards] == ["Shares of “yes”", "How often?", "Trust?", "Seen?"]
    assert groups.small[0][0] == "Administration"
    crossed = answer(store.place, Inquiry(everything.id, "crossing", 0.95, ("tax", "drink"))).value
    assert crossed.result.questions == ("tax", "drink")
    for survey in (
        rehearsed(store, SMALL, 300),
        rehearsed(store, SMALL.replace("yes_no", "scale, steps: 3, ends: [a, b]"), 300),
    ):
        small = answer(store.place, Inquiry(survey.id, "groups", 0.95, ("ward",))).value
        assert small.cards == ()
        assert answer(store.place, Inquiry(survey.id, "questions", 0.95)).value.cards[1].trend is None


SMALL = (
    HEAD + "invitation: open\nodds: 3\nminimum: 290\nquestions:\n"
    "  - {id: ward, kind: yes_no, text: W, public: true}\n  - {id: q, kind: yes_no, text: Q}\n"
)


def test_the_most_fragile_result_may_not_be_known():
    unknown = AnswerEstimate(("a",), 0.5, 0.1, 0.3, 0.7, None)
    assert result_cards._numbers([unknown]) == (("± 20.0", "points, widest margin of error"),)
    assert result_cards.estimate_row("a", unknown).notes == ("not known",)
    assert result_cards._numbers([AnswerEstimate(("a",), 0.5, 0.1, 0.3, 0.7, 1)])[1][1].startswith(
        "forged answer would"
    )
    assert result_cards.estimate_row("a", AnswerEstimate(("a",), -0.1, 0.1, 0.0, 0.7, 1)).notes == ("outside already",)


@pytest.mark.parametrize(
    ("scheme", "sentence"),
    [
        ("yes_no, scheme: {name: warner, p: 0.999}", "“Yes” is also sent by one in 1,000 people"),
        ("single, answers: [a, b], scheme: randomized_response", "Every answer is also sent by at least"),
        ("single, answers: [a, b, c, d], scheme: subset_selection", "Several answers are sent at once."),
        ("several, answers: [a, b]", "Every choice is also sent by at least"),
    ],
)
def test_promises_by_the_form_of_reports(scheme, sentence):
    weak = "odds: 999\n" if "warner" in scheme else "odds: 9\n"
    survey = survey_from_text(HEAD + weak + f"questions: [{{id: q, kind: {scheme}, text: Q}}]\n")
    assert result_words.promise_words(survey, survey.questions[0]).startswith(sentence)


def test_promises_of_joint_coins_and_of_no_bound(every_kind):
    assert result_words.promise_words(every_kind, every_kind.question("one")).startswith(result_words.IF_PICKED)
    assert result_words.promise_words(every_kind, every_kind.question("one")).endswith(result_words.SHARED_COINS)
    assert result_words._share([Fraction(0)]) == "none of the"
    assert result_words.odds_words(Guarantee(None)) == "no bound"
    assert result_words.odds_words(Guarantee(Fraction(10**7))) == "over 1,000,000 : 1"
    assert result_words.odds_words(Guarantee(Fraction(1999999, 2))) == "1,000,000 : 1"


def test_a_page_without_results_yet_is_loaded_again(reader, everything, monkeypatch):
    monkeypatch.setattr(LiveResults, "ask", lambda *arguments: None)
    asked = ["", "/groups", "/cross?first=tax&second=drink", "/patterns", "/classifier?label=tax&features=ward"]
    for path in asked:
        page = reader.get(f"/research/surveys/{everything.id}/results{path}")
        assert (page.status, page.headers["refresh"]) == (200, "2")
        assert "being computed" in page.text
    for path in ("/cross", "/classifier", "/cross?first=tax&second=tax"):
        assert "refresh" not in reader.get(f"/research/surveys/{everything.id}/results{path}").headers


def test_groups_show_margins_and_count_small_groups(place, reader, everything):
    page = got(reader, everything, "/groups?by=ward")
    text = words(page)
    results, small = results_by(everything, place.store.reports(everything.id), ["ward"])
    assert list(small) == [("a",)]
    assert f"Administration {small['a',]} report" in text
    for result in results:
        for line in result.lines:
            if everything.question(result.questions[0]).kind != "yes_no":
                assert f"{percent(line.estimate)} % {percent(line.low)} to {percent(line.high)}" in text
    assert "Shares of “yes”" in text
    assert 'class="heat-' in page.text
    both = words(got(reader, everything, "/groups?by=ward&by=shift&by=ward&level=90"))
    assert "Nurses, Yes" in both
    assert "90 % interval" in both
    assert 'value="ward" checked' in got(reader, everything, "/groups").text


def test_groups_that_are_all_too_small_are_counted(place, reader):
    answers = ", ".join(f"w{number}" for number in range(20))
    text = HEAD + "invitation: open\nodds: 3\nminimum: 100\nquestions:\n"
    text += f"  - {{id: ward, kind: single, text: Ward, answers: [{answers}], public: true}}\n"
    text += "  - {id: q, kind: yes_no, text: Q}\n"
    survey = rehearsed(
        place.store, text, 200, {"ward": {f"w{n}": 0.05 for n in range(20)}, "q": {"no": 0.5, "yes": 0.5}}
    )
    shown = words(got(reader, survey, "/groups?by=ward"))
    assert "No group is large enough" in shown
    assert "Groups that are not shown" in shown


def test_cross_tables_are_told_in_a_sentence(place, reader, everything):
    assert "In a sentence" not in words(got(reader, everything, "/cross"))
    shown = words(got(reader, everything, "/cross?first=tax&second=drink"))
    assert re.search(r"“Evaded tax\?” and “How often\?” (was found|are associated): Cramér's V [\d.]+", shown)
    assert "Pearson, on the reports; 4,000 reports." in shown
    assert "Yes I did · never" in shown
    single = words(got(reader, everything, "/cross?first=seen%3Dwords&second=tax&level=99"))
    assert "Seen? Insults" in single
    assert "A single choice counts as chosen or not chosen" in single
    assert re.search(r"odds ratio [\d.]+, 99 % interval", single)
    same = words(got(reader, everything, "/cross?first=tax&second=tax"))
    assert "These two cannot be crossed. These are the same." in same
    public = words(got(reader, everything, "/cross?first=ward&second=shift"))
    assert "Nurses · " in public


def test_patterns_and_rules_of_choices(reader, everything):
    shown = words(got(reader, everything, "/patterns"))
    assert "Choices made together" in shown
    assert "Insults" in shown
    assert "Rules" in shown
    lower = words(got(reader, everything, "/patterns?question=seen&support=5&confidence=30&level=90"))
    assert "Of those with" in lower
    assert "Times as often as all" in lower
    none = words(got(reader, everything, "/patterns?support=50&confidence=90"))
    assert "No choice was made by as many as 50 %" in none or "No rule holds" in none


@pytest.mark.parametrize("model", ["naive_bayes", "tree"])
def test_a_classifier_is_tested_on_other_reports(reader, everything, model):
    assert "How well it does" not in words(got(reader, everything, f"/classifier?model={model}"))
    shown = words(got(reader, everything, f"/classifier?label=tax&features=ward&features=drink&model={model}"))
    assert "learned from one half of the reports, is right about" in shown
    assert "Always guessing “No” is right about" in shown
    assert "It is not clearly better than that guess" in shown
    assert "nobody here agreed to be predicted" in shown
    assert ("The tree" in shown) == (model == "tree")


def test_new_reports_are_counted_and_a_new_rehearsal_is_another_one(place, reader):
    text = HEAD + "invitation: open\nodds: 3\nminimum: 2\nquestions: [{id: q, kind: yes_no, text: Again}]\n"
    survey = rehearsed(place.store, text, 500, {"q": {"no": 1.0, "yes": 0.0}})
    first = words(got(reader, survey))
    place.store.delete_survey(survey.id)
    assert reader.get(f"/research/surveys/{survey.id}/results").status == 404
    again = rehearsed(place.store, text, 500, {"q": {"no": 0.0, "yes": 1.0}}, truths=False)
    assert again.id == survey.id
    second = words(got(reader, again))
    shares = [re.search(rf"Yes ({MINUS}?[\d.]+) %", page)[1].replace(MINUS, "-") for page in (first, second)]
    assert float(shares[0]) < 30
    assert float(shares[1]) > 70
    place.store.store_simulated(again, simulate_respondents(again, 100, np.random.default_rng(3)).reports())
    for _ in range(40):
        shown = words(got(reader, again))
        if "of 500 reports" not in shown:
            break
        assert "100 more have arrived since" in shown
        time.sleep(0.25)
    assert "600 reports of a rehearsal" in shown


LINE = AnswerEstimate(("yes",), 0.2, 0.02, 0.16, 0.24, 62)


def test_sentences_about_forged_answers():
    assert result_words.fragile_words([LINE], {"yes": "Yes"}).replace("\u2068", "").replace("\u2069", "") == (
        "62 forged answers would move the share of “Yes” out of its interval."
    )
    one = AnswerEstimate(("yes",), 0.2, 0.02, 0.19, 0.21, 1)
    assert result_words.fragile_words([LINE, one], {"yes": "Yes"}).startswith("1 forged answer would")
    unknown = AnswerEstimate(("yes",), 0.2, 0.02, 0.16, 0.24, None)
    assert "not known" in result_words.fragile_words([unknown], {"yes": "Yes"})
    at_zero = AnswerEstimate(("no",), -0.01, 0.02, 0.0, 0.02, 1)
    assert result_words.most_fragile([at_zero, LINE]) is LINE


def test_sentences_about_noise():
    assert result_words.noise_words([LINE], {"yes": "Yes"}) is None
    above = AnswerEstimate(("yes",), 1.02, 0.02, 0.98, 1.0, 5)
    assert "above 100 % is noise around a very common answer" in result_words.noise_words([above], {"yes": "Yes"})


def test_sentences_about_truths_and_scales(everything):
    result = QuestionResult(("q",), 100, 0.95, (LINE, AnswerEstimate(("no",), 0.8, 0.02, 0.76, 0.84, 9)))
    assert result_words.truth_words(result, {"yes": 0.2, "no": 0.8}).startswith("Both truths")
    assert result_words.truth_words(result, {"yes": 0.3, "no": 0.8}) == (
        "1 of 2 truths of the rehearsal lies outside of its interval. Of 95 % intervals, one in 20 does."
    )
    assert "truths of the rehearsal lie outside" in result_words.truth_words(result, {"yes": 0.3, "no": 0.7})
    nobody = ScaleSummary(None, None, ())
    assert "Nobody seems" in result_words.scale_words(everything.question("trust"), nobody, "en")


def crossing(p_value, association, untested=None):
    from sottovoce.estimates.independence import IndependenceTest

    test = None if p_value is None else IndependenceTest(("a", "b"), 3.0, 1, p_value, "Pearson, on the reports")
    return Crossing(QuestionResult(("a", "b"), 1842, 0.95, (), test, untested), association)


@pytest.mark.parametrize(
    ("p_value", "association", "sentence"),
    [
        (
            0.004,
            Association("odds ratio", 2.4, 1.3, 4.6),
            "are associated: odds ratio 2.4, 95 % interval 1.3 to 4.6, p = .004.",
        ),
        (
            0.0001,
            Association("odds ratio", 240.0, 1.3, float("inf")),
            "odds ratio 240, 95 % interval 1.3 to infinity, p < .001.",
        ),
        (
            0.4,
            Association("Cramér's V", 0.1, 0.0, 0.2),
            "Cramér's V 0.10, 95 % interval 0.00 to 0.20, p = .400. That is no",
        ),
        (
            0.4,
            Association("Cramér's V", None, None, None, "many cells"),
            "was found: Cramér's V not defined, p = .400.",
        ),
        (None, Association("Cramér's V", 0.1, None, None), "go together was not tested: Cramér's V 0.10."),
    ],
)
def test_associations_in_words(p_value, association, sentence):
    assert sentence in result_words.association_words(crossing(p_value, association), "A", "B")
