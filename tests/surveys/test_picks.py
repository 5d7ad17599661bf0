"""The budget is sampled: which answers the device picks, what that gains, and that everything else still holds."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.proportions import never_asked
from sottovoce.estimates.sample_size import expected_width
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.reports.verbs import read
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.surveys.client.client import Client
from sottovoce.surveys.client.simulate import send_reports, simulate_respondents
from sottovoce.surveys.codebook import NOT_PICKED, codebook
from sottovoce.surveys.collect.audit import audit_document, audit_sentences
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition import picks
from sottovoce.surveys.definition.budget import alone_variance
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.picks import pick_groups
from sottovoce.surveys.definition.preview import preview, respondents_needed
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.links import Link
from sottovoce.surveys.page.files import FOLDER
from sottovoce.surveys.publications import export_reports
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.report_weights import picked_weight_range
from sottovoce.surveys.results import (
    cross_table,
    disguised_table,
    question_result,
    survey_results,
)

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2100-12-31\ninvitation: open\nminimum: 2\n"


def yes_no(count: int, rest: str = "odds: 100:1\n"):
    questions = "".join(f"  - {{id: q{number}, kind: yes_no, text: Q{number}}}\n" for number in range(count))
    return survey_from_text(f"{HEAD}{rest}questions:\n{questions}")


def shapes(survey) -> list[tuple[str, int, int, int]]:
    """For every group its scheme, its sets, the answers of a set and the answers of the group."""
    return [
        (g.scheme, len(parts), len(parts[0].axes), len(g.attributes))
        for g, parts in ((g, g.mechanism.channel.parts) for g in survey.plan.groups)
    ]


@pytest.mark.parametrize("count", [5, 12])
def test_what_sampling_gains_under_a_hundred_to_one(count):
    """Five questions have 29 % narrower margins than with a split budget, and twelve less than half of the margins."""
    sampled, split = yes_no(count), yes_no(count, "odds: 100:1\nsplit: true\n")
    assert sampled.plan.guarantee.within(Guarantee(Fraction(100)))
    assert all(sampled.plan.guarantee_of(question.id).odds <= 10 for question in sampled.questions)
    margins = [[each.margin for each in preview(survey, 1000)] for survey in (sampled, split)]
    assert max(margins[0]) < {5: 0.78, 12: 0.5}[count] * min(margins[1])
    needed = [max(respondents_needed(survey, 0.05).values()) for survey in (sampled, split)]
    assert needed[0] < {5: 0.6, 12: 0.25}[count] * needed[1]


def test_how_many_answers_are_picked():
    assert shapes(yes_no(5)) == [("randomized_response", 1, 2, 2), ("attribute_sampling", 3, 2, 3)]
    assert shapes(yes_no(12)) == [("attribute_sampling", 15, 2, 6)] * 2
    assert shapes(yes_no(12, "odds: 100:1\nsplit: false\n")) == shapes(yes_no(12))
    assert shapes(yes_no(2, "odds: 3\n")) == [("attribute_sampling", 2, 1, 2)]
    assert shapes(yes_no(2, "odds: 100\n")) == [("randomized_response", 1, 1, 1)] * 2  # at 10 : 1 each
    assert (
        shapes(yes_no(2, "odds: 10000\nweak: accepted\n")) == [("randomized_response", 1, 1, 1)] * 2
    )  # the author wants so much
    assert shapes(yes_no(5, "odds: 9\nsplit: true\n")) == [("randomized_response", 1, 1, 1)] * 5


def test_of_many_questions_only_neighbours_are_picked_together():
    survey = yes_no(30)
    assert shapes(survey) == [("attribute_sampling", 15, 2, 15)] * 2
    assert not never_asked(survey.plan, ["q0", "q1"])
    assert never_asked(survey.plan, ["q0", "q2"]) == ["q0", "q2"]


def test_what_has_a_wish_of_its_own_is_not_picked():
    """A scheme, odds, a group or several choices keep their shares, which are equal."""
    survey = survey_from_text(
        HEAD
        + """odds: 128
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: b, kind: yes_no, text: B}
  - {id: c, kind: single, text: C, answers: [x, y, z]}
  - {id: own, kind: yes_no, text: O, odds: 4}
  - {id: scheme, kind: yes_no, text: S, scheme: subset_selection}
  - {id: some, kind: several, text: S, answers: [x, y]}
  - {id: d, kind: yes_no, text: D}
  - {id: e, kind: yes_no, text: E}
