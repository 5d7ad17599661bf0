"""Advice about the budget of a draft: which questions it starves, and what would help, by making other plans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.plans.guarantee import odds_text
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.definition.budget import BudgetRequest, GroupRequest
from sottovoce.surveys.definition.facts import CEILING, plan_strength
from sottovoce.surveys.definition.preview import QuestionPreview, margins_of, preview, respondents_needed
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey

WANTED = 0.05
"""Margin of error for which the number of respondents is stated."""

LEAST_GAIN = 0.05
"""Least relative gain in a margin of error that is worth a line."""

Margins = Mapping[str, float]


@dataclass(frozen=True)
class Advice:
    """A question that has too little of the budget, what would help, and the numbers of the suggestion.

    The `kind` is "merge" (fewer answers), "weigh" (odds of its own), "drop" or "respondents".
    """

    question: str
    problem: str
    kind: str
    suggestion: str
    numbers: Mapping[str, Any]

    def __str__(self) -> str:
        """Return the suggestion, which names the question."""
        return self.suggestion

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON, the numbers beside the others."""
        texts = {"question": self.question, "problem": self.problem, "kind": self.kind, "suggestion": self.suggestion}
        return texts | dict(self.numbers)


def budget_advice(survey: Survey, respondents: int, level: float = 0.95) -> list[Advice]:
    """Return up to three pieces of advice about the question with the largest margin of error, if that is too large.

    A question is starved by the budget if its margin of error is above ten points. Every number comes from a plan that
    is made for the suggestion: with fewer answers, with odds of its own, or without the question; the first two are
    compared, and the one with the smaller largest margin is suggested. Other plans can be made of drafts only, since a
    frozen survey does not say what its author asked for.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''
    ... {title: T, asker: A, purpose: P, until: 2030-12-31, odds: 9, questions: [
    ...   {id: tax, kind: yes_no, text: Tax},
    ...   {id: seen, kind: several, text: Seen, answers: [a, b, c, d, e, f]}]}
    ... ''')
    >>> for advice in budget_advice(survey, 400):
    ...     print(advice)
    With 3 choices instead of 6, seen would be known to +- 24.7 points.
    Without seen, the other questions would be known to +- 6.2 points at most, instead of 9.9.
    For +- 5 points, seen needs 46,085 respondents.
    """
    shown = preview(survey, respondents, level)
    starved = sorted((each for each in shown if each.starved), key=lambda each: each.margin, reverse=True)
    if not starved:
        return []
    worst = starved[0]
    names = ", ".join(f"{each.question.id} (+- {_points(each.margin)} points)" for each in starved)
    problem = f"With {respondents} respondents, the budget is too small for {names}."
    advice = [_best_change(survey, worst, respondents, level), _dropped(survey, worst, shown, respondents, level)]
    needed = respondents_needed(survey, WANTED, level)[worst.question.id]
    suggestion = f"For +- {100 * WANTED:.0f} points, {worst.question.id} needs {needed:,} respondents."
    advice.append(("respondents", suggestion, {"respondents": needed}))
    numbers = {"margin": worst.margin}
    return [Advice(worst.question.id, problem, each[0], each[1], numbers | each[2]) for each in advice if each]


Suggestion = tuple[str, str, dict[str, Any]]
"""Kind, sentence and numbers."""


def _points(margin: float) -> str:
    return f"{100 * margin:.1f}"


def _best_change(survey: Survey, worst: QuestionPreview, respondents: int, level: float) -> Suggestion | None:
    """Return the change of the question, fewer answers or odds of its own, after which the largest margin is least."""
    name, found = worst.question.id, []
    for kind, numbers, said, change in _changes(survey, worst):
        margins = _margins(survey, change, respondents, level)
        helps = margins and margins[name] < (1 - LEAST_GAIN) * worst.margin
        if helps and max(margins.values()) < worst.margin:  # else another question would be starved in its place
            others = max((margin for other, margin in margins.items() if other != name), default=0.0)
            told = f"{said}, {name} would be known to +- {_points(margins[name])} points"
            if kind == "weigh":
                told += f", and the other questions to +- {_points(others)} at most"
            after = {"margin_after": margins[name], "margin_of_others": others}
            found.append((max(margins.values()), (kind, f"{told}.", numbers | after)))
    return min(found, key=lambda pair: pair[0])[1] if found else None


