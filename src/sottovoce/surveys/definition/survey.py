"""The survey itself: its questions, who asks them, why and until when, and the plan. Frozen, it has a hash."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sottovoce.checks import whole_number
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.canonical import canonical_bytes, check_version
from sottovoce.plans.document import plan_from_json, plan_to_json
from sottovoce.plans.plan import Plan
from sottovoce.surveys.blind_rsa import PublicKey
from sottovoce.surveys.definition.facts import VERY_WEAK, Strength, plan_strength
from sottovoce.surveys.definition.presentation import Logo, Presentation
from sottovoce.surveys.definition.questions import Question, Texts, texts_from_json

if TYPE_CHECKING:
    from sottovoce.surveys.definition.budget import BudgetRequest

VERSION = 2
"""Newest version of survey documents that this release reads: it adds to 0.1's what docs/format.md lists."""

SEND_INTERVALS = (10, 86400)
"""Shortest and longest send interval, in seconds; 0 sends at once."""

INVITATIONS = ("single", "open")
MOST_CODES = 2**16
"""Most codes of one column of a report, which takes one or two bytes."""


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
    send_interval: int = 0
    admission: PublicKey | None = None
    presentation: Presentation | None = None
    weak: bool = False
    rehearsal: bool = False
    request: "BudgetRequest | None" = field(default=None, compare=False)
    """What the author asks of the budget: known of a draft only, and not part of the document."""

    def __post_init__(self) -> None:
        """Check that the plan is for these questions, that weak odds are accepted, and that reports fit."""
        shortest, longest = SEND_INTERVALS
        if whole_number("send_interval", self.send_interval, least=0) and not shortest <= self.send_interval <= longest:
            rule = f"must be 0, or {shortest} to {longest} seconds"
            raise SottovoceError("send_interval", rule, self.send_interval)
        if not isinstance(self.rehearsal, bool):
            raise SottovoceError("rehearsal", "must be true or false", self.rehearsal)
        if self.invitation not in INVITATIONS:
            raise SottovoceError("invitation", f"must be one of {', '.join(INVITATIONS)}", self.invitation)
        if self.admission is not None and self.invitation == "open":
            raise SottovoceError("admission", "must be null for an open survey", self.admission)
        for index, question in enumerate(self.questions):
            question.check(self.questions[:index])
        if list(self.plan.schema) != [question.variable for question in self.protected]:
            raise SottovoceError("plan", "must have the questions as its attributes", list(self.plan.schema.names))
        if list(self.plan.public) != [question.variable for question in self.public]:
            raise SottovoceError("plan", "must have the public questions as its public columns", self.plan.public_names)
        self._check_strength()
        if max(*self.plan.report_schema.sizes, 0, *(len(question.labels) for question in self.public)) > MOST_CODES:
            raise SottovoceError("plan", f"must have at most {MOST_CODES} codes in a column of its reports", None)

    def _check_strength(self) -> None:
        """Check that very weak odds, and no others, are accepted; 0.1 had no ceiling, but refused unbounded odds."""
        if not isinstance(self.weak, bool):
            raise SottovoceError("weak", "must be true or false", self.weak)
        if self.weak and self.strength != "very weak":
            rule = f"must be false where no odds are above {VERY_WEAK} : 1: an acceptance without need misleads"
            raise SottovoceError("weak", rule, self.weak)
        unbounded = self.plan.promise.odds is None
        if self.strength == "very weak" and not self.weak and (unbounded or _uses_later(self)):
            rule = f"must promise odds of at most {VERY_WEAK} : 1 for every question and in all, unless weak is true"
            raise SottovoceError("plan", rule, Words(str(self.plan.promise)))

    @cached_property
    def strength(self) -> Strength:
        """How protection may be called: "deniable", "weak" or "very weak"."""
        return plan_strength(self.plan)

    def __repr__(self) -> str:
        """Return title, number of questions, odds, last day and hash."""
        questions = f"{len(self.questions)} question{'s' * (len(self.questions) != 1)}"
        title = f"{'rehearsal of ' * self.rehearsal}{self.default_title}"
        return f"{title}: {questions} at {self.plan.guarantee}, until {self.until}, sha256 {self.hash}"

    def _repr_html_(self) -> str:
        rows = [
            (q.id, q.full_text(self.languages[0]), q.kind, ", ".join(q.labels), self._odds_of(q))
            for q in self.questions
        ]
        notes = [f"all answers together: {self.plan.guarantee}", f"until {self.until}", f"sha256 {self.hash}"]
        return html_table(self.default_title, ("id", "question", "kind", "answers", "odds"), rows, notes)

    def _odds_of(self, question: Question) -> str:
        return "public" if question.public else str(self.plan.guarantee_of(question.id))

    @property
    def protected(self) -> tuple[Question, ...]:
        """Questions whose answers are disguised, in order."""
        return tuple(question for question in self.questions if not question.public)

    @property
    def public(self) -> tuple[Question, ...]:
        """Questions whose answers are sent as they are, in order."""
        return tuple(question for question in self.questions if question.public)

    @property
    def texts(self) -> dict[str, Texts]:
        """All texts of the survey's author, by where they are."""
        own = {"title": self.title, "asker": self.asker, "purpose": self.purpose}
        shown = {} if self.presentation is None else self.presentation.texts
        asked = {f"{q.id}.{name}": text for q in self.questions for name, text in q.texts.items()}
        return own | shown | asked

    @property
    def missing_texts(self) -> dict[str, tuple[str, ...]]:
        """Texts that are missing in some languages, with these languages: there, the first language is shown."""
        missing = {name: tuple(tag for tag in self.languages if tag not in text) for name, text in self.texts.items()}
        return {name: languages for name, languages in missing.items() if languages}

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

    @cached_property
    def definition_hash(self) -> str:
        """Hash of the survey without its admission key, which is drawn anew whenever a definition is frozen."""
        return replace(self, admission=None).hash

    def as_rehearsal(self) -> "Survey":
        """Return the same survey as a rehearsal: a survey of its own, with another hash, for answers that do not count.

        When it is frozen, it gets an admission key of its own.
        """
        return replace(self, rehearsal=True, admission=None)

    @property
    def logo(self) -> Logo | None:
        """Picture of the people who ask."""
        return None if self.presentation is None else self.presentation.logo

    def with_logo(self, content: bytes | None) -> "Survey":
        """Return the survey with the content of its logo, which its document does not hold."""
        if self.presentation is None or self.presentation.logo is None:
            return self
        return replace(
            self, presentation=replace(self.presentation, logo=replace(self.presentation.logo, content=content))
        )

    @property
    def id(self) -> str:
        """First 16 digits of the hash, used in addresses."""
        return self.hash[:16]

    @property
    def default_title(self) -> str:
        """Title in the survey's first language."""
        return self.title[self.languages[0]]


