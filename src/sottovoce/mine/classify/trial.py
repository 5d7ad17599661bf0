"""Repeated experiments on a table in clear: split, disguise, learn, test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.mine.classify.checks import checked_choices, checked_count, feature_names
from sottovoce.mine.classify.draws import report_drawer
from sottovoce.mine.classify.laws import Repair
from sottovoce.mine.classify.question import Question, pair_questions
from sottovoce.mine.classify.records import Counts, Records
from sottovoce.mine.classify.weights import naive_bayes_weights
from sottovoce.plan.plan import Plan
from sottovoce.schema.schema import Schema
from sottovoce.scheme.unrelated_question import UnrelatedQuestion

AT_ONCE = 50
"""Repetitions that are held in memory together."""


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
