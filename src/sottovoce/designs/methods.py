"""The methods that answer a request for a design, by the names that the command line uses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sottovoce.designs.certified import certified_front, information_front, least_error_design
from sottovoce.designs.front import BITS_AND_DISTORTION, GUESSES_AND_ERROR, Front, Point
from sottovoce.designs.requirement import Requirement
from sottovoce.designs.sweeps import FAMILIES, loosest, subset_sweep, unary_sweep, warner_at_distortion, warner_sweep
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress
from sottovoce.exact import epsilon_of_odds

OBJECTIVES = ("mse", "information")


@dataclass(frozen=True)
class Request:
    """What is asked for; levels of accuracy or distortion where single points are wanted instead of a front."""

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
        """Refuse what contradicts itself."""
        if self.objective not in OBJECTIVES:
            raise SottovoceError("objective", f"must be one of {', '.join(OBJECTIVES)}", self.objective)
        for name in ("accuracies", "delta", "max_reports") if self.objective == "information" else ("distortions",):
            if getattr(self, name) is not None:
                singular = {"accuracies": "accuracy", "distortions": "distortion"}.get(name, name)
                raise SottovoceError(
                    singular, f"must be left out for the objective {self.objective}", getattr(self, name)
                )

    @property
    def single(self) -> bool:
        """Whether odds are the level: under them alone one channel has the least error; `points` ask for a front."""
        return self.odds is not None and self.points is None

    @property
    def requirement(self) -> Requirement:
        """Bounds that hold at every point."""
        return Requirement.of(self.prior, delta=self.delta, odds=self.odds)

    def front(self, points: Sequence[Point], name: str) -> Front:
        """Front of points made to order."""
        objectives = {"objectives": BITS_AND_DISTORTION} if self.objective == "information" else {}
        return Front(tuple(points), self.requirement.prior, self.respondents, name, **objectives)


def optrr(request: Request, progress: Progress | None) -> Front:
    """Front of OptRR, which keeps posteriors within delta."""
    from sottovoce.designs.optrr.matrices import Settings
    from sottovoce.designs.optrr.search import optrr_front

    _refuse_other_objective(request, "mse", "optrr")
    if request.odds is not None:
        raise SottovoceError("odds or epsilon", "must be left out for the method optrr; it keeps delta", request.odds)
    delta = 1.0 if request.delta is None else request.delta
    settings = Settings(**_generations(request))
    found = optrr_front(
        request.prior, request.respondents, delta=delta, settings=settings, seed=request.seed, progress=progress
    )
    return _answer(found, "accuracy", request.accuracies, request.points)


def mopso(request: Request, progress: Progress | None) -> Front:
    """Front of the swarm, which keeps odds."""
    from sottovoce.designs.mopso import Settings, mopso_front

    _refuse_other_objective(request, "information", "mopso")
    settings = Settings(**_generations(request))
    found = mopso_front(
        request.prior, request.respondents, odds=request.odds, settings=settings, seed=request.seed, progress=progress
    )
    return _answer(found, "distortion", request.distortions, request.points)


SEARCHES = {"optrr": optrr, "mopso": mopso}
"""By the name of the method."""


def _refuse_other_objective(request: Request, objective: str, method: str) -> None:
    if request.objective != objective:
        raise SottovoceError("objective", f"must be {objective} for the method {method}", request.objective)


def _generations(request: Request) -> dict[str, Any]:
    return {} if request.generations is None else {"generations": request.generations}


def _answer(found: Front, name: str, levels: Sequence[float] | None, points: int | None) -> Front:
    """Best point for each level; or so many points evenly spaced among all."""
    if levels is not None:
        return replace(found, points=tuple(found.pick(**{name: level}) for level in levels))
    if points is None or points >= len(found):
        return found
    places = np.linspace(0, len(found) - 1, points).round().astype(int)
    return replace(found, points=tuple(found[int(place)] for place in places))


def design(method: str, request: Request, progress: Progress | None = None) -> Front:
    """Points that a method finds for a request.

    >>> from fractions import Fraction
    >>> front = design("warner", Request([0.5, 0.3, 0.2], 1000, odds=Fraction(3)))
    >>> round(front[0]["mse"], 6)
    0.001373
    """
    if method not in METHODS:
        raise SottovoceError("method", f"must be one of {', '.join(METHODS)}", method)
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
        return information_front(**_levels("distortions", request.distortions, request.points), **bounds)
    bounds |= {"delta": request.delta, "max_reports": request.max_reports}
    if request.single and request.accuracies is None:
        return request.front([least_error_design(**bounds)], "certified")
    return certified_front(**_levels("accuracies", request.accuracies, request.points), **bounds)


def _levels(name: str, levels: Sequence[float] | None, points: int | None) -> dict[str, Any]:
    """The levels asked for, or how many of them; neither is the function's own choice."""
    given = points if levels is None else levels
    return {} if given is None else {name: given}


def _swept(family: str, request: Request, progress: Progress | None) -> Front:
    if request.objective == "information":
        return _telling(family, request, progress)
    if request.accuracies is None and not request.single:
        return _allowed(_SWEEPS[family](request, progress), request)
    levels: Sequence[float | None] = request.accuracies or [None]
    found = []
    for level in levels:
        found.append(loosest(family, replace(request.requirement, accuracy=level), request.respondents))
        if progress is not None:
            progress(len(found), len(levels))
    return request.front(found, family)


def _telling(family: str, request: Request, progress: Progress | None) -> Front:
    """Warner's schemes by the bits they tell; a set of categories is neither the truth nor wrong."""
    if family != "warner":
        raise SottovoceError("method", "must be certified or warner for the objective information", family)
    if request.distortions is None:
        return _allowed(_warner(request, progress, BITS_AND_DISTORTION), request)
    levels = [replace(request.requirement, distortion=level) for level in request.distortions]
    return request.front([warner_at_distortion(level, request.respondents) for level in levels], family)


def _allowed(front: Front, request: Request) -> Front:
    """Points of a sweep that keep the bounds and are not beaten."""
    asked = {} if request.delta is None else {"delta": request.delta}
    if request.odds is not None:
        asked["epsilon"] = epsilon_of_odds(request.odds)
    return front.within(**asked).non_dominated()


def _warner(request: Request, progress: Progress | None, objectives: Any = GUESSES_AND_ERROR) -> Front:
    steps = {} if request.points is None else {"steps": request.points + 1}
    return warner_sweep(request.prior, request.respondents, objectives=objectives, progress=progress, **steps)


def _by_epsilon(sweep: Callable[..., Front], request: Request, progress: Progress | None) -> Front:
    return sweep(request.prior, request.respondents, **_levels("epsilons", None, request.points), progress=progress)


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
"""Ways to answer a request, by name."""
