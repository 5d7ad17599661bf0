"""What a naive Bayes classifier and a report leave private of each entry: before mining, and after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.measure.entry import entry_privacy, privacy_after_mining
from sottovoce.measure.recoverability import literal_privacy, recoverability_known, recoverability_unknown
from sottovoce.mine.classify.laws import reconstructed
from sottovoce.mine.classify.naive_bayes import NaiveBayes
from sottovoce.mine.classify.question import Question
from sottovoce.mine.classify.whole_record import WholeRecord
from sottovoce.plan.guarantee import Guarantee
from sottovoce.schema.cells import unravel

MOST_CELLS = 1024
"""Joint records of a plan whose channel is written out to find what a whole report tells."""


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
    after, evidence = _after(classifier, laws)
    entries = []
    for name, prior in priors.items():
        before = float(entry_privacy(channels[name], prior))
        rules = [
            (law, reports) if name == target else (law.T, None if reports is None else reports.T)
            for other, law, reports in zip(names, laws[1:], seen, strict=True)
            if name in (other, target)
        ]
        known = [recoverability_known(law.sum(axis=1), _conditional(law)) for law, _ in rules]
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
    return [recoverability_unknown(_conditional(table), correct) for table in seen if table is not None]


def _conditional(table: Array) -> Array:
    rows = table.sum(axis=1, keepdims=True)
    return np.asarray(np.clip(np.divide(table, rows, out=np.zeros_like(table), where=rows > 0), 0, 1))


def _after(classifier: NaiveBayes, laws: Sequence[Array]) -> tuple[dict[str, float], str]:
    """Privacy of each entry after mining, and from what evidence."""
    plan, names = classifier._agreed_plan(), [*classifier._features(), classifier._target()]
    channel, sizes = plan.channel(names), [len(law) for law in (*laws[1:], laws[0])]
    whole = WholeRecord.of(channel)
    if whole is not None and whole.listed is not None:
        order = [names.index(name) for name in plan.in_group_order(names)]
        columns, drawn = whole.listed
        placed = dict(zip(order, columns, strict=True))
        together = _record_law(laws, [placed[place] for place in range(len(names))])
        left = [_left(whole.keep, together, drawn, placed[place], size) for place, size in enumerate(sizes)]
        return dict(zip(names, left, strict=True)), "whole report"
    if prod(sizes) <= MOST_CELLS and channel.n_out <= MOST_CELLS:
        cells = unravel(np.arange(prod(sizes)), sizes)
        law = _record_law(laws, cells)
        matrix = channel.dense()[:, plan.cell_order(names)]
        left = [float(privacy_after_mining(matrix, law, sizes, entry)) for entry in range(len(sizes))]
        return dict(zip(names, left, strict=True)), "whole report"
    return _after_pairs(classifier, names, laws), "reports of the entry and one other"


def _record_law(laws: Sequence[Array], columns: Sequence[Any]) -> Array:
    """`P(c) prod P(a | c)` of records whose class comes last."""
    law = laws[0][columns[-1]]
    for table, codes in zip(laws[1:], columns[:-1], strict=True):
        law = law * _conditional(table.T).T[codes, columns[-1]]
    return np.asarray(law / law.sum())


def _left(keep: float, law: Array, drawn: Array, codes: Any, size: int) -> float:
    """`sum_y P(y) (1 - sum_o P(o | y)^2)`, with `P(o, y) = keep p(y) [o = y_e] + (1 - keep) q(y) p_e(o)`."""
    own = np.bincount(codes, weights=law, minlength=size)
    true, replaced = keep * law, (1 - keep) * drawn
    squares = true**2 + 2 * true * replaced * own[codes] + replaced**2 * (own**2).sum()
    return float(1 - np.divide(squares, true + replaced, out=np.zeros_like(law), where=true + replaced > 0).sum())


def _after_pairs(classifier: NaiveBayes, names: Sequence[str], laws: Sequence[Array]) -> dict[str, float]:
    """From the reports of an attribute and the class: an upper bound, since the other reports may tell more."""
    left = dict.fromkeys(names, 1.0)
    plan = classifier._agreed_plan()
    for name, law in zip(names[:-1], laws[1:], strict=True):
        pair = [name, names[-1]]
        matrix = plan.channel(pair).dense()[:, plan.cell_order(pair)]
        for entry, one in enumerate(pair):
            found = float(privacy_after_mining(matrix, law.ravel(), law.shape, entry))
            left[one] = min(left[one], found)
    return left
