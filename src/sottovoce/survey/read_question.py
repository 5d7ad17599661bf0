"""Questions from a definition: each kind's own fields, and branches that look back only."""

from collections.abc import Mapping, Sequence

from sottovoce.errors import SottovoceError
from sottovoce.schema.item_set import SEPARATOR
from sottovoce.survey.branches import read_conditions
from sottovoce.survey.located import Located
from sottovoce.survey.question import KINDS, Answer, Question, Texts
from sottovoce.survey.read_bins import bin_answers, read_bins
from sottovoce.survey.texts import read_texts

COMMON = ("help", "decline", "when", "unrelated", "scheme", "odds", "epsilon")
OWN = {"yes_no": ("answers",), "single": ("answers",), "several": ("answers",), "number": ("edges", "closed", "labels")}
YES_NO = ("no", "yes")
ENGLISH_DECLINE = "Prefer not to say"
SWITCHES = ("true", "yes", "on", "false", "no", "off")
"""What an author may write who takes `decline` for a switch."""

MOST_ANSWERS = 256


def read_question(given: Located, languages: tuple[str, ...], earlier: Sequence[Question]) -> Question:
    """One question; `earlier` are those its branches may look at."""
    kind = given.mapping().get("kind", Located(None, f"{given.name}.kind", given.line)).choice(KINDS)
    fields = given.fields(("id", "kind", "text"), (*OWN[kind], *COMMON))
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
        question.variable  # noqa: B018  # refuses answers that are too few or repeated
    except SottovoceError as reason:
        raise SottovoceError(
            f"{given.name}: {reason.parameter}", f"{reason.rule} (line {given.line})", reason.value
        ) from None
    _check_texts(question, given)
    return question


def _check_texts(question: Question, given: Located) -> None:
    """Nobody can choose between answers that read alike."""
    for language in question.text:
        said = [question.words(label, language) for label in question.labels]
        alike = sorted({text for text in said if said.count(text) > 1})
        if alike:
            given.fail(f"must have answers that read differently; in {language} they do not", alike)


def _name(given: Located, earlier: Sequence[Question]) -> str:
    name = given.text()
    if any(name == question.id for question in earlier):
        given.fail("must differ from the ids of other questions")
    return name


def _optional(given: Located | None, languages: tuple[str, ...]) -> Texts | None:
    return None if given is None else read_texts(given, languages)


def _decline(given: Located | None, languages: tuple[str, ...]) -> Texts | None:
    """Words for declining; `true` will do where the only language is English."""
    if given is None or given.value in ("false", "False"):
        return None
    if given.value in ("true", "True") and languages == ("en",):
        return {"en": ENGLISH_DECLINE}
    texts = read_texts(given, languages)
    if any(text.lower() in SWITCHES for text in texts.values()):
        given.fail("must be the words for declining; true or false will do where the only language is English")
    return texts


def _answers(
    given: Located, fields: Mapping[str, Located], kind: str, languages: tuple[str, ...]
) -> tuple[Answer, ...]:
    """A list of texts that name themselves, or a mapping from names to texts."""
    if "answers" not in fields:
        if kind == "yes_no" and languages == ("en",):
            return tuple(Answer(name, {"en": name.capitalize()}) for name in YES_NO)
        given.fail("must have answers")
    listed = fields["answers"]
    if isinstance(listed.value, list):
        if len(languages) > 1:
            listed.fail("must map the name of each answer to its texts where there are several languages")
        answers = tuple(Answer(entry.text(), {languages[0]: entry.text()}) for entry in listed.entries())
    else:
        answers = tuple(Answer(name, read_texts(texts, languages)) for name, texts in listed.mapping().items())
    if kind == "yes_no" and tuple(answer.id for answer in answers) != YES_NO:
        listed.fail("must be called no and yes, in this order")
    if len(answers) > MOST_ANSWERS:
        listed.fail(f"must be at most {MOST_ANSWERS}", len(answers))
    if any(SEPARATOR in answer.id or not answer.id or answer.id != answer.id.strip() for answer in answers):
        listed.fail(f"must have names that are not empty, without spaces around them and without {SEPARATOR!r}")
    return answers
