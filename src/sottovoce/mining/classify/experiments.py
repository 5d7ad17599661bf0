"""Accuracy of a classifier against its privacy, or against the number of respondents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.checks import Array, Progress, number, whole_number
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.presentation import ResultTable
from sottovoce.mechanisms.coins import Randomness
from sottovoce.mining.classify.joint_table import Repair
from sottovoce.mining.classify.trial import Trial, records_of, undisguised_accuracy, undisguised_plan
from sottovoce.plans.plan import Plan
from sottovoce.tables.figures import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRAINING_SHARE = 0.8
"""Share of a table that is learned from; the rest tests."""

FEWEST = 50
"""Respondents that a search starts with."""


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
