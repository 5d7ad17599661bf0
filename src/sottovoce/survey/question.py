"""A question: what is asked, what may be answered, when it is asked, and its attribute in the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.variable import Variable

KINDS = ("yes_no", "single", "several", "number")

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How cells begin that a spreadsheet might run: no exported header or cell does, for no name does."""

Texts = Mapping[str, str]
"""One text in each of the survey's languages, by language tag."""


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
