"""What a survey will give, before anyone is asked: odds, and how wide the intervals will be."""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from sottovoce.channel.channel import Channel
from sottovoce.channel.set_valued import SetValued
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import critical_value
from sottovoce.estimate.sample_size import expected_width
from sottovoce.plan.guarantee import Guarantee
from sottovoce.survey.margins import column_channels
from sottovoce.survey.question import Question
from sottovoce.survey.survey import Survey


@dataclass(frozen=True)
class QuestionPreview:
    """Design and odds of one question; half the width of its widest interval, if all answers are as frequent."""

    question: Question
    scheme: str
    guarantee: Guarantee
    margin: float | None

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "question": self.question.id,
            "kind": self.question.kind,
            "labels": list(self.question.labels),
            "scheme": self.scheme,
            "odds": str(self.guarantee.odds),
            "epsilon": self.guarantee.epsilon,
            "margin": self.margin,
        }


def preview(survey: Survey, respondents: int, level: float = 0.95) -> list[QuestionPreview]:
    """Every question, for a planned number of respondents."""
    if respondents < 1:
        raise SottovoceError("respondents", "must be a positive whole number", respondents)
    deviations = critical_value(level) / sqrt(respondents)
    return [_previewed(survey, question, deviations) for question in survey.questions]


def respondents_for(survey: Survey, margin: float, level: float = 0.95) -> int | None:
    """Respondents with whom no interval is expected to reach farther than `margin` to each side."""
    if not 0 < margin < 1:
        raise SottovoceError("margin", "must be between 0 and 1", margin)
    margins = [shown.margin for shown in preview(survey, 1, level)]
    known = [own for own in margins if own is not None]
    return ceil((max(known) / margin) ** 2) if len(known) == len(margins) else None


def _previewed(survey: Survey, question: Question, deviations: float) -> QuestionPreview:
    group = survey.plan.group_of(question.id)
    try:
        margin = deviations * sqrt(_variance(survey, question))
    except (SottovoceError, ZeroDivisionError):
        margin = None  # no closed form, or nothing can be estimated one by one
    return QuestionPreview(question, group.scheme, group.guarantee, margin)


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
