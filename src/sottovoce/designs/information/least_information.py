"""The channel with the least mutual information at a distortion, with a certificate; and fronts of such channels."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress, whole_number
from sottovoce.designs.exact_scheme import Solution
from sottovoce.designs.information.program import Point, Program, best_rows, central_path, targets
from sottovoce.designs.requirement import checked_prior, rounded_up
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array
from sottovoce.measures.privacy import mutual_information

ROUNDING = 1e-12
"""Distance below the smallest distortion that is attributed to rounding."""
SLOPES = 2.0 ** np.arange(40)
"""Slopes, relative to log odds, that are tried for a proof near the smallest distortion."""
NEAR_THE_END = 1e-3
"""Share of the range of distortions, next to the smallest, in which the proof for the smallest is tried."""
CLOSE, CLOSEST = 1e-8, 1e-13
"""Gap at which to stop: relative to the information, and in bits."""

CAUTIONS = (1.0, 0.03)
"""Caution of the steps: safe ones first; bolder ones where those are too slow, next to the smallest distortion."""


def checked_odds(odds: float | None) -> float | None:
    """Return odds as a finite number of at least one, or None if they are unbounded.

    >>> checked_odds(0.5)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: odds must be a finite number of at least 1, or None if unbounded. Got 0.5 instead.
    """
    if odds is None:
        return None
    number = real_array("odds", odds)
    if number.ndim or not 1 <= number < float("inf"):
        raise SottovoceError("odds", "must be a finite number of at least 1, or None if unbounded", odds)
    return float(number)


def checked_distortion(distortion: float, smallest: float) -> float:
    """Return a feasible distortion; one below the smallest by rounding is raised to it."""
    number = real_array("distortion", distortion)
    if number.ndim or isnan(number) or number > 1:
        raise SottovoceError("distortion", "must be a probability", distortion)
    if number < smallest - ROUNDING:
        rule = f"must be at least {rounded_up(smallest)}, the smallest that these odds and this prior allow"
        raise SottovoceError("distortion", rule, distortion)
    return max(float(number), smallest)


def smallest_distortion(prior: Any, odds: float | None) -> float:
    """Return `1 - max_k P_k e / (k + e - 1)`, e the odds and P_k the mass of the k likeliest truths; 0 if unbounded.

    With m_y the least entry of row y, the diagonal is at most `e m_y`, and the column of x sums to one, so that
    `(e - 1) m_x + sum_y m_y <= 1`: a linear program whose vertices are randomized response among the k likeliest.

    >>> round(smallest_distortion([0.5, 0.3, 0.2], odds=3), 6)
    0.4
    """
    shares, bound = checked_prior(prior), checked_odds(odds)
    return 0.0 if bound is None else float(1 - _accuracies(shares, bound).max())


def least_distorting(prior: Array, odds: float) -> Array:
    """Return randomized response among the k likeliest truths; other truths get the distribution of those reports.

    If several k do equally well, the smallest has the least mutual information.
    """
    accuracies = _accuracies(prior, odds)
    kept = likeliest_first(prior)[: int(np.argmax(accuracies >= accuracies.max() - ROUNDING)) + 1]
    matrix = np.zeros((prior.size, prior.size))
    matrix[np.ix_(kept, kept)] = (1 + (odds - 1) * np.eye(kept.size)) / (kept.size + odds - 1)
    return with_average_columns(matrix, prior, kept)


def with_average_columns(matrix: Array, prior: Array, kept: NDArray[np.intp]) -> Array:
    """Give the truths that are never reported the average column of the others, which adds no information."""
    filled = matrix.copy()
    others = np.delete(np.arange(prior.size), kept)
    filled[:, others] = (matrix[:, kept] @ prior[kept] / prior[kept].sum())[:, None]
    return filled


def _accuracies(prior: Array, odds: float) -> Array:
    """`P(X = Y)` of randomized response among the k likeliest truths, for each k from one."""
    reports = np.arange(1, prior.size + 1)
    accuracies: Array = prior[likeliest_first(prior)].cumsum() * odds / (reports + odds - 1)
    return accuracies


def likeliest_first(prior: Array) -> NDArray[np.intp]:
    """Return the truths in order of falling probability, stable for equal ones."""
    return np.argsort(-prior, kind="stable")


def proven_information(program: Program, worth: Array, slope: float, posteriors: Array) -> float:
    """Lower bound on the bits of every channel within these odds and this distortion, from any multipliers.

    Write `L_yx = worth_x - slope [x != y]` with slope >= 0, and u_y = posteriors_y / p for any rows that sum to one.
    A channel has report probabilities w_y and likelihood ratios v_y with `sum_y w_y v_y = 1` and `p.v_y = 1`, hence

        I >= sum_y w_y sum_x p_x v_yx (log v_yx - L_yx) + p.worth - slope distortion     (its distortion is no larger)
          >= sum_y w_y sum_x p_x v_yx (log u_yx - L_yx) + p.worth - slope distortion     (Gibbs' inequality)
          >= min_y min_v sum_x p_x v_x (log u_yx - L_yx) + p.worth - slope distortion,

    and the least mean over the v that the odds allow has v = e where `log u - L` is small and 1 elsewhere, so it is
    found by sorting. All reports are included, used or not. Floating point: a stated gap, not an interval proof.
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
    """Return the channel that always reports the likeliest truth: the end of the front without information."""
    matrix = np.zeros((prior.size, prior.size))
    matrix[prior.argmax()] = 1
    return matrix


def mixture_of_ends(program: Program) -> Solution:
    """Return the mixture of both ends of the front with this distortion; optimal, with a proof, at the smallest."""
    first, last = least_distorting(program.prior, program.odds), constant(program.prior)
    smallest, largest = (1 - float(matrix.diagonal() @ program.prior) for matrix in (first, last))
    share = min(max((program.distortion - smallest) / (largest - smallest), 0.0), 1.0)
    matrix = (1 - share) * first + share * last
    value = float(mutual_information(matrix, program.prior))
    bound = _proven_near_the_end(program, np.flatnonzero(first.any(axis=1))) if share <= NEAR_THE_END else 0.0
    return Solution(value, min(bound, value), matrix=matrix)


def _proven_near_the_end(program: Program, kept: NDArray[np.intp]) -> float:
    """Lower bound near the smallest distortion; the slope is doubled while the bound grows.

    The front begins with a finite slope, and any steeper one proves as much of its end.
    """
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
    """Multipliers with which randomized response among the truths kept balances each of their rows (see `program`).

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
    """Return a feasible channel near a point: drop vanishing reports, normalise, mix to meet odds and distortion.

    Each step changes the channel by no more than the residual of the multipliers.
    """
    prior, odds, distortion = point.program.prior, point.program.odds, point.program.distortion
    kept = np.flatnonzero(point.weights > point.slacks)
    matrix = np.zeros((prior.size, prior.size))
    matrix[kept] = (point.weights[:, None] * point.rows.posteriors)[kept] / prior
    matrix = with_average_columns(matrix / matrix.sum(axis=0), prior, kept)
    return _within_distortion(_within_odds(matrix, prior, odds), prior, odds, distortion)


def _within_odds(matrix: Array, prior: Array, odds: float) -> Array:
    """Mix with the channel whose columns are the average column, as little as the worst row needs."""
    average = (matrix @ prior)[:, None]
    excess = np.maximum(matrix.max(axis=1) - odds * matrix.min(axis=1), 0)[:, None]
    needed = np.divide(excess, excess + (odds - 1) * average, out=np.zeros_like(average), where=excess > 0).max()
    mixed: Array = (1 - needed) * matrix + needed * average
    return mixed


def _within_distortion(matrix: Array, prior: Array, odds: float, distortion: float) -> Array:
    """Mix with the least distorting channel, as little as is needed."""
    best = least_distorting(prior, odds)
    has, least = (1 - float(one.diagonal() @ prior) for one in (matrix, best))
    needed = min((has - distortion) / (has - least), 1.0) if has > distortion else 0.0
    mixed: Array = (1 - needed) * matrix + needed * best
    return mixed


def water_filling(prior: Array, distortion: float) -> Array:
    """Return the channel of least mutual information at a distortion below `1 - max p`, without odds.

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
    return with_average_columns(matrix, prior, kept)


def least_information(prior: Any, odds: float | None, distortion: float) -> Solution:
    """Return the channel with the least mutual information, in bits, with `P(X != Y) <= distortion` within these odds.

    The matrix is square; unused reports have rows of zeros, and truths that are never reported have the distribution
    of the reports as column. From the distortion `1 - max p` on, the likeliest truth is always reported, without any
    information. Odds of None are unbounded: the rate-distortion function. The problem is that of Gao et al. (2018),
    the proof in `proven_information`.

    >>> design = least_information([0.5, 0.3, 0.2], odds=3, distortion=0.45)
    >>> design.matrix.round(3)
    array([[0.875, 0.625, 0.781],
           [0.125, 0.375, 0.219],
           [0.   , 0.   , 0.   ]])
    >>> round(design.value, 6), design.gap < 1e-6
    (0.04819, True)
    """
    shares, bound = checked_prior(prior), checked_odds(odds)
    smallest = smallest_distortion(shares, bound)
    return _solve(shares, bound, checked_distortion(distortion, smallest))


def information_front(
    prior: Any,
    odds: float | None,
    distortions: Iterable[float] | None = None,
    points: int = 20,
    progress: Progress | None = None,
) -> list[Solution]:
    """Return the channels of least mutual information at each of these distortions.

    By default they are evenly spaced from the smallest that the odds allow to the largest useful one, `1 - max p`. If
    `e <= p_(1) / p_(2)`, the odds against the two largest probabilities, both are the same, and the front is the one
    channel without information.

    >>> [round(point.value, 4) for point in information_front([0.5, 0.3, 0.2], odds=3, points=3)]
    [0.1419, 0.0482, 0.0]
    """
    shares, bound = checked_prior(prior), checked_odds(odds)
    smallest = smallest_distortion(shares, bound)
    wanted = _spaced(smallest, 1 - shares.max(), points) if distortions is None else list(distortions)
    levels = [checked_distortion(each, smallest) for each in wanted]
    front = []
    for done, level in enumerate(levels, start=1):
        front.append(_solve(shares, bound, level))
        if progress is not None:
            progress(done, len(levels))
    return front


def _spaced(smallest: float, largest: float, points: int) -> list[float]:
    count = whole_number("points", points, least=2)
    return [largest] if smallest >= largest - ROUNDING else np.linspace(smallest, largest, count).tolist()


def _solve(prior: Array, odds: float | None, distortion: float) -> Solution:
    if distortion >= 1 - prior.max() - ROUNDING:
        return Solution(0.0, 0.0, matrix=constant(prior))
    if odds is None:
        matrix = water_filling(prior, distortion)
        value = float(mutual_information(matrix, prior))
        return Solution(value, value, matrix=matrix)
    program = Program(prior, odds, distortion)
    start = mixture_of_ends(program)
    return start if _gap_is_closed(start) else _solve_by_central_path(start, program)


def _solve_by_central_path(best: Solution, program: Program) -> Solution:
    """Follow the central path until the duality gap closes."""
    for point in chain.from_iterable(central_path(program, caution) for caution in CAUTIONS):
        matrix = feasible_channel(point)
        value = float(mutual_information(matrix, program.prior))
        bound = max(proven_information(program, point.worth, point.slope, point.rows.posteriors), best.lower_bound)
        best = Solution(value, bound, matrix) if value < best.value else replace(best, lower_bound=bound)
        if _gap_is_closed(best):
            break
    # By rounding the bound may exceed the value.
    return replace(best, lower_bound=min(best.lower_bound, best.value))


def _gap_is_closed(solution: Solution) -> bool:
    return solution.value - solution.lower_bound <= max(CLOSE * solution.value, CLOSEST)
