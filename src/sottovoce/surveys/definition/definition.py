"""Read a survey from its definition in YAML or JSON; every error names the line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from math import inf
from pathlib import Path

import numpy as np

from sottovoce.checks import one_of
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.binned import Binned, Side
from sottovoce.schemas.item_set import SEPARATOR
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.definition.budget import GroupRequest, plan_within_budget, read_odds
from sottovoce.surveys.definition.survey import INVITATIONS, KINDS, Answer, Bins, Condition, Question, Survey, Texts
from sottovoce.surveys.definition.yaml_reader import YamlValue, read_yaml
from sottovoce.surveys.results import question_result

TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""Language tags of browsers, such as en, pt-BR or zh-Hant."""

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv")
LEAST_EDGES = 3
MOST_BINS = 256
MOST_ANSWERS = 256
COMMON_FIELDS = ("help", "decline", "when", "unrelated", "scheme", "odds", "epsilon")
FIELDS_OF_KIND = {
    "yes_no": ("answers",),
    "single": ("answers",),
    "several": ("answers",),
    "number": ("edges", "closed", "labels"),
}
YES_NO = ("no", "yes")
ENGLISH_DECLINE = "Prefer not to say"
SWITCHES = ("true", "yes", "on", "false", "no", "off")
"""Texts of `decline` that were probably meant as true or false."""
SIMULATED = 20
"""Simulated respondents who test whether questions can be estimated, which does not depend on their number."""

SAMPLES = Path(__file__).parent / "drafts"
SAMPLE_DAYS = 90
"""Days for which a sample survey is open."""
REQUIRED = ("title", "asker", "purpose", "until", "questions")
OPTIONAL = ("languages", "contact", "invitation", "minimum", "odds", "epsilon", "groups")
DEFAULT_MINIMUM = 100


def read_languages(given: YamlValue | None) -> tuple[str, ...]:
    """Return the language tags; English if none are given."""
    if given is None:
        return ("en",)
    tags = tuple(entry.text() for entry in given.entries())
    if len(set(tags)) < len(tags) or not all(TAG.fullmatch(tag) for tag in tags):
        given.fail("must be different language tags, such as en or pt-BR")
    return tags


def read_texts(given: YamlValue, languages: tuple[str, ...]) -> Texts:
    """Return a text in every language; if there is one language, the text need not be a mapping."""
    if isinstance(given.value, dict):
        texts = given.fields(required=languages)
        return {tag: texts[tag].text() for tag in languages}
    if len(languages) > 1:
        given.fail(f"must have a text for each language: {', '.join(languages)}")
    return {languages[0]: given.text()}


def formula(text: str, language: str) -> str:
    r"""Return signs and numbers isolated from right-to-left text, in which `<` would look like `>`.

    >>> formula("< 5", "en"), formula("< 5", "ar") == "\u2066< 5\u2069"
    ('< 5', True)
    """
    return f"\u2066{text}\u2069" if language.partition("-")[0] in RIGHT_TO_LEFT else text


def read_conditions(given: YamlValue | None, earlier: Sequence[Question]) -> tuple[Condition, ...]:
    """Return the conditions under which a question is asked; refuse conditions that nobody can meet."""
    if given is None:
        return ()
    conditions = tuple(_condition(name, answers, earlier) for name, answers in given.mapping().items())
    asked = {question.id: question for question in earlier}
    for name, answers in _leading_answers(conditions, asked).items():
        if not answers:
            given.fail(f"must be possible together: no answer to {name} leads here")
    return conditions


def _condition(name: str, answers: YamlValue, earlier: Sequence[Question]) -> Condition:
    asked = next((question for question in earlier if question.id == name), None)
    if asked is None:
        answers.fail("must be about an earlier question", name)
    wanted = [entry.text() for entry in answers.entries()] if isinstance(answers.value, list) else [answers.text()]
    known = [label for label in asked.labels if label != asked.not_asked]
    for label in wanted:
        if label not in known:
            answers.fail(f"must be answers of {name}: {', '.join(known)}", label)
    return Condition(name, tuple(wanted))


def _leading_answers(conditions: Sequence[Condition], asked: Mapping[str, Question]) -> dict[str, set[str]]:
    """Return the answers to each single-answer question that lead here, through conditions of conditions as well."""
    leading: dict[str, set[str]] = {}
    waiting, seen = list(conditions), set(conditions)
    while waiting:
        condition = waiting.pop()
        question = asked[condition.question]
        waiting += [further for further in question.when if further not in seen]
        seen |= set(question.when)
        if question.kind != "several":  # several choices can meet several conditions
            leading.setdefault(question.id, set(condition.answers)).intersection_update(condition.answers)
    return leading


def read_bins(given: YamlValue, fields: Mapping[str, YamlValue]) -> Bins:
    """Return the bins of a number: increasing edges of two bins or more."""
    if "edges" not in fields:
        given.fail("must have edges")
    side = fields["closed"].choice(("left", "right")) if "closed" in fields else "left"
    closed: Side = "left" if side == "left" else "right"
    if len(fields["edges"].entries()) < LEAST_EDGES:
        fields["edges"].fail(f"must be at least {LEAST_EDGES} numbers, which make two bins")
    if len(fields["edges"].entries()) > MOST_BINS + 1:
        fields["edges"].fail(f"must make at most {MOST_BINS} bins", len(fields["edges"].entries()))
    try:
        numbers = [float(entry.text()) for entry in fields["edges"].entries()]
        cut = Binned("number", numbers, closed=closed, labels=[str(bin_) for bin_ in range(len(numbers) - 1)])
    except ValueError as reason:
        rule = reason.rule if isinstance(reason, SottovoceError) else "must be numbers"
        fields["edges"].fail(rule)
    return Bins(tuple(cut.to_json()["edges"]), closed)


