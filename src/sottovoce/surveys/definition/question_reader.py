"""Questions of a definition: their answers, bins, conditions and texts; every error names the line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from sottovoce.errors import SottovoceError
from sottovoce.schemas.binned import Binned, Side
from sottovoce.schemas.item_set import SEPARATOR
from sottovoce.surveys.definition.questions import (
    KINDS,
    STEPS,
    WANTED,
    Answer,
    Bins,
    Condition,
    Matrix,
    Question,
    Texts,
)
from sottovoce.surveys.definition.texts import built_in, formula, in_languages, read_texts
from sottovoce.surveys.definition.yaml_reader import YamlValue

LEAST_EDGES = 3
MOST_BINS = 256
MOST_ANSWERS = 256
PROTECTION = ("scheme", "odds", "epsilon", "unrelated")
"""Fields about the coins of a question."""

COMMON_FIELDS = ("help", "decline", "when", "public", *PROTECTION)
FIELDS_OF_KIND = {
    "yes_no": ("answers", "shuffle"),
    "single": ("answers", "shuffle"),
    "several": ("answers", "shuffle", "least", "most"),
    "number": ("edges", "closed", "labels"),
    "scale": ("steps", "ends", "labels", "wanted"),
    "matrix": ("items", "steps", "ends", "labels", "wanted"),
}
YES_NO = ("no", "yes")
TRUE, FALSE = ("true", "True"), ("false", "False")
SWITCHES = ("true", "yes", "on", "false", "no", "off")
"""Texts of `decline` that were probably meant as true or false."""


@dataclass(frozen=True)
class ReadQuestions:
    """Questions in their order, and the part of the definition that each of them is from."""

    questions: tuple[Question, ...]
    entries: Mapping[str, YamlValue]


def read_questions(given: YamlValue, languages: tuple[str, ...]) -> ReadQuestions:
    """Return the questions of a definition; a matrix is a question for each of its items."""
    questions: list[Question] = []
    entries: dict[str, YamlValue] = {}
    for entry in given.entries():
        for question in read_entry(entry, languages, questions):
            questions.append(question)
            entries[question.id] = entry
    if all(question.public for question in questions):
        given.fail("must have a question that is not public: a survey protects at least one answer", list(entries))
    return ReadQuestions(tuple(questions), entries)


def read_entry(given: YamlValue, languages: tuple[str, ...], earlier: Sequence[Question]) -> list[Question]:
    """Return the question of an entry, or those of a matrix; conditions may refer to the `earlier` ones."""
    kind = given.mapping().get("kind", YamlValue(None, f"{given.name}.kind", given.line))
    if kind.choice((*KINDS, "matrix")) == "matrix":
        return _matrix(given, languages, earlier)
    return [read_question(given, languages, earlier)]


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
    """Return the bins as answers: named by their labels as the author wrote them, else by their intervals."""
    names = Binned("number", map(float, bins.edges), closed="left" if bins.closed == "left" else "right").categories
    if "labels" not in fields:
        texts = [_bin_text(bins, index) for index in range(len(names))]
        return tuple(
            Answer(str(name), {tag: formula(text, tag) for tag in languages})
            for name, text in zip(names, texts, strict=True)
        )
    labels = [read_texts(label, languages) for label in fields["labels"].entries()]
    if len(labels) != len(names):
        fields["labels"].fail(f"must name each of the {len(names)} bins")
    return tuple(Answer(label[languages[0]], label) for label in labels)


def _bin_text(bins: Bins, index: int) -> str:
    """Return a bin's edges with signs that need no translation."""
    low, high = bins.edges[index : index + 2]
    below, above = ("<", "≥") if bins.closed == "left" else ("≤", ">")
    if float(low) == -inf:
        return f"{below} {high}"
    return f"{above} {low}" if float(high) == inf else f"{above} {low}, {below} {high}"


def read_question(given: YamlValue, languages: tuple[str, ...], earlier: Sequence[Question]) -> Question:
    """Return one question, whose conditions may refer to the `earlier` ones."""
    kind = given.mapping()["kind"].choice(KINDS)
    fields = given.fields(("id", "kind", "text"), (*FIELDS_OF_KIND[kind], *COMMON_FIELDS))
    bins = read_bins(given, fields) if kind == "number" else None
    scale = read_scale(given, fields, languages) if kind == "scale" else None
    when = read_conditions(fields.get("when"), earlier)
    if bins:
        answers = bin_answers(fields, bins, languages)
    else:
        answers = scale.steps if scale else _answers(given, fields, kind, languages)
    question = Question(
        id=_name(fields["id"], fields["id"].text(), earlier),
        kind=kind,
        text=read_texts(fields["text"], languages),
        answers=answers,
        help=_optional(fields.get("help"), languages),
        bins=bins,
        decline=_decline(fields.get("decline"), languages),
        when=when,
        unrelated=_optional(fields.get("unrelated"), languages),
        public=_public(fields, kind, when, earlier),
        shuffle=_switch(fields.get("shuffle")),
        limits=_limits(fields, len(answers)),
        ends=scale.ends if scale else None,
        wanted=scale.wanted if scale else None,
    )
    return _checked(question, given, languages)


