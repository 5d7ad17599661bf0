"""Preview of a survey before anyone is asked: the odds and the margin of error of every question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.checks import number, whole_number
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.sample_size import expected_width, fewest_respondents
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.definition.survey import Question, Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.results import column_channels, question_result

LARGE = 1_000_000
"""Respondents for whom a margin of error is in proportion to one over the square root of their number."""

SIMULATED = 4000
"""Simulated respondents where the variance has no closed form: the margin is then right to about two percent."""


@dataclass(frozen=True, repr=False)
class QuestionPreview:
    """Scheme, odds and margin of error of one question.

    The margin of error is half the width of the question's widest interval if all answers are equally frequent.
    """

    question: Question
    scheme: str
    guarantee: Guarantee
    margin: float

    def __repr__(self) -> str:
        """Return everything in one line."""
        return f"{self.question.id}: {self.scheme} at {self.guarantee}, margin of error {self.margin:.1%}"

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return {
            "question": self.question.id,
            "kind": self.question.kind,
            "labels": list(self.question.labels),
            "scheme": self.scheme,
            "odds": self.guarantee.exact,
            "epsilon": self.guarantee.epsilon,
            "margin": self.margin,
        }


def preview(survey: Survey, respondents: int, level: float = 0.95) -> list[QuestionPreview]:
    """Return scheme, odds and margin of error of every question, for a planned number of respondents."""
    whole_number("respondents", respondents)
    return [_preview(survey, question, respondents, level) for question in survey.questions]


def respondents_needed(survey: Survey, margin: float, level: float = 0.95) -> dict[str, int]:
    """Return how many respondents each question needs for a margin of error."""
    number("margin", margin, 0, 1, open_ends=True)
    return {question.id: _needed(survey, question, margin, level) for question in survey.questions}


def _preview(survey: Survey, question: Question, respondents: int, level: float) -> QuestionPreview:
    group = survey.plan.group_of(question.id)
    margin = _margin(survey, question, level)(respondents)
    return QuestionPreview(question, group.scheme, group.guarantee, margin)


def _needed(survey: Survey, question: Question, margin: float, level: float) -> int:
    margin_of = _margin(survey, question, level)
    return fewest_respondents(margin_of, margin, LARGE * margin_of(LARGE) ** 2)


def _margin(survey: Survey, question: Question, level: float) -> Callable[[int], float]:
    """Return half the widest interval of a question's answers as a function of the number of respondents."""
    plan = survey.plan
    if question.kind == "several":  # items that half of the respondents selected
        channels = column_channels(plan, question.id)
        return partial(_indicator_margin, [(c.entry(1, 1), c.entry(1, 0)) for c in channels], 0.5, level)
    try:
        channel = plan.channel([question.id])
        if channel.inclusion is not None:
            return partial(_indicator_margin, [channel.inclusion], 1 / channel.n_in, level)
        expected_width(plan, question.id, LARGE)
    except SottovoceError:  # a joint report that cannot be split into its questions has no closed form
        deviation = sqrt(_simulated_variance(survey, question))
        return lambda respondents: min(critical_value(level) * deviation / sqrt(respondents), 0.5)
    return lambda respondents: float(expected_width(plan, question.id, respondents, level=level).max() / 2)


def _indicator_margin(
    chances: Sequence[tuple[Fraction, Fraction]], proportion: float, level: float, respondents: int
) -> float:
    """Return half the widest interval of a proportion, from chances of one property of a report."""
    inside, outside = np.array(chances, dtype=np.float64).T
    counts = respondents * (outside + (inside - outside) * proportion)
    low, high = IndicatorTests(counts, respondents, inside, outside, "population").ends(critical_value(level))
    return float((high - low).max() / 2)


def _simulated_variance(survey: Survey, question: Question) -> float:
    """Return the variance from simulated respondents who give all answers equally often; seeded, so repeatable."""
    plan, rng = survey.plan, np.random.default_rng(0)
    truths = [rng.integers(size, size=SIMULATED) for size in plan.schema.sizes]
    reports = ReportFormat(plan).to_bytes(disguise_codes(truths, plan, random_words(0)))
    result = question_result(replace(survey, minimum=1), reports, question.id)
    return float(SIMULATED * max(line.standard_error for line in result.lines) ** 2)
