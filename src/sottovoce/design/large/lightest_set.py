"""Lightest sets of a given total length, with one category in or out."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.solution import SetComponent


def lightest_sets(part: SetComponent, loads: Array, *, member: bool) -> Array:
    """Least sum of the other members' loads over the sets with x as a member, or without x; infinite if there is none.

    >>> pairs = SetComponent(1.0, 2, np.ones(3), np.ones(3))
    >>> lightest_sets(pairs, np.array([1.0, 2.0, 4.0]), member=True)
    array([2., 1., 1.])
    """
    lengths = part.lengths.astype(int)
    return np.array(
        [
            _lightest(part.size - member * lengths[x], np.delete(lengths, x), np.delete(loads, x))
            for x in range(len(loads))
        ]
    )


def _lightest(size: int, lengths: Array, loads: Array) -> float:
    """Knapsack filled exactly, by total length."""
    if size < 0:
        return np.inf
    best = np.full(size + 1, np.inf)
    best[0] = 0.0
    for length, load in zip(lengths, loads, strict=True):
        if length <= size:
            best[length:] = np.minimum(best[length:], best[: size + 1 - length] + load)
    return float(best[-1])
