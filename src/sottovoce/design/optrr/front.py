"""OptRR's answer: the front of what its search has found, as exact schemes."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.front import Front
from sottovoce.design.measured import measures_of
from sottovoce.design.objective import non_dominated
from sottovoce.design.optrr.search import Search
from sottovoce.design.optrr.settings import Settings
from sottovoce.design.point import Point
from sottovoce.design.requirement import Requirement
from sottovoce.design.rounded import settled
from sottovoce.design.solution import Solution
from sottovoce.estimate.em import Progress
from sottovoce.measure.covariance import checked_respondents


def optrr_front(
    prior: Any,
    respondents: float,
    *,
    delta: float = 1.0,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Front of square matrices that SPEA2 finds, no posterior above delta (Huang & Du 2008, section V).

    A search: it knows no bound, and the certified front lies below it. The same seed finds the same front.

    >>> quick = Settings(generations=20, population=10, archive=10)
    >>> front = optrr_front([0.5, 0.3, 0.2], respondents=1000, delta=0.75, settings=quick, seed=1)
    >>> max(point["worst_posterior"] for point in front) <= 0.75 + 1e-9
    True
    """
    asked = Requirement.of(prior, delta=delta).for_error()
    size = checked_respondents(respondents)
    bound = min(delta, 1 - 1e-9)  # the identity's posteriors are 1, which no repair has to lower
    search = Search(np.asarray(asked.law), bound, size, settings or Settings(), np.random.default_rng(seed))
    search.run(progress)
    places = search.found
    kept = places[non_dominated(search.omega_losses[places])]
    points = measured_points(search.omega[kept], search.omega_losses[kept, 1] * size, asked, size)
    return Front(points, asked.prior, size, "OptRR")


def measured_points(matrices: Array, values: Array, asked: Requirement, respondents: float) -> tuple[Point, ...]:
    """Matrices of a search as exact schemes, with the measures of their integers and without any bound."""
    points = []
    for matrix, value in zip(matrices, values, strict=True):
        scheme = settled(Solution(float(value), 0.0, matrix=matrix / matrix.sum(axis=0)), asked)
        points.append(Point(scheme, measures_of(scheme.settled.channel, asked.law, respondents)))
    return tuple(points)
