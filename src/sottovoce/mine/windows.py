"""Windows: a few items at a time, so that every candidate is within one of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.mine.candidates import Numbers


def windows(families: Sequence[Numbers], most: int) -> list[Numbers]:
    """Sets of at most `most` items, ascending, such that every given set is within one of them.

    Greedily: a window starts with the longest set that is in none yet, and takes in, while there is room, whatever
    other shares the most items with it, of these the one that adds the fewest. Sets that have less than two items in
    common with it tell it nothing, and wait for a window of their own.

    >>> [window.tolist() for window in windows([np.array([[0, 1], [4, 5]]), np.array([[0, 1, 2], [1, 2, 3]])], most=4)]
    [[0, 1, 2, 3], [4, 5]]
    """
    held = _as_bits(families)
    order = np.argsort(-held.sum(axis=1), kind="stable")
    waiting, found = np.ones(len(held), bool), []
    for start in order:
        if waiting[start]:
            window = _grown(held, waiting, held[start], most)
            waiting &= (held & ~window).any(axis=1)
            found.append(np.flatnonzero(window))
    return found


def _as_bits(families: Sequence[Numbers]) -> NDArray[np.bool_]:
    """Items of each set, as a row of bits."""
    held = np.zeros((sum(map(len, families)), 1 + max(int(items.max()) for items in families)), bool)
    first = 0
    for items in families:
        held[first + np.arange(len(items))[:, None], items] = True
        first += len(items)
    return held


def _grown(
    held: NDArray[np.bool_], waiting: NDArray[np.bool_], window: NDArray[np.bool_], most: int
) -> NDArray[np.bool_]:
    """The window with as many others as it has room for."""
    while True:
        added, shared = (held & ~window).sum(axis=1), (held & window).sum(axis=1)
        fitting = waiting & (added > 0) & (added <= most - window.sum()) & (shared >= 2)
        if not fitting.any():
            return window
        window = window | held[np.argmax(np.where(fitting, most * shared - added, -most))]
