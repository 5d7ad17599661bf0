"""What a naive Bayes classifier and a report leave private of each entry: before mining, and after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.measure.entry import entry_privacy
from sottovoce.measure.recoverability import literal_privacy, recoverability_known, recoverability_unknown
from sottovoce.mine.classify.after_mining import conditional, entries_after_mining
from sottovoce.mine.classify.laws import reconstructed
from sottovoce.mine.classify.naive_bayes import NaiveBayes
from sottovoce.mine.classify.question import Question
from sottovoce.plan.guarantee import Guarantee


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
        odds = self.guarantee.odds
        promise = {"odds": None if odds is None else str(odds), "in_words": str(self.guarantee)}
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
    names, target = classifier._features(), classifier._target()
    questions, counts = classifier.questions_, classifier.counts_
    laws = [_law(question, counted) for question, counted in zip(questions, counts, strict=True)]
    seen = [_seen(question, counted) for question, counted in zip(questions[1:], counts[1:], strict=True)]
    priors = dict(zip([*names, target], [law.sum(axis=1) for law in laws[1:]] + [laws[0]], strict=True))
    plan = classifier._agreed_plan()
    channels = {name: plan.channel([name]).dense() for name in priors}
    after, evidence = entries_after_mining(plan, [*names, target], laws)
    entries = []
    for name, prior in priors.items():
        before = float(entry_privacy(channels[name], prior))
        rules = [
            (law, reports) if name == target else (law.T, None if reports is None else reports.T)
            for other, law, reports in zip(names, laws[1:], seen, strict=True)
            if name in (other, target)
        ]
        known = [recoverability_known(law.sum(axis=1), conditional(law)) for law, _ in rules]
        unknown = _unknown(channels[name] * prior, [reports for _, reports in rules])
        literal = None if unknown is None else float(literal_privacy(before, unknown))
        entries.append(
            EntryPrivacy(name, before, after[name], evidence, float(literal_privacy(before, known)), literal)
        )
    return MinedPrivacy(tuple(entries), plan.guarantee)


def _law(question: Question, counts: Any) -> Array:
    total = int(counts.sum())
    law, _ = reconstructed(question.channel, (counts / total)[:, None], total, "em")
    return np.asarray(question.table(law)[..., 0])


def _seen(question: Question, counts: Any) -> Array | None:
    """Table of the reports themselves, where they look like truths."""
    if question.channel.shape_out != question.channel.shape_in:
        return None
    return np.asarray(question.table((counts / counts.sum())[:, None])[..., 0])


def _unknown(together: Array, seen: Sequence[Array | None]) -> list[float] | None:
    """Scenario II of every rule, from P(report, original) of the entry and the tables of reports."""
    if together.shape[0] != together.shape[1]:
        return None
    correct = np.diag(together) / np.maximum(together.sum(axis=1), 1e-300)
    return [recoverability_unknown(conditional(table), correct) for table in seen if table is not None]
