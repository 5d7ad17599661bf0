"""Lightest sets of a given total length, with one category in or out."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.solution import SetComponent


def lightest_sets(part: SetComponent, loads: Array, *, member: bool) -> Array:
    """Least sum of the other members' loads over the sets with x as a member, or without x; infinite if there is none.

    A knapsack filled exactly, from the categories before x and those behind it.

    >>> pairs = SetComponent(1.0, 2, np.ones(3), np.ones(3))
    >>> lightest_sets(pairs, np.array([1.0, 2.0, 4.0]), member=True)
    array([2., 1., 1.])
    """
    lengths = part.lengths.astype(int)
    before = _lightest(part.size, lengths, loads)
    behind = _lightest(part.size, lengths[::-1], loads[::-1])[::-1]
    found = np.full(len(loads), np.inf)
    for x, length in enumerate(lengths):
        room = part.size - length if member else part.size
        if room >= 0:
            found[x] = (before[x][: room + 1] + behind[x + 1][: room + 1][::-1]).min()
    return found


def _lightest(size: int, lengths: NDArray[np.int64], loads: Array) -> Array:
    """Least load for each total length up to the size, of the first 0, 1, ... categories."""
    rows = np.full((len(loads) + 1, size + 1), np.inf)
    rows[0, 0] = 0.0
    for i, (length, load) in enumerate(zip(lengths, loads, strict=True)):
        rows[i + 1] = rows[i]
        if length <= size:
            rows[i + 1, length:] = np.minimum(rows[i, length:], rows[i, : size + 1 - length] + load)
    return rows
