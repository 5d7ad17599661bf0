"""Questions of a survey: their answers, when they are asked, and what may go together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet

KINDS = ("yes_no", "single", "several", "number", "scale")
SHUFFLED_KINDS = ("yes_no", "single", "several")
"""Kinds whose answers have no order of their own."""

WANTED = ("shares", "mean", "trend")
"""What results of a scale show: the share of each step, also the mean, or also the shares up to each step."""

STEPS = (2, 11)
"""Fewest and most steps of a scale."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of cells that a spreadsheet may take for formulas. No name and no label has one, so no export has."""


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    >>> harmless("=1+1"), harmless("1+1")
    ("'=1+1", '1+1')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


Texts = Mapping[str, str]
"""A text in the survey's languages, by language tag; where one is missing, that of the first language is shown."""


class PartialTexts(dict[str, str]):
    """A text that is missing in some languages, and is looked up there in the first one.

    >>> texts = PartialTexts({"en": "Yes"}, "en")
    >>> texts["de"], list(texts)
    ('Yes', ['en'])
    """

    def __init__(self, texts: Texts, first: str) -> None:
        """Keep the texts and the survey's first language."""
        super().__init__(texts)
        self._first = first

    def __missing__(self, language: str) -> str:
        """Return the text in the first language."""
        return self[self._first]


def texts_from_json(json: Any, languages: Sequence[str]) -> Texts:
    """Return a text in the survey's languages, of which the first must be there; refuse any other language."""
    if not isinstance(json, Mapping) or not json or not all(isinstance(text, str) for text in json.values()):
        raise SottovoceError("text", "must map languages to texts", json)
    if languages[0] not in json or not set(json) <= set(languages):
        raise SottovoceError("text", f"must be in {languages[0]}, and in no language but {', '.join(languages)}", json)
    return dict(json) if len(json) == len(languages) else PartialTexts(json, languages[0])


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
class Matrix:
    """Several scales that are asked together, on one screen: an id, and the text above them."""

    id: str
    text: Texts


@dataclass(frozen=True)
class Question:
    """A question. `decline` is the text for "prefer not to say", `unrelated` the text of a harmless question.

    The answer to a `public` question is sent as it is. `ends` are the texts at the ends of a scale, `limits` the fewest
    and most of several answers that may be chosen.
    """

    id: str
    kind: str
    text: Texts
    answers: tuple[Answer, ...]
    help: Texts | None = None
    bins: Bins | None = None
    decline: Texts | None = None
    when: tuple[Condition, ...] = ()
    unrelated: Texts | None = None
    public: bool = False
    shuffle: bool = False
    limits: tuple[int, int] | None = None
    ends: tuple[Texts, Texts] | None = None
    wanted: str | None = None
    matrix: Matrix | None = None

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

    def full_text(self, language: str) -> str:
        """Return the question in a language; an item of a matrix behind the text of the matrix."""
        return self.text[language] if self.matrix is None else f"{self.matrix.text[language]} {self.text[language]}"

    def words(self, label: str, language: str) -> str:
        """Return a label's text in a language."""
        texts = {answer.id: answer.text[language] for answer in self.answers}
        declined = {} if self.decline is None else {self.labels[len(self.answers)]: self.decline[language]}
        return (texts | declined).get(label, label)

    @property
    def variable(self) -> Attribute | ItemSet:
        """Attribute of the plan: an `ItemSet` for several choices, otherwise an `Attribute`."""
        for cell in (self.id, *self.labels):
            if cell.startswith(FORMULA_STARTS):
                rule = "must not start with = + - @ or a control character: spreadsheets take that for a formula"
                raise SottovoceError("id", rule, cell)
        return ItemSet(self.id, self.labels) if self.kind == "several" else Attribute(self.id, self.labels)

    @property
    def texts(self) -> dict[str, Texts]:
        """All texts, by where they are in the question."""
        optional = {"help": self.help, "decline": self.decline, "unrelated": self.unrelated}
        answers = {f"answers.{answer.id}": answer.text for answer in self.answers}
        ends = {f"ends[{index}]": text for index, text in enumerate(self.ends or ())}
        matrix = {} if self.matrix is None else {"matrix": self.matrix.text}
        given = {name: text for name, text in optional.items() if text is not None}
        return {"text": self.text, **answers, **given, **ends, **matrix}

    @property
    def uses_version_2(self) -> bool:
        """Whether the question has something that documents of version 1 cannot say."""
        return self.public or self.shuffle or self.limits is not None or self.kind == "scale"

    def check(self, earlier: "Sequence[Question]") -> None:
        """Refuse what does not go together, given the questions before this one."""
        for holds, rule in (*_rules_of_conditions(self, earlier), *_rules_of_answers(self)):
            if not holds:
                raise SottovoceError(self.id, rule, self.kind)

    def to_json(self, version: int) -> dict[str, Any]:
        """Return every field as JSON, including the empty ones."""
        later = {
            "public": self.public,
            "shuffle": self.shuffle,
            "limits": None if self.limits is None else list(self.limits),
            "scale": None if self.ends is None else {"ends": [dict(end) for end in self.ends]},
            "wanted": self.wanted,
            "matrix": None if self.matrix is None else {"id": self.matrix.id, "text": dict(self.matrix.text)},
        }
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
            **(later if version > 1 else {}),
        }

    @classmethod
    def from_json(cls, json: Mapping[str, Any], languages: Sequence[str], version: int) -> "Question":
        """Return the question that `to_json` describes."""

        def texts(given: Any) -> Texts:
            return texts_from_json(given, languages)

        def optional(given: Any) -> Texts | None:
            return None if given is None else texts(given)

        bins = json["bins"]
        question = cls(
            id=json["id"],
            kind=json["kind"],
            text=texts(json["text"]),
            answers=tuple(Answer(answer["id"], texts(answer["text"])) for answer in json["answers"]),
            help=optional(json["help"]),
            bins=None if bins is None else Bins(tuple(bins["edges"]), bins["closed"]),
            decline=optional(json["decline"]),
            when=tuple(Condition(c["question"], tuple(c["is"])) for c in json["when"]),
            unrelated=optional(json["unrelated"]),
        )
        if version == 1:
            return question
        limits, scale, matrix = json["limits"], json["scale"], json["matrix"]
        first, last = (None, None) if scale is None else map(texts, scale["ends"])
        return replace(
            question,
            public=json["public"],
            shuffle=json["shuffle"],
            limits=None if limits is None else tuple(limits),
            ends=None if first is None or last is None else (first, last),
            wanted=json["wanted"],
            matrix=None if matrix is None else Matrix(matrix["id"], texts(matrix["text"])),
        )


