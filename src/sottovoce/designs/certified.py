"""Certified designs: the best channel for a requirement, with a proof; and every other method by its name.

`design`, `certified_front` and `information_front` solve and certify; `solve_request` answers a `Request` by any
of the methods that the command line offers: certified, sweeps of schemes from the literature, and heuristic searches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from sottovoce.checks import Progress, one_of, whole_number
from sottovoce.designs.exact_scheme import Solution, relative_gap, round_solution
from sottovoce.designs.front import (
    ACCURACY_AND_ERROR,
    INFORMATION_AND_DISTORTION,
    Certificate,
    Front,
    Point,
    measures_of,
)
from sottovoce.designs.least_error.atoms import MOST_CATEGORIES
from sottovoce.designs.requirement import Requirement
from sottovoce.designs.sweeps import (
    FAMILIES,
    best_of_family,
    subset_sweep,
    unary_sweep,
    warner_at_distortion,
    warner_sweep,
)
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, epsilon_of_odds
from sottovoce.measures.utility import checked_respondents

OBJECTIVES = ("mse", "information")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Context in which BLAS uses one thread, if threadpoolctl is installed.

    An optimiser multiplies thousands of small matrices one after the other: several threads gain nothing on an idle
    machine, and take twenty times as long on a busy one.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    # SciPy loads its own BLAS, and only libraries that are loaded already are limited.
    with suppress(ImportError):
        import_module("scipy.linalg")
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def solve_error(
    requirement: Requirement,
    respondents: float,
    max_reports: int | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> tuple[Point, Solution]:
    """Return the design of least error, and its solution, from which a similar problem may start."""
    with single_threaded_blas():
        solution = _least_error(requirement, max_reports, start, progress)
    return certified_point(solution, requirement, respondents, "mse"), solution


def certified_point(solution: Solution, requirement: Requirement, respondents: float, objective: str) -> Point:
    """Round a solution to an exact scheme, and measure that scheme and the loss by rounding."""
    scheme = round_solution(solution, requirement)
    measures = measures_of(scheme.channel, requirement.prior_array, respondents)
    scale = 1 / respondents if objective == "mse" else 1.0
    loss = relative_gap(measures[objective], solution.value * scale)
    return Point(scheme, measures, Certificate(objective, solution.lower_bound * scale, loss))


def _least_error(
    requirement: Requirement, max_reports: int | None, start: Solution | None, progress: Progress | None
) -> Solution:
    """Solve by enumerating all reports, or by set designs if there are more than 20 categories."""
    prior, n = requirement.prior_array, len(requirement.prior)
    if requirement.unbounded:
        error = float(1 - prior @ prior) / n
        return Solution(error, error, matrix=np.eye(n))
    bounds: dict[str, Any] = {
        "accuracy": requirement.accuracy,
        "delta": requirement.delta,
        "odds": requirement.float_odds,
        "progress": progress,
    }
    if n > MOST_CATEGORIES:
        from sottovoce.designs.large.solve import large_least_error

        if max_reports is not None:
            rule = f"must be left out for more than {MOST_CATEGORIES} categories: their reports are too many to list"
            raise SottovoceError("max_reports", rule, max_reports)
        return large_least_error(prior, **bounds)
    if max_reports is not None:
        from sottovoce.designs.least_error.pruning import least_error_of_few

        return least_error_of_few(prior, max_reports, **bounds, start=start)
    from sottovoce.designs.least_error.column_generation import least_error

    return least_error(prior, **bounds, start=start)


def design(
    prior: Any,
    respondents: float = 1,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    max_reports: int | None = None,
    progress: Progress | None = None,
) -> Point:
    """Return the channel with the least mean squared error under these bounds, with a certificate.

    `accuracy` bounds how often an adversary who knows the prior guesses right, `delta` the posterior probability of any
    category given any report, `odds` or `epsilon` the likelihood ratio of any two truths. Without the latter a report
    may rule truths out: the design is not deniable. `max_reports` caps the number of reports; the gap then includes
    the cost of the cap.

    >>> point = design([0.25] * 4, respondents=1000, odds=3)
    >>> round(point["mse"], 9), point.gap < 1e-6, point.deniable
    (0.0016875, True, True)
    """
    requirement = Requirement.of(prior, accuracy=accuracy, delta=delta, odds=odds, epsilon=epsilon)
    size = checked_respondents(respondents)
    return solve_error(requirement.for_error().certifiable(), size, max_reports, progress=progress)[0]


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
    """Return the designs of least error for a range of the adversary's accuracy, each with a certificate.

    If `accuracies` is a number, so many accuracies are evenly spaced up to that of the design under the other bounds
    alone.

    >>> front = certified_front([0.5, 0.3, 0.2], respondents=1000, delta=0.75, accuracies=3)
    >>> max(point.gap for point in front) < 1e-6
    True
    """
    size = checked_respondents(respondents)
    base = Requirement.of(prior, delta=delta, odds=odds, epsilon=epsilon).certifiable()
    points: list[Point] = []
    start = None
    if not isinstance(accuracies, Iterable):
        # The design without a bound on the accuracy comes first: its accuracy is the end of the range.
        point, start = solve_error(base, size, max_reports)
        points.append(point)
        accuracies = _accuracies_below(point["adversary_accuracy"], max(base.prior), accuracies)
    requirements = [replace(base, accuracy=accuracy).for_error() for accuracy in accuracies]
    total = len(points) + len(requirements)
    for requirement in requirements:
        point, start = solve_error(requirement, size, max_reports, start)
        points.append(point)
        if progress is not None:
            progress(len(points), total)
    return Front(tuple(points), base.prior, size, "certified")


def information_front(
    prior: Any,
    respondents: float,
    *,
    distortions: Iterable[float] | int = 20,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    progress: Progress | None = None,
) -> Front:
    """Return the designs of least mutual information for a range of distortions, each with a certificate.

    Distortion is the share of wrong reports. If `distortions` is a number, so many are evenly spaced from the smallest
    that the odds allow to the largest useful one, at which every report is the likeliest category.

    >>> front = information_front([0.5, 0.3, 0.2], respondents=1000, odds=3, distortions=[0.45])
    >>> front[0].gap < 1e-6
    True
    """
    from sottovoce.designs.information.least_information import information_front as solve

    requirement = Requirement.of(prior, odds=odds, epsilon=epsilon).for_information().certifiable()
    size = checked_respondents(respondents)
    levels: dict[str, Any] = {"distortions" if isinstance(distortions, Iterable) else "points": distortions}
    with single_threaded_blas():
        solutions = solve(requirement.prior_array, requirement.float_odds, **levels, progress=progress)
    points = tuple(certified_point(solution, requirement, size, "mutual_information") for solution in solutions)
    return Front(points, requirement.prior, size, "certified", INFORMATION_AND_DISTORTION)


def _accuracies_below(most: float, least: float, points: int) -> list[float]:
    """Return evenly spaced accuracies between the two, both excluded; with the most they are so many points."""
    return [float(level) for level in np.linspace(most, least, whole_number("accuracies", points) + 1)[1:-1]]


@dataclass(frozen=True)
class Request:
    """What to design: a front, or single points at given accuracies or distortions."""

    prior: Any
    respondents: float
    objective: str = "mse"
    accuracies: Sequence[float] | None = None
    distortions: Sequence[float] | None = None
    delta: float | None = None
    odds: Fraction | None = None
    points: int | None = None
    max_reports: int | None = None
    generations: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse arguments that do not go with the objective."""
        one_of("objective", self.objective, OBJECTIVES)
        for name in ("accuracies", "delta", "max_reports") if self.objective == "information" else ("distortions",):
            if getattr(self, name) is not None:
                singular = {"accuracies": "accuracy", "distortions": "distortion"}.get(name, name)
                rule = f"must be left out for the objective {self.objective}"
                raise SottovoceError(singular, rule, getattr(self, name))

    @property
    def single(self) -> bool:
        """Whether one design under the odds alone is wanted, and no front."""
        return self.odds is not None and self.points is None

    @property
    def requirement(self) -> Requirement:
        """Bounds that every point must keep."""
        return Requirement.of(self.prior, delta=self.delta, odds=self.odds)

    def front(self, points: Sequence[Point], name: str) -> Front:
        """Return a front of these points."""
        objectives = {"objectives": INFORMATION_AND_DISTORTION} if self.objective == "information" else {}
        return Front(tuple(points), self.requirement.prior, self.respondents, name, **objectives)


