"""Which category comes first among a set's members, in a given order."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.solution import SetComponent


def first_members(part: SetComponent, order: NDArray[np.intp], constant: float, slope: Array) -> Array:
    """`E[t; the first member is order[r]]` for each r, with `t = constant + slope . z`.

    Sums over the sets of the categories behind, by total length, are built from the last category up, each row of
    them scaled to have 1 as its largest.

    >>> pairs = SetComponent(1.0, 2, np.ones(3), np.ones(3))
    >>> first_members(pairs, np.array([2, 0, 1]), 1.0, np.zeros(3)).round(12)
    array([0.66666667, 0.33333333, 0.        ])
    """
    weights, lengths = part.weights[order], part.lengths[order].astype(int)
    plain, tilted, log_scale = np.zeros(part.size + 1), np.zeros(part.size + 1), 0.0
    plain[0] = 1.0
    found, logs = np.zeros(len(order)), np.zeros(len(order))
    for rank in range(len(order) - 1, -1, -1):
        joined = weights[rank] * _shifted(plain, lengths[rank])
        joined_tilted = weights[rank] * _shifted(tilted, lengths[rank]) + slope[order[rank]] * joined
        found[rank], logs[rank] = constant * joined[-1] + joined_tilted[-1], log_scale
        plain, tilted = plain + joined, tilted + joined_tilted
        top = plain.max()
        plain, tilted, log_scale = plain / top, tilted / top, log_scale + float(np.log(top))
    return np.asarray(found * np.exp(logs - log_scale) / plain[-1])


def _shifted(row: Array, by: int) -> Array:
    out = np.zeros_like(row)
    if by < len(row):
        out[by:] = row[: len(row) - by]
    return out
