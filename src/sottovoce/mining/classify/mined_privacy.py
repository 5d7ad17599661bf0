"""Privacy of each entry of a record given its report, before and after a naive Bayes classifier was mined."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.measures.entries import (
    entry_privacy,
    literal_privacy,
    privacy_after_mining,
    recoverability_known,
    recoverability_unknown,
)
from sottovoce.measures.matrices import conditional
from sottovoce.mining.classify.joint_table import JointTable, reconstruct
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import unravel

MOST_CELLS = 1024
"""Joint records of a plan whose channel is written out as a matrix, to condition on whole reports."""

Distributions = Sequence[Array]
"""Of the class, then of each attribute with the class."""


def entries_after_mining(
    plan: Plan, names: Sequence[str], distributions: Distributions
) -> tuple[dict[str, float], str]:
    """Return the privacy of each entry after mining, the class last, and the evidence it is conditioned on."""
    channel = plan.channel(names)
    sizes = [len(table) for table in (*distributions[1:], distributions[0])]
    whole = WholeRecord.of(channel)
    if whole is not None and whole.enumerated is not None:
        order = [names.index(name) for name in plan.in_group_order(names)]
        columns, drawn = whole.enumerated
        codes = dict(zip(order, columns, strict=True))
        records = _record_distribution(distributions, [codes[index] for index in range(len(names))])
        private = [_entry_left(whole.keep, records, drawn, codes[index], size) for index, size in enumerate(sizes)]
        return dict(zip(names, private, strict=True)), "whole report"
    if prod(sizes) <= MOST_CELLS and channel.n_out <= MOST_CELLS:
        cells = unravel(np.arange(prod(sizes)), sizes)
        records = _record_distribution(distributions, cells)
        matrix = channel.dense()[:, plan.cell_order(names)]
        private = [float(privacy_after_mining(matrix, records, sizes, entry)) for entry in range(len(sizes))]
        return dict(zip(names, private, strict=True)), "whole report"
    return _after_pairs(plan, names, distributions), "reports of the entry and one other"


def _record_distribution(distributions: Distributions, columns: Sequence[Any]) -> Array:
    """Return `P(c) prod P(a | c)` of records whose class comes last."""
    shares = distributions[0][columns[-1]]
    for table, codes in zip(distributions[1:], columns[:-1], strict=True):
        shares = shares * conditional(table.T).T[codes, columns[-1]]
    return np.asarray(shares / shares.sum())


def _entry_left(keep: float, records: Array, drawn: Array, codes: Any, size: int) -> float:
    """Return `sum_y P(y) (1 - sum_o P(o | y)^2)`, with `P(o, y) = keep p(y) [o = y_e] + (1 - keep) q(y) p_e(o)`."""
    marginal = np.bincount(codes, weights=records, minlength=size)
    true, replaced = keep * records, (1 - keep) * drawn
    squares = true**2 + 2 * true * replaced * marginal[codes] + replaced**2 * (marginal**2).sum()
    return float(1 - np.divide(squares, true + replaced, out=np.zeros_like(records), where=true + replaced > 0).sum())


def _after_pairs(plan: Plan, names: Sequence[str], distributions: Distributions) -> dict[str, float]:
    """Return privacy given the reports of an attribute and the class: an upper bound, other reports may say more."""
    private = dict.fromkeys(names, 1.0)
    for name, table in zip(names[:-1], distributions[1:], strict=True):
        pair = [name, names[-1]]
        matrix = plan.channel(pair).dense()[:, plan.cell_order(pair)]
        for index, entry in enumerate(pair):
            after = float(privacy_after_mining(matrix, table.ravel(), table.shape, index))
            private[entry] = min(private[entry], after)
    return private


@dataclass(frozen=True)
class EntryPrivacy:
    """Probability that a guess drawn from the posterior distribution of one entry is wrong.

    `before` is given the entry's own report; `after` given all that `evidence` names, for someone who knows the
    classifier. `literal_known` and `literal_unknown` are the paper's `PSE - REC` in its scenarios I and II: they may be
    negative, and II is None if reports and truths do not have the same values.
    """

    name: str
    before: float
    after: float
    evidence: str
    literal_known: float
    literal_unknown: float | None


@dataclass(frozen=True, repr=False)
class MinedPrivacy:
    """Privacy of every entry, the least before and after mining, and the odds of the whole record."""

    entries: tuple[EntryPrivacy, ...]
    guarantee: Guarantee

    @property
    def before(self) -> float:
        """Least privacy before mining (Zhan & Matwin 2006, 4)."""
        return min(entry.before for entry in self.entries)

    @property
    def after(self) -> float:
        """Least privacy after mining."""
        return min(entry.after for entry in self.entries)

    def to_json(self) -> dict[str, Any]:
        """Return everything, for programs; unbounded odds are null."""
        promise = {"odds": self.guarantee.exact, "in_words": str(self.guarantee)}
        entries = [asdict(entry) for entry in self.entries]
        return {"before": self.before, "after": self.after, "whole_record": promise, "entries": entries}

    def __str__(self) -> str:
        """Return the least privacy, and the odds, which it does not imply."""
        return f"{self._least}\nodds of the whole record: {self.guarantee}"

    def __repr__(self) -> str:
        """Summarize in one line."""
        return f"<MinedPrivacy: {self._least}; odds {self.guarantee}>"

    def _repr_html_(self) -> str:
        rows = [(entry.name, entry.before, entry.after, entry.evidence) for entry in self.entries]
        columns = ("entry", "before mining", "after mining", "given")
        return html_table("Privacy of entries", columns, rows, str(self).splitlines())

    @property
    def _least(self) -> str:
        return f"least privacy of an entry: {self.before:.4f} before mining, {self.after:.4f} after"


def mined_privacy(classifier: NaiveBayes) -> MinedPrivacy:
    """Return the privacy of a respondent like those the classifier was learned from (Zhan & Matwin 2006, 4).

    After mining the adversary knows the classifier's distribution of whole records, `P(c) prod P(a | c)`, and the whole
    report; if there are too many joint records for that, the reports of the entry and one other (see `evidence`).

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
    names, label = classifier._features(), classifier._label()
    _check_divisible(plan, [*names, label])
    tables, counts = classifier.tables_, classifier.counts_
    joint = [_distribution(table, count) for table, count in zip(tables, counts, strict=True)]
    reported = [_reported(table, count) for table, count in zip(tables[1:], counts[1:], strict=True)]
    priors = dict(zip([*names, label], [table.sum(axis=1) for table in joint[1:]] + [joint[0]], strict=True))
    after, evidence = entries_after_mining(plan, [*names, label], joint)
    entries = []
    for name, prior in priors.items():
        rules = [
            (table, reports) if name == label else (table.T, None if reports is None else reports.T)
            for other, table, reports in zip(names, joint[1:], reported, strict=True)
            if name in (other, label)
        ]
        channel = plan.channel([name]).dense()
        before = float(entry_privacy(channel, prior))
        entries.append(EntryPrivacy(name, before, after[name], evidence, *_literal(before, channel * prior, rules)))
    return MinedPrivacy(tuple(entries), plan.guarantee)


