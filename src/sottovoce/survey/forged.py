"""How many forged reports would move a result out of its interval."""

from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.random_set import RandomSet
from sottovoce.channel.set_valued import SetValued
from sottovoce.estimate.spread import inverse_rows

Ends = tuple[Array, Array]


def extreme_weights(channel: Channel, order: NDArray[np.intp]) -> Ends:
    """Least and largest contribution of a single report to each cell's estimate.

    At 3 : 1, one forged report counts for up to 1.5 people of two categories, and 4.5 of eight:

    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> [float(extreme_weights(RandomizedResponse(odds=3).mechanism((k,)).channel, np.arange(k))[1][0]) for k in (2, 8)]
    [1.5, 4.5]
    """
    if isinstance(channel, SetValued | RandomSet):
        nothing = channel.solve_inclusions(np.zeros(channel.n_in), 1.0)
        slopes = np.stack([channel.solve_inclusions(unit, 1.0) - nothing for unit in np.eye(channel.n_in)], axis=1)
        low, high = np.minimum(slopes, 0).sum(axis=1), np.maximum(slopes, 0).sum(axis=1)
        return (nothing + low)[order], (nothing + high)[order]
    weights = inverse_rows(channel, order)
    return weights.min(axis=1), weights.max(axis=1)


def forged_reports(value: float, half_width: float, weights: tuple[float, float], respondents: int) -> int | None:
    """Fewest forged reports, added to n honest ones, that carry an estimate p out of `p +- half_width`.

    m reports of weight w move it by `m (w - p) / (n + m)`. None: no number of them would.

    >>> forged_reports(0.2, 0.05, (-0.5, 1.5), 1000)
    41
    """
    reach = max(weights[1] - value, value - weights[0])
    needed = respondents * half_width / (reach - half_width) if reach > half_width else inf
    return None if needed == inf else floor(needed) + 1
