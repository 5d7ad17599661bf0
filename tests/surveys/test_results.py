"""Estimates from stored reports: intervals that cover, forged reports that move them, exports that come back."""

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Matrix
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.definition.definition import questions_without_estimate, survey_from_text
from sottovoce.surveys.definition.preview import preview, respondents_needed
from sottovoce.surveys.definition.questions import Answer, Question
from sottovoce.surveys.publications import export_reports
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.report_weights import forged_reports, joint_weight_range, report_weight_range
from sottovoce.surveys.results import (
    cross_table,
    disguised_table,
    question_result,
    survey_results,
)
from sottovoce.tables.plan_file import read_plan

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\ninvitation: open\n"
JOINT = (
    HEAD + "odds: 9\nminimum: 2\nquestions:\n  - {id: a, kind: yes_no, text: A}\n  - {id: b, kind: yes_no, text: B}\n"
)
JOINT += "groups: [{questions: [a, b], scheme: subset_selection}]\n"


@pytest.fixture(scope="module")
def people(survey):
    return simulate_respondents(survey, 20_000, np.random.default_rng(7))


@pytest.fixture(scope="module")
def reports(survey, people):
    return people.reports(rng=1)


@pytest.fixture(scope="module")
def stored(reports):
    """A database that holds the reports."""
    return SimpleNamespace(reports=lambda _survey: reports)


def test_every_answer_is_within_five_standard_errors(survey, people, reports):
    """Of seeded coins: with others, one of the 24 answers is farther away once in 70,000 runs."""
    lines = 0
    for result in survey_results(survey, reports):
        assert result.respondents == len(reports) == 20_000
        for line in result.lines:
            truth = people.share(result.questions[0], line.labels[0])
            assert abs(line.estimate - truth) < 5 * line.standard_error
            assert line.low <= max(line.estimate, 0) < line.high
            lines += 1
    assert lines == sum(len(question.labels) for question in survey.questions)


def test_tables_of_two_questions_and_their_independence(survey, reports):
    found = cross_table(survey, reports, "sick", "days")
    assert [line.labels for line in found.lines[:2]] == [("no", "[1, 3)"), ("no", "[3, 6)")]
    assert sum(line.estimate for line in found.lines) == pytest.approx(1)
    assert found.test.p_value < 1e-6
    assert found.to_json()["test"]["degrees"] == 6
    assert found.untested is None
    with pytest.raises(SottovoceError, match="cross must name questions with one answer each"):
        cross_table(survey, reports, "sick", "seen")
    with pytest.raises(SottovoceError, match=r"two different questions\. Got 'sick'"):
        cross_table(survey, reports, "sick", "sick")


def test_too_few_reports_for_a_test_are_enough_for_a_table(survey, people):
    found = cross_table(survey, people.reports(rng=1)[:55], "sick", "days")
    assert (len(found.lines), found.test) == (12, None)
    assert found.untested.startswith("reports must be at least 60 for a chi-square test")


