"""Reports that are sets: how often each category is in them, and each pair of categories together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.schema.cells import Codes

ROWS_AT_ONCE = 2**14
"""Rows multiplied together: single precision counts them exactly, and they fit the cache."""


def count_inclusions(columns: Sequence[Codes]) -> NDArray[np.int64]:
    """Rows in which both of two bits are set, for all pairs; the diagonal counts single bits.

    >>> count_inclusions([np.array([1, 1, 0]), np.array([0, 1, 1])])
    array([[2, 1],
           [1, 2]])
    """
    counts = np.zeros((len(columns), len(columns)), np.int64)
    for start in range(0, len(columns[0]), ROWS_AT_ONCE):
        bits = np.stack([codes[start : start + ROWS_AT_ONCE] for codes in columns]).astype(np.float32)
        counts += (bits @ bits.T).astype(np.int64)
    return counts