def survey_to_json(survey: Survey) -> dict[str, Any]:
    """Return a survey as JSON: version 1, the bytes of 0.1, if it uses nothing that came later."""
    later = {
        "send_interval": survey.send_interval,
        "admission": None if survey.admission is None else survey.admission.to_json(),
        "presentation": None if survey.presentation is None else survey.presentation.to_json(),
        "rehearsal": survey.rehearsal,
        "weak": survey.weak,
    }
    uses_later = _uses_later(survey)
    version = VERSION if uses_later else 1
    return {
        "version": version,
        **(later if uses_later else {}),
        "title": dict(survey.title),
        "asker": dict(survey.asker),
        "purpose": dict(survey.purpose),
        "contact": survey.contact,
        "languages": list(survey.languages),
        "until": survey.until.isoformat(),
        "invitation": survey.invitation,
        "minimum": survey.minimum,
        "questions": [question.to_json(version) for question in survey.questions],
        "plan": plan_to_json(survey.plan),
    }


def _uses_later(survey: Survey) -> bool:
    """Return whether a survey uses anything that 0.1 did not have."""
    chosen = (survey.send_interval, survey.admission, survey.presentation, survey.rehearsal, survey.weak)
    return (
        any(value not in (0, None) for value in chosen)
        or any(question.uses_version_2 for question in survey.questions)
        or bool(survey.missing_texts)
    )


def survey_from_bytes(document: bytes, expected_hash: str | None = None) -> Survey:
    """Read a frozen survey; refuse another hash, another version, and bytes that are not canonical."""
    actual_hash = sha256(document).hexdigest()
    if expected_hash is not None and expected_hash != actual_hash:
        raise SottovoceError("survey", f"must have the hash of its link, {expected_hash}", actual_hash)
    try:
        entries = json.loads(document)
        survey = _survey_from_json(entries)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as reason:
        if isinstance(reason, SottovoceError):
            raise
        raise SottovoceError("survey", f"must be a complete survey document ({reason!r})", document) from None
    if survey.document != document:
        raise SottovoceError("survey", "must be canonical JSON without other keys", document)
    return survey


def _survey_from_json(entries: Mapping[str, Any]) -> Survey:
    check_version("survey", entries["version"], VERSION)
    version, languages = entries["version"], tuple(entries["languages"])
    later: dict[str, Any] = {
        "send_interval": 0,
        "admission": None,
        "presentation": None,
        "rehearsal": False,
        "weak": False,
    }
    later |= {name: entries[name] for name in later if version > 1}
    return Survey(
        title=texts_from_json(entries["title"], languages),
        asker=texts_from_json(entries["asker"], languages),
        purpose=texts_from_json(entries["purpose"], languages),
        contact=entries["contact"],
        languages=languages,
        until=date.fromisoformat(entries["until"]),
        invitation=entries["invitation"],
        minimum=entries["minimum"],
        questions=tuple(Question.from_json(question, languages, version) for question in entries["questions"]),
        plan=plan_from_json(entries["plan"]),
        send_interval=later["send_interval"],
        admission=None if later["admission"] is None else PublicKey.from_json(later["admission"]),
        presentation=None
        if later["presentation"] is None
        else Presentation.from_json(later["presentation"], languages),
        weak=later["weak"],
        rehearsal=later["rehearsal"],
    )
