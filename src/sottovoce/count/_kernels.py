"""Loops over rows, for `mechanism.bulk` to compile. `contingency` and `protocol` check the bounds."""

from typing import Any

import numpy as np

ONE = np.uint64(1)


def tally(joint: Any, counts: Any) -> None:
    """Add one to the count of each row's joint cell."""
    for row in range(len(joint)):
        counts[joint[row]] += 1


def together(words: Any, sets: Any, counts: Any) -> None:
    """Add the number of transactions that hold all items of each set, a block after the other."""
    common = np.empty(words.shape[2], np.uint64)
    for block in range(words.shape[0]):
        for row in range(sets.shape[0]):
            common[:] = words[block, sets[row, 0]]
            for place in range(1, sets.shape[1]):
                common &= words[block, sets[row, place]]
            held = 0
            for word in common:
                left = word
                while left:
                    left &= left - ONE
                    held += 1
            counts[row] += held
