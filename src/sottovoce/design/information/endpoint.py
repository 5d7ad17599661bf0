"""The end of the front with the smallest distortion: channel and proof in closed form."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.certificate import proven_information
from sottovoce.design.information.rows import best_rows
from sottovoce.design.information.smallest import least_distorting
from sottovoce.design.solution import Solution
from sottovoce.measure.bits import mutual_information

SLOPES = 2.0 ** np.arange(40)


def least_distorting_information(prior: Array, odds: float, distortion: float) -> Solution:
    """What the least distorting channel tells, and a proof that no other with its distortion tells less.

    The front ends there with a finite slope; any steeper one proves as much, so slopes are doubled until one does.
    """
    matrix = least_distorting(prior, odds)
    value, bound = float(mutual_information(matrix, prior)), 0.0
    for slope in np.log(odds) * SLOPES:
        worth = _worth(prior, odds, matrix.any(axis=1), slope)
        posteriors = best_rows(prior, odds, worth, slope).posteriors
        bound = max(bound, proven_information(prior, odds, distortion, worth, slope, posteriors))
        if value - bound <= 1e-9 * value:
            break
    return Solution(value, min(bound, value), matrix=matrix)


def _worth(prior: Array, odds: float, kept: Array, slope: float) -> Array:
    """Worth of each truth such that randomized response among those kept balances every row of theirs (see `rows`).

    With `v_yx = m_y` and `e m_y` for x = y among those kept, and 1 for others, row y is balanced where
    `sum_x p_x worth_x + (e - 1) p_y worth_y = (P - p_y) (log m_y + slope) + e p_y log(e m_y)`, sums over those kept.
    """
    among = prior[kept]
    mass, raise_by = among.sum(), odds - 1
    least = np.log(mass / (mass + raise_by * among))
    sides = (mass - among) * (least + slope) + odds * among * (np.log(odds) + least)
    mean = sides.sum() / (among.size + raise_by)
    worth = np.full(prior.size, float(slope))
    worth[kept] = (sides - mean) / (raise_by * among)
    return worth
