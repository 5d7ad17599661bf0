"""Repeated experiments on an undisguised table: split, disguise, learn, test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.complement import Complement
from sottovoce.checks import Array, whole_number
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import SeededWords
from sottovoce.mining.classify.coding import check_choices, coded, feature_names
from sottovoce.mining.classify.joint_table import JointTable, Repair, class_tables, report_schema_of
from sottovoce.mining.classify.naive_bayes import indicators_of, naive_bayes_weights
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

Counts = NDArray[np.int64]
Simulator = Callable[[Counts], list[Array]]
"""Simulates counts of reports for every table from counts of records, with a column for each repetition."""

AT_ONCE = 50
"""Repetitions that are held in memory together."""


@dataclass(frozen=True)
class Records:
    """Distinct records of a coded table and their counts; the class is the last column."""

    columns: Columns
    sizes: tuple[int, ...]
    counts: Counts

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> "Records":
        """Count equal records."""
        _, first, counts = np.unique(ravel(columns, sizes), return_index=True, return_counts=True)
        return cls(tuple(codes[first] for codes in columns), tuple(sizes), counts.astype(np.int64))

    @cached_property
    def indicators(self) -> Array:
        """Indicators of the attributes' values (see `indicators_of`)."""
        return indicators_of(self.columns[:-1], self.sizes[:-1])

    def split(self, train: int, repetitions: int, rng: np.random.Generator) -> Counts:
        """Draw training sets without replacement; return counts of records, with a column for each repetition."""
        return np.asarray(rng.multivariate_hypergeometric(self.counts, train, size=repetitions).T)

    def sample(self, train: int, repetitions: int, rng: np.random.Generator) -> Counts:
        """Draw training sets from a population with the frequencies of this table."""
        return np.asarray(rng.multinomial(train, self.counts / self.counts.sum(), size=repetitions).T)


def records_of(table: Any, plan: Plan, label: str) -> Records:
    """Return the records of an undisguised table, attributes in the plan's order and the label last."""
    schema = plan.schema.project([*feature_names(plan, label, None), label])
    return Records.of(coded(table, schema), schema.sizes)


@dataclass(frozen=True)
class Tally:
    """Indicators of joint cells, with a row for each distinct record, and the order of the cells in a joint table."""

    indicators: Array
    order: NDArray[np.intp]

    def count(self, records: Counts) -> Array:
        """Return the counts of the cells, from counts of records."""
        return np.asarray(self.indicators.T @ records)


def report_simulator(
    plan: Plan, names: Sequence[str], tables: Sequence[JointTable], records: Records, rng: np.random.Generator
) -> Simulator:
    """Return the fastest simulator of a plan's reports; `names` are the records' columns, the class last."""
    channel = plan.channel() if len(plan.groups) == 1 else None
    whole = None if channel is None else WholeRecord.of(channel)
    if whole is not None and whole.by_attribute:
        order = [names.index(name) for name in plan.in_group_order(names)]
        known = [shares for _, shares in sorted(zip(order, whole.known, strict=True), key=lambda pair: pair[0])]
        return ReplacedRecords(_tallies(records, tables), whole.keep, known, rng)
    if isinstance(channel, Complement):
        return ComplementedRecords(_tallies(records, tables), float(channel.keep), rng)
    return IndividualRecords(plan, names, tables, records, rng)


def _tallies(records: Records, tables: Sequence[JointTable]) -> list[Tally]:
    """Return indicators of the class, then of each attribute's values with the class, and the order of their cells.

    Reports have the same columns as truths, but a channel may have the class before an attribute.
    """
    truth = indicators_of(records.columns[-1:], records.sizes[-1:])
    parts = [truth]
    for codes, size in zip(records.columns[:-1], records.sizes[:-1], strict=True):
        values = indicators_of([codes], [size])
        parts.append((values[:, :, None] * truth[:, None, :]).reshape(len(values), -1))
    return [Tally(part, np.argsort(table.order)) for part, table in zip(parts, tables, strict=True)]


