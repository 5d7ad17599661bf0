"""Branches: conditions on answers to earlier questions, each of which somebody can meet."""

from collections.abc import Mapping, Sequence

from sottovoce.survey.located import Located
from sottovoce.survey.question import Condition, Question


def read_conditions(given: Located | None, earlier: Sequence[Question]) -> tuple[Condition, ...]:
    """What must have been answered for a question to be asked; refused if nobody can have answered so."""
    if given is None:
        return ()
    found = tuple(_condition(name, answers, earlier) for name, answers in given.mapping().items())
    asked = {question.id: question for question in earlier}
    for name, answers in _wanted(found, asked).items():
        if not answers:
            given.fail(f"must be possible together: no answer to {name} leads here")
    return found


def _condition(name: str, answers: Located, earlier: Sequence[Question]) -> Condition:
    asked = next((question for question in earlier if question.id == name), None)
    if asked is None:
        answers.fail("must be about an earlier question", name)
    wanted = [entry.text() for entry in answers.entries()] if isinstance(answers.value, list) else [answers.text()]
    known = [label for label in asked.labels if label != asked.not_asked]
    for label in wanted:
        if label not in known:
            answers.fail(f"must be answers of {name}: {', '.join(known)}", label)
    return Condition(name, tuple(wanted))


def _wanted(conditions: Sequence[Condition], asked: Mapping[str, Question]) -> dict[str, set[str]]:
    """Answers to each question with one answer that lead here, also through the conditions of those in between."""
    wanted: dict[str, set[str]] = {}
    waiting, seen = list(conditions), set(conditions)
    while waiting:
        condition = waiting.pop()
        question = asked[condition.question]
        waiting += [further for further in question.when if further not in seen]
        seen |= set(question.when)
        if question.kind != "several":  # several choices can meet several conditions
            wanted.setdefault(question.id, set(condition.answers)).intersection_update(condition.answers)
    return wanted
