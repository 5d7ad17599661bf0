"""A survey from its definition in YAML or JSON; every refusal names the line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.client.simulate import make_people
from sottovoce.surveys.definition.budget import Share, read_odds, shared_plan
from sottovoce.surveys.definition.questions import read_languages, read_question, read_texts
from sottovoce.surveys.definition.survey import INVITATIONS, Question, Survey
from sottovoce.surveys.definition.yaml_reader import Located, read_located
from sottovoce.surveys.results import Reports

PEOPLE = 20
"""Made-up respondents of the rehearsal: whether there is an estimate does not depend on their number."""
FOLDER = Path(__file__).parent / "drafts"
DAYS = 90
REQUIRED = ("title", "asker", "purpose", "until", "questions")
OPTIONAL = ("languages", "contact", "invitation", "minimum", "odds", "epsilon", "groups")
DEFAULT_MINIMUM = 100


def unestimable(survey: Survey) -> Iterator[tuple[str, SottovoceError]]:
    """Questions whose proportions cannot be estimated, and why: the whole way is rehearsed with made-up people."""
    reports = Reports(replace(survey, minimum=1), make_people(survey, PEOPLE, np.random.default_rng(0)).reports())
    for question in survey.questions:
        try:
            reports.result(question.id)
        except SottovoceError as reason:
            yield question.id, reason


def sample_names() -> list[str]:
    """Samples there are.

    >>> sample_names()
    ['minimal', 'workplace']
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def sample(name: str, today: date) -> str:
    """Text of a sample, open for some time from today."""
    if name not in sample_names():
        raise SottovoceError("sample", f"must be one of {', '.join(sample_names())}", name)
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return text.replace("UNTIL", (today + timedelta(days=DAYS)).isoformat(), 1)


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
