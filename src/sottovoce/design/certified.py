"""The best channel there is for a requirement, with a proof, as an exact scheme; and whole fronts of them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from sottovoce.design.front import Front
from sottovoce.design.objective import BITS_AND_DISTORTION
from sottovoce.design.point import Point
from sottovoce.design.requirement import Requirement
from sottovoce.design.solved import certified_point, solve_error
from sottovoce.design.threads import on_one_thread
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.exact import Number, OddsLike
from sottovoce.measure.covariance import checked_respondents


def least_error_design(
    prior: Any,
    respondents: float,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    max_reports: int | None = None,
    progress: Progress | None = None,
) -> Point:
    """Channel with the least mean squared error among all that keep these bounds, and a proof of it.

    `accuracy` bounds how often an adversary who knows the prior guesses right, `delta` how sure a report can make
    them, `odds` or `epsilon` what a report can do whatever they know. Without the latter the design may rule truths
    out: it is not deniable. `max_reports` caps the number of reports; the gap then says what the cap costs.

    >>> point = least_error_design([0.25] * 4, respondents=1000, odds=3)
    >>> round(point["mse"], 9), point.gap < 1e-6, point.deniable
    (0.0016875, True, True)
    """
    asked = Requirement.of(prior, accuracy=accuracy, delta=delta, odds=odds, epsilon=epsilon).for_error().certifiable()
    return solve_error(asked, checked_respondents(respondents), max_reports, progress=progress)[0]


def certified_front(
    prior: Any,
    respondents: float,
    *,
    accuracies: Iterable[float] | int = 25,
    delta: float | None = None,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    max_reports: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Least errors for a range of the adversary's accuracy, each with its proof, under the other bounds.

    If `accuracies` is a number, so many points are evenly spaced up to the least error under the other bounds alone.

    >>> front = certified_front([0.5, 0.3, 0.2], respondents=1000, delta=0.75, accuracies=3)
    >>> max(point.gap for point in front) < 1e-6
    True
    """
    size = checked_respondents(respondents)
    loosest = Requirement.of(prior, delta=delta, odds=odds, epsilon=epsilon).certifiable()
    found: list[Point] = []
    start = None
    if isinstance(accuracies, int):
        # The end of the front comes first, for it says where the other points lie.
        point, start = solve_error(loosest, size, max_reports)
        found.append(point)
        accuracies = _levels(max(loosest.prior), point["adversary_accuracy"], accuracies)
    asked = [replace(loosest, accuracy=level).for_error() for level in accuracies]
    total = len(found) + len(asked)
    for requirement in asked:
        point, start = solve_error(requirement, size, max_reports, start)
        found.append(point)
        if progress is not None:
            progress(len(found), total)
    return Front(tuple(found), loosest.prior, size, "certified")


def information_front(
    prior: Any,
    respondents: float,
    *,
    distortions: Iterable[float] | int = 20,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    progress: Progress | None = None,
) -> Front:
    """Fewest bits told for a range of distortions, the share of wrong reports, each with its proof.

    If `distortions` is a number, so many are evenly spaced from the smallest that the odds allow to the largest useful
    one, at which the likeliest category is reported always.

    >>> front = information_front([0.5, 0.3, 0.2], respondents=1000, odds=3, distortions=[0.45])
    >>> front[0].gap < 1e-6
    True
    """
    from sottovoce.design.information.optimum import information_front as solve

    asked = Requirement.of(prior, odds=odds, epsilon=epsilon).for_information().certifiable()
    size = checked_respondents(respondents)
    levels = {"points": distortions} if isinstance(distortions, int) else {"distortions": distortions}
    with on_one_thread():
        found = solve(asked.law, asked.float_odds, **levels, progress=progress)
    made = tuple(certified_point(solution, asked, size, "mutual_information") for solution in found)
    return Front(made, asked.prior, size, "certified", BITS_AND_DISTORTION)


def _levels(least: float, most: float, points: int) -> list[float]:
    """Accuracies below the most, which is a point already, down to but without the least."""
    if isinstance(points, bool) or not isinstance(points, int) or points < 1:
        raise SottovoceError("accuracies", "must be a positive number of points, or the accuracies themselves", points)
    return [float(level) for level in np.linspace(most, least, points + 1)[1:-1]]