def divisible(plan: Plan, names: Sequence[str]) -> bool:
    """Whether every attribute has a report of its own."""
    return all(len(needed_attributes(plan, [name])) == 1 for name in names)


def _check_divisible(plan: Plan, names: Sequence[str]) -> None:
    if not divisible(plan, names):
        rule = "must give every attribute a report of its own, for the privacy of single entries"
        raise SottovoceError("plan", rule, Words(", ".join(group.scheme for group in plan.groups)))


def _distribution(table: JointTable, counts: Any) -> Array:
    total = int(counts.sum())
    distribution, _ = reconstruct(table.channel, (counts / total)[:, None], total, "em")
    return np.asarray(table.table(distribution)[..., 0])


def _reported(table: JointTable, counts: Any) -> Array | None:
    """Return the table of the reports themselves, or None if they do not have the values of the truths."""
    if table.channel.shape_out != table.channel.shape_in:
        return None
    return np.asarray(table.table((counts / counts.sum())[:, None])[..., 0])


def _literal(before: float, joint: Array, rules: Sequence[tuple[Array, Array | None]]) -> tuple[float, float | None]:
    """Return the paper's scenarios I and II, from true and reported tables of each other attribute with the entry."""
    known = [recoverability_known(table.sum(axis=1), conditional(table)) for table, _ in rules]
    unknown = _unknown(joint, [reports for _, reports in rules])
    left = None if unknown is None else float(literal_privacy(before, unknown))
    return float(literal_privacy(before, known)), left


def _unknown(joint: Array, reported: Sequence[Array | None]) -> list[float] | None:
    """Return scenario II of every rule, from P(report, original) of the entry and the tables of reports."""
    if joint.shape[0] != joint.shape[1]:
        return None
    correct = np.diag(joint) / np.maximum(joint.sum(axis=1), 1e-300)
    return [recoverability_unknown(conditional(table), correct) for table in reported if table is not None]
