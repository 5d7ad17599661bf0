"""What a naive Bayes classifier and a report leave private of each entry: before mining, and after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.measure.entry import entry_privacy
from sottovoce.measure.matrices import conditional
from sottovoce.measure.recoverability import literal_privacy, recoverability_known, recoverability_unknown
from sottovoce.mine.classify.after_mining import entries_after_mining
from sottovoce.mine.classify.laws import reconstructed
from sottovoce.mine.classify.naive_bayes import NaiveBayes
from sottovoce.mine.classify.question import Question
from sottovoce.plan.guarantee import Guarantee
from sottovoce.plan.plan import Plan


@dataclass(frozen=True)
class EntryPrivacy:
    """Probability that a guess drawn from the posterior is wrong about one entry.

    `before` from its own report; `after` from all that `evidence` names, by someone who mined the classifier: the sound
    form. `literal_known` and `literal_unknown` are the paper's `PSE - REC` in its scenarios I and II: they may be
    negative, and II is None where reports do not look like truths.
    """

    name: str
    before: float
    after: float
    evidence: str
    literal_known: float
    literal_unknown: float | None


@dataclass(frozen=True)
class MinedPrivacy:
    """Privacy of every entry, the least of each, and the odds that the design really gives."""

    entries: tuple[EntryPrivacy, ...]
    guarantee: Guarantee

    @property
    def before(self) -> float:
        """Least privacy before mining: the group's (Zhan & Matwin 2006, 4)."""
        return min(entry.before for entry in self.entries)

    @property
    def after(self) -> float:
        """Least privacy after mining."""
        return min(entry.after for entry in self.entries)

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs; unbounded odds are null."""
        promise = {"odds": self.guarantee.exact, "in_words": str(self.guarantee)}
        entries = [asdict(entry) for entry in self.entries]
        return {"before": self.before, "after": self.after, "whole_record": promise, "entries": entries}

    def __str__(self) -> str:
        """Two lines: the paper's measure, and what it does not say."""
        measure = f"least privacy of an entry: {self.before:.4f} before mining, {self.after:.4f} after"
        return f"{measure}\nodds of the whole record: {self.guarantee}"


def mined_privacy(classifier: NaiveBayes) -> MinedPrivacy:
    """Privacy that is left to a respondent of the kind the classifier was learned from (Zhan & Matwin 2006, 4).

    After mining the adversary knows the classifier's law of whole records, `P(c) prod P(a | c)`, and the whole report;
    where records are too many for that, the reports of the entry and one other (see `evidence`).

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.plan.budget import new_plan
    >>> plan = new_plan(Schema([boolean("smokes"), boolean("ill")]), odds=9)
    >>> reports = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 350 + [False] * 500 + [True] * 150}
    >>> print(mined_privacy(NaiveBayes(plan, "ill").fit(reports)))
    least privacy of an entry: 0.3750 before mining, 0.3000 after
    odds of the whole record: 9 : 1 (epsilon 2.19723)
    """
    if not isinstance(classifier, NaiveBayes):
        raise SottovoceError("classifier", "must be a NaiveBayes", Words(type(classifier).__name__))
    plan = classifier._agreed_plan()
    names, target = classifier._features(), classifier._target()
    _check_divisible(plan, [*names, target])
    questions, counts = classifier.questions_, classifier.counts_
    laws = [_law(question, counted) for question, counted in zip(questions, counts, strict=True)]
    seen = [_seen(question, counted) for question, counted in zip(questions[1:], counts[1:], strict=True)]
    priors = dict(zip([*names, target], [law.sum(axis=1) for law in laws[1:]] + [laws[0]], strict=True))
    after, evidence = entries_after_mining(plan, [*names, target], laws)
    entries = []
    for name, prior in priors.items():
        rules = [
            (law, reports) if name == target else (law.T, None if reports is None else reports.T)
            for other, law, reports in zip(names, laws[1:], seen, strict=True)
            if name in (other, target)
        ]
        channel = plan.channel([name]).dense()
        before = float(entry_privacy(channel, prior))
        entries.append(EntryPrivacy(name, before, after[name], evidence, *_literal(before, channel * prior, rules)))
    return MinedPrivacy(tuple(entries), plan.guarantee)


def divisible(plan: Plan, names: Sequence[str]) -> bool:
    """Whether every attribute has a report of its own, from which it can be guessed before mining."""
    return all(len(needed_attributes(plan, [name])) == 1 for name in names)


def _check_divisible(plan: Plan, names: Sequence[str]) -> None:
    if not divisible(plan, names):
        rule = "must give every attribute a report of its own, for the privacy of single entries"
        raise SottovoceError("plan", rule, Words(", ".join(group.scheme for group in plan.groups)))


def _law(question: Question, counts: Any) -> Array:
    total = int(counts.sum())
    law, _ = reconstructed(question.channel, (counts / total)[:, None], total, "em")
    return np.asarray(question.table(law)[..., 0])


def _seen(question: Question, counts: Any) -> Array | None:
    """Table of the reports themselves, where they look like truths."""
    if question.channel.shape_out != question.channel.shape_in:
        return None
    return np.asarray(question.table((counts / counts.sum())[:, None])[..., 0])


def _literal(before: float, together: Array, rules: Sequence[tuple[Array, Array | None]]) -> tuple[float, float | None]:
    """The paper's scenarios I and II, from the law and the reports of the entry (last) with each other attribute."""
    known = [recoverability_known(law.sum(axis=1), conditional(law)) for law, _ in rules]
    unknown = _unknown(together, [reports for _, reports in rules])
    left = None if unknown is None else float(literal_privacy(before, unknown))
    return float(literal_privacy(before, known)), left


def _unknown(together: Array, seen: Sequence[Array | None]) -> list[float] | None:
    """Scenario II of every rule, from P(report, original) of the entry and the tables of reports."""
    if together.shape[0] != together.shape[1]:
        return None
    correct = np.diag(together) / np.maximum(together.sum(axis=1), 1e-300)
    return [recoverability_unknown(conditional(table), correct) for table in seen if table is not None]
