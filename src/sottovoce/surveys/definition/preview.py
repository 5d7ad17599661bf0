"""Preview of a survey before anyone is asked: the odds and the margin of error of every question."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import prod, sqrt
from typing import Any

import numpy as np

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.checks import number, whole_number
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.sample_size import detectable_difference, expected_width, fewest_respondents
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.facts import Facts, facts_of
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.report_weights import chance_told
from sottovoce.surveys.results import column_channels, question_result

STARVED = 0.1
"""Margin of error above which a question has too little of the budget to be learned from."""

FEWEST_ALIKE = 10
"""Respondents who should share each combination of public answers."""

LARGE = 1_000_000
"""Respondents for whom a margin of error is in proportion to one over the square root of their number."""

SIMULATED = 4000
"""Simulated respondents where the variance has no closed form: the margin is then right to about two percent."""


@dataclass(frozen=True, repr=False)
class QuestionPreview:
    """Scheme, odds and margin of error of one question.

    The margin of error is half the width of the question's widest interval if all answers are equally frequent. The
    `difference` is the smallest one between two halves of the respondents that a test at this level finds with a
    probability of 80 %; above 1 there is none. The `share` is that of the whole budget, epsilon, which its coins take;
    questions with common coins have equal parts of it, and there are no shares where an answer can be ruled out.
    """

    question: Question
    scheme: str
    guarantee: Guarantee
    margin: float
    difference: float
    facts: Facts
    share: float | None = None

    @property
    def starved(self) -> bool:
        """Whether the margin of error is above ten points: then a half cannot be told from 40 or 60 percent."""
        return self.margin > STARVED

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
            "epsilon": self.guarantee.epsilon if self.guarantee.deniable else None,
            "share": self.share,
            "margin": self.margin,
            "detectable_difference": self.difference,
            "starved": self.starved,
            **self.facts.to_json(),
        }


def preview(survey: Survey, respondents: int, level: float = 0.95) -> list[QuestionPreview]:
    """Return scheme, odds and margin of error of every protected question, for a planned number of respondents."""
    whole_number("respondents", respondents)
    different = _different(survey)
    margin_of = {name: _margin(survey, survey.question(name), level) for name in set(different.values())}
    precision = {
        name: (margin(respondents), _difference(margin, respondents, level)) for name, margin in margin_of.items()
    }
    return [_preview(survey, question, *precision[different[question.id]]) for question in survey.protected]


def margins_of(survey: Survey, respondents: int, level: float = 0.95) -> dict[str, float]:
    """Return the margin of error of every protected question alone, which takes half of the time of `preview`."""
    different = _different(survey)
    found = {name: _margin(survey, survey.question(name), level)(respondents) for name in set(different.values())}
    return {name: found[first] for name, first in different.items()}


def respondents_needed(survey: Survey, margin: float, level: float = 0.95) -> dict[str, int]:
    """Return how many respondents each question needs for a margin of error."""
    number("margin", margin, 0, 1, open_ends=True)
    different = _different(survey)
    needed = {name: _needed(survey, survey.question(name), margin, level) for name in set(different.values())}
    return {name: needed[first] for name, first in different.items()}


def definition_warnings(survey: Survey, respondents: int) -> list[str]:
    """Return what its author should know about a definition: rare public answers, and texts that are missing.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''
    ... {title: T, asker: A, purpose: P, until: 2030-12-31, odds: 3, questions: [
    ...   {id: ward, kind: single, text: Ward, answers: [a, b, c], public: true},
    ...   {id: tax, kind: yes_no, text: Tax}]}
    ... ''')
    >>> print(definition_warnings(survey, 20)[0].partition(". ")[0])
    Public answers (ward) have 3 combinations: with 20 respondents, 6.7 share each on average, and rare ones single
    people out
    """
    return [*_rare_combinations(survey, respondents), *_missing_texts(survey)]


def _rare_combinations(survey: Survey, respondents: int) -> Iterator[str]:
    """Warn where few respondents will share their public answers: somebody who knows these finds the report."""
    combinations = prod(len(question.labels) for question in survey.public)
    if survey.public and respondents < FEWEST_ALIKE * combinations:
        names = ", ".join(question.id for question in survey.public)
        yield (
            f"Public answers ({names}) have {combinations} combinations: with {respondents} respondents, "
            f"{respondents / combinations:.1f} share each on average, and rare ones single people out. "
            f"Make fewer questions public, merge answers, or ask {FEWEST_ALIKE * combinations} respondents."
        )


def _missing_texts(survey: Survey) -> Iterator[str]:
    """Warn about texts that are shown in the survey's first language because they are missing in another one."""
    for language in survey.languages:
        missing = [name for name, languages in survey.missing_texts.items() if language in languages]
        if missing:
            yield f"Missing in {language}, and shown in {survey.languages[0]} instead: {', '.join(missing)}."


def _different(survey: Survey) -> dict[str, str]:
    """Return, for every question, the first one with the same coins, whose margins are the same."""
    first: dict[Hashable, str] = {}
    return {question.id: first.setdefault(_coins(survey.plan, question), question.id) for question in survey.protected}


def _coins(plan: Plan, question: Question) -> Hashable:
    """Return what the margins of a question depend on; of questions with a common report, only that it is one."""
    group, size = plan.group_of(question.id), len(question.labels)
    chances = _chances_if_picked(plan, question.id)
    if chances is not None:
        return size, chances, chance_told(plan, question.id)
    if len(group.attributes) > 1:
        return question.id
    return size, question.kind == "several", canonical_bytes(group.mechanism.to_json())


def _preview(survey: Survey, question: Question, margin: float, difference: float) -> QuestionPreview:
    group, whole = survey.plan.group_of(question.id), survey.plan.guarantee
    share = group.guarantee.epsilon / whole.epsilon / len(group.attributes) if whole.deniable else None
    facts = facts_of(survey.plan, question.id)
    return QuestionPreview(question, group.scheme, group.guarantee, margin, difference, facts, share)


def _difference(margin_of: Callable[[int], float], respondents: int, level: float) -> float:
    """Return the smallest difference between two halves of the respondents that can be detected."""
    deviation = margin_of(LARGE) / critical_value(level) * sqrt(LARGE)  # of one respondent
    of_half = deviation / sqrt(respondents / 2)
    return detectable_difference(of_half, of_half, level=level)


def _needed(survey: Survey, question: Question, margin: float, level: float) -> int:
    margin_of = _margin(survey, question, level)
    return fewest_respondents(margin_of, margin, LARGE * margin_of(LARGE) ** 2)


def _margin(survey: Survey, question: Question, level: float) -> Callable[[int], float]:
    """Return half the widest interval of a question's answers as a function of the number of respondents."""
    plan = survey.plan
    if question.kind == "several":  # items that half of the respondents selected
        channels = column_channels(plan, question.id)
        return partial(_indicator_margin, [(c.entry(1, 1), c.entry(1, 0)) for c in channels], 0.5, level)
    chances = _chances_if_picked(plan, question.id)
    if chances is not None:
        picked = float(chance_told(plan, question.id))
        size = plan.schema[question.id].sizes[0]
        return lambda respondents: _indicator_margin([chances], 1 / size, level, max(round(picked * respondents), 1))
    try:
        channel = plan.channel([question.id])
        if channel.inclusion is not None:
            return partial(_indicator_margin, [channel.inclusion], 1 / channel.n_in, level)
        expected_width(plan, question.id, LARGE)
    except SottovoceError:  # a joint report that cannot be split into its questions has no closed form
        deviation = sqrt(_simulated_variance(survey, question))
        return lambda respondents: min(critical_value(level) * deviation / sqrt(respondents), 0.5)
    return lambda respondents: float(expected_width(plan, question.id, respondents, level=level).max() / 2)


def _chances_if_picked(plan: Plan, name: str) -> tuple[Fraction, Fraction] | None:
    """Return the probabilities of reporting an answer that is true and one that is not, if the question is picked.

    None for questions that are always told, and for coins that do not treat all answers alike.
    """
    channel = plan.group_of(name).mechanism.channel
    if not channel.samples:
        return None
    parts = [part for part in plan.channel([name]).parts if part.axes]
    alike = [(part.weight, part.channel) for part in parts if isinstance(part.channel, KeepOrUniform)]
    if len(alike) < len(parts):
        return None
    total = sum(weight for weight, _ in alike)
    return (
        Fraction(sum(weight * coins.entry(0, 0) for weight, coins in alike), total),
        Fraction(sum(weight * coins.entry(0, 1) for weight, coins in alike), total),
    )


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
    public = [np.zeros(SIMULATED, np.intp) for _ in plan.public]
    reports = ReportFormat(plan).to_bytes((*disguise_codes(truths, plan, random_words(0)), *public))
    result = question_result(replace(survey, minimum=1), reports, question.id)
    return float(SIMULATED * max(line.standard_error for line in result.lines) ** 2)