@dataclass(frozen=True)
class ReplacedRecords:
    """Simulates plans that keep whole records or replace them by ones whose values are independent.

    Given their classes, the counts of the values of replaced records are then independent multinomials.
    """

    tallies: list[Tally]
    keep: float
    known: list[Array]
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Simulate all repetitions."""
        kept = self.rng.binomial(training, self.keep)
        replaced = training.sum(axis=0) - kept.sum(axis=0)
        classes = self.rng.multinomial(replaced, self.known[-1])
        counts = [self.tallies[0].count(kept) + classes.T]
        for tally, shares in zip(self.tallies[1:], self.known[:-1], strict=True):
            values = self.rng.multinomial(classes, shares)  # repetitions, classes, values
            drawn = np.moveaxis(values, 0, -1).swapaxes(0, 1).reshape(-1, training.shape[1])
            counts.append((tally.count(kept) + drawn)[tally.order])
        return counts


@dataclass(frozen=True)
class ComplementedRecords:
    """Simulates plans that keep whole records of yes and no, or replace them by their complements."""

    tallies: list[Tally]
    keep: float
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Simulate all repetitions."""
        kept = self.rng.binomial(training, self.keep)
        complemented = training - kept
        return [(tally.count(kept) + tally.count(complemented)[::-1])[tally.order] for tally in self.tallies]


@dataclass(frozen=True)
class IndividualRecords:
    """Simulates any plan by disguising every record."""

    plan: Plan
    names: Sequence[str]
    tables: Sequence[JointTable]
    records: Records
    rng: np.random.Generator

    def __call__(self, training: Counts) -> list[Array]:
        """Simulate all repetitions."""
        words = SeededWords(self.rng)
        order = [self.names.index(name) for name in self.plan.schema.names]
        schema = self.plan.report_schema
        indices = range(len(schema.sizes))
        names = report_schema_of(self.plan, self.names).names
        used = [index for name in names for index in indices[schema.columns_of(name)]]
        simulated: list[list[Counts]] = []
        for counts in training.T:
            truths = [np.repeat(self.records.columns[index], counts) for index in order]
            reports = disguise_codes(truths, self.plan, words)
            simulated.append([table.count([reports[index] for index in used]) for table in self.tables])
        return [np.stack(columns, axis=1).astype(float) for columns in zip(*simulated, strict=True)]


@dataclass(frozen=True)
class Trial:
    """An experiment: `train` records for learning, the others for testing, drawn anew for every repetition.

    With `population` the training records are a random sample from the table's distribution, and the whole table tests.
    """

    records: Records
    train: int
    population: bool = False
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        """Check that there is something to learn from, and to test."""
        whole_number("train", self.train, most=None if self.population else int(self.records.counts.sum()) - 1)

    def accuracies(
        self, plan: Plan, label: str, repetitions: int, rng: np.random.Generator, repairs: Sequence[Repair] = ("em",)
    ) -> Array:
        """Return the accuracy on the undisguised test records for each repair (a row each) and repetition.

        All repairs use the same reports. The records' attributes are in the order of the plan, the label last.
        """
        check_choices("repairs", repairs, get_args(Repair))
        names = feature_names(plan, label, None)
        tables = class_tables(plan, names, label)
        simulate = report_simulator(plan, [*names, label], tables, self.records, rng)
        parts = []
        for start in range(0, whole_number("repetitions", repetitions), AT_ONCE):
            draw = self.records.sample if self.population else self.records.split
            training = draw(self.train, min(AT_ONCE, repetitions - start), rng)
            counts = simulate(training)
            parts.append([self._accuracy(tables, counts, training, repair) for repair in repairs])
        return np.concatenate(parts, axis=1)

    def _accuracy(self, tables: Sequence[JointTable], counts: list[Array], training: Counts, repair: Repair) -> Array:
        weights = naive_bayes_weights(tables, counts, repair, self.smoothing)
        right = weights.predict(self.records.indicators) == self.records.columns[-1][:, None]
        testing = self.records.counts[:, None] - (0 if self.population else training)
        return np.asarray((right * testing).sum(axis=0) / testing.sum(axis=0))


def undisguised_plan(schema: Schema) -> Plan:
    """Return a plan that disguises nothing."""
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def undisguised_accuracy(records: Records, plan: Plan, label: str) -> float:
    """Return the accuracy of the classifier that learned from the whole undisguised table."""
    trial = Trial(records, int(records.counts.sum()), population=True)
    return float(trial.accuracies(undisguised_plan(plan.schema), label, 1, np.random.default_rng(0), ("em",))[0, 0])
