"""The channel with the least mutual information at a distortion, with its proof; and the front of such channels."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.exact_scheme import Solution
from sottovoce.designs.information.program import Point, Program, best_rows, central_path, targets
from sottovoce.designs.information.smallest_distortion import (
    ROUNDING,
    answered_by_others,
    checked_distortion,
    checked_odds,
    least_distorting,
    likeliest_first,
    smallest_distortion,
)
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress
from sottovoce.measures.privacy import mutual_information

SLOPES = 2.0 ** np.arange(40)
NEAR_THE_END = 1e-3
"""Share of the useful distortions in which the proof for the smallest is worth trying."""
CLOSE, CLOSEST = 1e-8, 1e-13
"""Gap at which to stop: as a share of the information, and in bits where that is near zero."""

CAUTIONS = (1.0, 0.03)
"""Steps that are rarely lost; and, where those are too slow (right beside the smallest distortion), bolder ones."""


def proven_information(program: Program, worth: Array, slope: float, posteriors: Array) -> float:
    """Bits that every channel within these odds and this distortion tells, from any multipliers and any posteriors.

    Write `L_yx = worth_x - slope [x != y]` with slope >= 0, and u_y = posteriors_y / p for any rows that sum to one.
    A channel has report probabilities w_y and likelihood ratios v_y with `sum_y w_y v_y = 1` and `p.v_y = 1`, hence

        I >= sum_y w_y sum_x p_x v_yx (log v_yx - L_yx) + p.worth - slope distortion     (its distortion is no larger)
          >= sum_y w_y sum_x p_x v_yx (log u_yx - L_yx) + p.worth - slope distortion     (Gibbs' inequality)
          >= min_y min_v sum_x p_x v_x (log u_yx - L_yx) + p.worth - slope distortion,

    and the least mean over the v that the odds allow has v = e where `log u - L` is small and 1 elsewhere, so it is
    found by sorting. Every report is looked at, used or not. Floating point: a stated gap, not an interval proof.
    """
    prior, odds = program.prior, program.odds
    regrets = np.log(posteriors / prior) - targets(worth, slope)
    order = np.argsort(regrets, axis=1)
    weights, costs = prior[order], (prior * regrets)[np.arange(prior.size)[:, None], order]
    # Raising none is raising all, so that the first k, k = 1 ... n, are all the sets there are to try.
    means = (costs.sum(axis=1, keepdims=True) + (odds - 1) * costs.cumsum(axis=1)) / (
        1 + (odds - 1) * weights.cumsum(axis=1)
    )
    nats = prior @ worth - slope * program.distortion + means.min()
    return max(float(nats / np.log(2)), 0.0)


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


def feasible_channel(point: Point) -> Array:
    """Drop reports that vanish at the optimum, make columns sum to one, and mix towards odds and distortion.

    Each step changes the channel by no more than what the multipliers left open.
    """
    prior, odds, distortion = point.program.prior, point.program.odds, point.program.distortion
    kept = np.flatnonzero(point.weights > point.slacks)
    matrix = np.zeros((prior.size, prior.size))
    matrix[kept] = (point.weights[:, None] * point.rows.posteriors)[kept] / prior
    matrix = answered_by_others(matrix / matrix.sum(axis=0), prior, kept)
    return _within_distortion(_within_odds(matrix, prior, odds), prior, odds, distortion)


def _within_odds(matrix: Array, prior: Array, odds: float) -> Array:
    """Mix with the channel that answers by the law of the reports, as little as the worst row needs."""
    law = (matrix @ prior)[:, None]
    excess = np.maximum(matrix.max(axis=1) - odds * matrix.min(axis=1), 0)[:, None]
    needed = np.divide(excess, excess + (odds - 1) * law, out=np.zeros_like(law), where=excess > 0).max()
    mixed: Array = (1 - needed) * matrix + needed * law
    return mixed


def _within_distortion(matrix: Array, prior: Array, odds: float, distortion: float) -> Array:
    """Mix with the least distorting channel, as little as is needed."""
    best = least_distorting(prior, odds)
    has, least = (1 - float(one.diagonal() @ prior) for one in (matrix, best))
    needed = min((has - distortion) / (has - least), 1.0) if has > distortion else 0.0
    mixed: Array = (1 - needed) * matrix + needed * best
    return mixed


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


def least_information(prior: Any, odds: float | None, distortion: float) -> Solution:
    """Channel with the least mutual information, in bits, among those with `P(X != Y) <= distortion` within these odds.

    The matrix is square; reports that are not worth giving have rows of zeros, and truths that are never reported are
    answered by the law of the reports. From the distortion `1 - max p` on, the likeliest truth is reported always and
    nothing is told. Odds of None are unbounded: the rate-distortion function. The problem is that of Gao et al. (2018),
    the proof in `certificate`.

    >>> design = least_information([0.5, 0.3, 0.2], odds=3, distortion=0.45)
    >>> design.matrix.round(3)
    array([[0.875, 0.625, 0.781],
           [0.125, 0.375, 0.219],
           [0.   , 0.   , 0.   ]])
    >>> round(design.value, 6), design.gap < 1e-6
    (0.04819, True)
    """
    law, bound = checked_prior(prior), checked_odds(odds)
    smallest = smallest_distortion(law, bound)
    return _solved(law, bound, checked_distortion(distortion, smallest))


def information_front(
    prior: Any,
    odds: float | None,
    distortions: Iterable[float] | None = None,
    points: int = 20,
    progress: Progress | None = None,
) -> list[Solution]:
    """Channels that tell least at each of these distortions.

    Without a list they are evenly spaced from the smallest that the odds allow to the largest useful one, `1 - max p`.
    Where `e <= p_(1) / p_(2)`, the odds against the two largest probabilities, both are the same, and the front is the
    one channel that tells nothing.

    >>> [round(point.value, 4) for point in information_front([0.5, 0.3, 0.2], odds=3, points=3)]
    [0.1419, 0.0482, 0.0]
    """
    law, bound = checked_prior(prior), checked_odds(odds)
    smallest = smallest_distortion(law, bound)
    wanted = _spaced(smallest, 1 - law.max(), points) if distortions is None else list(distortions)
    levels = [checked_distortion(one, smallest) for one in wanted]
    front = []
    for done, level in enumerate(levels, start=1):
        front.append(_solved(law, bound, level))
        if progress is not None:
            progress(done, len(levels))
    return front


def _spaced(smallest: float, largest: float, points: int) -> list[float]:
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise SottovoceError("points", "must be a whole number of at least 2", points)
    return [largest] if smallest >= largest - ROUNDING else np.linspace(smallest, largest, points).tolist()


def _solved(prior: Array, odds: float | None, distortion: float) -> Solution:
    if distortion >= 1 - prior.max() - ROUNDING:
        return Solution(0.0, 0.0, matrix=constant(prior))
    if odds is None:
        matrix = water_filling(prior, distortion)
        value = float(mutual_information(matrix, prior))
        return Solution(value, value, matrix=matrix)
    program = Program(prior, odds, distortion)
    start = ends_mixed(program)
    return start if _close(start) else _followed(start, program)


def _followed(best: Solution, program: Program) -> Solution:
    """Follow the central path until what is attained meets what is proven."""
    for point in chain.from_iterable(central_path(program, caution) for caution in CAUTIONS):
        matrix = feasible_channel(point)
        value = float(mutual_information(matrix, program.prior))
        bound = max(proven_information(program, point.worth, point.slope, point.rows.posteriors), best.lower_bound)
        best = Solution(value, bound, matrix) if value < best.value else replace(best, lower_bound=bound)
        if _close(best):
            break
    # Rounding alone can put a proof above what is attained.
    return replace(best, lower_bound=min(best.lower_bound, best.value))


def _close(solution: Solution) -> bool:
    return solution.value - solution.lower_bound <= max(CLOSE * solution.value, CLOSEST)
