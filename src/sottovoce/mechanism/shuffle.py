"""Lists in random order, or their first few places, from coins that know nothing of the truth."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanism.coins import Coins


def shuffled(count: int, jumps: Coins, rows: int) -> NDArray[np.int64]:
    """Numbers 0 ... count - 1 in every row, each place in turn swapped with the one its jump behind it.

    With coins of count, count - 1, ... sides for the first places, those places hold any ordered
    choice of numbers with equal probability.

    >>> shuffled(3, (np.array([2], np.uint64), np.array([0], np.uint64)), rows=1)
    array([[2, 1, 0]])
    """
    order = np.tile(np.arange(count), (rows, 1))
    every = np.arange(rows)
    for place, jump in enumerate(jumps):
        behind = place + jump.astype(np.int64)
        order[every, place], order[every, behind] = order[every, behind], order[every, place].copy()
    return order
