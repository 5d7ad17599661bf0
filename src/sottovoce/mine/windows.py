"""Windows: a few items at a time, so that every candidate is within one of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.mine.candidates import Numbers

Words = NDArray[np.uint64]
"""Items as bits of a row of words."""


def windows(families: Sequence[Numbers], most: int) -> list[Numbers]:
    """Sets of at most `most` items, ascending, such that every given set, shorter ones first, is within one of them.

    Greedily: a window starts with the longest set that is in none yet, and takes in, while there is room, whatever
    other shares the most items with it, of these the one that adds the fewest. Sets that have less than two items in
    common with it tell it nothing, and wait for a window of their own.

    >>> [window.tolist() for window in windows([np.array([[0, 1], [4, 5]]), np.array([[0, 1, 2], [1, 2, 3]])], most=4)]
    [[0, 1, 2, 3], [4, 5]]
    """
    waiting, found = np.concatenate([_words(items, families) for items in reversed(families)]), []
    while len(waiting):
        window = _grown(waiting, waiting[0], most)
        waiting = waiting[(waiting & ~window).any(axis=1)]
        found.append(np.flatnonzero(np.unpackbits(window.view(np.uint8), bitorder="little")))
    return found


def _words(items: Numbers, families: Sequence[Numbers]) -> Words:
    """Bits of the items of each set, in as many words as the highest item of all needs."""
    bits = np.zeros((len(items), -(-(1 + max(int(family.max()) for family in families)) // 64) * 64), bool)
    bits[np.arange(len(items))[:, None], items] = True
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _grown(waiting: Words, window: Words, most: int) -> Words:
    """The window with as many others as it has room for."""
    while True:
        added, shared = (
            np.bitwise_count(bits).sum(axis=1, dtype=int) for bits in (waiting & ~window, waiting & window)
        )
        room = most - int(np.bitwise_count(window).sum())
        fitting = (added > 0) & (added <= room) & (shared >= 2)
        if not fitting.any():
            return window
        window = window | waiting[np.argmax(np.where(fitting, most * shared - added, -most))]
