"""The survey itself: its questions, who asks them, why and until when, and the plan. Frozen, it has a hash."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import Any

from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.canonical import canonical_bytes, check_version
from sottovoce.plans.document import plan_from_json, plan_to_json
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Variable
from sottovoce.schemas.item_set import ItemSet

KINDS = ("yes_no", "single", "several", "number")

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of cells that a spreadsheet may take for formulas. No name and no label has one, so no export has."""

Texts = Mapping[str, str]
"""A text in each of the survey's languages, by language tag."""

VERSION = 1
"""Newest version of survey documents that this release reads: no key has been added since 0.1."""

INVITATIONS = ("single", "open")
MOST_CODES = 2**16
"""Most codes of one column of a report, which takes one or two bytes."""


@dataclass(frozen=True)
class Answer:
    """A possible answer: an id that is the same in every language, and its texts."""

    id: str
    text: Texts


@dataclass(frozen=True)
class Condition:
    """Condition that an earlier question was asked and got one of some answers."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Bins:
    """Edges of the bins of a number, and the side on which the bins are closed."""

    edges: tuple[str, ...]
    closed: str


@dataclass(frozen=True)
class Question:
    """A question. `decline` is the text for "prefer not to say", `unrelated` the text of a harmless question."""

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
        """Ids of the answers, then "no answer" if declining is possible, then "not asked" if there are conditions.

        Both are disguised like answers, because whether a question was asked depends on secret answers.
        """
        labels = [answer.id for answer in self.answers]
        for extra, possible in (("no answer", self.decline is not None), ("not asked", bool(self.when))):
            if possible:
                labels.append(_distinct(extra, labels))
        return tuple(labels)

    @property
    def no_answer(self) -> str | None:
        """Label of declining, if that is possible."""
        return self.labels[len(self.answers)] if self.decline is not None else None

    @property
    def not_asked(self) -> str | None:
        """Label of a skipped question, if it can be skipped."""
        return self.labels[-1] if self.when else None

    def words(self, label: str, language: str) -> str:
        """Return a label's text in a language."""
        texts = {answer.id: answer.text[language] for answer in self.answers}
        declined = {} if self.decline is None else {self.labels[len(self.answers)]: self.decline[language]}
        return (texts | declined).get(label, label)

    @property
    def variable(self) -> Variable:
        """Attribute of the plan: an `ItemSet` for several choices, otherwise an `Attribute`."""
        for cell in (self.id, *self.labels):
            if cell.startswith(FORMULA_STARTS):
                rule = "must not start with = + - @ or a control character: spreadsheets take that for a formula"
                raise SottovoceError("id", rule, cell)
        return ItemSet(self.id, self.labels) if self.kind == "several" else Attribute(self.id, self.labels)

    def to_json(self) -> dict[str, Any]:
        """Return every field as JSON, including the empty ones."""
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
        """Return the question that `to_json` describes."""
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


def _distinct(label: str, others: Sequence[str]) -> str:
    """Append stars to a label until it differs from the others."""
    while label in others:
        label += "*"
    return label


def _optional(texts: Texts | None) -> dict[str, str] | None:
    return None if texts is None else dict(texts)


@dataclass(frozen=True, repr=False)
class Survey:
    """Everything that a respondent's device needs. Its canonical bytes have the hash by which it is known."""

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
        """Check that the plan is for these questions, that it is deniable, and that reports fit their format."""
        if list(self.plan.schema) != [question.variable for question in self.questions]:
            raise SottovoceError("plan", "must have the questions as its attributes", list(self.plan.schema.names))
        if self.plan.public:
            raise SottovoceError(
                "plan", "must have no public columns: a survey sends reports only", self.plan.public_names
            )
        if not self.plan.promise.deniable:
            raise SottovoceError("plan", "must promise odds", Words("a plan that is not deniable"))
        if max(self.plan.report_schema.sizes) > MOST_CODES:
            raise SottovoceError("plan", f"must have at most {MOST_CODES} codes in a column of its reports", None)

    def __repr__(self) -> str:
        """Return title, number of questions, odds, last day and hash."""
        questions = f"{len(self.questions)} question{'s' * (len(self.questions) != 1)}"
        return f"{self.default_title}: {questions} at {self.plan.guarantee}, until {self.until}, sha256 {self.hash}"

    def _repr_html_(self) -> str:
        rows = [
            (q.id, q.text[self.languages[0]], q.kind, ", ".join(q.labels), str(self.plan.guarantee_of(q.id)))
            for q in self.questions
        ]
        notes = [f"all answers together: {self.plan.guarantee}", f"until {self.until}", f"sha256 {self.hash}"]
        return html_table(self.default_title, ("id", "question", "kind", "answers", "odds"), rows, notes)

    def question(self, name: str) -> Question:
        """Return the question with this id."""
        for question in self.questions:
            if question.id == name:
                return question
        known = ", ".join(question.id for question in self.questions)
        raise SottovoceError("question", f"must be one of {known}", name)

    @cached_property
    def document(self) -> bytes:
        """Canonical bytes of the survey."""
        return canonical_bytes(survey_to_json(self))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return sha256(self.document).hexdigest()

    @property
    def id(self) -> str:
        """First 16 digits of the hash, used in addresses."""
        return self.hash[:16]

    @property
    def default_title(self) -> str:
        """Title in the survey's first language."""
        return self.title[self.languages[0]]


def survey_to_json(survey: Survey) -> dict[str, Any]:
    """Return a survey as JSON."""
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
    """Read a frozen survey; refuse another hash, another version, and bytes that are not canonical."""
    actual_hash = sha256(document).hexdigest()
    if expected_hash is not None and expected_hash != actual_hash:
        raise SottovoceError("survey", f"must have the hash of its link, {expected_hash}", actual_hash)
    try:
        entries = json.loads(document)
        survey = _survey_from_json(entries)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as reason:
        if isinstance(reason, SottovoceError):
            raise
        raise SottovoceError("survey", f"must be a complete survey document ({reason!r})", document) from None
    if survey.document != document:
        raise SottovoceError("survey", "must be canonical JSON without other keys", document)
    return survey


def _survey_from_json(entries: Mapping[str, Any]) -> Survey:
    check_version("survey", entries["version"], VERSION)
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
