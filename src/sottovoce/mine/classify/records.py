"""Different records of a table in clear, and how many there are of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.classify.coding import coded
from sottovoce.mine.classify.learner import feature_names
from sottovoce.mine.classify.weights import indicators_of
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns, ravel

Counts = NDArray[np.int64]


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
