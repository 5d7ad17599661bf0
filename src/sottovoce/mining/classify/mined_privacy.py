"""Privacy of each entry given a report, before and after a naive Bayes classifier was mined."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.measures.entry_privacy import (
    entry_privacy,
    literal_privacy,
    privacy_after_mining,
    recoverability_known,
    recoverability_unknown,
)
from sottovoce.measures.matrices import conditional
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.mining.classify.question import Question, reconstructed
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import unravel

MOST_CELLS = 1024
"""Joint records of a plan whose channel is written out to find what a whole report tells."""

Laws = Sequence[Array]
"""Of the class, then of each attribute with the class."""


def entries_after_mining(plan: Plan, names: Sequence[str], laws: Laws) -> tuple[dict[str, float], str]:
    """Privacy of each entry after mining, the class last, and from what evidence."""
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
    return _after_pairs(plan, names, laws), "reports of the entry and one other"


def _record_law(laws: Laws, columns: Sequence[Any]) -> Array:
    """`P(c) prod P(a | c)` of records whose class comes last."""
    law = laws[0][columns[-1]]
    for table, codes in zip(laws[1:], columns[:-1], strict=True):
        law = law * conditional(table.T).T[codes, columns[-1]]
    return np.asarray(law / law.sum())


def _left(keep: float, law: Array, drawn: Array, codes: Any, size: int) -> float:
    """`sum_y P(y) (1 - sum_o P(o | y)^2)`, with `P(o, y) = keep p(y) [o = y_e] + (1 - keep) q(y) p_e(o)`."""
    own = np.bincount(codes, weights=law, minlength=size)
    true, replaced = keep * law, (1 - keep) * drawn
    squares = true**2 + 2 * true * replaced * own[codes] + replaced**2 * (own**2).sum()
    return float(1 - np.divide(squares, true + replaced, out=np.zeros_like(law), where=true + replaced > 0).sum())


def _after_pairs(plan: Plan, names: Sequence[str], laws: Laws) -> dict[str, float]:
    """From the reports of an attribute and the class: an upper bound, since the other reports may tell more."""
    left = dict.fromkeys(names, 1.0)
    for name, law in zip(names[:-1], laws[1:], strict=True):
        pair = [name, names[-1]]
        matrix = plan.channel(pair).dense()[:, plan.cell_order(pair)]
        for entry, one in enumerate(pair):
            found = float(privacy_after_mining(matrix, law.ravel(), law.shape, entry))
            left[one] = min(left[one], found)
    return left


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

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.plans.budget import new_plan
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
