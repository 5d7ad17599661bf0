"""How accuracy grows with the privacy given up, or with the number of respondents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.presentation import Backend, new_frame
from sottovoce.mechanisms.coins import Randomness
from sottovoce.mining.classify.coding import checked_count, checked_positive
from sottovoce.mining.classify.question import Repair
from sottovoce.mining.classify.trial import Trial, records_of, undisguised_accuracy, undisguised_plan
from sottovoce.plans.plan import Plan
from sottovoce.tables.figures import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEARNED = 0.8
"""Share of a table that is learned from; the rest tests."""

Progress = Callable[[int, int | None], object]
NEAR = 0.01
"""Accuracy that a classifier may be short of the undisguised one and count as good as it."""

FEWEST = 50


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
        rows = self.to_rows()
        return new_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the means with a standard deviation either way, and the undisguised classifier as a line."""
        drawn = axes or new_axes(7, 4.5)
        for colour, repair, mean, spread in zip(
            (ACCENT, WARNING, INK), self.repairs, self.mean, self.deviation, strict=False
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
    records = records_of(table, first, target)
    trial = Trial(records, int(LEARNED * records.counts.sum()))
    ways = [_trial_runner(trial, plan, target, generator, repairs) for plan in plans.values()]
    found = _run(ways, repetitions, progress)
    clear = trial.accuracies(undisguised_plan(first.schema), target, repetitions, generator)
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
    records = records_of(table, plan, target)
    trials = [Trial(records, count, population=True) for count in respondents]
    found = _run([_trial_runner(trial, plan, target, generator, repairs) for trial in trials], repetitions, progress)
    return _curve(
        "respondents", tuple(respondents), repairs, found, undisguised_accuracy(records, plan, target), repetitions
    )


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


def respondents_for_accuracy(
    table: Any,
    target: str,
    plan: Plan,
    *,
    within: float = NEAR,
    repetitions: int = 50,
    most: int = 10**6,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> int:
    """How many respondents it takes until accuracy is, on average, within so much of the undisguised classifier's.

    Found by doubling, then to within 5 %, with repeated experiments on a population like this table in clear;
    `progress` is told how many were tried.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.2)})
    >>> 100 < respondents_for_accuracy(people, "ill", plan, rng=1) < 2000
    True
    """
    checked_positive("within", within)
    checked_count("most", most)
    generator = np.random.default_rng(rng)
    records = records_of(table, plan, target)
    wanted = undisguised_accuracy(records, plan, target) - within

    tried = count(1)

    def enough(respondents: int) -> bool:
        if progress is not None:
            progress(next(tried), None)
        trial = Trial(records, respondents, population=True)
        return float(trial.accuracies(plan, target, repetitions, generator).mean()) >= wanted

    high = FEWEST
    while not enough(high):
        high *= 2
        if high > most:
            raise SottovoceError("most", f"must be more for accuracy within {within:g}", Words(f"{most} respondents"))
    low = high // 2
    while high > 1.05 * low + 1:
        middle = ceil((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
