"""Learning curves: how accuracy grows with what respondents give away, or with their number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.rows import Backend
from sottovoce.mechanism.coins import Randomness
from sottovoce.mine.classify.coding import coded
from sottovoce.mine.classify.laws import Repair
from sottovoce.mine.classify.learner import feature_names
from sottovoce.mine.classify.trial import Records, Trial
from sottovoce.plan.plan import Plan
from sottovoce.schema.schema import Schema
from sottovoce.scheme.unrelated_question import UnrelatedQuestion
from sottovoce.table.figure import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Progress = Callable[[int, int | None], object]

LEARNED = 0.8
"""Share of a table that is learned from; the rest tests."""

NEAR = 0.01
"""Accuracy that a classifier may be short of the undisguised one and count as good as it."""


@dataclass(frozen=True)
class LearningCurve:
    """Mean and standard deviation of the accuracy at each point, for each repair, and the undisguised classifier's."""

    along: str
    points: tuple[float, ...]
    repairs: tuple[Repair, ...]
    mean: Array
    deviation: Array
    undisguised: float
    repetitions: int

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each point and repair."""
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

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Data frame of the library named."""
        import narwhals.stable.v2 as nw

        rows = self.to_rows()
        return nw.from_dict({name: [row[name] for row in rows] for name in rows[0]}, backend=backend).to_native()

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the means with a standard deviation either way, and the undisguised classifier as a line."""
        drawn = axes or new_axes(7, 4.5)
        for colour, repair, mean, spread in zip(
            (ACCENT, INK, WARNING), self.repairs, self.mean, self.deviation, strict=False
        ):
            drawn.fill_between(self.points, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
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
    target: str,
    plans: Mapping[float, Plan],
    *,
    along: str = "theta",
    repetitions: int = 20,
    repairs: Sequence[Repair] = ("em",),
    rng: Randomness = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Accuracy of naive Bayes under each plan: 80 % of a table in clear are disguised and learned from.

    The rest tests it; splits and coins are drawn anew for every repetition. `along` names what the plans' keys are.

    >>> from sottovoce.schema.attribute import boolean
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> plans = {theta: Plan.of(schema, {schema.names: UnrelatedQuestion(theta)}) for theta in (0.1, 1)}
    >>> accuracy_by_plan(people, "ill", plans, rng=1).mean.round(2)
    array([[0.8 , 0.85]])
    """
    if not plans:
        raise SottovoceError("plans", "must be at least one", dict(plans))
    generator = np.random.default_rng(rng)
    first = next(iter(plans.values()))
    records = records_of(table, first, target)
    trial = Trial(records, int(LEARNED * records.counts.sum()))
    ways = [_trial_runner(trial, plan, target, generator, repairs) for plan in plans.values()]
    found = _run(ways, repetitions, progress)
    clear = trial.accuracies(_undisguised(first.schema), target, repetitions, generator)
    return _curve(along, tuple(plans), repairs, found, float(clear.mean()), repetitions)


def accuracy_by_respondents(
    table: Any,
    target: str,
    plan: Plan,
    respondents: Sequence[int],
    *,
    repetitions: int = 20,
    repairs: Sequence[Repair] = ("em",),
    rng: Randomness = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Accuracy of naive Bayes from so many respondents, out of a population like this table in clear.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("smokes"), boolean("ill")]), odds=9)
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> accuracy_by_respondents(people, "ill", plan, [100, 10_000], rng=1).mean.round(2)
    array([[0.82, 0.85]])
    """
    generator = np.random.default_rng(rng)
    records = records_of(table, plan, target)
    trials = [Trial(records, count, population=True) for count in respondents]
    found = _run([_trial_runner(trial, plan, target, generator, repairs) for trial in trials], repetitions, progress)
    return _curve("respondents", tuple(respondents), repairs, found, _limit(records, plan, target), repetitions)


def respondents_needed(
    table: Any,
    target: str,
    plan: Plan,
    *,
    within: float = NEAR,
    repetitions: int = 50,
    most: int = 10**6,
    rng: Randomness = None,
) -> int:
    """How many respondents it takes until accuracy is, on average, within so much of the undisguised classifier's.

    Found by doubling, then to within 5 %, with repeated experiments on a population like this table in clear.

    >>> from sottovoce.schema.attribute import boolean
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.2)})
    >>> 100 < respondents_needed(people, "ill", plan, rng=1) < 2000
    True
    """
    generator = np.random.default_rng(rng)
    records = records_of(table, plan, target)
    wanted = _limit(records, plan, target) - within

    def enough(count: int) -> bool:
        trial = Trial(records, count, population=True)
        return float(trial.accuracies(plan, target, repetitions, generator).mean()) >= wanted

    high = 50
    while not enough(high):
        high *= 2
        if high > most:
            raise SottovoceError("most", f"must be more for accuracy within {within:g}", Words(f"{most} respondents"))
    low = high // 2
    while high > 1.05 * low + 1:
        middle = ceil((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def records_of(table: Any, plan: Plan, target: str) -> Records:
    """Records of a table in clear, attributes in the plan's order and the target behind them."""
    schema = plan.schema.project([*feature_names(plan, target, None), target])
    return Records.of(coded(table, schema), schema.sizes)


def _undisguised(schema: Schema) -> Plan:
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def _limit(records: Records, plan: Plan, target: str) -> float:
    """Accuracy of the classifier that learned the whole table in clear."""
    clear = Trial(records, int(records.counts.sum()), population=True)
    return float(clear.accuracies(_undisguised(plan.schema), target, 1, np.random.default_rng(0), ("em",))[0, 0])


def _trial_runner(
    trial: Trial, plan: Plan, target: str, rng: np.random.Generator, repairs: Sequence[Repair]
) -> Callable[[int], Array]:
    return lambda repetitions: trial.accuracies(plan, target, repetitions, rng, repairs)


def _run(ways: Sequence[Callable[[int], Array]], repetitions: int, progress: Progress | None) -> Array:
    found = []
    for place, way in enumerate(ways):
        found.append(way(repetitions))
        if progress is not None:
            progress(place + 1, len(ways))
    return np.stack(found, axis=1)


def _curve(
    along: str, points: tuple[float, ...], repairs: Sequence[Repair], found: Array, clear: float, repetitions: int
) -> LearningCurve:
    return LearningCurve(along, points, tuple(repairs), found.mean(axis=2), found.std(axis=2), clear, repetitions)
