"""Which optimiser serves a requirement, and what its answer becomes: an exact point with its certificate."""

from dataclasses import replace
from typing import Any

import numpy as np

from sottovoce.design.family import loosest
from sottovoce.design.front import TOLERANCE
from sottovoce.design.measured import measures_of
from sottovoce.design.point import Certificate, Point
from sottovoce.design.requirement import Requirement
from sottovoce.design.rounded import settled
from sottovoce.design.solution import Solution, relative_gap
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress

LARGEST_LISTED = 20
"""Categories up to which all reports are looked at; beyond, reports are sets that are drawn."""


def solve_error(
    asked: Requirement,
    respondents: float,
    max_reports: int | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> tuple[Point, Solution]:
    """Point of least error, and the solution to start a similar problem from."""
    if len(asked.prior) > LARGEST_LISTED and asked.odds is not None:
        return _under_odds(asked, respondents, max_reports, start, progress)
    found = _least_error(asked, max_reports, start, progress)
    return certified_point(found, asked, respondents, "mse"), found


def certified_point(found: Solution, asked: Requirement, respondents: float, objective: str) -> Point:
    """Round to integers, measure those, and say what rounding cost."""
    scheme = settled(found, asked)
    measures = measures_of(scheme.settled.channel, asked.law, respondents)
    scale = 1 / respondents if objective == "mse" else 1.0
    loss = relative_gap(measures[objective], found.value * scale)
    return Point(scheme, measures, Certificate(objective, found.lower_bound * scale, loss))


def _under_odds(
    asked: Requirement, respondents: float, max_reports: int | None, start: Solution | None, progress: Progress | None
) -> tuple[Point, Solution]:
    """Least error under odds alone, if that keeps the other bounds too; else subset selection that does.

    The latter is held against the better of the bounds proven for the odds and for the rest; its gap may be large.
    """
    odds_only = replace(asked, accuracy=None, delta=None)
    found = _least_error(odds_only, max_reports, None, progress) if start is None else start
    point = certified_point(found, odds_only, respondents, "mse")
    bounds = ((point["adversary_accuracy"], asked.accuracy), (point["worst_posterior"], asked.delta))
    if all(bound is None or value <= bound * (1 + TOLERANCE) for value, bound in bounds):
        return point, found
    from sottovoce.design.least_error.closed_form import closed_form_bound

    subset = loosest("subset", asked, respondents)
    proven = max(found.lower_bound, closed_form_bound(asked.law, asked.accuracy, asked.delta))
    return replace(subset, certificate=Certificate("mse", proven / respondents)), found


def _least_error(
    asked: Requirement, max_reports: int | None, start: Solution | None, progress: Progress | None
) -> Solution:
    """Solve by looking at all reports, or for more categories by drawing sets."""
    n = len(asked.prior)
    if asked.unbounded:
        error = float(1 - asked.law @ asked.law) / n
        return Solution(error, error, matrix=np.eye(n))
    bounds: dict[str, Any] = {"accuracy": asked.accuracy, "delta": asked.delta, "odds": asked.float_odds}
    if n <= LARGEST_LISTED:
        from sottovoce.design.least_error.optimum import least_error

        return least_error(asked.law, **bounds, reports=max_reports, start=start, progress=progress)
    if max_reports is not None:
        rule = f"must be left out for more than {LARGEST_LISTED} categories, whose reports are sets too many to list"
        raise SottovoceError("max_reports", rule, max_reports)
    from sottovoce.design.large.optimum import large_least_error

    return large_least_error(asked.law, **bounds, progress=progress)