groups: [{questions: [d, e]}]
"""
    )
    odds = {group.attributes: float(group.guarantee.odds) for group in survey.plan.groups}
    each = 32 ** (1 / 6)
    for alone in (("scheme",), ("some",), ("d", "e")):
        assert odds[alone] == pytest.approx(each)
    assert odds["own",] == 4
    assert np.prod([odds[group] for group in odds if set(group) <= {"a", "b", "c"}]) == pytest.approx(each**3)
    assert "attribute_sampling" in [group.scheme for group in survey.plan.groups]
    assert survey.plan.guarantee.within(Guarantee(Fraction(128)))


def test_a_question_that_is_left_alone_has_the_odds_of_its_group():
    survey = yes_no(3)
    assert shapes(survey) == [("randomized_response", 1, 1, 1), ("randomized_response", 1, 2, 2)]
    assert [group.guarantee.odds for group in survey.plan.groups] == [10, 10]


@pytest.mark.parametrize(("budget", "left"), [(200, 20**0.5), (100_000, 100_000**0.2)])
def test_what_the_picks_leave_is_for_the_others(budget, left):
    """Three picked questions and two others: the picks take 10 : 1 of 200 : 1; others keep to the ceiling, too."""
    survey = survey_from_text(
        HEAD
        + f"odds: {budget}\n"
        + ("weak: accepted\n" if budget > 1000 else "")
        + "questions:\n"
        + "".join(f"  - {{id: q{number}, kind: yes_no, text: Q}}\n" for number in range(3))
        + "  - {id: s, kind: several, text: S, answers: [x, y]}\n"
        + "  - {id: w, kind: yes_no, text: W, scheme: subset_selection}\n"
    )
    others = [float(survey.plan.guarantee_of(name).odds) for name in "sw"]
    assert others == pytest.approx([left, left])


def test_what_is_left_above_the_ceiling_of_a_question_is_not_spent():
    """Two of three answers at 10 : 1 are better than groups with the roots of 27 : 1."""
    survey = yes_no(3, "odds: 27\n")
    assert shapes(survey) == [("attribute_sampling", 3, 2, 3)]
    assert (survey.plan.guarantee.odds, survey.plan.promise.odds) == (10, 27)


@pytest.mark.parametrize(
    ("count", "odds", "together"),
    [(5, 10, "[[q0, q3]]"), (6, 5, "[[q0, q2, q4]]"), (12, 3, "[[q0, q5], [q5, q7]]"), (12, 100, "[[q1, q11]]")],
)
def test_questions_to_be_crossed_are_told_together(count, odds, together):
    survey = yes_no(count, f"odds: {odds}\ntogether: {together}\n")
    for names in together.strip("[]").split("], ["):
        assert never_asked(survey.plan, names.split(", ")) == []


def test_pairs_are_told_apart_or_together_whichever_is_better():
    """Of many answers in groups of their own; of few in one set, where the budget is small."""
    five = {f"q{number}": 5 for number in range(12)}
    apart = pick_groups(five, Fraction(100), [("q0", "q1")], alone_variance)
    assert [len({"q0", "q1"} & set(group.questions)) for group in apart] == [1, 1]
    two = {f"q{number}": 2 for number in range(12)}
    (joined,) = pick_groups(two, Fraction(3), [("q0", "q11")], alone_variance)
    assert (0, 11) in joined.sets
    assert len(joined.sets) == 6


def test_variances_are_those_of_the_estimates():
    """Closed forms against the inverted channels of the plans, for one question and for pairs."""
    sizes = {"a": 2, "b": 3, "c": 2, "d": 4}
    names = tuple(sizes)
    for size in (1, 2, 3):
        group = picks._Sets.of(names, combinations(range(4), size), Fraction(7), sizes)
        channel = picks.PickedGroup(names, group.sets, group.odds).scheme.mechanism(tuple(sizes.values())).channel
        for axis, (name, count) in enumerate(sizes.items()):
            assert (count - 1) / count**2 / group.of_question(name) == pytest.approx(_variance(channel, [axis]))
        if size > 1:
            expected = picks._pair_variance(2, 3, group.of_pair("a", "b"))
            assert expected == pytest.approx(_variance(channel, [0, 1]), rel=1e-6)


def _variance(channel, axes) -> float:
    """Mean variance of the cells, from one respondent, where all are equally frequent."""
    marginal = channel.marginal(axes)
    uniform = np.full(marginal.n_in, 1 / marginal.n_in)
    return float(np.mean(marginal.solve_squared(marginal.matvec(uniform)) - uniform**2))


def test_thirty_questions_take_less_than_a_second_and_come_out_alike():
    sizes = {f"q{number}": 2 + number % 4 for number in range(30)}
    found = [pick_groups(sizes, Fraction(100), [("q0", "q1")], alone_variance) for _ in range(2)]
    assert found[0] == found[1]
    assert sorted(name for group in found[0] for name in group.questions) == sorted(sizes)


def test_answers_with_more_combinations_than_there_are_numbers_are_not_one_group():
    """Ten questions with 250 answers each have 251^10 reports; nor are 250 x 250 answers told together."""
    groups = pick_groups({f"q{number}": 250 for number in range(10)}, Fraction(9), [], lambda _size, _odds: 1e6)
    assert max(len(group.questions) for group in groups) < 8
    assert {len(told) for group in groups for told in group.sets} == {1}


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("split: maybe\n", r"split must be one of true, false \(line 8\)"),
        ("together: []\n", r"together must be a list that is not empty \(line 8\)"),
        ("together: [[q0]]\n", r"together\[0\] must name two or more different questions \(line 8\)"),
        ("together: [[q0, q0]]\n", r"together\[0\] must name two or more different questions \(line 8\)"),
        (
            "together: [[q0, q1], [q0, q9]]\n",
            r"together\[1\] must name questions whose answers .*\(line 8\)\. Got 'q9'",
        ),
        (
            "together: [[q0, q1]]\ngroups: [{questions: [q0, q1], scheme: attribute_sampling}]\n",
            r"together\[0\] must be possible with the groups: no report tells q0 and q1 together; .*\(line 8\)",
        ),
    ],
)
def test_mistakes_in_what_is_crossed(rest, message):
    with pytest.raises(SottovoceError, match=message):
        yes_no(3, "odds: 9\n" + rest)


def test_several_choices_cannot_be_crossed():
    text = HEAD + "odds: 9\nquestions:\n  - {id: a, kind: yes_no, text: A}\n"
    with pytest.raises(
        SottovoceError, match=r"together\[0\] must name questions with one answer each.*Got 's' instead"
    ):
        survey_from_text(text + "  - {id: s, kind: several, text: S, answers: [x, y]}\ntogether: [[a, s]]\n")


def test_questions_with_coins_of_their_own_can_be_crossed():
    survey = yes_no(2, "odds: 9\ntogether: [[q0, q1]]\ngroups: [{questions: [q0, q1]}]\n")
    assert shapes(survey) == [("randomized_response", 1, 2, 2)]


BRANCHED = (
    HEAD
    + """odds: 9
