"""Counts of disguised reports, drawn for many repetitions at once where the plan allows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.channel.complement import Complement
from sottovoce.disguise.records import disguise_codes
from sottovoce.mechanism.coins import SeededWords
from sottovoce.mine.classify.question import Question, reports_of
from sottovoce.mine.classify.records import Counts, Records
from sottovoce.mine.classify.weights import indicators_of
from sottovoce.mine.classify.whole_record import WholeRecord
from sottovoce.plan.plan import Plan

Drawer = Callable[[Counts], list[Array]]
"""Counts of reports for every question, from counts of records: a column for each repetition."""


@dataclass(frozen=True)
class Tally:
    """Indicators of joint cells, a row for each different record, and the order in which a question has the cells."""

    indicators: Array
    order: NDArray[np.intp]

    def count(self, records: Counts) -> Array:
        """Counts of the cells, from counts of records."""
        return np.asarray(self.indicators.T @ records)


def report_drawer(
    plan: Plan, names: Sequence[str], questions: Sequence[Question], records: Records, rng: np.random.Generator
) -> Drawer:
    """Fastest way there is for a plan; `names` are the records' columns, the class last."""
    channel = plan.channel() if len(plan.groups) == 1 else None
    whole = None if channel is None else WholeRecord.of(channel)
    if whole is not None and whole.by_attribute:
        order = [names.index(name) for name in plan.in_group_order(names)]
        laws = [law for _, law in sorted(zip(order, whole.known, strict=True), key=lambda pair: pair[0])]
        return Replaced(_tallies(records, questions), records.sizes, whole.keep, laws, rng)
    if isinstance(channel, Complement):
        return Turned(_tallies(records, questions), float(channel.keep), rng)
    return RecordByRecord(plan, names, questions, records, rng)


def _tallies(records: Records, questions: Sequence[Question]) -> list[Tally]:
    """Indicators of the class, then of each attribute's values with the class; and where questions have the cells.

    Reports look like the truths, but a channel may have the class before an attribute.
    """
    truth = indicators_of(records.columns[-1:], records.sizes[-1:])
    parts = [truth]
    for codes, size in zip(records.columns[:-1], records.sizes[:-1], strict=True):
        own = indicators_of([codes], [size])
        parts.append((own[:, :, None] * truth[:, None, :]).reshape(len(own), -1))
    return [Tally(part, np.argsort(question.order)) for part, question in zip(parts, questions, strict=True)]


@dataclass(frozen=True)
class Replaced:
    """Whole records are kept, or replaced by ones whose values are independent.

    Given their classes, the counts of values of replaced records are then independent multinomials.
    """

    tallies: list[Tally]
    sizes: tuple[int, ...]
    keep: float
    laws: list[Array]
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Draw all repetitions."""
        kept = self.rng.binomial(training, self.keep)
        replaced = training.sum(axis=0) - kept.sum(axis=0)
        classes = self.rng.multinomial(replaced, self.laws[-1])
        found = [self.tallies[0].count(kept) + classes.T]
        for tally, law in zip(self.tallies[1:], self.laws[:-1], strict=True):
            values = self.rng.multinomial(classes, law)  # repetitions, classes, values
            drawn = np.moveaxis(values, 0, -1).swapaxes(0, 1).reshape(-1, training.shape[1])
            found.append((tally.count(kept) + drawn)[tally.order])
        return found


@dataclass(frozen=True)
class Turned:
    """Whole records of yes and no are kept, or turned round."""

    tallies: list[Tally]
    keep: float
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Draw all repetitions."""
        kept = self.rng.binomial(training, self.keep)
        turned = training - kept
        return [(tally.count(kept) + tally.count(turned)[::-1])[tally.order] for tally in self.tallies]


@dataclass(frozen=True)
class RecordByRecord:
    """Any plan: every record is disguised by itself."""

    plan: Plan
    names: Sequence[str]
    questions: Sequence[Question]
    records: Records
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Draw all repetitions."""
        words = SeededWords(self.rng)
        places = [self.names.index(name) for name in self.plan.schema.names]
        schema = self.plan.report_schema
        everything = range(len(schema.sizes))
        names = reports_of(self.plan, self.names).names
        looked_at = [place for name in names for place in everything[schema.columns_of(name)]]
        drawn: list[list[Counts]] = []
        for counts in training.T:
            truths = [np.repeat(self.records.columns[place], counts) for place in places]
            reports = disguise_codes(truths, self.plan, words)
            drawn.append([question.count([reports[place] for place in looked_at]) for question in self.questions])
        return [np.stack(columns, axis=1).astype(float) for columns in zip(*drawn, strict=True)]