@pytest.mark.parametrize(
    "ask",
    [
        lambda survey, store: survey_results(survey, store.reports(survey.id)),
        lambda survey, store: question_result(survey, store.reports(survey.id), "sick"),
        lambda survey, store: cross_table(survey, store.reports(survey.id), "sick", "drink"),
        lambda survey, store: disguised_table(store, survey),
        lambda survey, store: export_reports(store, survey, "reports.csv"),
    ],
)
def test_nothing_is_shown_of_few_reports(survey, reports, ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = SimpleNamespace(reports=lambda _survey: reports[:49])
    with pytest.raises(SottovoceError, match=r"reports must be at least 50, the survey's minimum.* Got 49 instead"):
        ask(survey, few)
    assert list(tmp_path.iterdir()) == []


def test_results_read_as_summaries(survey, reports):
    found = question_result(survey, reports, "drink")
    lines = repr(found).splitlines()
    assert lines[0] == "drink: 20000 reports, 95 % intervals"
    assert lines[1].startswith("  never: 0.")
    assert "<td>never</td>" in found._repr_html_()
    table = cross_table(survey, reports, "sick", "days")
    assert repr(table).endswith(str(table.test))
    untested = cross_table(survey, reports[:55], "sick", "days")
    assert repr(untested).splitlines()[-1].startswith("not tested for independence: reports must be at least 60")


def test_stored_reports_as_a_table_in_another_order(survey, reports, stored):
    tables = [disguised_table(stored, survey) for _ in range(2)]
    assert list(tables[0]) == list(survey.plan.report_schema.names)
    assert {len(column) for column in tables[0].values()} == {20_000}
    assert list(tables[0]["drink"]) != list(tables[1]["drink"])
    found = estimate_proportions(tables[0], survey.plan, "drink")
    lines = question_result(survey, reports, "drink").lines
    assert found.value.tolist() == pytest.approx([line.estimate for line in lines])


def test_answers_with_several_choices_need_reports_of_their_own():
    """Reports that are numbers of rows of a matrix say nothing about single items."""
    asked = Question("q", "several", {"en": "Q"}, (Answer("x", {"en": "X"}), Answer("y", {"en": "Y"})))
    rows = [
        [0.5, 0.2, 0.2, 0.1],
        [0.2, 0.5, 0.1, 0.2],
        [0.1, 0.2, 0.5, 0.2],
        [0.1, 0.05, 0.1, 0.4],
        [0.1, 0.05, 0.1, 0.1],
    ]
    base = survey_from_text(HEAD + "odds: 3\nminimum: 1\nquestions: [{id: q, kind: yes_no, text: Q}]")
    survey = replace(base, questions=(asked,), plan=Plan.of(Schema([asked.variable]), {"q": Matrix(rows)}, odds=30))
    with pytest.raises(SottovoceError, match="q must be reported as sets of the same items"):
        question_result(survey, [bytes([0])], "q")
    assert [name for name, _ in questions_without_estimate(survey)] == ["q"]


@pytest.mark.parametrize("question", ["drink", "job", "theft"])
def test_as_many_forged_reports_as_stated_and_no_fewer_move_a_result(survey, reports, question):
    """Add copies of the worst single report: it takes exactly the stated number to leave the interval."""
    plan, form = survey.plan, ReportFormat(survey.plan)
    line = question_result(survey, reports, question).lines[0]
    ends = (line.low, line.high)
    low, high = report_weight_range(plan.channel([question]), plan.cell_order([question]))
    assert forged_reports(line.estimate, ends, (float(low[0]), float(high[0])), len(reports)) == line.forged
    moved = []
    for column_codes in _single_reports(plan, question):
        columns = [np.zeros(1, np.uint8) for _ in form.sizes]
        columns[plan.report_schema.columns_of(plan.report_names([question])[0])] = column_codes
        (forged,) = form.to_bytes(tuple(columns))
        together = [line.forged - 1, line.forged]
        moved.append([_with(survey, reports, forged, count, question) for count in together])
    (fewer_low, low), (fewer_high, high) = np.min(moved, axis=0), np.max(moved, axis=0)
    assert line.low <= fewer_low
    assert fewer_high <= line.high
    assert low < line.low or high > line.high


def _single_reports(plan, question):
    sizes = plan.report_schema[plan.report_names([question])[0]].sizes
    if len(sizes) == 1:
        return [[np.array([code])] for code in range(sizes[0])]
    # A set of the right size with the category in it, and one without it.
    return [[np.array([bit]) for bit in bits] for bits in ([1, 1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 0])]


def _with(survey, reports, forged, count, question):
    return question_result(survey, [*reports, *[forged] * count], question).lines[0].estimate


def test_questions_with_a_common_report():
    survey = survey_from_text(JOINT)
    people = simulate_respondents(
        survey, 3000, np.random.default_rng(3), {"a": {"no": 9, "yes": 1}, "b": {"no": 1, "yes": 1}}
    )
    found = question_result(survey, people.reports(rng=1), "a")
    for line in found.lines:
        assert abs(line.estimate - people.share("a", line.labels[0])) < 5 * line.standard_error


SIX = """odds: 27
minimum: 1
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: b, kind: single, text: B, answers: [x, y, z]}
  - {id: c, kind: yes_no, text: C}
  - {id: d, kind: single, text: D, answers: [x, y, z], scheme: {name: subset_selection, size: 2}}
groups: [{questions: [a, b], scheme: {name: subset_selection, size: SIZE}}]
"""


@pytest.mark.parametrize("size", ["5", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "asked",
    [
        ("a",),
        ("b", "a"),
        ("d", "c"),
        *(pytest.param(asked, marks=pytest.mark.slow) for asked in (("b",), ("c", "a"), ("d", "b"))),
    ],
)
def test_weights_of_single_reports_are_those_of_all_that_there_can_be(asked, size):
    """The estimator is linear: what it makes of one report is that report's weight. All possible ones are tried."""
    survey = survey_from_text(HEAD + SIX.replace("SIZE", size))
    form = ReportFormat(survey.plan)
    single = [bytes(codes) for codes in product(*map(range, form.sizes)) if form.fits(bytes(codes))]
    assert len(single) == {"2": 15, "5": 6}[size] * 2 * 3
    weights = []
    for report in single:
        estimate = question_result if len(asked) == 1 else cross_table
        found = estimate(survey, [report, report], *asked)
        weights.append([line.estimate for line in found.lines])
    low, high = joint_weight_range(survey.plan, asked)
    assert low == pytest.approx(np.min(weights, axis=0))
    assert high == pytest.approx(np.max(weights, axis=0))


def test_of_another_common_report_no_number_is_known():
    rows = np.full((5, 4), 0.1) + np.vstack([0.5 * np.eye(4), np.full(4, 0.0)])
    matrix = ", ".join(str(row.tolist()) for row in rows)
    groups = f"groups: [{{questions: [a, b], scheme: {{name: matrix, matrix: [{matrix}]}}}}]\n"
    survey = survey_from_text(JOINT.partition("groups")[0] + groups)
    found = question_result(survey, [bytes([0]), bytes([4])], "a")
    assert [line.forged for line in found.lines] == [None, None]


def test_of_reports_too_many_to_list_no_number_is_known():
    from sottovoce.schemes import GammaDiagonal

    channel = GammaDiagonal(gamma=3).mechanism((5000,)).channel
    low, high = report_weight_range(channel, np.arange(2))
    assert np.isnan([low, high]).all()
    assert forged_reports(0.5, (0.4, 0.6), (float(low[0]), float(high[0])), 10) is None


def test_no_number_of_forged_reports_moves_a_wide_interval():
    assert forged_reports(0.5, (-1.5, 2.5), (-0.5, 1.5), 10) is None


@pytest.mark.parametrize("name", ["reports.csv", "reports.parquet"])
def test_exports_carry_their_plan_and_are_shuffled(survey, reports, stored, tmp_path, name):
    path = tmp_path / name
    assert export_reports(stored, survey, path) == 20_000
    plan = read_plan(path)
    assert plan == survey.plan
    estimate = estimate_proportions(str(path), plan, "drink")
    assert estimate.value.tolist() == pytest.approx(
        [line.estimate for line in question_result(survey, reports, "drink").lines]
    )
    again = tmp_path / f"again-{name}"
    export_reports(stored, survey, again)
    assert path.read_bytes() != again.read_bytes()


@pytest.mark.parametrize("name", ["reports.xlsx", "reports", "-"])
def test_exports_of_other_kinds_are_refused(survey, stored, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SottovoceError, match=r"output must end in \.csv, \.parquet"):
        export_reports(stored, survey, name)
    assert list(tmp_path.iterdir()) == []


def test_no_exported_cell_starts_like_a_formula(survey, stored, tmp_path):
    path = tmp_path / "reports.csv"
    export_reports(stored, survey, path)
    for cell in path.read_text().replace("\n", ",").split(","):
        assert not cell.strip('"').startswith(("=", "+", "-", "@", "\t"))


def uniform_reports(survey, count: int) -> list[bytes]:
    """People who give all answers equally often, "no answer" and "not asked" among them."""
    rng = np.random.default_rng(11)
    truths = [rng.integers(size, size=count) for size in survey.plan.schema.sizes]
    return ReportFormat(survey.plan).to_bytes(disguise_codes(truths, survey.plan, random_words(11)))


@pytest.mark.parametrize("definition", [None, JOINT])
def test_margins_are_those_of_the_estimates_where_all_answers_are_as_frequent(survey, definition):
    """Half the widths that 20,000 people give, within 3 %, also where the margin itself had to be rehearsed."""
    asked = survey if definition is None else survey_from_text(definition)
    reports = uniform_reports(asked, 20_000)
    for shown, result in zip(preview(asked, len(reports)), survey_results(asked, reports), strict=True):
        widest = max((line.high - line.low) / 2 for line in result.lines)
        assert shown.margin == pytest.approx(widest, rel=0.03)


def test_the_margin_of_a_pair_of_coins_is_the_textbooks(survey):
    """Warner's variance at p = 3/4 and a half of yes: 1/4 / (1/2)^2 / n = 1 / n."""
    one = survey_from_text(HEAD + "odds: 3\nquestions: [{id: q, kind: yes_no, text: Q}]")
    (shown,) = preview(one, 10_000)
    assert shown.margin == pytest.approx(1.959964 / 100, rel=0.01)  # of the exact interval
    assert repr(shown) == "q: randomized_response at 3 : 1 (epsilon 1.09862), margin of error 2.0%"
    assert shown.to_json()["odds"] == "3"
    assert respondents_needed(one, 1.959964 / 100)["q"] == pytest.approx(10_000, rel=0.02)


@pytest.mark.slow
def test_margins_of_twice_the_respondents_are_smaller_by_the_root_of_two(survey):
    for once, twice in zip(preview(survey, 200_000), preview(survey, 400_000), strict=True):
        assert once.margin / twice.margin == pytest.approx(math.sqrt(2), rel=0.01)
    needed = respondents_needed(survey, 0.05)
    for place, respondents in enumerate(needed.values()):
        assert preview(survey, respondents)[place].margin <= 0.05
        assert preview(survey, respondents - 1)[place].margin > 0.05


def test_refused_previews(survey):
    with pytest.raises(SottovoceError, match="respondents must be a positive whole number"):
        preview(survey, 0)
    with pytest.raises(SottovoceError, match="margin must be between 0 and 1"):
        respondents_needed(survey, 0)


def test_made_up_people_follow_the_branches(survey, people):
    assert people.share("days", "not asked") == people.share("sick", "no")
    assert len(people) == 20_000
