"""A survey from its definition in YAML or JSON; every refusal names the line."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from sottovoce.errors import SottovoceError
from sottovoce.plan.plan import Plan
from sottovoce.schema.schema import Schema
from sottovoce.survey.budget import Share, read_odds, shared_plan
from sottovoce.survey.estimable import unestimable
from sottovoce.survey.located import Located
from sottovoce.survey.parsed import read_located
from sottovoce.survey.question import Question
from sottovoce.survey.read_question import read_question
from sottovoce.survey.survey import INVITATIONS, Survey
from sottovoce.survey.texts import read_languages, read_texts

REQUIRED = ("title", "asker", "purpose", "until", "questions")
OPTIONAL = ("languages", "contact", "invitation", "minimum", "odds", "epsilon", "groups")
DEFAULT_MINIMUM = 100


def read_definition(path: str | Path) -> Survey:
    """Read a definition from a file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as reason:
        raise SottovoceError(str(path), f"must be UTF-8 ({reason})", str(path)) from None
    return survey_from_text(text)


def survey_from_text(text: str) -> Survey:
    """Survey with its plan, within the budget for all questions together.

    >>> survey = survey_from_text('''
    ... title: Honesty at work
    ... asker: Institute of Examples
    ... purpose: To learn how common it is.
    ... until: 2030-12-31
    ... odds: 9:1
    ... questions:
    ...   - {id: tax, kind: yes_no, text: "Did you evade tax last year?"}
    ...   - {id: drugs, kind: single, text: "How often did you use drugs?", answers: [never, once, often]}
    ... ''')
    >>> print(survey.plan.guarantee, "=", survey.plan.guarantee_of("tax"), "twice")
    9 : 1 (epsilon 2.19723) = 3 : 1 (epsilon 1.09862) twice
    """
    given = read_located(text)
    fields = given.fields(REQUIRED, OPTIONAL)
    languages = read_languages(fields.get("languages"))
    questions = _questions(fields["questions"], languages)
    schema = Schema(question.variable for question in questions)
    budget = read_odds(fields)
    if budget is None:
        given.fail("must have a budget for all questions together: odds or epsilon", list(fields))
    shares = _shares(fields, questions)
    plan = shared_plan(schema, shares, budget, fields.get("odds") or fields["epsilon"])
    _check_unrelated(questions, shares, plan)
    contact, invitation, minimum = (fields.get(name) for name in ("contact", "invitation", "minimum"))
    survey = Survey(
        title=read_texts(fields["title"], languages),
        asker=read_texts(fields["asker"], languages),
        purpose=read_texts(fields["purpose"], languages),
        contact=None if contact is None else contact.text(),
        languages=languages,
        until=_day(fields["until"]),
        invitation="single" if invitation is None else invitation.choice(INVITATIONS),
        minimum=DEFAULT_MINIMUM if minimum is None else minimum.whole(1, 10**9),
        questions=questions,
        plan=plan,
    )
    for name, reason in unestimable(survey):
        entry = fields["questions"].entries()[schema.names.index(name)]
        scheme = plan.group_of(name).scheme
        entry.fail(f"must have reports from which its answers can be estimated: {reason.rule}", scheme)
    return survey


def _questions(given: Located, languages: tuple[str, ...]) -> tuple[Question, ...]:
    questions: list[Question] = []
    for entry in given.entries():
        questions.append(read_question(entry, languages, questions))
    return tuple(questions)


def _day(given: Located) -> date:
    try:
        return date.fromisoformat(given.text())
    except ValueError as reason:
        if isinstance(reason, SottovoceError):
            raise
        given.fail("must be a day such as 2030-12-31")


def _shares(fields: Mapping[str, Located], questions: Sequence[Question]) -> list[Share]:
    """Groups, and every other question by itself, in the order of the first question of each."""
    entries = {q.id: entry for q, entry in zip(questions, fields["questions"].entries(), strict=True)}
    shares: dict[str, Share] = {}
    for group in fields["groups"].entries() if "groups" in fields else []:
        share = _group(group, entries)
        for name in share.questions:
            if name in shares:
                group.fail("must not name a question that is in another group", name)
            shares[name] = share
    for name, entry in entries.items():
        if name not in shares:
            own = entry.mapping()
            shares[name] = Share((name,), entry, own.get("scheme"), read_odds(own))
    return list(dict.fromkeys(shares[name] for name in entries))


def _group(given: Located, entries: Mapping[str, Located]) -> Share:
    own = given.fields(("questions",), ("scheme", "odds", "epsilon"))
    names = tuple(entry.text() for entry in own["questions"].entries())
    if len(names) < 2 or len(set(names)) < len(names) or not set(names) <= set(entries):
        given.fail("must name two or more different questions of the survey", list(names))
    for name in names:
        for field in ("scheme", "odds", "epsilon"):
            if field in entries[name].mapping():
                entries[name].fail(f"must leave its {field} to its group", name)
    return Share(names, given, own.get("scheme"), read_odds(own))


def _check_unrelated(questions: Sequence[Question], shares: Sequence[Share], plan: Plan) -> None:
    """The harmless question's words, its scheme and its frequencies come together."""
    of = {name: share for share in shares for name in share.questions}
    for question in questions:
        share, is_unrelated = of[question.id], plan.group_of(question.id).scheme == "unrelated_question"
        if (question.unrelated is not None) != is_unrelated:
            rule = "must have both unrelated, the words of the harmless question, and scheme unrelated_question"
            share.given.fail(rule, question.id)
        if is_unrelated and share.scheme is not None and "known" not in share.scheme.plain:
            share.scheme.fail("must say how frequent the harmless answers are, such as known: [.75, .25]")
