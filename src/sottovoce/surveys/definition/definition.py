"""Read a survey from its definition in YAML or JSON; every error names the line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from sottovoce.checks import one_of
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.definition.budget import GroupRequest, plan_within_budget, read_odds
from sottovoce.surveys.definition.questions import read_languages, read_question, read_texts
from sottovoce.surveys.definition.survey import INVITATIONS, Question, Survey
from sottovoce.surveys.definition.yaml_reader import YamlValue, read_yaml
from sottovoce.surveys.results import question_result

SIMULATED = 20
"""Simulated respondents who test whether questions can be estimated, which does not depend on their number."""

SAMPLES = Path(__file__).parent / "drafts"
SAMPLE_DAYS = 90
"""Days for which a sample survey is open."""
REQUIRED = ("title", "asker", "purpose", "until", "questions")
OPTIONAL = ("languages", "contact", "invitation", "minimum", "odds", "epsilon", "groups")
DEFAULT_MINIMUM = 100


def sample_names() -> list[str]:
    """Return the names of the sample definitions.

    >>> sample_names()
    ['minimal', 'workplace']
    """
    return sorted(path.stem for path in SAMPLES.glob("*.yaml"))


def sample_definition(name: str, today: date) -> str:
    """Return the text of a sample definition that is open for some time from today."""
    text = (SAMPLES / f"{one_of('sample', name, sample_names())}.yaml").read_text(encoding="utf-8")
    return text.replace("UNTIL", (today + timedelta(days=SAMPLE_DAYS)).isoformat(), 1)


def read_definition(path: str | Path) -> Survey:
    """Read a survey from the file of its definition."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as reason:
        raise SottovoceError(str(path), f"must be UTF-8 ({reason})", str(path)) from None
    return survey_from_text(text)


def survey_from_text(text: str) -> Survey:
    """Return the survey of a definition, with a plan within the budget for all questions together.

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
    given = read_yaml(text)
    fields = given.fields(REQUIRED, OPTIONAL)
    languages = read_languages(fields.get("languages"))
    questions = _questions(fields["questions"], languages)
    schema = Schema(question.variable for question in questions)
    budget = read_odds(fields)
    if budget is None:
        given.fail("must have a budget for all questions together: odds or epsilon", list(fields))
    groups = _groups(fields, questions)
    plan = plan_within_budget(schema, groups, budget, fields.get("odds") or fields["epsilon"])
    _check_unrelated(questions, groups, plan)
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
    for name, reason in questions_without_estimate(survey):
        entry = fields["questions"].entries()[schema.names.index(name)]
        scheme = plan.group_of(name).scheme
        entry.fail(f"must have a scheme under which its answers can be estimated: {reason.rule}", scheme)
    return survey


def _questions(given: YamlValue, languages: tuple[str, ...]) -> tuple[Question, ...]:
    questions: list[Question] = []
    for entry in given.entries():
        questions.append(read_question(entry, languages, questions))
    return tuple(questions)


def _day(given: YamlValue) -> date:
    try:
        return date.fromisoformat(given.text())
    except ValueError as reason:
        if isinstance(reason, SottovoceError):
            raise
        given.fail("must be a day such as 2030-12-31")


def _groups(fields: Mapping[str, YamlValue], questions: Sequence[Question]) -> list[GroupRequest]:
    """Return the groups, and every other question as a group of one, in the order of their first questions."""
    entries = {q.id: entry for q, entry in zip(questions, fields["questions"].entries(), strict=True)}
    group_of: dict[str, GroupRequest] = {}
    for given in fields["groups"].entries() if "groups" in fields else []:
        group = _group(given, entries)
        for name in group.questions:
            if name in group_of:
                given.fail("must not name a question that is in another group", name)
            group_of[name] = group
    for name, entry in entries.items():
        if name not in group_of:
            question = entry.mapping()
            group_of[name] = GroupRequest((name,), entry, question.get("scheme"), read_odds(question))
    return list(dict.fromkeys(group_of[name] for name in entries))


def _group(given: YamlValue, entries: Mapping[str, YamlValue]) -> GroupRequest:
    fields = given.fields(("questions",), ("scheme", "odds", "epsilon"))
    names = tuple(entry.text() for entry in fields["questions"].entries())
    if len(names) < 2 or len(set(names)) < len(names) or not set(names) <= set(entries):
        given.fail("must name two or more different questions of the survey", list(names))
    for name in names:
        for field in ("scheme", "odds", "epsilon"):
            if field in entries[name].mapping():
                entries[name].fail(f"must not have {field}, which its group has", name)
    return GroupRequest(names, given, fields.get("scheme"), read_odds(fields))


def _check_unrelated(questions: Sequence[Question], groups: Sequence[GroupRequest], plan: Plan) -> None:
    """Check that a harmless question comes with its text, its scheme and the frequencies of its answers."""
    group_of = {name: group for group in groups for name in group.questions}
    for question in questions:
        group, is_unrelated = group_of[question.id], plan.group_of(question.id).scheme == "unrelated_question"
        if (question.unrelated is not None) != is_unrelated:
            rule = "must have both unrelated, the text of the harmless question, and scheme unrelated_question"
            group.given.fail(rule, question.id)
        if is_unrelated and group.scheme is not None and "known" not in group.scheme.plain:
            group.scheme.fail("must give the frequencies of the harmless answers, such as known: [.75, .25]")


def questions_without_estimate(survey: Survey) -> Iterator[tuple[str, SottovoceError]]:
    """Return the questions that cannot be estimated, and why, from the reports of a few simulated respondents."""
    reports = simulate_respondents(survey, SIMULATED, np.random.default_rng(0)).reports()
    for question in survey.questions:
        try:
            question_result(replace(survey, minimum=1), reports, question.id)
        except SottovoceError as reason:
            yield question.id, reason
