"""Patterns of a few items: how many transactions hold each set of a window's items."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sottovoce.count.protocol import Counts, Sets
from sottovoce.count.transactions import Chosen, Narrowed


def count_patterns(items: Narrowed, windows: Sequence[Chosen], rows: int) -> list[NDArray[np.float64]]:
    """All-ones counts of all sets of each window's items, with an axis of two for each item; of no item, all rows.

    >>> from sottovoce.count.transactions import SparseTransactions
    >>> baskets = SparseTransactions((np.array([0, 2, 2, 3]), np.array([0, 1, 1], np.int32)), items=2)
    >>> count_patterns(baskets.narrowed(np.array([0, 1])), [np.array([0, 1])], rows=3)[0].tolist()
    [[3.0, 2.0], [1.0, 1.0]]
    """
    found = [np.full((2,) * len(window), float(rows)) for window in windows]
    for length in range(1, max(map(len, windows)) + 1):
        places = [_places(len(window), length) for window in windows]
        sets = np.concatenate([window[own] for window, own in zip(windows, places, strict=True)])
        counted = np.split(items.together(sets), np.cumsum([len(own) for own in places])[:-1])
        for table, own, counts in zip(found, places, counted, strict=True):
            table.reshape(-1)[cell_numbers(own, table.ndim)] = counts
    return found


def _places(width: int, length: int) -> Sets:
    return np.array([*combinations(range(width), length)], np.int64).reshape(-1, length)


def cell_numbers(places: Sets, width: int) -> Counts:
    """Number of the cell that has ones at these places of a window.

    >>> cell_numbers(np.array([[0, 1], [0, 2]]), width=3).tolist()
    [6, 5]
    """
    return np.asarray((1 << (width - 1 - places)).sum(axis=-1))
