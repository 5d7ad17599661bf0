"""The counts that estimators ask for, wherever the reports are."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schemas.schema import Schema

Counts = NDArray[np.int64]

Sets = NDArray[np.int64]
"""Item sets, one in each row, as indices of coded columns; a shorter set repeats one of its items."""


@runtime_checkable
class Counter(Protocol):
    """Protocol for counts of reports, in memory or in a database.

    A schema names the report columns to count and says how they are coded. Estimators ask for nothing else, so any
    back end that implements these three methods can be estimated from.
    """

    def rows(self) -> int:
        """Number of reports."""

    def contingency(self, schema: Schema) -> Counts:
        """Number of rows in each joint cell of these columns, by the index of the cell."""

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Number of rows in which all bits of a set are one, for each set; every coded column is a bit."""


def padded(itemsets: Sequence[Sequence[int]]) -> Sets:
    """Return item sets of any lengths but zero as one array: a shorter one repeats its last item.

    >>> padded([(0,), (1, 3)])
    array([[0, 0],
           [1, 3]])
    """
    width = max(map(len, itemsets))
    return np.array([[*items, *[items[-1]] * (width - len(items))] for items in itemsets], np.int64)


def check_sets(schema: Schema, sets: Sets) -> None:
    """Raise for columns that are not bits and for unknown items: the loops would read beyond their arrays."""
    if set(schema.sizes) != {2}:
        raise SottovoceError("schema", "must have only items and yes/no attributes", schema.names)
    if sets.ndim != 2 or not sets.size or sets.dtype.kind not in "iu":
        raise SottovoceError("sets", "must have a row of whole numbers for each set, with at least one item", sets)
    if sets.min() < 0 or sets.max() >= len(schema.sizes):
        ends = (sets.min().item(), sets.max().item())
        raise SottovoceError("sets", f"must be indices of items from 0 to {len(schema.sizes) - 1}", ends)