questions:
  - {id: smokes, kind: yes_no, text: "Do you smoke?"}
  - {id: much, kind: single, text: "How much?", answers: [little, lots], when: {smokes: yes}}
  - {id: drinks, kind: yes_no, text: "Do you drink?", decline: true}
  - {id: votes, kind: single, text: "Whom do you vote for?", answers: [a, b, c, d]}
  - {id: seen, kind: several, text: "What did you see?", answers: [x, y]}
"""
)


@pytest.fixture(scope="module")
def branched():
    return survey_from_text(BRANCHED)


@pytest.fixture(scope="module")
def people(branched):
    return simulate_respondents(branched, 20_000, np.random.default_rng(1))


@pytest.fixture(scope="module")
def reports(people):
    return people.reports(rng=1)


def test_estimates_of_picked_answers_are_near_the_truth(branched, people, reports):
    assert branched.plan.groups[0].scheme == "attribute_sampling"
    for result in survey_results(branched, reports):
        assert result.respondents == 20_000
        for line in result.lines:
            assert abs(line.estimate - people.share(result.questions[0], line.labels[0])) < 5 * line.standard_error
    assert [line.labels[0] for line in question_result(branched, reports, "much").lines] == [
        "little",
        "lots",
        "not asked",
    ]


def test_what_branching_and_picking_leave_out_have_different_labels(branched):
    assert branched.plan.report_schema["much"].categories == ("little", "lots", "not asked", "not asked*")
    assert branched.plan.report_schema["smokes"].categories == ("no", "yes", "not asked")


def test_the_codebook_tells_them_apart(branched):
    rows = [(row[4], row[5]) for row in codebook(branched) if row[0] == "much"]
    assert rows == [("little", "little"), ("lots", "lots"), ("not asked", "not asked"), ("not asked*", NOT_PICKED)]
    assert [row[5] for row in codebook(branched) if row[0] == "seen"] == ["x", "y"]


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ar"])
def test_the_audit_page_says_what_is_picked(language):
    told = audit_sentences(yes_no(5), language)["questions"]
    joint, picked = (" ".join(told[number]) for number in (0, 2))
    assert "q1" in joint
    assert "q3, q4" in picked
    assert re.search(r"2\D+3", picked.partition("q3, q4")[2])
    assert re.search("84.6", picked)  # 11/13, if it is picked
    sets = "groups: [{questions: [q0, q1, q2], scheme: {name: attribute_sampling, subsets: [[0, 1], [2]]}}]\n"
    assert "1\u20132" in " ".join(audit_sentences(yes_no(3, "odds: 9\n" + sets), language)["questions"][0])


def test_the_audit_document_has_the_chances_of_picked_answers():
    document = audit_document(yes_no(5))
    assert [question["told_as_it_is"] for question in document["questions"]] == ["11/13"] * 5


def test_margins_are_those_of_the_estimates(branched):
    rng = np.random.default_rng(11)
    truths = [rng.integers(size, size=20_000) for size in branched.plan.schema.sizes]
    uniform = ReportFormat(branched.plan).to_bytes(disguise_codes(truths, branched.plan, random_words(11)))
    for shown, result in zip(preview(branched, 20_000), survey_results(branched, uniform), strict=True):
        widest = max((line.high - line.low) / 2 for line in result.lines)
        assert shown.margin == pytest.approx(widest, rel=0.05)


def test_margins_of_coins_that_do_not_treat_answers_alike():
    """Matrices of attribute sampling that favour several answers have the margins of the inverted channel."""
    survey = survey_from_text(
        HEAD
        + "odds: 3\nquestions:\n  - {id: a, kind: single, text: A, answers: [a, b, c, d, e, f, g]}\n"
        + "  - {id: b, kind: yes_no, text: B}\n"
    )
    spread = AttributeSampling(odds=2, subsets=[[0], [1]], spread=True)
    plan = Plan.of(survey.plan.schema, {("a", "b"): spread}, odds=3)
    first, second = preview(replace(survey, plan=plan), 1000)
    assert first.margin == pytest.approx(float(expected_width(plan, "a", 1000).max()) / 2)
    assert second.margin == pytest.approx(1.96 * (9 / 4 / 500) ** 0.5, rel=0.01)


def test_tables_of_questions_that_are_never_told_together_are_refused(branched, reports):
    with pytest.raises(
        SottovoceError, match=r"cross must name two questions that a report tells together: .*together:"
    ):
        cross_table(branched, reports, "smokes", "votes")
    crossed = survey_from_text(BRANCHED + "together: [[smokes, drinks]]\n")
    answers = simulate_respondents(crossed, 5000, np.random.default_rng(2))
    table = cross_table(crossed, answers.reports(rng=1), "smokes", "drinks")
    assert table.test.p_value > 1e-6
    for line in table.lines:
        both = zip(answers.truths["smokes"], answers.truths["drinks"], strict=True)
        share = np.mean([labels == line.labels for labels in both])
        assert abs(line.estimate - share) < 5 * line.standard_error


@pytest.mark.parametrize("name", ["reports.csv", "reports.parquet"])
def test_exports_of_picked_answers_are_read_back(branched, reports, tmp_path, name):
    from types import SimpleNamespace

    store = SimpleNamespace(reports=lambda _survey: reports)
    assert export_reports(store, branched, tmp_path / name) == 20_000
    found = read(tmp_path / name).estimate("much")
    lines = question_result(branched, reports, "much").lines
    assert found.value.tolist() == pytest.approx([line.estimate for line in lines])
    assert set(disguised_table(store, branched)["much"]) == {"little", "lots", "not asked", "not asked*"}


@pytest.mark.parametrize("question", ["smokes", "votes"])
def test_as_many_forged_reports_as_stated_move_a_result(branched, reports, question):
    """Reports that tell another question move nothing; of the worst ones it takes exactly the stated number."""
    plan, form = branched.plan, ReportFormat(branched.plan)
    line = question_result(branched, reports, question).lines[0]
    assert picked_weight_range(plan, [question])[1][0] > 1
    not_picked = [size - 1 for size in form.sizes[:4]] + [0, 0]
    own, moved = plan.schema.names.index(question), []
    for code in range(form.sizes[own] - 1):
        forged = bytes([*not_picked[:own], code, *not_picked[own + 1 :]])
        assert form.fits(forged)
        found = [
            question_result(branched, [*reports, *[forged] * count], question).lines[0].estimate
            for count in (line.forged - 1, line.forged)
        ]
        moved.append(found)
    (fewer_low, low), (fewer_high, high) = np.min(moved, axis=0), np.max(moved, axis=0)
    assert line.low <= fewer_low
    assert fewer_high <= line.high
    assert low < line.low or high > line.high


def test_picked_answers_over_http(branched, tmp_path):
    """A client and simulated respondents send them, and the stored reports can be estimated."""
    store = Store(str(tmp_path / "surveys.db"))
    survey = store.freeze(replace(branched, rehearsal=True))
    with running(make_app(store, per_window=None), listen("127.0.0.1", 0)) as address:
        client, link = Client(address), Link(address, survey.hash)
        answers = {"smokes": "yes", "much": "lots", "drinks": "no", "votes": "a", "seen": ["x"]}
        assert len(client.answer(link, answers, at_once=True)) == 16
        client.close()
        sent = simulate_respondents(survey, 60, np.random.default_rng(5)).reports()
        assert send_reports(survey, [link] * 60, sent) == 60
    store.close()
    stored = sv.surveys.reports(tmp_path / "surveys.db")
    assert len(stored) == 61
    assert stored.estimate("smokes").respondents == 61


def test_reports_have_one_length_whatever_is_picked(branched, reports):
    form = ReportFormat(branched.plan)
    assert {len(report) for report in reports} == {form.length}
    assert all(map(form.fits, reports[:500]))
    columns = np.array([list(report) for report in reports])[:, :4]
    told = columns < np.array(branched.plan.schema.sizes[:4])
    assert len({tuple(row) for row in told.tolist()}) > 1
    per_report = {int(number) for number in told.sum(axis=1)}
    assert per_report == {branched.plan.answers_per_report[0] - 1}  # the several choices are always told
    assert survey_from_bytes(branched.document).plan == branched.plan


def test_the_page_draws_the_same_reports(branched, node, tmp_path):
    """Python and the page's modules, from the same words of randomness."""
    plan, count = branched.plan, 200
    rng = np.random.default_rng(4)
    truths = np.array([rng.integers(size, size=count) for size in plan.schema.sizes]).T.tolist()
    words = [random_words(seed).take(400).tolist() for seed in range(count)]
    (tmp_path / "input.json").write_text(json.dumps([json.loads(branched.document)["plan"], truths, words]))
    (tmp_path / "run.mjs").write_text(
        f"""import {{ readFileSync }} from "node:fs";
import {{ readPlan }} from "{FOLDER}/documents.js";
import {{ flip }} from "{FOLDER}/coins.js";
const [json, truths, words] = JSON.parse(readFileSync("{tmp_path}/input.json"));
const plan = await readPlan(json);
console.log(JSON.stringify(truths.map((truth, i) => plan.respond(truth, flip(plan.coins, words[i].values())))));
"""
    )
    for seed, report in enumerate(json.loads(node(tmp_path / "run.mjs"))):
        drawn = disguise_codes([np.array([code]) for code in truths[seed]], plan, random_words(seed))
        assert [int(codes[0]) for codes in drawn] == report


