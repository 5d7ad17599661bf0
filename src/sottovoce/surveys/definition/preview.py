"""Preview of a survey before anyone is asked: the odds and the margin of error of every question."""

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.checks import number, whole_number
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.sample_size import expected_width
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.definition.survey import Question, Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.results import column_channels, question_result

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
    deviations = critical_value(level) / sqrt(whole_number("respondents", respondents))
    return [_preview(survey, question, deviations) for question in survey.questions]


def respondents_needed(survey: Survey, margin: float, level: float = 0.95) -> dict[str, int]:
    """Return how many respondents each question needs for a margin of error."""
    number("margin", margin, 0, 1, open_ends=True)
    return {shown.question.id: ceil((shown.margin / margin) ** 2) for shown in preview(survey, 1, level)}


def _preview(survey: Survey, question: Question, deviations: float) -> QuestionPreview:
    group = survey.plan.group_of(question.id)
    try:
        variance = _variance(survey, question)
    except SottovoceError:  # a joint report that cannot be split into its questions has no closed form
        variance = _simulated_variance(survey, question)
    return QuestionPreview(question, group.scheme, group.guarantee, deviations * sqrt(variance))


def _variance(survey: Survey, question: Question) -> float:
    """Return the largest variance of one report's contribution to an answer's estimate."""
    plan = survey.plan
    if question.kind == "several":
        return max(map(_bit_variance, column_channels(plan, question.id)))
    channel = plan.channel([question.id])
    if channel.inclusion is not None:
        inside, outside = channel.inclusion
        reported = outside + (inside - outside) / channel.n_in
        return float(reported * (1 - reported) / (inside - outside) ** 2)
    widths = expected_width(plan, question.id, 1)
    return float(widths.max() / 2 / critical_value(0.95)) ** 2


def _bit_variance(channel: Channel) -> float:
    """Return the variance for an item that half of the respondents selected."""
    ones = channel.entry(1, 1), channel.entry(1, 0)
    reported = sum(ones) / 2
    return float(reported * (1 - reported) / (ones[0] - ones[1]) ** 2)


def _simulated_variance(survey: Survey, question: Question) -> float:
    """Return the variance from simulated respondents who give all answers equally often; seeded, so repeatable."""
    plan, rng = survey.plan, np.random.default_rng(0)
    truths = [rng.integers(size, size=SIMULATED) for size in plan.schema.sizes]
    reports = ReportFormat(plan).to_bytes(disguise_codes(truths, plan, random_words(0)))
    result = question_result(replace(survey, minimum=1), reports, question.id)
    return float(SIMULATED * max(line.standard_error for line in result.lines) ** 2)
