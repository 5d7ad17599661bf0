"""How accuracy grows with what respondents give away, or with their number."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Randomness
from sottovoce.mine.classify.curve import LearningCurve
from sottovoce.mine.classify.laws import Repair
from sottovoce.mine.classify.records import records_of
from sottovoce.mine.classify.trial import Trial, undisguised_accuracy, undisguised_plan
from sottovoce.plan.plan import Plan

LEARNED = 0.8
"""Share of a table that is learned from; the rest tests."""

Progress = Callable[[int, int | None], object]


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
    >>> from sottovoce.schema.schema import Schema
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
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

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
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
