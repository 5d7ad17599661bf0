"""Read a survey from its definition in YAML or JSON; every error names the line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from math import ceil
from pathlib import Path

import numpy as np

from sottovoce.checks import one_of
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.definition.budget import BudgetRequest, GroupRequest, read_odds
from sottovoce.surveys.definition.ceilings import check_acceptance, read_weak
from sottovoce.surveys.definition.picks import check_together, read_together
from sottovoce.surveys.definition.presentation import Logo, Presentation
from sottovoce.surveys.definition.question_reader import ReadQuestions, read_questions
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import INVITATIONS, SEND_INTERVALS, Survey
from sottovoce.surveys.definition.texts import read_languages, read_texts
from sottovoce.surveys.definition.yaml_reader import YamlValue, read_yaml
from sottovoce.surveys.report_weights import chance_told
from sottovoce.surveys.results import question_result

SIMULATED = 40
"""Simulated respondents, of those asked the question that is picked most rarely, who test whether questions can be
estimated. That does not depend on their number, if there are any: none has a probability of exp(-40) at most."""

SAMPLES = Path(__file__).parent / "drafts"
SAMPLE_DAYS = 90
"""Days for which a sample survey is open."""
REQUIRED = ("title", "asker", "purpose", "until", "questions")
PRESENTATION = ("consent", "thanks", "comprehension_check", "colour", "logo")
OPTIONAL = (
    "languages",
    "contact",
    "invitation",
    "minimum",
    "send_interval",
    "odds",
    "epsilon",
    "groups",
    "split",
    "together",
    "weak",
    *PRESENTATION,
)
DEFAULT_MINIMUM = 100
DEFAULT_SEND_INTERVAL = 600
"""Seconds: of 40 people who begin within ten minutes, times alone then link at most two; with 300, three (`timing`)."""


def sample_names() -> list[str]:
    """Return the names of the sample definitions.

    >>> sample_names()
    ['doping', 'exams', 'health', 'minimal', 'workplace']
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
    return survey_from_text(text, Path(path).parent)


ReadFile = Callable[[str], bytes]
"""Returns the content of a file that a definition names, or raises an `OSError`."""


def survey_from_text(text: str, folder: str | Path = ".", *, read_file: ReadFile | None = None) -> Survey:
    """Return the survey of a definition, with a plan within the budget for all questions together.

    Its logo is looked for in `folder`, or read by `read_file` where definitions come from strangers to this machine.

    >>> survey = survey_from_text('''
    ... title: Honesty at work
    ... asker: Institute of Examples
    ... purpose: To learn how common it is.
    ... until: 2030-12-31
    ... odds: 9:1
    ... questions:
    ...   - {id: tax, kind: yes_no, text: "Did you evade tax last year?"}
    ...   - {id: fare, kind: yes_no, text: "Did you ride without a ticket?"}
    ...   - {id: drugs, kind: single, text: "How often did you use drugs?", answers: [never, once, often]}
    ... ''')
    >>> print(survey.plan)
    Plan with odds 9 : 1 (epsilon 2.19723)
      tax, fare, drugs (2 x 2 x 3): attribute_sampling, 9 : 1 (epsilon 2.19723)
    Each report speaks of 2 of 3 answers, drawn at random.
    """
    given = read_yaml(text)
    fields = given.fields(REQUIRED, OPTIONAL)
    languages = read_languages(fields.get("languages"))
    read = read_questions(fields["questions"], languages)
    protected = [question for question in read.questions if not question.public]
    schema = Schema(question.variable for question in protected)
    budget = read_odds(fields)
    if budget is None:
        given.fail("must have a budget for all questions together: odds or epsilon", list(fields))
    groups = _groups(fields, read)
    budget_given = fields.get("odds") or fields["epsilon"]
    split = "split" in fields and fields["split"].choice(("true", "false")) == "true"
    together = read_together(fields.get("together"), schema)
    request = BudgetRequest(schema, tuple(groups), budget, budget_given, split, tuple(together))
    plan = request.plan()
    check_together(fields.get("together"), together, plan)
    check_acceptance(plan, groups, budget_given, fields.get("weak"))
    _check_unrelated(protected, groups, plan)
    contact, invitation, minimum = (fields.get(name) for name in ("contact", "invitation", "minimum"))
    survey = Survey(
        title=read_texts(fields["title"], languages),
        asker=read_texts(fields["asker"], languages),
        purpose=read_texts(fields["purpose"], languages),
        contact=None if contact is None else contact.text(),
        languages=languages,
        until=read_day(fields["until"]),
        invitation="single" if invitation is None else invitation.choice(INVITATIONS),
        minimum=DEFAULT_MINIMUM if minimum is None else minimum.whole(1, 10**9),
        questions=read.questions,
        plan=_with_public(plan, read),
        send_interval=read_send_interval(fields.get("send_interval")),
        presentation=read_presentation(fields, languages, read_file or _files_in(folder)),
        weak=read_weak(fields.get("weak")),
        request=request,
    )
    for name, reason in questions_without_estimate(survey):
        entry = read.entries[name]
        scheme = plan.group_of(name).scheme
        entry.fail(f"must have a scheme under which its answers can be estimated: {reason.rule}", scheme)
    return survey