def optrr(request: Request, progress: Progress | None) -> Front:
    """Return a front by OptRR, which bounds posteriors by delta."""
    from sottovoce.designs.optrr.matrices import Settings
    from sottovoce.designs.optrr.search import optrr_front

    _require_objective(request, "mse", "optrr")
    if request.odds is not None:
        raise SottovoceError(
            "odds or epsilon", "must be left out for the method optrr, which bounds delta", request.odds
        )
    delta = 1.0 if request.delta is None else request.delta
    settings = Settings(**_generations(request))
    front = optrr_front(
        request.prior, request.respondents, delta=delta, settings=settings, seed=request.seed, progress=progress
    )
    return _selected(front, "accuracy", request.accuracies, request.points)


def mopso(request: Request, progress: Progress | None) -> Front:
    """Return a front by the particle swarm, which bounds the odds."""
    from sottovoce.designs.mopso import Settings, mopso_front

    _require_objective(request, "information", "mopso")
    settings = Settings(**_generations(request))
    front = mopso_front(
        request.prior, request.respondents, odds=request.odds, settings=settings, seed=request.seed, progress=progress
    )
    return _selected(front, "distortion", request.distortions, request.points)


SEARCHES = {"optrr": optrr, "mopso": mopso}
"""Heuristic methods by name."""


