"""Cross tables of questions and of single choices, medians of scales, and reports that are decoded once."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.reports.views import with_public_attributes
from sottovoce.surveys.client.simulate import SimulatedRespondents, simulate_respondents
from sottovoce.surveys.crossing import CHOSEN, Side, cross_sides, side_named, sides, why_not_crossed
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.results import (
    CodedReports,
    cross_table,
    detailed_results,
    labelled_columns,
    question_result,
    results_by,
    survey_results,
)
from sottovoce.surveys.scales import MedianEstimate, scale_median, scale_summary

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2999-12-31\ninvitation: open\nodds: 729:1\n"
QUESTIONS = """questions:
  - {id: ward, kind: single, text: Ward, answers: [north, south, east], public: true}
  - {id: tax, kind: yes_no, text: Tax}
  - {id: drug, kind: yes_no, text: Drug}
  - {id: drink, kind: single, text: Drink, answers: [never, once, often]}
  - {id: trust, kind: scale, steps: 5, ends: [no, yes], text: Trust, wanted: mean}
  - {id: seen, kind: several, text: Seen, answers: [words, touch, threats]}
  - {id: job, kind: single, text: Job, answers: [a, b, c, d, e, f, g, h, i, j, k, l, m, n], scheme: subset_selection}
"""
SPLIT, SAMPLED = HEAD + "split: true\n" + QUESTIONS, HEAD + QUESTIONS


@pytest.fixture(scope="module", params=[SPLIT, SAMPLED], ids=["split", "sampled"])
def asked(request):
    return survey_from_text(request.param)


@pytest.fixture(scope="module")
def stored(asked):
    return simulate_respondents(asked, 6000, np.random.default_rng(3)).reports(rng=3)


def test_estimates_from_codes_are_those_from_labels(asked, stored):
    """To the last digit: what is counted is the same."""
    table = labelled_columns(asked, CodedReports.of(asked, stored))
    for question in asked.questions:
        found = question_result(asked, stored, question.id)
        if question.kind == "several":
            sets = [[label] for label in question.labels]
            rows = estimate_supports(table, asked.plan, sets, attribute=question.id).to_rows(0.95)
        else:
            plan = with_public_attributes(asked.plan, [question.id])
            rows = estimate_proportions(table, plan, [question.id], method="best").to_rows(0.95)
        numbers = [(line.standard_error, line.low, line.high) for line in found.lines]
        assert numbers == [(row["standard_error"], row["low"], row["high"]) for row in rows]
    plan = with_public_attributes(asked.plan, ["ward", "tax"])
    assert cross_table(asked, stored, "ward", "tax").test == independence_test(table, plan, "ward", "tax")


def test_decoded_reports_give_the_same_results(asked, stored):
    coded = CodedReports.of(asked, stored)
    assert len(coded) == 6000
    assert survey_results(asked, coded) == survey_results(asked, stored)
    assert cross_table(asked, coded, "ward", "tax") == cross_table(asked, stored, "ward", "tax")
    assert results_by(asked, coded, ["ward"]) == results_by(asked, stored, ["ward"])
    details = {detail.result.questions[0]: detail for detail in detailed_results(asked, coded)}
    known = {result.questions[0]: result for result in survey_results(asked, stored)}
    assert details["tax"].result == known["tax"]
    assert details["tax"].scale is None
    assert details["trust"].scale.mean == known["trust"].mean
    assert len(details["trust"].scale.up_to) == 4
    with pytest.raises(SottovoceError, match="must be at least 100, the survey's minimum"):
        labelled_columns(asked, CodedReports.of(asked, stored[:99]))


def test_single_choices_are_sides(asked):
    names = [side.name for side in sides(asked)]
    assert names[-4:] == ["seen=words", "seen=touch", "seen=threats", "job"]
    assert side_named(asked, "seen=touch") == Side("seen", "touch")
    with pytest.raises(SottovoceError, match="must name a question, or a choice as question=choice"):
        side_named(asked, "seen")


def test_cross_tables_of_questions_are_those_of_the_command_line(asked, stored):
    coded = CodedReports.of(asked, stored)
    found = cross_sides(asked, coded, Side("ward"), Side("tax"))
    assert found.result == cross_table(asked, stored, "ward", "tax")
    assert found.association.measure == "Cramér's V"
    assert 0 <= found.association.low <= found.association.value <= found.association.high <= 1


def connected(asked, count=20_000):
    """Respondents of whom those with the choice `words` evade taxes three times as often, and see threats, too."""
    rng = np.random.default_rng(5)
    words = rng.random(count) < 0.4
    tax = rng.random(count) < np.where(words, 0.6, 0.2)
    truths = simulate_respondents(asked, count, rng).truths
    truths["tax"] = ["yes" if each else "no" for each in tax]
    truths["seen"] = [["words", "threats"] if each else ["touch"] for each in words]
    return CodedReports.of(asked, SimulatedRespondents(asked, truths).reports(rng=7))


def test_choices_that_go_together_are_found(asked):
    coded = connected(asked)
    found = cross_sides(asked, coded, Side("tax"), Side("seen", "words"))
    assert found.result.questions == ("tax", "seen=words")
    assert found.association.measure == "odds ratio"
    shares = {line.labels: line for line in found.result.lines}
    for labels, truth in {("yes", CHOSEN): 0.24, ("no", "not chosen"): 0.48}.items():
        assert abs(shares[labels].estimate - truth) < 5 * shares[labels].standard_error + 0.02
    both = cross_sides(asked, coded, Side("seen", "threats"), Side("seen", "words"))
    together = {line.labels: line for line in both.result.lines}
    assert abs(together[CHOSEN, CHOSEN].estimate - 0.4) < 5 * together[CHOSEN, CHOSEN].standard_error + 0.02
    assert sum(line.estimate for line in both.result.lines) == pytest.approx(1)
    public = cross_sides(asked, coded, Side("seen", "words"), Side("ward"))
    assert len(public.result.lines) == 6


def test_an_odds_ratio_is_found_where_coins_are_strong_enough(asked):
    coded = connected(asked, 40_000)
    found = cross_sides(asked, coded, Side("tax"), Side("seen", "words"), level=0.9)
    if asked.plan.group_of("tax").scheme == "randomized_response":
        assert found.association.low < 6 < found.association.high
        assert found.result.test.p_value < 0.01


def test_what_cannot_be_crossed_is_explained(asked, stored):
    coded = CodedReports.of(asked, stored)
    assert why_not_crossed(asked, Side("tax"), Side("tax")) == "These are the same."
    with pytest.raises(SottovoceError, match="cross These are the same"):
        cross_sides(asked, coded, Side("tax"), Side("tax"))
    with pytest.raises(SottovoceError, match="reports must be at least 100"):
        cross_sides(asked, CodedReports.of(asked, stored[:50]), Side("ward"), Side("tax"))


def test_pairs_that_are_never_told_together_are_explained():
    survey = survey_from_text(
        "{title: T, asker: A, purpose: P, until: 2999-12-31, invitation: open, odds: 9, questions: ["
        + ", ".join(f"{{id: {name}, kind: yes_no, text: Q}}" for name in "abcd")
        + "], groups: [{questions: [a, b, c, d], scheme: {name: attribute_sampling, size: 1}}]}"
    )
    assert "never tells both in one report" in why_not_crossed(survey, Side("a"), Side("b"))


def test_choices_that_share_a_report_are_explained(every_kind):
    head = "title: T\nasker: A\npurpose: P\nuntil: 2999-12-31\ninvitation: open\nodds: 9\nquestions:\n"
    text = head + (
        "  - {id: seen, kind: several, text: S, answers: [a, b]}\n  - {id: tax, kind: yes_no, text: T}\n"
        "groups: [{questions: [seen, tax], scheme: randomized_response}]\n"
    )
    survey = survey_from_text(text)
    assert "share their coins" in why_not_crossed(survey, Side("seen", "a"), Side("tax"))
    assert "disguised together" in why_not_crossed(every_kind, Side("pasted", "a"), Side("plain"))


def test_tables_with_too_many_cells_are_explained():
    answers = ", ".join(f"a{number}" for number in range(30))
    survey = survey_from_text(
        HEAD + f"split: true\nquestions:\n  - {{id: a, kind: single, text: A, answers: [{answers}]}}\n"
        f"  - {{id: b, kind: single, text: B, answers: [{answers}]}}\n"
    )
    assert "would have 900 cells" in why_not_crossed(survey, Side("a"), Side("b"))


def test_few_reports_are_not_tested():
    survey = survey_from_text(HEAD + "minimum: 2\nsplit: true\n" + QUESTIONS)
    coded = CodedReports.of(survey, simulate_respondents(survey, 9, np.random.default_rng(1)).reports(rng=1))
    found = cross_sides(survey, coded, Side("tax"), Side("drug"))
    assert found.result.test is None
    assert "at least" in found.result.untested


def estimate(value, error=0.0):
    """Shares of the steps of a scale, with independent errors of one size."""
    cells = np.array(value)
    covariance = MatrixCovariance(np.eye(len(cells)) * error**2)
    labels = tuple(str(step) for step in range(1, len(cells) + 1))
    return Estimate(("q",), (labels,), cells, covariance, cells, 100, "population", "inversion")


@pytest.mark.parametrize(
    ("shares", "steps", "median"),
    [
        ([0.2, 0.2, 0.2, 0.4], 4, 3),
        ([0.5, 0.5], 2, 1),
        ([0.0, 0.0, 1.0], 3, 3),
        ([0.1, 0.1, 0.1, 0.7], 3, 2),  # the last cell is of people who declined
        ([0.6, -0.1, 0.5], 3, 1),
    ],
)
def test_medians_without_noise(shares, steps, median):
    assert scale_median(estimate(shares), steps) == MedianEstimate(median, median, median)


def test_a_median_of_nobody_is_none():
    assert scale_median(estimate([-0.1, 0.05, 1.05]), 2) is None
    assert scale_summary(estimate([-0.1, 0.05, 1.05]), 2).median is None


@pytest.mark.parametrize("shares", [[0.3, 0.19, 0.21, 0.3], [0.1, 0.39, 0.02, 0.49], [0.25, 0.25, 0.25, 0.25]])
def test_the_interval_of_a_median_holds_it_often_enough(shares):
    """Of 2,000 draws around each truth, at most 5 % may miss; 6.5 % would be three standard errors more."""
    rng, error = np.random.default_rng(11), 0.03
    truth = int(np.flatnonzero(np.cumsum(shares) >= 0.5 - 1e-12)[0]) + 1
    draws = [scale_median(estimate(rng.normal(shares, error), error), 4) for _ in range(2000)]
    assert np.mean([not found.low <= truth <= found.high for found in draws]) < 0.065
    assert all(found.low <= found.step <= found.high for found in draws)
