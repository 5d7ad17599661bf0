"""A survey: its questions, who asks, why and until when, and the plan. Frozen, it has a hash."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.document import canonical_bytes, plan_from_json, plan_to_json
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Variable
from sottovoce.schemas.item_set import ItemSet

KINDS = ("yes_no", "single", "several", "number")

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How cells begin that a spreadsheet might run: no exported header or cell does, for no name does."""

Texts = Mapping[str, str]
"""One text in each of the survey's languages, by language tag."""
VERSION = 1
INVITATIONS = ("single", "open")
MOST_CODES = 2**16
"""Codes of one column of a report: they take one byte or two."""


@dataclass(frozen=True)
class Answer:
    """What may be answered: a name that stays the same in every language, and its texts."""

    id: str
    text: Texts


@dataclass(frozen=True)
class Condition:
    """Holds if an earlier question was asked and answered by one of these."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Bins:
    """Where a number is cut, and the end that belongs to each bin."""

    edges: tuple[str, ...]
    closed: str


@dataclass(frozen=True)
class Question:
    """One question; `decline` are the words for "prefer not to say", `unrelated` those of a harmless question."""

    id: str
    kind: str
    text: Texts
    answers: tuple[Answer, ...]
    help: Texts | None = None
    bins: Bins | None = None
    decline: Texts | None = None
    when: tuple[Condition, ...] = ()
    unrelated: Texts | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Answers, then "no answer" where one may decline, then "not asked" where a branch may skip the question.

        Both are truths inside the channel: whether a question was reached depends on a secret answer.
        """
        labels = [answer.id for answer in self.answers]
        for extra, wanted in (("no answer", self.decline is not None), ("not asked", bool(self.when))):
            if wanted:
                labels.append(_differing(extra, labels))
        return tuple(labels)

    @property
    def no_answer(self) -> str | None:
        """Label for declining."""
        return self.labels[len(self.answers)] if self.decline is not None else None

    @property
    def not_asked(self) -> str | None:
        """Label for having been skipped."""
        return self.labels[-1] if self.when else None

    def words(self, label: str, language: str) -> str:
        """How a label is said to people."""
        texts = {answer.id: answer.text[language] for answer in self.answers}
        declined = {} if self.decline is None else {self.labels[len(self.answers)]: self.decline[language]}
        return (texts | declined).get(label, label)

    @property
    def variable(self) -> Variable:
        """The plan's attribute: a set of items for several choices, else categories."""
        for cell in (self.id, *self.labels):
            if cell.startswith(FORMULA_STARTS):
                rule = "must not start with = + - @ or a control character: spreadsheets take that for a formula"
                raise SottovoceError("id", rule, cell)
        return ItemSet(self.id, self.labels) if self.kind == "several" else Attribute(self.id, self.labels)

    def to_json(self) -> dict[str, Any]:
        """Every field, also the empty ones."""
        return {
            "id": self.id,
            "kind": self.kind,
            "text": dict(self.text),
            "help": _optional(self.help),
            "answers": [{"id": answer.id, "text": dict(answer.text)} for answer in self.answers],
            "bins": None if self.bins is None else {"edges": list(self.bins.edges), "closed": self.bins.closed},
            "decline": _optional(self.decline),
            "when": [{"question": c.question, "is": list(c.answers)} for c in self.when],
            "unrelated": _optional(self.unrelated),
        }

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> "Question":
        """Read what `to_json` wrote."""
        bins = json["bins"]
        return cls(
            id=json["id"],
            kind=json["kind"],
            text=json["text"],
            answers=tuple(Answer(answer["id"], answer["text"]) for answer in json["answers"]),
            help=json["help"],
            bins=None if bins is None else Bins(tuple(bins["edges"]), bins["closed"]),
            decline=json["decline"],
            when=tuple(Condition(c["question"], tuple(c["is"])) for c in json["when"]),
            unrelated=json["unrelated"],
        )


def _differing(label: str, others: Sequence[str]) -> str:
    while label in others:
        label += "*"
    return label


def _optional(texts: Texts | None) -> dict[str, str] | None:
    return None if texts is None else dict(texts)


@dataclass(frozen=True)
class Survey:
    """Everything a respondent's device needs; its canonical bytes are what the hash is of."""

    title: Texts
    asker: Texts
    purpose: Texts
    contact: str | None
    languages: tuple[str, ...]
    until: date
    invitation: str
    minimum: int
    questions: tuple[Question, ...]
    plan: Plan

    def __post_init__(self) -> None:
        """Check that questions and plan are of one piece, and that the promise is a promise."""
        if list(self.plan.schema) != [question.variable for question in self.questions]:
            raise SottovoceError("plan", "must have the questions as its attributes", list(self.plan.schema.names))
        if not self.plan.promise.deniable:
            raise SottovoceError("plan", "must promise odds", Words("a plan that is not deniable"))
        if max(self.plan.report_schema.sizes) > MOST_CODES:
            raise SottovoceError("plan", f"must have at most {MOST_CODES} codes in a column of its reports", None)

    def question(self, name: str) -> Question:
        """Question with this name."""
        for question in self.questions:
            if question.id == name:
                return question
        known = ", ".join(question.id for question in self.questions)
        raise SottovoceError("question", f"must be one of {known}", name)

    @cached_property
    def document(self) -> bytes:
        """Canonical bytes."""
        return canonical_bytes(survey_to_json(self))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal: the name of the frozen survey."""
        return sha256(self.document).hexdigest()

    @property
    def id(self) -> str:
        """First digits of the hash, for addresses."""
        return self.hash[:16]

    @property
    def default_title(self) -> str:
        """Title in the first language."""
        return self.title[self.languages[0]]


def survey_to_json(survey: Survey) -> dict[str, Any]:
    """Everything a survey is, in plain JSON."""
    return {
        "version": VERSION,
        "title": dict(survey.title),
        "asker": dict(survey.asker),
        "purpose": dict(survey.purpose),
        "contact": survey.contact,
        "languages": list(survey.languages),
        "until": survey.until.isoformat(),
        "invitation": survey.invitation,
        "minimum": survey.minimum,
        "questions": [question.to_json() for question in survey.questions],
        "plan": plan_to_json(survey.plan),
    }


def survey_from_bytes(document: bytes, expected_hash: str | None = None) -> Survey:
    """Read a frozen survey; refuse another hash, another version, and whatever is not canonical."""
    found = sha256(document).hexdigest()
    if expected_hash is not None and expected_hash != found:
        raise SottovoceError("survey", f"must have the hash of its link, {expected_hash}", found)
    try:
        entries = json.loads(document)
        survey = _survey(entries)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as reason:
        if isinstance(reason, SottovoceError):
            raise
        raise SottovoceError("survey", f"must be written in full ({reason!r})", document) from None
    if survey.document != document:
        raise SottovoceError("survey", "must be written in the one way there is", document)
    return survey


def _survey(entries: Mapping[str, Any]) -> Survey:
    if entries["version"] != VERSION:
        raise SottovoceError("version", f"must be {VERSION}, the one this release reads", entries["version"])
    return Survey(
        title=entries["title"],
        asker=entries["asker"],
        purpose=entries["purpose"],
        contact=entries["contact"],
        languages=tuple(entries["languages"]),
        until=date.fromisoformat(entries["until"]),
        invitation=entries["invitation"],
        minimum=entries["minimum"],
        questions=tuple(Question.from_json(question) for question in entries["questions"]),
        plan=plan_from_json(entries["plan"]),
    )