WORDS = """import { readFileSync } from "node:fs";
import { readSurvey } from "FOLDER/documents.js";
import { picksInReview, picksInWords } from "FOLDER/sampling_words.js";
import { reportInWords, wordsIn } from "FOLDER/view.js";
const [hash, reports] = JSON.parse(readFileSync("INPUT/reports.json"));
const survey = await readSurvey(readFileSync("INPUT/survey.json"), hash);
const told = {};
for (const tag of ["en", "de", "es", "fr", "ar"]) {
  const texts = await wordsIn(tag);
  told[tag] = [picksInWords(survey, tag, texts), picksInReview(survey, texts), texts.notPicked, texts.notAsked];
}
const english = await wordsIn("en");
const said = reports.map((codes) => reportInWords(survey, codes, "en", english).map(({ said }) => said));
console.log(JSON.stringify([told, said]));
"""


@pytest.fixture
def page_words(node, tmp_path):
    """What the page says about the picks of a survey in every language, and about some reports in English."""

    def ask(survey, reports=()):
        (tmp_path / "survey.json").write_bytes(survey.document)
        (tmp_path / "reports.json").write_text(json.dumps([survey.hash, reports]))
        (tmp_path / "words.mjs").write_text(WORDS.replace("FOLDER", str(FOLDER)).replace("INPUT", str(tmp_path)))
        return json.loads(node(tmp_path / "words.mjs"))

    return ask


