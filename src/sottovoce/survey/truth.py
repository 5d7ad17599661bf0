"""From a person's answers to the truth that meets the coins: branches are followed here, on the device."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.schema.cells import Columns
from sottovoce.survey.question import Question
from sottovoce.survey.survey import Survey


def truth_of(survey: Survey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """One value for every attribute of the plan, in any case: skipped questions are "not asked".

    An answer is the id of one (for several choices: a list of ids), a number where bins are asked for, or None
    for declining. Answers to questions that a branch skips are refused, as are questions left open.
    """
    unknown = [name for name in answers if name not in survey.plan.schema.names]
    if unknown:
        raise SottovoceError("answers", f"must be to questions of the survey; {unknown}", list(answers))
    reached: dict[str, tuple[str, ...]] = {}
    truth: dict[str, Any] = {}
    for question in survey.questions:
        if is_asked(question, reached):
            reached[question.id] = _labels(question, answers)
        elif question.id in answers:
            raise SottovoceError(question.id, "must not be answered where a branch skips it", answers[question.id])
        labels = reached.get(question.id, (str(question.not_asked),))
        truth[question.id] = list(labels) if question.kind == "several" else labels[0]
    return truth


def truth_codes(survey: Survey, answers: Mapping[str, Any]) -> Columns:
    """The same in codes, one row."""
    return survey.plan.schema.encode({name: [value] for name, value in truth_of(survey, answers).items()})


def is_asked(question: Question, reached: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether all conditions hold for the labels of the questions reached so far."""
    return all(set(c.answers) & set(reached.get(c.question, ())) for c in question.when)


def _labels(question: Question, answers: Mapping[str, Any]) -> tuple[str, ...]:
    if question.id not in answers:
        raise SottovoceError(question.id, "must be answered, or declined with None where that is offered", None)
    given = answers[question.id]
    if given is None:
        if question.no_answer is None:
            raise SottovoceError(question.id, "must be answered: declining is not offered", given)
        return (question.no_answer,)
    if question.bins is not None and not isinstance(given, str):
        return (question.answers[_bin(question, float(given))].id,)
    chosen = tuple(given) if question.kind == "several" and not isinstance(given, str) else (given,)
    known = [answer.id for answer in question.answers]
    for label in chosen:
        if label not in known:
            raise SottovoceError(question.id, f"must be one of {', '.join(known)}", label)
    return chosen


def _bin(question: Question, number: float) -> int:
    """Number of the bin, closed on the side that the question says."""
    bins = question.bins
    edges = [float(edge) for edge in bins.edges] if bins else []
    side = bisect_right if bins and bins.closed == "left" else bisect_left
    place = side(edges, number) - 1
    if not 0 <= place < len(question.answers):
        raise SottovoceError(question.id, f"must lie between {edges[0]:g} and {edges[-1]:g}", number)
    return place
