"""Sweeps: fronts of the literature's schemes, by their parameter."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.design.front import Front
from sottovoce.design.measured import measures_of_all
from sottovoce.design.objective import GUESSES_AND_ERROR, Objective
from sottovoce.design.point import Point
from sottovoce.design.prior import checked_prior
from sottovoce.design.settled import Settled
from sottovoce.errors import SottovoceError
from sottovoce.scheme.gamma_diagonal import GammaDiagonal
from sottovoce.scheme.optimized_unary import OptimizedUnary
from sottovoce.scheme.scheme import Scheme
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.scheme.uniform_perturbation import UniformPerturbation
from sottovoce.scheme.warner import Warner

Objectives = tuple[Objective, ...]

STEPS = 1000
"""Parts into which the range of a probability is cut; Gao et al. (2018) cut Warner's into as many."""

EPSILONS = tuple(np.round(np.arange(0.05, 8.001, 0.05), 10).tolist())
"""Where schemes that are given by an epsilon are looked at."""


def sweep(
    schemes: Iterable[Scheme],
    prior: Any,
    respondents: float,
    *,
    name: str,
    objectives: Objectives = GUESSES_AND_ERROR,
) -> Front:
    """Front of any schemes for one attribute whose channels are of one shape, each point a scheme.

    >>> from sottovoce.scheme import Warner
    >>> front = sweep([Warner(p=0.6), Warner(p=0.9)], [0.5, 0.5], 1000, name="mine")
    >>> [round(point["adversary_accuracy"], 6) for point in front]
    [0.9, 0.6]
    """
    law = checked_prior(prior)
    settled = [Settled.of(scheme, (len(law),)) for scheme in schemes]
    if not settled:
        raise SottovoceError("schemes", "must be at least one", settled)
    measures = measures_of_all([one.settled.channel for one in settled], law, respondents)
    points = tuple(Point(one, found) for one, found in zip(settled, measures, strict=True))
    return Front(points, tuple(law.tolist()), respondents, name, objectives)


def warner_sweep(
    prior: Any, respondents: float, steps: int = STEPS, objectives: Objectives = GUESSES_AND_ERROR
) -> Front:
    """Warner's schemes with `p = 1/steps ... (steps - 1)/steps`, dominated ones among them.

    >>> front = warner_sweep([0.5, 0.3, 0.2], respondents=1000)
    >>> len(front), len(front.non_dominated())
    (999, 551)
    """
    schemes = (Warner(p=share) for share in _shares(steps))
    return sweep(schemes, prior, respondents, name="warner", objectives=objectives)


def uniform_perturbation_sweep(
    prior: Any, respondents: float, steps: int = STEPS, objectives: Objectives = GUESSES_AND_ERROR
) -> Front:
    """Uniform perturbation with `q = 1/steps ... (steps - 1)/steps`: some of Warner's matrices, and no others.

    >>> len(uniform_perturbation_sweep([0.5, 0.5], respondents=1000, steps=10))
    9
    """
    schemes = (UniformPerturbation(q=share) for share in _shares(steps))
    return sweep(schemes, prior, respondents, name="uniform perturbation", objectives=objectives)


def frapp_sweep(
    prior: Any, respondents: float, epsilons: Iterable[Any] = EPSILONS, objectives: Objectives = GUESSES_AND_ERROR
) -> Front:
    """FRAPP's gamma-diagonal matrices by epsilon, the logarithm of gamma."""
    schemes = (GammaDiagonal(epsilon=epsilon) for epsilon in epsilons)
    return sweep(schemes, prior, respondents, name="frapp", objectives=objectives)


def subset_sweep(prior: Any, respondents: float, epsilons: Iterable[Any] = EPSILONS) -> Front:
    """Subset selection by epsilon, each with its best size of set."""
    return sweep((SubsetSelection(epsilon=epsilon) for epsilon in epsilons), prior, respondents, name="subset")


def unary_sweep(prior: Any, respondents: float, epsilons: Iterable[Any] = EPSILONS) -> Front:
    """Optimised unary encoding by epsilon."""
    return sweep((OptimizedUnary(epsilon=epsilon) for epsilon in epsilons), prior, respondents, name="unary")


def _shares(steps: int) -> list[Fraction]:
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 2:
        raise SottovoceError("steps", "must be a whole number of at least 2", steps)
    return [Fraction(i, steps) for i in range(1, steps)]
