"""The best channel for a requirement, with a proof, as an exact scheme; and fronts of such channels."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from sottovoce.designs.exact_scheme import Solution, relative_gap, settled
from sottovoce.designs.front import BITS_AND_DISTORTION, Certificate, Front, Point
from sottovoce.designs.least_error.atoms import MOST_CATEGORIES
from sottovoce.designs.measures import measures_of
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress
from sottovoce.exact import Number, OddsLike
from sottovoce.measures.utility import checked_respondents


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep matrix products on one thread while this lasts, where threadpoolctl is there to see to it.

    An optimiser multiplies thousands of small matrices one after the other. Threads that wait for each other at every
    one of them gain nothing on an idle machine, and on a busy one cost twenty times the work.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    # SciPy brings a library of its own, and only libraries that are there already are limited.
    with suppress(ImportError):
        import_module("scipy.linalg")
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def solve_error(
    asked: Requirement,
    respondents: float,
    max_reports: int | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> tuple[Point, Solution]:
    """Point of least error, and the solution to start a similar problem from."""
    with on_one_thread():
        found = _least_error(asked, max_reports, start, progress)
    return certified_point(found, asked, respondents, "mse"), found


def certified_point(found: Solution, asked: Requirement, respondents: float, objective: str) -> Point:
    """Round to integers, measure those, and say what rounding cost."""
    scheme = settled(found, asked)
    measures = measures_of(scheme.settled.channel, asked.law, respondents)
    scale = 1 / respondents if objective == "mse" else 1.0
    loss = relative_gap(measures[objective], found.value * scale)
    return Point(scheme, measures, Certificate(objective, found.lower_bound * scale, loss))


def _least_error(
    asked: Requirement, max_reports: int | None, start: Solution | None, progress: Progress | None
) -> Solution:
    """Solve by looking at all reports, or for more categories by drawing sets."""
    n = len(asked.prior)
    if asked.unbounded:
        error = float(1 - asked.law @ asked.law) / n
        return Solution(error, error, matrix=np.eye(n))
    bounds: dict[str, Any] = {"accuracy": asked.accuracy, "delta": asked.delta, "odds": asked.float_odds}
    if n <= MOST_CATEGORIES:
        from sottovoce.designs.least_error.column_generation import least_error

        return least_error(asked.law, **bounds, max_reports=max_reports, start=start, progress=progress)
    if max_reports is not None:
        rule = f"must be left out for more than {MOST_CATEGORIES} categories, whose reports are sets too many to list"
        raise SottovoceError("max_reports", rule, max_reports)
    from sottovoce.designs.large.solve import large_least_error

    return large_least_error(asked.law, **bounds, progress=progress)


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
    from sottovoce.designs.information.least_information import information_front as solve

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
