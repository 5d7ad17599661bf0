"""Which optimiser serves a requirement, and what its answer becomes: an exact point with its certificate."""

from typing import Any

import numpy as np

from sottovoce.design.least_error.limits import MOST_CATEGORIES
from sottovoce.design.measured import measures_of
from sottovoce.design.point import Certificate, Point
from sottovoce.design.requirement import Requirement
from sottovoce.design.rounded import settled
from sottovoce.design.solution import Solution, relative_gap
from sottovoce.design.threads import on_one_thread
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress


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
        from sottovoce.design.least_error.optimum import least_error

        return least_error(asked.law, **bounds, max_reports=max_reports, start=start, progress=progress)
    if max_reports is not None:
        rule = f"must be left out for more than {MOST_CATEGORIES} categories, whose reports are sets too many to list"
        raise SottovoceError("max_reports", rule, max_reports)
    from sottovoce.design.large.optimum import large_least_error

    return large_least_error(asked.law, **bounds, progress=progress)
