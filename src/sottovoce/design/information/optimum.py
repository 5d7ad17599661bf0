"""The channel that tells least at a distortion, with its proof; and the front of such channels."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.certificate import proven_information
from sottovoce.design.information.checks import ROUNDING, checked_distortion, checked_odds
from sottovoce.design.information.endpoint import constant, ends_mixed
from sottovoce.design.information.feasible import feasible_channel
from sottovoce.design.information.interior import central_path
from sottovoce.design.information.program import Program
from sottovoce.design.information.smallest import smallest_distortion
from sottovoce.design.information.water_filling import water_filling
from sottovoce.design.prior import checked_prior
from sottovoce.design.solution import Solution
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.measure.bits import mutual_information

CLOSE, CLOSEST = 1e-8, 1e-13
"""Gap at which to stop: as a share of the information, and in bits where that is near zero."""

CAUTIONS = (1.0, 0.03)
"""Steps that are rarely lost; and, where those are too slow (right beside the smallest distortion), bolder ones."""


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
