"""Requests that the papers' searches answer: OptRR for guesses and error, MOPSO for bits and distortion."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sottovoce.design.front import Front
from sottovoce.design.request import Request
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress


def optrr(request: Request, progress: Progress | None) -> Front:
    """Front of OptRR, which keeps posteriors within delta."""
    from sottovoce.design.optrr.front import optrr_front
    from sottovoce.design.optrr.settings import Settings

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
    from sottovoce.design.mopso.front import mopso_front
    from sottovoce.design.mopso.settings import Settings

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
