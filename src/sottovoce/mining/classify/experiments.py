"""Experiments with classifiers: repeated disguises of a table, split by split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.complement import Complement
from sottovoce.checks import Array, Progress, number, whole_number
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.presentation import ResultTable
from sottovoce.mechanisms.coins import Randomness, SeededWords
from sottovoce.mining.classify.coding import check_choices, coded, feature_names
from sottovoce.mining.classify.joint_table import JointTable, Repair, class_tables, report_schema_of
from sottovoce.mining.classify.naive_bayes import indicators_of, naive_bayes_weights
from sottovoce.mining.classify.whole_record import WholeRecord
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.tables.figures import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Counts = NDArray[np.int64]
Simulator = Callable[[Counts], list[Array]]
"""Simulates counts of reports for every table from counts of records, with a column for each repetition."""

AT_ONCE = 50
"""Repetitions that are held in memory together."""
TRAINING_SHARE = 0.8
"""Share of a table that is learned from; the rest tests."""

FEWEST = 50
"""Respondents that a search starts with."""


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


@dataclass(frozen=True, repr=False)
class LearningCurve(ResultTable):
    """Mean and standard deviation of the accuracy at each point, for each repair, and the undisguised accuracy."""

    along: str
    points: tuple[float, ...]
    repairs: tuple[Repair, ...]
    mean: Array
    deviation: Array
    undisguised: float
    repetitions: int

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each point and repair."""
        return [
            {
                self.along: point,
                "repair": repair,
                "accuracy": float(self.mean[r, p]),
                "standard_deviation": float(self.deviation[r, p]),
                "undisguised": self.undisguised,
            }
            for r, repair in enumerate(self.repairs)
            for p, point in enumerate(self.points)
        ]

    @property
    def headline(self) -> str:
        """Summary in one line."""
        return f"accuracy by {self.along}, mean of {self.repetitions} repetitions, undisguised {self.undisguised:.4f}"

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the means with a standard deviation either way, and the undisguised accuracy as a line."""
        drawn = axes or new_axes(7, 4.5)
        for colour, repair, mean, deviation in zip(
            (ACCENT, WARNING, INK), self.repairs, self.mean, self.deviation, strict=False
        ):
            drawn.fill_between(self.points, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
            drawn.plot(self.points, mean, color=colour, marker="o", markersize=4, label=repair)
        drawn.axhline(self.undisguised, color=INK, linewidth=0.8, linestyle="--", label="undisguised")
        if self.along == "respondents":
            drawn.set_xscale("log")
        drawn.set_xlabel(self.along)
        drawn.set_ylabel(f"accuracy, mean of {self.repetitions} repetitions")
        drawn.legend(frameon=False)
        return drawn


def accuracy_by_plan(
    table: Any,
    label: str,
    plans: Mapping[float, Plan],
    *,
    along: str = "theta",
    repetitions: int = 20,
    repairs: Sequence[Repair] = ("em",),
    rng: Randomness = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Return the accuracy of naive Bayes under each plan, learned from 80 % of an undisguised table, disguised.

    The rest tests it; splits and coins are drawn anew for every repetition. `along` says what the plans' keys are.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> plans = {theta: Plan.of(schema, {schema.names: UnrelatedQuestion(theta)}) for theta in (0.1, 1)}
    >>> accuracy_by_plan(people, "ill", plans, rng=1).mean.round(2)
    array([[0.8 , 0.85]])
    """
    if not plans:
        raise SottovoceError("plans", "must be at least one", dict(plans))
    generator = np.random.default_rng(rng)
    first = next(iter(plans.values()))
    records = records_of(table, first, label)
    trial = Trial(records, int(TRAINING_SHARE * records.counts.sum()))
    runs = [_trial_runner(trial, plan, label, generator, repairs) for plan in plans.values()]
    accuracies = _run(runs, repetitions, progress)
    clear = trial.accuracies(undisguised_plan(first.schema), label, repetitions, generator)
    return _curve(along, tuple(plans), repairs, accuracies, float(clear.mean()), repetitions)


def accuracy_by_respondents(
    table: Any,
    label: str,
    plan: Plan,
    respondents: Sequence[int],
    *,
    repetitions: int = 20,
    repairs: Sequence[Repair] = ("em",),
    rng: Randomness = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Return the accuracy of naive Bayes by number of respondents, from a population like this undisguised table.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("smokes"), boolean("ill")]), odds=9)
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> accuracy_by_respondents(people, "ill", plan, [100, 10_000], rng=1).mean.round(2)
    array([[0.82, 0.85]])
    """
    if not respondents:
        raise SottovoceError("respondents", "must be at least one number of them", list(respondents))
    generator = np.random.default_rng(rng)
    records = records_of(table, plan, label)
    trials = [Trial(records, count, population=True) for count in respondents]
    runs = [_trial_runner(trial, plan, label, generator, repairs) for trial in trials]
    accuracies = _run(runs, repetitions, progress)
    undisguised = undisguised_accuracy(records, plan, label)
    return _curve("respondents", tuple(respondents), repairs, accuracies, undisguised, repetitions)


def _trial_runner(
    trial: Trial, plan: Plan, label: str, rng: np.random.Generator, repairs: Sequence[Repair]
) -> Callable[[int], Array]:
    return lambda repetitions: trial.accuracies(plan, label, repetitions, rng, repairs)


def _run(runs: Sequence[Callable[[int], Array]], repetitions: int, progress: Progress | None) -> Array:
    accuracies = []
    for done, run in enumerate(runs, start=1):
        accuracies.append(run(repetitions))
        if progress is not None:
            progress(done, len(runs))
    return np.stack(accuracies, axis=1)


def _curve(
    along: str, points: tuple[float, ...], repairs: Sequence[Repair], each: Array, undisguised: float, repetitions: int
) -> LearningCurve:
    return LearningCurve(along, points, tuple(repairs), each.mean(axis=2), each.std(axis=2), undisguised, repetitions)


def respondents_for_accuracy(
    table: Any,
    label: str,
    plan: Plan,
    *,
    within: float = 0.01,
    repetitions: int = 50,
    most: int = 10**6,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> int:
    """Return the number of respondents for a mean accuracy within `within` of the undisguised classifier's.

    It is found by doubling and then bisection, to 5 %, with repeated experiments on a population like this undisguised
    table; `progress` is called with the number of experiments so far.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.2)})
    >>> 100 < respondents_for_accuracy(people, "ill", plan, rng=1) < 2000
    True
    """
    number("within", within, 0, open_ends=True)
    whole_number("most", most)
    generator = np.random.default_rng(rng)
    records = records_of(table, plan, label)
    wanted = undisguised_accuracy(records, plan, label) - within

    tried = count(1)

    def enough(respondents: int) -> bool:
        if progress is not None:
            progress(next(tried), None)
        trial = Trial(records, respondents, population=True)
        return float(trial.accuracies(plan, label, repetitions, generator).mean()) >= wanted

    high = FEWEST
    while not enough(high):
        high *= 2
        if high > most:
            raise SottovoceError(
                "most", f"must be higher for an accuracy within {within:g}", Words(f"{most} respondents")
            )
    low = high // 2
    while high > 1.05 * low + 1:
        middle = ceil((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
