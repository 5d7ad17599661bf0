"""Sweeps: fronts of schemes from the literature over their parameter, and the best scheme of a family."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp, log
from typing import Any

from sottovoce.checks import Progress, whole_number
from sottovoce.designs.exact_scheme import ExactScheme
from sottovoce.designs.front import (
    ACCURACY_AND_ERROR,
    Front,
    Objective,
    Point,
    accuracy_and_posterior,
    measures_of,
    measures_of_all,
)
from sottovoce.designs.requirement import Requirement, checked_prior, rounded_up
from sottovoce.errors import SottovoceError
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.scheme import Scheme
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.uniform_perturbation import UniformPerturbation
from sottovoce.schemes.warner import Warner

LARGEST_SEARCHED = 32.0
"""Largest epsilon that is searched; beyond it reports are practically the truth."""

ROUNDING = 1e-12
"""Relative excess over a bound that is attributed to rounding."""

STEPS = 48
"""Bisections of the interval of epsilon."""

Objectives = tuple[Objective, ...]

LARGEST_EPSILON = 8
"""Largest epsilon of a sweep."""


def _warner(odds: Fraction, categories: int) -> Scheme:
    return Warner(p=odds / (odds + categories - 1))


def _subset(odds: Fraction, categories: int) -> Scheme:
    return SubsetSelection(odds=odds)


def _unary(odds: Fraction, categories: int) -> Scheme:
    return OptimizedUnary(odds=odds)


FAMILIES: dict[str, Callable[[Fraction, int], Scheme]] = {"warner": _warner, "subset": _subset, "unary": _unary}
"""Families of schemes whose error falls as the odds grow."""


def best_of_family(family: str, requirement: Requirement, respondents: float) -> Point:
    """Return the scheme of a family with the largest odds within the requirement, which has the least error.

    >>> point = best_of_family("warner", Requirement.of([0.5, 0.3, 0.2], accuracy=0.6), 1000)
    >>> round(point["adversary_accuracy"], 9), round(point["mse"], 6)
    (0.6, 0.001373)
    """
    requirement.for_error()
    n, most = len(requirement.prior), requirement.odds
    make = FAMILIES[family]
    if most is not None and _meets(make(most, n), requirement):
        return _point(make(most, n), requirement, respondents)
    low, high = 0.0, LARGEST_SEARCHED if most is None else log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _meets(make(Fraction(exp(middle)), n), requirement) else (low, middle)
    return _point(make(Fraction(exp(low)), n), requirement, respondents)


def warner_at_distortion(requirement: Requirement, respondents: float) -> Point:
    """Return Warner's scheme with a given distortion, `p = 1 - D`, the one of least mutual information.

    >>> point = warner_at_distortion(Requirement.of([0.5, 0.3, 0.2], odds=4, distortion=0.4), 1000)
    >>> round(point["distortion"], 9), round(point["epsilon"], 4)
    (0.4, 1.0986)
    """
    requirement.for_information()
    share, n, odds = requirement.distortion, len(requirement.prior), requirement.odds
    if share is None:
        raise SottovoceError("distortion", "must be given", share)
    least = Fraction(0) if odds is None else 1 - odds / (odds + n - 1)
    if share < least * (1 - Fraction(ROUNDING)):
        rule = "contradicts the odds, under which Warner's scheme has no less; the nearest feasible value is"
        raise SottovoceError("distortion", f"{rule} {rounded_up(float(least))}", share)
    keep = 1 - Fraction(share).limit_denominator(10**12)
    return _point(Warner(p=min(max(keep, Fraction(1, n)), 1 - least)), requirement, respondents)


def _point(scheme: Scheme, requirement: Requirement, respondents: float) -> Point:
    exact = ExactScheme.of(scheme, (len(requirement.prior),))
    return Point(exact, measures_of(exact.channel, requirement.prior, respondents))


def _meets(scheme: Scheme, requirement: Requirement) -> bool:
    channel = scheme.mechanism((len(requirement.prior),)).channel
    values = accuracy_and_posterior(channel, requirement.prior_array)
    bounds = (requirement.accuracy, requirement.delta)
    return all(bound is None or value <= bound * (1 + ROUNDING) for value, bound in zip(values, bounds, strict=True))


def sweep(
    schemes: Iterable[Scheme],
    prior: Any,
    respondents: float,
    *,
    name: str,
    objectives: Objectives = ACCURACY_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Return a front of schemes for one attribute whose channels have one shape.

    >>> from sottovoce.schemes import Warner
    >>> front = sweep([Warner(p=0.6), Warner(p=0.9)], [0.5, 0.5], 1000, name="mine")
    >>> [round(point["adversary_accuracy"], 6) for point in front]
    [0.9, 0.6]
    """
    shares = checked_prior(prior)
    exact = [ExactScheme.of(scheme, (len(shares),)) for scheme in schemes]
    if not exact:
        raise SottovoceError("schemes", "must be at least one", exact)
    measures = measures_of_all([scheme.channel for scheme in exact], shares, respondents, progress)
    points = tuple(Point(scheme, numbers) for scheme, numbers in zip(exact, measures, strict=True))
    return Front(points, tuple(shares.tolist()), respondents, name, objectives)


def warner_sweep(
    prior: Any,
    respondents: float,
    steps: int = 1000,
    objectives: Objectives = ACCURACY_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Return Warner's schemes with `p = 1/steps ... (steps - 1)/steps`, dominated ones included (Gao et al. 2018).

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
    objectives: Objectives = ACCURACY_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Return uniform perturbation with `q = 1/steps ... (steps - 1)/steps`: some of Warner's matrices, and no others.

    >>> len(uniform_perturbation_sweep([0.5, 0.5], respondents=1000, steps=10))
    9
    """
    schemes = (UniformPerturbation(q=share) for share in _shares(steps))
    return sweep(schemes, prior, respondents, name="uniform perturbation", objectives=objectives, progress=progress)


def frapp_sweep(
    prior: Any,
    respondents: float,
    epsilons: Iterable[Any] | int = 160,
    objectives: Objectives = ACCURACY_AND_ERROR,
    progress: Progress | None = None,
) -> Front:
    """Return FRAPP's gamma-diagonal matrices by epsilon = log gamma; a number gives that many epsilons up to 8."""
    schemes = (GammaDiagonal(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="frapp", objectives=objectives, progress=progress)


def subset_sweep(
    prior: Any, respondents: float, epsilons: Iterable[Any] | int = 32, progress: Progress | None = None
) -> Front:
    """Return subset selection by epsilon, each with its best set size; a number gives that many epsilons up to 8."""
    schemes = (SubsetSelection(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="subset", progress=progress)


def unary_sweep(
    prior: Any, respondents: float, epsilons: Iterable[Any] | int = 32, progress: Progress | None = None
) -> Front:
    """Return optimised unary encoding by epsilon, for few enough categories to list their sets."""
    schemes = (OptimizedUnary(epsilon=epsilon) for epsilon in _epsilons(epsilons))
    return sweep(schemes, prior, respondents, name="unary", progress=progress)


def _shares(steps: int) -> list[Fraction]:
    parts = whole_number("steps", steps, least=2)
    return [Fraction(i, parts) for i in range(1, parts)]


def _epsilons(given: Iterable[Any] | int) -> Iterable[Any]:
    """Return the epsilons themselves, or so many of them evenly spaced."""
    if isinstance(given, Iterable):
        return given
    count = whole_number("epsilons", given)
    return [Fraction(LARGEST_EPSILON * i, count) for i in range(1, count + 1)]
