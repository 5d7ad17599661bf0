"""Reports that are sets: how often each category is in them, and each pair together; or sums of their scores."""

from collections.abc import Callable, Sequence

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


def sum_scores(
    columns: Sequence[Codes], scores: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over the rows of scores, one for each bit, and of the products of all pairs of them.

    `scores` gets many rows at once, as columns of bits, and gives a score for every bit of them.

    >>> sum_scores([np.array([1, 1, 0]), np.array([0, 1, 1])], lambda bits: bits / bits.sum(axis=0))
    (array([1.5, 1.5]), array([[1.25, 0.25],
           [0.25, 1.25]]))
    """
    sums, products = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    for start in range(0, len(columns[0]), ROWS_AT_ONCE):
        rows = scores(np.stack([codes[start : start + ROWS_AT_ONCE] for codes in columns]).astype(np.float64))
        sums += rows.sum(axis=1)
        products += rows @ rows.T
    return sums, products
