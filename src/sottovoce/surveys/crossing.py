"""Cross tables of two questions, or of single choices among several, with their association and a test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm, sqrt

import numpy as np

from sottovoce.counts.counter import CodedCounter
from sottovoce.errors import SottovoceError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.proportions import never_asked
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.rounding import in_lowest_terms
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.reports.views import with_public_attributes
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.results import CodedReports, QuestionResult, column_channels, proportions_result, report_counter

NOT_CHOSEN, CHOSEN = "not chosen", "chosen"
"""Labels of a single choice among several."""

MOST_CELLS = 400
"""Most cells of a cross table: more can be neither computed in a moment nor read."""


@dataclass(frozen=True)
class Side:
    """One side of a cross table: a question with one answer, or one of the choices of a question with several."""

    question: str
    item: str | None = None

    @property
    def name(self) -> str:
        """Name of the side, which is that of the question, or of the question with its choice."""
        return self.question if self.item is None else f"{self.question}={self.item}"


@dataclass(frozen=True)
class Association:
    """How strongly two questions go together: an odds ratio for two times two answers, otherwise Cramér's V.

    `value` is None where it has no meaning; the ends are None where there is no interval, for a `reason`.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Crossing:
    """A cross table with the test of independence, and the association of its sides."""

    result: QuestionResult
    association: Association


def sides(survey: Survey) -> list[Side]:
    """Return everything that can stand on a side of a cross table."""
    return [
        side
        for question in survey.questions
        for side in (
            [Side(question.id, label) for label in question.labels]
            if question.kind == "several"
            else [Side(question.id)]
        )
    ]


def side_named(survey: Survey, name: str) -> Side:
    """Return the side with a name."""
    found = {side.name: side for side in sides(survey)}
    if name not in found:
        raise SottovoceError("cross", "must name a question, or a choice as question=choice", name)
    return found[name]


def why_not_crossed(survey: Survey, first: Side, second: Side) -> str | None:
    """Return why two sides cannot be crossed, in words; None if they can."""
    if first == second:
        return "These are the same."
    for side in (first, second):
        reason = None if side.item is None else _why_not_alone(survey.plan, side.question)
        if reason is not None:
            return reason
    names = (first.question, second.question)
    if first.item is None and second.item is None and never_asked(survey.plan, names):
        return (
            "The device never tells both in one report: in this survey it picks one of the two at most, and nothing "
            "that was sent says how they go together. A definition that lists the pair (together: [[a, b]]) makes a "
            "survey in which they can be crossed."
        )
    if (count := _cells(survey, first) * _cells(survey, second)) > MOST_CELLS:
        return f"The table would have {count} cells; {MOST_CELLS} are the most that are computed."
    return None


def _cells(survey: Survey, side: Side) -> int:
    return len(survey.question(side.question).labels) if side.item is None else 2


def _why_not_alone(plan: Plan, question: str) -> str | None:
    """Return why single choices of a question cannot be told apart from the rest of its report."""
    if plan.group_of(question).attributes != (question,):
        return "The choices share their coins with other questions: none of them can be looked at by itself."
    try:
        column_channels(plan, question)
    except SottovoceError:
        return "The choices are disguised together: no part of a report tells of a single one."
    return None


def cross_sides(survey: Survey, reports: CodedReports, first: Side, second: Side, *, level: float = 0.95) -> Crossing:
    """Estimate all combinations of two sides, test their independence, and measure how they go together.

    A single choice among several is a yes/no attribute with the coins of its own column, which are those of the plan;
    where the coins of the choices are not independent of each other, those of two choices are taken together.
    """
    reason = why_not_crossed(survey, first, second)
    if reason is not None:
        raise SottovoceError("cross", reason.rstrip("."), f"{first.name},{second.name}")
    if len(reports) < survey.minimum:
        rule = f"must be at least {survey.minimum}, the survey's minimum, before any result is shown"
        raise SottovoceError("reports", rule, len(reports))
    names = (first.name, second.name)
    plan, counter = _with_choices(survey, reports, [first, second])
    result, shares = proportions_result(plan, counter, names, level)
    result = replace(result, rehearsal=survey.rehearsal)
    try:
        result = replace(result, test=independence_test(counter, plan, *names))
    except SottovoceError as too_few:
        result = replace(result, untested=str(too_few))
    return Crossing(result, _association(shares, level))


def _with_choices(survey: Survey, reports: CodedReports, crossed: Sequence[Side]) -> tuple[Plan, CodedCounter]:
    """Return the plan and the counts with public questions as attributes, and with chosen items as yes/no ones."""
    plan = with_public_attributes(survey.plan, [side.question for side in crossed])
    counter = report_counter(survey, reports.columns)
    for question in dict.fromkeys(side.question for side in crossed if side.item is not None):
        labels = survey.question(question).labels
        chosen = {labels.index(str(side.item)): side for side in crossed if side.question == question}
        plan, counter = _with_items(plan, counter, question, dict(sorted(chosen.items())))
    return plan, counter


def _with_items(
    plan: Plan, counter: CodedCounter, question: str, chosen: Mapping[int, Side]
) -> tuple[Plan, CodedCounter]:
    """Add yes/no attributes for some choices of a question, by their places in its report, with the same coins."""
    axes, names = list(chosen), tuple(side.name for side in chosen.values())
    channel = plan.group_of(question).mechanism.channel.marginal(axes)
    rows = [[channel.entry(report, truth) for truth in range(channel.n_in)] for report in range(channel.n_out)]
    sides_of_coin = lcm(*(share.denominator for row in rows for share in row))
    matrix = in_lowest_terms([[int(share * sides_of_coin) for share in row] for row in rows])
    added = [Attribute(name, (NOT_CHOSEN, CHOSEN)) for name in names]
    group = Group(names, "choices", Listed((2,) * len(names), matrix))
    wider = Plan(Schema([*plan.schema, *added]), (*plan.groups, group), Guarantee(None), plan.prior, plan.public)
    first = counter.schema.columns_of(question).start
    columns = (*counter.columns, *(counter.columns[first + axis] for axis in axes))
    schema = Schema([*counter.schema, *(attribute.as_report() for attribute in added)])
    return wider, CodedCounter(schema, columns)


def _association(shares: Estimate, level: float) -> Association:
    """Return the odds ratio of two times two cells, or Cramér's V of more, with an interval."""
    if shares.shape == (2, 2):
        found = shares.derive("odds_ratio", level)
        return Association("odds ratio", _number(found.value), found.low, found.high, found.reason)
    try:
        found = shares.derive("chi_squared", level)
    except SottovoceError:
        return Association("Cramér's V", None, None, None, "an answer to one of the two is estimated not to occur")
    fewest = min(shares.shape) - 1
    value, low, high = (
        None if number is None else sqrt(min(max(number / fewest, 0.0), 1.0))
        for number in (_number(found.value), found.low, found.high)
    )
    return Association("Cramér's V", value, low, high, found.reason)


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