Rules = list[tuple[bool, str]]


def _rules_of_conditions(question: Question, earlier: Sequence[Question]) -> Rules:
    """Rules of conditions, and of a question whose answer is sent as it is."""
    secret = {other.id for other in earlier if not other.public}
    conditions = not any(condition.question in secret for condition in question.when)
    known = {other.id for other in earlier}
    return [
        (question.kind in KINDS, f"must be one of {', '.join(KINDS)}"),
        (all(condition.question in known for condition in question.when), "must depend on earlier questions only"),
        (isinstance(question.public, bool), "must be public or not"),
        (not question.public or question.kind != "several", "must have one answer to be public"),
        (not question.public or question.matrix is None, "must not be public: it is part of a matrix"),
        (not question.public or question.unrelated is None, "must not be public: it has a harmless question"),
        (not question.public or conditions, "must not be public: it depends on a protected answer"),
    ]


def _rules_of_answers(question: Question) -> Rules:
    """Rules of the answers: their order, how many may be chosen, and the steps of a scale."""
    count, is_scale = len(question.answers), question.kind == "scale"
    steps = [str(step) for step in range(1, count + 1)]
    return [
        (isinstance(question.shuffle, bool), "must be shuffled or not"),
        (not question.shuffle or question.kind in SHUFFLED_KINDS, "must keep the order of its answers"),
        (question.limits is None or _is_limits(question.limits, count), "must have limits that its answers can meet"),
        (question.limits is None or question.kind == "several", "must have several answers to have limits"),
        (is_scale == (question.ends is not None), "must be a scale to have ends"),
        (question.wanted in (WANTED if is_scale else (None,)), "must be a scale to have something wanted of it"),
        (is_scale or question.matrix is None, "must be a scale to be part of a matrix"),
        (question.matrix is None or _is_name(question.matrix.id), "must be part of a matrix with an id"),
        (not is_scale or STEPS[0] <= count <= STEPS[1], f"must have {STEPS[0]} to {STEPS[1]} steps"),
        (not is_scale or [answer.id for answer in question.answers] == steps, "must have steps from 1 on"),
    ]


def _is_limits(limits: tuple[Any, ...], count: int) -> bool:
    if len(limits) != 2 or not all(type(limit) is int for limit in limits):
        return False
    least, most = limits
    return bool(0 <= least <= most <= count and most > 0)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name)


def _distinct(label: str, others: Sequence[str]) -> str:
    """Append stars to a label until it differs from the others."""
    while label in others:
        label += "*"
    return label


def _optional(texts: Texts | None) -> dict[str, str] | None:
    return None if texts is None else dict(texts)
