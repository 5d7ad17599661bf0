"""Sweeps: fronts of the literature's schemes by their parameter, and the best member of a family."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp, log
from typing import Any

from sottovoce.designs.exact_scheme import Settled
from sottovoce.designs.front import GUESSES_AND_ERROR, Front, Objective, Point
from sottovoce.designs.measures import guesses_of, measures_of, measures_of_all
from sottovoce.designs.requirement import Requirement, checked_prior
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.scheme import Scheme
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.uniform_perturbation import UniformPerturbation
from sottovoce.schemes.warner import Warner

LOOSEST = 32.0
"""Epsilon beyond which no report is worth doubting."""

ROUNDING = 1e-12
"""Relative excess over a bound that is put down to floating point."""

STEPS = 48
"""Halvings of the interval in which an epsilon is sought."""
Objectives = tuple[Objective, ...]

LARGEST_EPSILON = 8
"""Up to which schemes that are given by an epsilon are looked at."""


def _warner(odds: Fraction, categories: int) -> Scheme:
    return Warner(p=odds / (odds + categories - 1))


def _subset(odds: Fraction, categories: int) -> Scheme:
    return SubsetSelection(odds=odds)


def _unary(odds: Fraction, categories: int) -> Scheme:
    return OptimizedUnary(odds=odds)


FAMILIES: dict[str, Callable[[Fraction, int], Scheme]] = {"warner": _warner, "subset": _subset, "unary": _unary}
"""Families in which larger odds tell more and estimate better."""


def loosest(family: str, requirement: Requirement, respondents: float) -> Point:
    """Member with the largest odds that keeps accuracy, delta and odds: the least error the family has to offer.

    >>> point = loosest("warner", Requirement.of([0.5, 0.3, 0.2], accuracy=0.6), 1000)
    >>> round(point["adversary_accuracy"], 9), round(point["mse"], 6)
    (0.6, 0.001373)
    """
    requirement.for_error()
    n, most = len(requirement.prior), requirement.odds
    make = FAMILIES[family]
    if most is not None and _kept(make(most, n), requirement):
        return _measured(make(most, n), requirement, respondents)
    low, high = 0.0, LOOSEST if most is None else log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _kept(make(Fraction(exp(middle)), n), requirement) else (low, middle)
    return _measured(make(Fraction(exp(low)), n), requirement, respondents)


def warner_at_distortion(requirement: Requirement, respondents: float) -> Point:
    """Warner's scheme with just so many wrong reports, `p = 1 - D`: of his, it tells the fewest bits.

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
        rule = "contradicts the odds, with which Warner's scheme has no less: the nearest feasible value is"
        raise SottovoceError("distortion", f"{rule} {float(least):.6g}", share)
    truth = 1 - Fraction(share).limit_denominator(10**12)
    return _measured(Warner(p=min(max(truth, Fraction(1, n)), 1 - least)), requirement, respondents)


def _measured(scheme: Scheme, requirement: Requirement, respondents: float) -> Point:
    settled = Settled.of(scheme, (len(requirement.prior),))
    return Point(settled, measures_of(settled.settled.channel, requirement.prior, respondents))


def _kept(scheme: Scheme, requirement: Requirement) -> bool:
    found = guesses_of(scheme.mechanism((len(requirement.prior),)).channel, requirement.law)
    bounds = (requirement.accuracy, requirement.delta)
    return all(bound is None or value <= bound * (1 + ROUNDING) for value, bound in zip(found, bounds, strict=True))


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

    >>> from sottovoce.schemes import Warner
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
