"""Counts of some columns from counts of all of them: one pass over the reports answers every question."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sottovoce.count.protocol import Counter, Counts, Sets
from sottovoce.schema.schema import Schema

MOST_CELLS = 2**22
"""Joint cells that are held for their sums; of more, each question is asked of the reports."""


@dataclass(frozen=True, eq=False)
class MarginCounter:
    """A counter that counts the joint cells of a schema once and sums them up, where they are few enough.

    >>> from sottovoce.count.memory import as_counter
    >>> from sottovoce.schema.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> counter = MarginCounter(as_counter({"a": [True, True], "b": [False, True]}), schema)
    >>> counter.contingency(schema.project(["b"]))
    array([1, 1])
    """

    counter: Counter
    schema: Schema

    def rows(self) -> int:
        """Number of reports."""
        return self.counter.rows()

    def contingency(self, schema: Schema) -> Counts:
        """Sums over the other columns, in the order asked for."""
        if prod(self.schema.sizes) > MOST_CELLS:
            return self.counter.contingency(schema)
        axes = [axis for name in schema.names for axis in range(*self._ends(name))]
        others = tuple(axis for axis in range(self._joint.ndim) if axis not in axes)
        kept = np.argsort(np.argsort(axes))
        return np.asarray(self._joint.sum(axis=others).transpose(kept).ravel())

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """As the reports' own counter answers."""
        return self.counter.all_ones(schema, sets)

    @cached_property
    def _joint(self) -> Counts:
        return self.counter.contingency(self.schema).reshape(self.schema.sizes)

    def _ends(self, name: str) -> tuple[int, int]:
        columns = self.schema.columns_of(name)
        return columns.start, columns.stop