def _require_objective(request: Request, objective: str, method: str) -> None:
    if request.objective != objective:
        raise SottovoceError("objective", f"must be {objective} for the method {method}", request.objective)


def _generations(request: Request) -> dict[str, Any]:
    return {} if request.generations is None else {"generations": request.generations}


def _selected(front: Front, name: str, levels: Sequence[float] | None, points: int | None) -> Front:
    """Return the best point for each level, or so many points evenly spaced among all."""
    if levels is not None:
        return replace(front, points=tuple(front.pick(**{name: level}) for level in levels))
    if points is None or points >= len(front):
        return front
    indices = np.linspace(0, len(front) - 1, points).round().astype(int)
    return replace(front, points=tuple(front[int(index)] for index in indices))


def solve_request(method: str, request: Request, progress: Progress | None = None) -> Front:
    """Return the points that a method finds for a request.

    >>> from fractions import Fraction
    >>> front = solve_request("warner", Request([0.5, 0.3, 0.2], 1000, odds=Fraction(3)))
    >>> round(front[0]["mse"], 6)
    0.001373
    """
    one_of("method", method, list(METHODS))
    if request.max_reports is not None and method != "certified":
        raise SottovoceError("max_reports", "must be left out unless the method is certified", request.max_reports)
    for name in ("generations", "seed"):
        if getattr(request, name) is not None and method not in SEARCHES:
            rule = f"must be left out unless the method is {' or '.join(SEARCHES)}"
            raise SottovoceError(name, rule, getattr(request, name))
    return METHODS[method](request, progress)


def _certified(request: Request, progress: Progress | None) -> Front:
    bounds: dict[str, Any] = {
        "prior": request.prior,
        "respondents": request.respondents,
        "odds": request.odds,
        "progress": progress,
    }
    if request.objective == "information":
        return information_front(**_level_arguments("distortions", request.distortions, request.points), **bounds)
    bounds |= {"delta": request.delta, "max_reports": request.max_reports}
    if request.single and request.accuracies is None:
        return request.front([design(**bounds)], "certified")
    return certified_front(**_level_arguments("accuracies", request.accuracies, request.points), **bounds)


def _level_arguments(name: str, levels: Sequence[float] | None, points: int | None) -> dict[str, Any]:
    """Keyword argument of the levels, or of their number; empty to use the default."""
    given = points if levels is None else levels
    return {} if given is None else {name: given}


def _swept(family: str, request: Request, progress: Progress | None) -> Front:
    if request.objective == "information":
        return _warner_by_information(family, request, progress)
    if request.accuracies is None and not request.single:
        return _within_bounds(_SWEEPS[family](request, progress), request)
    accuracies: Sequence[float | None] = request.accuracies or [None]
    points = []
    for accuracy in accuracies:
        points.append(best_of_family(family, replace(request.requirement, accuracy=accuracy), request.respondents))
        if progress is not None:
            progress(len(points), len(accuracies))
    return request.front(points, family)


def _warner_by_information(family: str, request: Request, progress: Progress | None) -> Front:
    """Return Warner's schemes by mutual information; distortion is not defined for reports that are sets."""
    if family != "warner":
        raise SottovoceError("method", "must be certified or warner for the objective information", family)
    if request.distortions is None:
        return _within_bounds(_warner(request, progress, INFORMATION_AND_DISTORTION), request)
    levels = [replace(request.requirement, distortion=level) for level in request.distortions]
    return request.front([warner_at_distortion(level, request.respondents) for level in levels], family)


def _within_bounds(front: Front, request: Request) -> Front:
    """Return the points of a sweep that keep the bounds and are not dominated."""
    bounds = {} if request.delta is None else {"delta": request.delta}
    if request.odds is not None:
        bounds["epsilon"] = epsilon_of_odds(request.odds)
    return front.within(**bounds).non_dominated()


def _warner(request: Request, progress: Progress | None, objectives: Any = ACCURACY_AND_ERROR) -> Front:
    steps = {} if request.points is None else {"steps": request.points + 1}
    return warner_sweep(request.prior, request.respondents, objectives=objectives, progress=progress, **steps)


def _by_epsilon(sweep: Callable[..., Front], request: Request, progress: Progress | None) -> Front:
    return sweep(
        request.prior, request.respondents, **_level_arguments("epsilons", None, request.points), progress=progress
    )


_SWEEPS: dict[str, Callable[[Request, Progress | None], Front]] = {
    "warner": _warner,
    "subset": partial(_by_epsilon, subset_sweep),
    "unary": partial(_by_epsilon, unary_sweep),
}

METHODS: dict[str, Callable[[Request, Progress | None], Front]] = {
    "certified": _certified,
    **{family: partial(_swept, family) for family in FAMILIES},
    **SEARCHES,
}
"""Methods of `solve_request`, by name."""
