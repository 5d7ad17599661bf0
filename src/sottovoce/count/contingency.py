"""Contingency tables: rows in each joint cell of coded columns."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.bulk import BULK_ROWS, check_codes, join, kernels
from sottovoce.schema.cells import Codes, ravel

ROWS_AT_ONCE = 2**15
"""Rows whose joint cells are numbered together: memory stays bounded, and in the cache."""

MOST_CELLS = 2**28
"""Joint cells that are counted one by one: two gibibytes of counts."""


def count_cells(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Rows in each joint cell of coded columns, by the number of the cell: the last column varies fastest.

    >>> count_cells([np.array([0, 1, 1]), np.array([2, 0, 0])], (2, 3))
    array([0, 0, 1, 2, 0, 0])
    """
    cells = prod(sizes)
    if cells > MOST_CELLS:
        raise SottovoceError("sizes", "must have at most 2^28 joint cells to be counted one by one", tuple(sizes))
    check_codes(columns, sizes)
    counts = np.zeros(cells, np.int64)
    loops = kernels("sottovoce.count._kernels") if len(columns[0]) >= BULK_ROWS else None
    # numpy's counts of a chunk are as long as the table: chunks no shorter than it cost no more than the rows.
    rows = ROWS_AT_ONCE if loops else max(ROWS_AT_ONCE, cells)
    for start in range(0, len(columns[0]), rows):
        chunk = [codes[start : start + rows] for codes in columns]
        if loops:
            loops.tally(join(kernels(), chunk, sizes), counts)
        else:
            counts += np.bincount(ravel(chunk, sizes), minlength=cells)
    return counts
