"""Without a bound on the odds: reverse water-filling, in closed form."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.smallest import answered_by_others, likeliest_first


def water_filling(prior: Array, distortion: float) -> Array:
    """Channel that tells least at this distortion, below `1 - max p`.

    A report y leaves the posterior `1 - D` on y, the level t on the other truths that are ever reported, those with
    p > t, and p on those that are not; `sum_x min(p_x, t) - t = D` (V. Erokhin (1958), Theory
    Probab. Appl. 3, 97-100).

    >>> water_filling(np.array([0.5, 0.5]), 0.25)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    order = likeliest_first(prior)
    rest = np.maximum(1 - prior[order].cumsum(), 0)
    following = np.append(prior[order][1:], 0)
    reports = np.arange(1, prior.size + 1)
    enough = distortion >= (reports - 1) * following + rest
    enough[0], enough[-1] = False, True
    count = int(np.argmax(enough)) + 1
    level = max(distortion - rest[count - 1], 0.0) / (count - 1)
    kept = order[:count]
    posteriors = np.full((count, count), level)
    np.fill_diagonal(posteriors, 1 - distortion)
    weights = (prior[kept] - level) / (1 - distortion - level)
    matrix = np.zeros((prior.size, prior.size))
    matrix[np.ix_(kept, kept)] = weights[:, None] * posteriors / prior[kept]
    return answered_by_others(matrix, prior, kept)