def bin_answers(fields: Mapping[str, YamlValue], bins: Bins, languages: tuple[str, ...]) -> tuple[Answer, ...]:
    """Return the bins as answers, whose ids are the intervals and whose texts are the labels or the edges."""
    names = Binned("number", map(float, bins.edges), closed="left" if bins.closed == "left" else "right").categories
    if "labels" not in fields:
        texts = [_bin_text(bins, index) for index in range(len(names))]
        return tuple(
            Answer(str(name), {tag: formula(text, tag) for tag in languages})
            for name, text in zip(names, texts, strict=True)
        )
    labels = fields["labels"].entries()
    if len(labels) != len(names):
        fields["labels"].fail(f"must name each of the {len(names)} bins")
    return tuple(Answer(str(name), read_texts(label, languages)) for name, label in zip(names, labels, strict=True))


def _bin_text(bins: Bins, index: int) -> str:
    """Return a bin's edges with signs that need no translation."""
    low, high = bins.edges[index : index + 2]
    below, above = ("<", "≥") if bins.closed == "left" else ("≤", ">")
    if float(low) == -inf:
        return f"{below} {high}"
    return f"{above} {low}" if float(high) == inf else f"{above} {low}, {below} {high}"


def read_question(given: YamlValue, languages: tuple[str, ...], earlier: Sequence[Question]) -> Question:
    """Return one question, whose conditions may refer to the `earlier` ones."""
    kind = given.mapping().get("kind", YamlValue(None, f"{given.name}.kind", given.line)).choice(KINDS)
    fields = given.fields(("id", "kind", "text"), (*FIELDS_OF_KIND[kind], *COMMON_FIELDS))
    bins = read_bins(given, fields) if kind == "number" else None
    question = Question(
        id=_name(fields["id"], earlier),
        kind=kind,
        text=read_texts(fields["text"], languages),
        answers=bin_answers(fields, bins, languages) if bins else _answers(given, fields, kind, languages),
        help=_optional(fields.get("help"), languages),
        bins=bins,
        decline=_decline(fields.get("decline"), languages),
        when=read_conditions(fields.get("when"), earlier),
        unrelated=_optional(fields.get("unrelated"), languages),
    )
    try:
        question.variable  # noqa: B018  # refuses too few or repeated answers
    except SottovoceError as reason:
        raise SottovoceError(
            f"{given.name}: {reason.parameter}", f"{reason.rule} (line {given.line})", reason.value
        ) from None
    _check_texts(question, given)
    return question


def _check_texts(question: Question, given: YamlValue) -> None:
    """Refuse answers with equal texts, between which respondents cannot choose."""
    for language in question.text:
        texts = [question.words(label, language) for label in question.labels]
        repeated = sorted({text for text in texts if texts.count(text) > 1})
        if repeated:
            given.fail(f"must have answers with different texts, also in {language}", repeated)


def _name(given: YamlValue, earlier: Sequence[Question]) -> str:
    name = given.text()
    if any(name == question.id for question in earlier):
        given.fail("must differ from the ids of other questions")
    return name


def _optional(given: YamlValue | None, languages: tuple[str, ...]) -> Texts | None:
    return None if given is None else read_texts(given, languages)


def _decline(given: YamlValue | None, languages: tuple[str, ...]) -> Texts | None:
    """Return the text for declining; `true` is enough if the only language is English."""
    if given is None or given.value in ("false", "False"):
        return None
    if given.value in ("true", "True") and languages == ("en",):
        return {"en": ENGLISH_DECLINE}
    texts = read_texts(given, languages)
    if any(text.lower() in SWITCHES for text in texts.values()):
        given.fail("must be the text for declining; true or false are enough only if the one language is English")
    return texts


def _answers(
    given: YamlValue, fields: Mapping[str, YamlValue], kind: str, languages: tuple[str, ...]
) -> tuple[Answer, ...]:
    """Return the answers from a list of texts, which are also their ids, or from a mapping of ids to texts."""
    if "answers" not in fields:
        if kind == "yes_no" and languages == ("en",):
            return tuple(Answer(name, {"en": name.capitalize()}) for name in YES_NO)
        given.fail("must have answers")
    listed = fields["answers"]
    if isinstance(listed.value, list):
        if len(languages) > 1:
            listed.fail("must map the id of each answer to its texts, because there are several languages")
        answers = tuple(Answer(entry.text(), {languages[0]: entry.text()}) for entry in listed.entries())
    else:
        answers = tuple(Answer(name, read_texts(texts, languages)) for name, texts in listed.mapping().items())
    if kind == "yes_no" and tuple(answer.id for answer in answers) != YES_NO:
        listed.fail("must have the ids no and yes, in this order")
    if len(answers) > MOST_ANSWERS:
        listed.fail(f"must be at most {MOST_ANSWERS}", len(answers))
    if any(SEPARATOR in answer.id or not answer.id or answer.id != answer.id.strip() for answer in answers):
        listed.fail(f"must have ids that are not empty, without spaces around them and without {SEPARATOR!r}")
    return answers


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