def _files_in(folder: str | Path) -> ReadFile:
    return lambda name: Path(folder, name).read_bytes()


def read_presentation(
    fields: Mapping[str, YamlValue], languages: tuple[str, ...], read_file: ReadFile
) -> Presentation | None:
    """Return what the author chose to show beside the questions; None if nothing."""
    given = {name: fields[name] for name in PRESENTATION if name in fields}
    if not given:
        return None
    logo = given.get("logo")
    check = given.get("comprehension_check")
    try:
        return Presentation(
            consent=read_texts(given["consent"], languages) if "consent" in given else None,
            thanks=read_texts(given["thanks"], languages) if "thanks" in given else None,
            comprehension_check=check is not None and check.choice(("true", "false")) == "true",
            colour=given["colour"].text().lower() if "colour" in given else None,
            logo=None if logo is None else Logo.of(read_file(logo.text())),
        )
    except OSError as reason:
        given["logo"].fail(f"must be a file that can be read ({reason.strerror})")
    except SottovoceError as reason:
        if reason.parameter not in ("logo", "colour"):
            raise
        given[reason.parameter].fail(reason.rule, reason.value)


def read_send_interval(given: YamlValue | None) -> int:
    """Return the length of the clock intervals in which reports are sent, in seconds."""
    if given is None:
        return DEFAULT_SEND_INTERVAL
    shortest, longest = SEND_INTERVALS
    seconds = given.whole(0, longest)
    if 0 < seconds < shortest:
        given.fail(f"must be 0, or {shortest} to {longest} seconds", seconds)
    return seconds


def read_day(given: YamlValue) -> date:
    """Return a day, such as the last one of a survey."""
    try:
        return date.fromisoformat(given.text())
    except ValueError as reason:
        if isinstance(reason, SottovoceError):
            raise
        given.fail("must be a day such as 2030-12-31")


def _with_public(plan: Plan, read: ReadQuestions) -> Plan:
    """Add the columns of public questions; refuse names that a column of the reports has."""
    variables = []
    for question in read.questions:
        if question.public:
            if question.id in plan.report_schema.names:
                read.entries[question.id].fail("must differ from the names of all columns of reports", question.id)
            variables.append(Attribute(question.id, question.labels))
    return plan.with_public(variables)


def _groups(fields: Mapping[str, YamlValue], read: ReadQuestions) -> list[GroupRequest]:
    """Return the groups, and every other question as a group of one, in the order of their first questions."""
    entries = {question.id: read.entries[question.id] for question in read.questions if not question.public}
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
        given.fail("must name two or more different questions of the survey that are not public", list(names))
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
    """Return the questions that cannot be estimated, and why, from seeded reports of a few simulated people."""
    count = ceil(SIMULATED / min(float(chance_told(survey.plan, question.id)) for question in survey.protected))
    reports = simulate_respondents(survey, count, np.random.default_rng(0)).reports(rng=0)
    for question in survey.protected:
        try:
            question_result(replace(survey, minimum=1), reports, question.id)
        except SottovoceError as reason:
            yield question.id, reason
