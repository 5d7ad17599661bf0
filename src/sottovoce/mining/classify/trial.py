"""Repeated experiments on a table in clear: split, disguise, learn, test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.channels.complement import Complement
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import SeededWords
from sottovoce.mining.classify.coding import checked_choices, checked_count, coded, feature_names
from sottovoce.mining.classify.naive_bayes import indicators_of, naive_bayes_weights
from sottovoce.mining.classify.question import Question, Repair, pair_questions, reports_of
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

Counts = NDArray[np.int64]
Drawer = Callable[[Counts], list[Array]]
"""Counts of reports for every question, from counts of records: a column for each repetition."""
AT_ONCE = 50
"""Repetitions that are held in memory together."""


@dataclass(frozen=True)
class Records:
    """Different records of a coded table and how many there are of each; the class is the last column."""

    columns: Columns
    sizes: tuple[int, ...]
    counts: Counts

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> "Records":
        """Put equal records together."""
        _, first, counts = np.unique(ravel(columns, sizes), return_index=True, return_counts=True)
        return cls(tuple(codes[first] for codes in columns), tuple(sizes), counts.astype(np.int64))

    @cached_property
    def indicators(self) -> Array:
        """Indicators of the attributes' values."""
        return indicators_of(self.columns[:-1], self.sizes[:-1])

    def split(self, train: int, repetitions: int, rng: np.random.Generator) -> Counts:
        """Counts of the records in a training set of this size, drawn without replacement: a column a repetition."""
        return np.asarray(rng.multivariate_hypergeometric(self.counts, train, size=repetitions).T)

    def sample(self, train: int, repetitions: int, rng: np.random.Generator) -> Counts:
        """The same, of people from a population in which records are as frequent as here."""
        return np.asarray(rng.multinomial(train, self.counts / self.counts.sum(), size=repetitions).T)


def records_of(table: Any, plan: Plan, target: str) -> Records:
    """Records of a table in clear, attributes in the plan's order and the target behind them."""
    schema = plan.schema.project([*feature_names(plan, target, None), target])
    return Records.of(coded(table, schema), schema.sizes)


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


@dataclass(frozen=True)
class Trial:
    """An experiment: so many records for learning, the others for testing, both drawn anew for every repetition.

    As a `population`, the table gives people to learn from as often as they are drawn, and is all of it the test.
    """

    records: Records
    train: int
    population: bool = False
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        """Check that there is something to learn from, and to test."""
        checked_count("train", self.train, np.inf if self.population else int(self.records.counts.sum()) - 1)

    def accuracies(
        self, plan: Plan, target: str, repetitions: int, rng: np.random.Generator, repairs: Sequence[Repair] = ("em",)
    ) -> Array:
        """Accuracy on the test records, in clear, for each repair (a row each) and repetition.

        The repairs see the same reports. The records' attributes stand in the order of the plan, the target last.
        """
        checked_choices("repairs", repairs, get_args(Repair))
        names = feature_names(plan, target, None)
        questions = pair_questions(plan, names, target)
        drawer = report_drawer(plan, [*names, target], questions, self.records, rng)
        parts = []
        for start in range(0, checked_count("repetitions", repetitions), AT_ONCE):
            draw = self.records.sample if self.population else self.records.split
            training = draw(self.train, min(AT_ONCE, repetitions - start), rng)
            counts = drawer(training)
            parts.append([self._tested(questions, counts, training, repair) for repair in repairs])
        return np.concatenate(parts, axis=1)

    def _tested(self, questions: Sequence[Question], counts: list[Array], training: Counts, repair: Repair) -> Array:
        weights = naive_bayes_weights(questions, counts, repair, self.smoothing)
        right = weights.predict(self.records.indicators) == self.records.columns[-1][:, None]
        testing = self.records.counts[:, None] - (0 if self.population else training)
        return np.asarray((right * testing).sum(axis=0) / testing.sum(axis=0))


def undisguised_plan(schema: Schema) -> Plan:
    """Plan that keeps everything."""
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def undisguised_accuracy(records: Records, plan: Plan, target: str) -> float:
    """Accuracy of the classifier that learned the whole table in clear."""
    clear = Trial(records, int(records.counts.sum()), population=True)
    return float(clear.accuracies(undisguised_plan(plan.schema), target, 1, np.random.default_rng(0), ("em",))[0, 0])