def _matrix(given: YamlValue, languages: tuple[str, ...], earlier: Sequence[Question]) -> list[Question]:
    """Return a scale for each item of a matrix, whose id is that of the matrix, `_` and that of the item."""
    fields = given.fields(("id", "kind", "text", "items"), (*FIELDS_OF_KIND["matrix"], *COMMON_FIELDS))
    scale, when = read_scale(given, fields, languages), read_conditions(fields.get("when"), earlier)
    matrix = Matrix(fields["id"].text(), read_texts(fields["text"], languages))
    _public(fields, "matrix", when, earlier)
    questions: list[Question] = []
    for name, text in fields["items"].mapping().items():
        question = Question(
            id=_name(text, f"{matrix.id}_{name}", [*earlier, *questions]),
            kind="scale",
            text=read_texts(text, languages),
            answers=scale.steps,
            help=_optional(fields.get("help"), languages),
            decline=_decline(fields.get("decline"), languages),
            when=when,
            unrelated=_optional(fields.get("unrelated"), languages),
            ends=scale.ends,
            wanted=scale.wanted,
            matrix=matrix,
        )
        questions.append(_checked(question, given, languages))
    return questions


def _checked(question: Question, given: YamlValue, languages: tuple[str, ...]) -> Question:
    try:
        question.variable  # noqa: B018  # refuses too few or repeated answers
    except SottovoceError as reason:
        raise SottovoceError(
            f"{given.name}: {reason.parameter}", f"{reason.rule} (line {given.line})", reason.value
        ) from None
    _check_texts(question, given, languages)
    return question


@dataclass(frozen=True)
class _Scale:
    steps: tuple[Answer, ...]
    ends: tuple[Texts, Texts]
    wanted: str


def read_scale(given: YamlValue, fields: Mapping[str, YamlValue], languages: tuple[str, ...]) -> _Scale:
    """Return the steps of a scale, named by their numbers, with the texts at its ends and what is wanted of it."""
    wanted = fields["wanted"].choice(WANTED) if "wanted" in fields else WANTED[0]
    count = fields["steps"].whole(*STEPS) if "steps" in fields else None
    ends = fields["ends"].entries() if "ends" in fields else None
    if ends is not None and len(ends) != 2:
        fields["ends"].fail("must be two texts, those of the first and the last step", len(ends))
    if "labels" in fields:
        labels = [read_texts(label, languages) for label in fields["labels"].entries()]
        if len(labels) != (count or len(labels)) or not STEPS[0] <= len(labels) <= STEPS[1]:
            fields["labels"].fail(f"must name each step of the scale, which has {STEPS[0]} to {STEPS[1]}", len(labels))
        first, last = [labels[0], labels[-1]] if ends is None else [read_texts(end, languages) for end in ends]
    elif ends is None or count is None:
        given.fail("must have steps, the number of steps, and ends, the texts of the first and the last one")
    else:
        first, last = (read_texts(end, languages) for end in ends)
        middle: list[Texts] = [dict.fromkeys(languages, str(step)) for step in range(2, count)]
        labels = [_numbered(1, first, languages), *middle, _numbered(count, last, languages)]
    return _Scale(tuple(Answer(str(step), text) for step, text in enumerate(labels, 1)), (first, last), wanted)


def _numbered(step: int, end: Texts, languages: tuple[str, ...]) -> Texts:
    return in_languages({tag: f"{step} ({text})" for tag, text in end.items()}, languages)


def _public(fields: Mapping[str, YamlValue], kind: str, when: Sequence[Condition], earlier: Sequence[Question]) -> bool:
    """Return whether the answer is sent as it is; refuse that where it would tell a protected answer."""
    if not _switch(fields.get("public")):
        return False
    if kind in ("several", "matrix"):
        fields["public"].fail(f"must be left out for {kind}: ask single questions that are public instead")
    for name in PROTECTION:
        if name in fields:
            fields[name].fail("must be left out of a public question: its answer is sent as it is, without any coin")
    protected = {question.id for question in earlier if not question.public}
    for condition in when:
        if condition.question in protected:
            rule = "must not be about a protected answer: a public question that is asked or not would tell it. "
            fix = f"Make {condition.question} public as well, or do not make this question public"
            fields["when"].fail(rule + fix, condition.question)
    return True


