"""A survey: who asks what, why, until when, and the plan that disguises the answers. Frozen, it has a hash."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.plan.document import canonical_bytes, plan_from_json, plan_to_json
from sottovoce.plan.plan import Plan
from sottovoce.survey.question import Question, Texts

VERSION = 1
INVITATIONS = ("single", "open")
MOST_CODES = 2**16
"""Codes of one column of a report: they take one byte or two."""


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
