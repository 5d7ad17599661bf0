"""What a survey will give, before anyone is asked: odds, and how wide the intervals will be."""

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.channels.set_valued import SetValued
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.sample_size import expected_width
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.definition.survey import Question, Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.results import Reports, column_channels

REHEARSED = 4000
"""Made-up respondents where there is no closed form: the margin is then right to about two percent of itself."""


@dataclass(frozen=True)
class QuestionPreview:
    """Design and odds of one question; half the width of its widest interval, if all answers are as frequent."""

    question: Question
    scheme: str
    guarantee: Guarantee
    margin: float

    def to_json(self) -> dict[str, Any]:
        """For programs."""
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
    """Every question, for a planned number of respondents."""
    if respondents < 1:
        raise SottovoceError("respondents", "must be a positive whole number", respondents)
    deviations = critical_value(level) / sqrt(respondents)
    return [_previewed(survey, question, deviations) for question in survey.questions]


def respondents_for(survey: Survey, margin: float, level: float = 0.95) -> dict[str, int]:
    """For each question, respondents with whom no interval is expected to reach farther than `margin` to each side."""
    if not 0 < margin < 1:
        raise SottovoceError("margin", "must be between 0 and 1", margin)
    return {shown.question.id: ceil((shown.margin / margin) ** 2) for shown in preview(survey, 1, level)}


def _previewed(survey: Survey, question: Question, deviations: float) -> QuestionPreview:
    group = survey.plan.group_of(question.id)
    try:
        variance = _variance(survey, question)
    except SottovoceError:  # a report about several questions that does not split has no closed form
        variance = _rehearsed_variance(survey, question)
    return QuestionPreview(question, group.scheme, group.guarantee, deviations * sqrt(variance))


def _variance(survey: Survey, question: Question) -> float:
    """Largest variance of one report's contribution to an answer's estimate."""
    plan = survey.plan
    if question.kind == "several":
        return max(map(_bit_variance, column_channels(plan, question.id)))
    channel = plan.channel([question.id])
    if isinstance(channel, SetValued):
        share = channel.outside + (channel.inside - channel.outside) / channel.n_in
        return float(share * (1 - share) / (channel.inside - channel.outside) ** 2)
    widths = expected_width(plan, question.id, 1)
    return float(widths.max() / 2 / critical_value(0.95)) ** 2


def _bit_variance(channel: Channel) -> float:
    """Of the share of an item that half of all have."""
    ones = channel.entry(1, 1), channel.entry(1, 0)
    seen = sum(ones) / 2
    return float(seen * (1 - seen) / (ones[0] - ones[1]) ** 2)


def _rehearsed_variance(survey: Survey, question: Question) -> float:
    """The same from made-up people who give all answers equally often; seeded, for nobody has to be protected."""
    plan, rng = survey.plan, np.random.default_rng(0)
    truths = [rng.integers(size, size=REHEARSED) for size in plan.schema.sizes]
    reports = ReportFormat(plan).to_bytes(disguise_codes(truths, plan, random_words(0)))
    found = Reports(replace(survey, minimum=1), reports).result(question.id)
    return float(REHEARSED * max(line.standard_error for line in found.lines) ** 2)
