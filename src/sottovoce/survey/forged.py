"""How many forged reports would move a result out of its interval."""

from math import floor, inf, isfinite

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.set_valued import SetValued
from sottovoce.errors import SottovoceError
from sottovoce.estimate.spread import inverse_rows

Ends = tuple[Array, Array]


def extreme_weights(channel: Channel, order: NDArray[np.intp]) -> Ends:
    """Least and largest contribution of a single report to each cell's estimate; NaN of reports too many to list.

    At 3 : 1, one forged report counts for up to 1.5 people of two categories, and 4.5 of eight:

    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> [float(extreme_weights(RandomizedResponse(odds=3).mechanism((k,)).channel, np.arange(k))[1][0]) for k in (2, 8)]
    [1.5, 4.5]
    """
    if isinstance(channel, SetValued):
        reach = float(channel.inside - channel.outside)
        low, high = -float(channel.outside) / reach, float(1 - channel.outside) / reach
        return np.full(len(order), low), np.full(len(order), high)
    try:
        weights = inverse_rows(channel, order)
    except SottovoceError:
        return unknown_weights(len(order))
    return weights.min(axis=1), weights.max(axis=1)


def unknown_weights(cells: int) -> Ends:
    """What is said of cells whose reports cannot be listed."""
    return np.full(cells, np.nan), np.full(cells, np.nan)


def forged_reports(value: float, half_width: float, weights: tuple[float, float], respondents: int) -> int | None:
    """Fewest forged reports, added to n honest ones, that carry an estimate p out of `p +- half_width`.

    m reports of weight w move it by `m (w - p) / (n + m)`. None: no number of them would, or none is known.

    >>> forged_reports(0.2, 0.05, (-0.5, 1.5), 1000)
    41
    """
    reach = max(weights[1] - value, value - weights[0])
    needed = respondents * half_width / (reach - half_width) if not reach <= half_width else inf
    return floor(needed) + 1 if isfinite(needed) else None
