"""Sweeps: fronts of the literature's schemes, by their parameter."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sottovoce.design.front import Front
from sottovoce.design.measured import measures_of_all
from sottovoce.design.objective import GUESSES_AND_ERROR, Objective
from sottovoce.design.point import Point
from sottovoce.design.prior import checked_prior
from sottovoce.design.settled import Settled
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.scheme.gamma_diagonal import GammaDiagonal
from sottovoce.scheme.optimized_unary import OptimizedUnary
from sottovoce.scheme.scheme import Scheme
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.scheme.uniform_perturbation import UniformPerturbation
from sottovoce.scheme.warner import Warner

Objectives = tuple[Objective, ...]

LARGEST_EPSILON = 8
"""Up to which schemes that are given by an epsilon are looked at."""


def sweep(
    schemes: Iterable[Scheme],
    prior: Any,
    respondents: float,
    *,
    name: str,
    objectives: Objectives = GUESSES_AND_ERROR,
    progress: Progress | None = None,
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
    measures = measures_of_all([one.settled.channel for one in settled], law, respondents, progress)
    points = tuple(Point(one, found) for one, found in zip(settled, measures, strict=True))
    return Front(points, tuple(law.tolist()), respondents, name, objectives)


def warner_sweep(
    prior: Any,
    respondents: float,
    steps: int = 1000,
    objectives: Objectives = GUESSES_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Warner's schemes with `p = 1/steps ... (steps - 1)/steps`, dominated ones among them (Gao et al. 2018).

    >>> front = warner_sweep([0.5, 0.3, 0.2], respondents=1000)
    >>> len(front), len(front.non_dominated())
    (999, 551)
    """
    schemes = (Warner(p=share) for share in _shares(steps))
    return sweep(schemes, prior, respondents, name="warner", objectives=objectives, progress=progress)


def uniform_perturbation_sweep(
    prior: Any,
    respondents: float,
    steps: int = 1000,
    objectives: Objectives = GUESSES_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Uniform perturbation with `q = 1/steps ... (steps - 1)/steps`: some of Warner's matrices, and no others.

    >>> len(uniform_perturbation_sweep([0.5, 0.5], respondents=1000, steps=10))
    9
    """
    schemes = (UniformPerturbation(q=share) for share in _shares(steps))
    return sweep(schemes, prior, respondents, name="uniform perturbation", objectives=objectives, progress=progress)


def frapp_sweep(
    prior: Any,
    respondents: float,
    epsilons: Iterable[Any] | int = 160,
    objectives: Objectives = GUESSES_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """FRAPP's gamma-diagonal matrices by epsilon, the logarithm of gamma; a number of epsilons is spread up to 8."""
    schemes = (GammaDiagonal(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="frapp", objectives=objectives, progress=progress)


def subset_sweep(
    prior: Any, respondents: float, epsilons: Iterable[Any] | int = 32, progress: Progress | None = None
) -> Front:
    """Subset selection by epsilon, each with its best size of set; beyond 12 categories no set is listed."""
    schemes = (SubsetSelection(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="subset", progress=progress)


def unary_sweep(
    prior: Any, respondents: float, epsilons: Iterable[Any] | int = 32, progress: Progress | None = None
) -> Front:
    """Optimised unary encoding by epsilon, for few enough categories to list their sets."""
    schemes = (OptimizedUnary(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="unary", progress=progress)


def _shares(steps: int) -> list[Fraction]:
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 2:
        raise SottovoceError("steps", "must be a whole number of at least 2", steps)
    return [Fraction(i, steps) for i in range(1, steps)]


def _epsilons(given: Iterable[Any] | int) -> Iterable[Any]:
    """The epsilons themselves, or so many of them evenly spaced."""
    if isinstance(given, int):
        return [Fraction(LARGEST_EPSILON * i, given) for i in range(1, given + 1)]
    return given