def _switch(given: YamlValue | None) -> bool:
    if given is None or given.value in FALSE:
        return False
    if given.value not in TRUE:
        given.fail("must be true or false")
    return True


def _limits(fields: Mapping[str, YamlValue], count: int) -> tuple[int, int] | None:
    """Return the fewest and most answers that may be chosen."""
    least, most = fields.get("least"), fields.get("most")
    if least is None and most is None:
        return None
    limits = 0 if least is None else least.whole(1, count), count if most is None else most.whole(1, count)
    if least is not None and limits[0] > limits[1]:
        least.fail(f"must be at most {limits[1]}, which is most")
    return limits


def _check_texts(question: Question, given: YamlValue, languages: tuple[str, ...]) -> None:
    """Refuse answers with equal texts, between which respondents cannot choose."""
    for language in languages:
        texts = [question.words(label, language) for label in question.labels]
        repeated = sorted({text for text in texts if texts.count(text) > 1})
        if repeated:
            given.fail(f"must have answers with different texts, also in {language}", repeated)


def _name(given: YamlValue, name: str, earlier: Sequence[Question]) -> str:
    if any(name == question.id for question in earlier):
        given.fail("must differ from the ids of other questions", name)
    return name


def _optional(given: YamlValue | None, languages: tuple[str, ...]) -> Texts | None:
    return None if given is None else read_texts(given, languages)


def _decline(given: YamlValue | None, languages: tuple[str, ...]) -> Texts | None:
    """Return the text for declining; `true` is enough where the words are built in."""
    if given is None or given.value in FALSE:
        return None
    if given.value in TRUE:
        return built_in("decline", given, languages)
    texts = read_texts(given, languages)
    if any(text.lower() in SWITCHES for text in texts.values()):
        given.fail("must be true, false, or the text for declining")
    return texts


def _answers(
    given: YamlValue, fields: Mapping[str, YamlValue], kind: str, languages: tuple[str, ...]
) -> tuple[Answer, ...]:
    """Return the answers from a list of texts, which are also their ids, or from a mapping of ids to texts."""
    if "answers" not in fields:
        if kind == "yes_no":
            return tuple(Answer(name, built_in(name, given, languages)) for name in YES_NO)
        given.fail("must have answers")
    listed = fields["answers"]
    if kind == "yes_no":
        return _yes_no(listed, fields, languages)
    if isinstance(listed.value, list):
        if len(languages) > 1:
            listed.fail("must map the id of each answer to its texts, because there are several languages")
        answers = tuple(Answer(entry.text(), {languages[0]: entry.text()}) for entry in listed.entries())
    else:
        answers = tuple(Answer(name, read_texts(texts, languages)) for name, texts in listed.mapping().items())
    if len(answers) > MOST_ANSWERS:
        listed.fail(f"must be at most {MOST_ANSWERS}", len(answers))
    if any(SEPARATOR in answer.id or not answer.id or answer.id != answer.id.strip() for answer in answers):
        listed.fail(f"must have ids that are not empty, without spaces around them and without {SEPARATOR!r}")
    if kind == "single" and len(answers) == 1 and "decline" not in fields:
        listed.fail("must be at least two, or one that can be declined (decline: true)")
    ids = [answer.id for answer in answers]
    if repeated := [name for name in ids if ids.count(name) > 1]:
        listed.fail("must differ from each other", repeated[0])
    return answers


def _yes_no(listed: YamlValue, fields: Mapping[str, YamlValue], languages: tuple[str, ...]) -> tuple[Answer, ...]:
    """Return yes and no in the order that is given: with texts of their own, or with those that are built in."""
    if isinstance(listed.value, list):
        names = [entry.text() for entry in listed.entries()]
        answers = tuple(Answer(name, built_in(name, listed, languages)) for name in names if name in YES_NO)
    else:
        names = list(listed.mapping())
        answers = tuple(Answer(name, read_texts(texts, languages)) for name, texts in listed.mapping().items())
    if sorted(names) != sorted(YES_NO):
        listed.fail("must have the ids no and yes; in many languages the answers can also be left out")
    if names != list(YES_NO) and "scheme" in fields:
        listed.fail("must be in the order no, yes where there is a scheme: that is the order of its parameters", names)
    return answers
