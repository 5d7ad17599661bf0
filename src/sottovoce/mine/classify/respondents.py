"""How many respondents a classifier takes to be about as good as one learned in clear."""

from itertools import count
from math import ceil
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanism.coins import Randomness
from sottovoce.mine.classify.checks import checked_count, checked_positive
from sottovoce.mine.classify.experiments import Progress
from sottovoce.mine.classify.records import records_of
from sottovoce.mine.classify.trial import Trial, undisguised_accuracy
from sottovoce.plan.plan import Plan

NEAR = 0.01
"""Accuracy that a classifier may be short of the undisguised one and count as good as it."""

FEWEST = 50


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

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
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