def test_the_page_says_how_many_answers_are_picked(page_words):
    """The numbers are the plan's, in the digits of each language, and nothing is said where all answers are told."""
    survey = yes_no(12)
    told, _ = page_words(survey)
    assert survey.plan.answers_per_report == (4, 4)
    rest = "tosses the coins for these, and sends nothing about the others."
    assert told["en"][0] == f"Your device picks 4 of your 12 answers at random, {rest}"
    for sentence, review, not_picked, not_asked in told.values():
        assert re.findall(r"\d+", sentence) in (["4", "12"], ["12", "4"])
        assert "{" not in sentence
        assert review
        assert not_picked != not_asked
    one = page_words(yes_no(2, "odds: 3\n"))[0]
    assert one["en"][0].startswith("Your device picks one of your 2 answers at random, tosses the coins for it")
    assert all(re.findall(r"\d+", sentence) == ["2"] for sentence, *_ in one.values())
    assert page_words(yes_no(2, "odds: 3\nsplit: true\n"))[0]["de"][:2] == [None, None]


def test_the_page_says_of_which_answers_some_are_picked(page_words):
    told, _ = page_words(yes_no(5))
    assert told["en"][0].startswith("Of your answers to 3 of the questions, your device picks 2 at random, tosses")
    assert all(sorted(re.findall(r"\d+", sentence)) == ["2", "3"] for sentence, *_ in told.values())
    sets = "groups: [{questions: [q0, q1, q2], scheme: {name: attribute_sampling, subsets: [[0, 1], [2]]}}]\n"
    assert re.search("picks 1.2 of your 3 answers", page_words(yes_no(3, "odds: 9\n" + sets))[0]["en"][0])


