"""What estimators ask of reports, whoever holds them: two questions, and how many there are."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schemas.schema import Schema

Counts = NDArray[np.int64]

Sets = NDArray[np.int64]
"""Item sets of a batch, one a row: numbers of coded columns. A shorter set repeats one of its items."""


@runtime_checkable
class Counter(Protocol):
    """Counts of disguised rows: in memory, or wherever a back end finds them.

    A schema names the report columns that a question is about and says how they are coded. Nothing above this
    room asks anything else of reports, so a database answers an estimator by answering this.
    """

    def rows(self) -> int:
        """Number of reports."""

    def contingency(self, schema: Schema) -> Counts:
        """Rows in each joint cell of these columns, by the number of the cell."""

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Rows in which all bits of a set are one, for each set; every coded column is a bit."""


def padded(itemsets: Sequence[Sequence[int]]) -> Sets:
    """Item sets of any lengths but zero as one batch: a shorter one repeats its last item.

    >>> padded([(0,), (1, 3)])
    array([[0, 0],
           [1, 3]])
    """
    width = max(map(len, itemsets))
    return np.array([[*items, *[items[-1]] * (width - len(items))] for items in itemsets], np.int64)


def check_sets(schema: Schema, sets: Sets) -> None:
    """Refuse columns that are not bits, and items that are none: loops would read beyond their tables."""
    if set(schema.sizes) != {2}:
        raise SottovoceError("schema", "must have only items and yes/no attributes", schema.names)
    if sets.ndim != 2 or not sets.size or sets.dtype.kind not in "iu":
        raise SottovoceError("sets", "must be a row of whole numbers for each set, of at least one item", sets)
    if sets.min() < 0 or sets.max() >= len(schema.sizes):
        ends = (sets.min().item(), sets.max().item())
        raise SottovoceError("sets", f"must be numbers of items from 0 to {len(schema.sizes) - 1}", ends)
