"""The ends of the front: between them any distortion can be had by mixing, and the first has a proof in closed form."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.information.certificate import proven_information
from sottovoce.design.information.program import Program
from sottovoce.design.information.rows import best_rows
from sottovoce.design.information.smallest import least_distorting
from sottovoce.design.solution import Solution
from sottovoce.measure.bits import mutual_information

SLOPES = 2.0 ** np.arange(40)
NEAR_THE_END = 1e-3
"""Share of the useful distortions in which the proof for the smallest is worth trying."""


def constant(prior: Array) -> Array:
    """Report the likeliest truth, whatever the truth: the last end."""
    matrix = np.zeros((prior.size, prior.size))
    matrix[prior.argmax()] = 1
    return matrix


def ends_mixed(program: Program) -> Solution:
    """Mixture of both ends that has the distortion, optimal at the smallest, where it comes with a proof."""
    first, last = least_distorting(program.prior, program.odds), constant(program.prior)
    smallest, largest = (1 - float(matrix.diagonal() @ program.prior) for matrix in (first, last))
    share = min(max((program.distortion - smallest) / (largest - smallest), 0.0), 1.0)
    matrix = (1 - share) * first + share * last
    value = float(mutual_information(matrix, program.prior))
    bound = _proven_near_the_end(program, np.flatnonzero(first.any(axis=1))) if share <= NEAR_THE_END else 0.0
    return Solution(value, min(bound, value), matrix=matrix)


def _proven_near_the_end(program: Program, kept: NDArray[np.intp]) -> float:
    """The front begins with a finite slope, and any steeper one proves as much of its end: double while it helps."""
    best = 0.0
    for slope in np.log(program.odds) * SLOPES:
        worth = _worth(program, kept, slope)
        posteriors = best_rows(program.prior, program.odds, worth, slope).posteriors
        bound = proven_information(program, worth, slope, posteriors)
        if 0 < bound <= best:
            break
        best = max(best, bound)
    return best


def _worth(program: Program, kept: NDArray[np.intp], slope: float) -> Array:
    """Worth of each truth such that randomized response among those kept balances every row of theirs (see `rows`).

    With `v_yx = m_y` and `e m_y` for x = y among those kept, and 1 for others, row y is balanced where
    `sum_x p_x worth_x + (e - 1) p_y worth_y = (P - p_y) (log m_y + slope) + e p_y log(e m_y)`, sums over those kept.
    """
    among, odds = program.prior[kept], program.odds
    mass = among.sum()
    least = np.log(mass / (mass + (odds - 1) * among))
    sides = (mass - among) * (least + slope) + odds * among * (np.log(odds) + least)
    mean = sides.sum() / (among.size + odds - 1)
    worth = np.full(program.prior.size, float(slope))
    worth[kept] = (sides - mean) / ((odds - 1) * among)
    return worth