Change = Callable[[BudgetRequest], tuple[BudgetRequest, tuple[Question, ...]]]
"""What is asked of the budget instead, and the questions of that survey."""


def _changes(survey: Survey, worst: QuestionPreview) -> Iterator[tuple[str, dict[str, Any], str, Change]]:
    """Yield half as many answers; and twice the share of the budget, or half of what is left, up to the ceiling."""
    question = worst.question
    count, whole = len(question.answers), survey.plan.guarantee
    fewer = (count + 1) // 2
    if count > 2:
        shorter = replace(question, answers=question.answers[:fewer], limits=None)
        questions = tuple(shorter if other is question else other for other in survey.questions)
        words = "choices" if question.kind == "several" else "answers"
        said = f"With {fewer} {words} instead of {count}"
        yield "merge", {"answers": fewer}, said, lambda request: (_for_questions(request, questions), questions)
    if worst.share is None:
        return
    larger = float(whole.odds or 1) ** min(2 * worst.share, (1 + worst.share) / 2)
    odds = min(Fraction(f"{larger:.1f}"), Fraction(CEILING))
    yield (
        "weigh",
        {"odds": odds_text(odds)},
        f"With odds of {odds_text(odds)} of its own",
        lambda request: (_with_odds(request, question.id, odds), survey.questions),
    )


def _dropped(
    survey: Survey, worst: QuestionPreview, shown: list[QuestionPreview], respondents: int, level: float
) -> Suggestion | None:
    """Return what the other questions gain without this one; None if that is little."""
    name = worst.question.id
    before = max((each.margin for each in shown if each.question.id != name), default=0.0)
    rest = tuple(
        replace(other, when=tuple(condition for condition in other.when if condition.question != name))
        for other in survey.questions
        if other.id != name
    )
    margins = _margins(survey, lambda request: (_for_questions(request, rest), rest), respondents, level)
    after = max(margins.values(), default=before)
    if after >= (1 - LEAST_GAIN) * before:
        return None
    told = f"the other questions would be known to +- {_points(after)} points at most, instead of {_points(before)}"
    return "drop", f"Without {name}, {told}.", {"margin_of_others": after, "margin_of_others_before": before}


def _margins(survey: Survey, change: Change, respondents: int, level: float) -> Margins:
    """Return the margins of a survey that asks something else of the budget; nothing if there can be no such survey."""
    if survey.request is None:
        return {}
    try:
        request, questions = change(survey.request)
        plan = request.plan().with_public(survey.plan.public)
        weak = plan_strength(plan) == "very weak"
        other = replace(survey, questions=questions, plan=plan, weak=weak, request=request)
        return margins_of(other, respondents, level)
    except SottovoceError:  # the budget is spent, nothing is left to ask, or a scheme does not fit
        return {}


def _for_questions(request: BudgetRequest, questions: tuple[Question, ...]) -> BudgetRequest:
    """Return the same request for other questions: groups lose those that are missing."""
    schema = Schema(question.variable for question in questions if not question.public)
    groups = []
    for group in request.groups:
        left = tuple(name for name in group.questions if name in schema.names)
        if left:
            alone = len(left) == 1 < len(group.questions)
            groups.append(replace(group, questions=left, scheme=None if alone else group.scheme))
    crossed = [tuple(name for name in names if name in schema.names) for names in request.together]
    together = tuple(names for names in crossed if len(names) > 1)
    return replace(request, schema=schema, groups=tuple(groups), together=together)


def _with_odds(request: BudgetRequest, name: str, odds: Fraction) -> BudgetRequest:
    """Return the same request with odds of its own for a question, or for its group."""
    groups = [_weighed(group, odds) if name in group.questions else group for group in request.groups]
    return replace(request, groups=tuple(groups))


def _weighed(group: GroupRequest, odds: Fraction) -> GroupRequest:
    return replace(group, odds=odds)
