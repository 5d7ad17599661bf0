"""The methods that answer a request, by name: what the command line speaks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sottovoce.design.certified import certified_front, information_front, least_error_design
from sottovoce.design.family import FAMILIES, loosest, warner_at_distortion
from sottovoce.design.front import Front
from sottovoce.design.objective import BITS_AND_DISTORTION, GUESSES_AND_ERROR
from sottovoce.design.request import Request
from sottovoce.design.searched import SEARCHES
from sottovoce.design.sweep import subset_sweep, unary_sweep, warner_sweep
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.exact import epsilon_of_odds


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