def test_the_page_says_that_nothing_was_sent_about_what_was_not_picked(branched, page_words):
    """A question that branching left out and one that was not picked are told apart."""
    nothing = "nothing was sent about this question"
    codes = [[2, 2, 3, 4, 0, 1], [1, 3, 3, 4, 0, 0], [2, 3, 2, 4, 0, 0]]
    assert page_words(branched, codes)[1] == [
        [nothing, "not asked", nothing, nothing, "y"],
        ["Yes", nothing, nothing, nothing, "none of these"],
        [nothing, nothing, "Prefer not to say", nothing, "none of these"],
    ]


COINS = """import { readFileSync } from "node:fs";
import { flip } from "FOLDER/coins.js";
import { readSurvey } from "FOLDER/documents.js";
import { ownCoins } from "FOLDER/own_coins.js";
import { exampleQuestion } from "FOLDER/sentences.js";
const [hash, words] = JSON.parse(readFileSync("INPUT/words.json"));
const survey = await readSurvey(readFileSync("INPUT/survey.json"), hash);
const drawn = survey.questions.map((question) => {
  const coins = ownCoins(survey, question);
  const source = words.values();
  const draw = () => coins.mechanism.respond([0], flip(coins.mechanism.coins, source));
  const codes = coins && Array.from({ length: 2000 }, draw);
  return coins && [coins.reported[0].categories, codes.flat(2).filter((code) => code === 0).length / 2000];
});
console.log(JSON.stringify([exampleQuestion(survey)?.id ?? null, drawn]));
"""


def test_coins_that_are_picked_or_shared_can_be_tried(node, tmp_path):
    """What people who answer no would send if the question is picked: as often no as the plan says."""
    (tmp_path / "coins.mjs").write_text(COINS.replace("FOLDER", str(FOLDER)).replace("INPUT", str(tmp_path)))

    def ask(survey):
        (tmp_path / "survey.json").write_bytes(survey.document)
        (tmp_path / "words.json").write_text(json.dumps([survey.hash, random_words(1).take(20_000).tolist()]))
        return json.loads(node(tmp_path / "coins.mjs"))

    example, drawn = ask(yes_no(5))
    assert example == "q0"
    for labels, share in drawn:
        assert labels == ["no", "yes"]
        assert share == pytest.approx(11 / 13, abs=0.04)  # 9/13 is kept, and half of the rest comes out the same
    joint = yes_no(2, "odds: 9\ngroups: [{questions: [q0, q1], scheme: {name: subset_selection, size: 2}}]\n")
    assert ask(joint) == [None, [None, None]]
