"""The most useful member of a family of schemes that a requirement allows."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log

from sottovoce.design.measured import guesses_of, measures_of
from sottovoce.design.point import Point
from sottovoce.design.requirement import Requirement
from sottovoce.design.settled import Settled
from sottovoce.errors import SottovoceError
from sottovoce.scheme.optimized_unary import OptimizedUnary
from sottovoce.scheme.scheme import Scheme
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.scheme.warner import Warner

LOOSEST = 32.0
"""Epsilon beyond which no report is worth doubting."""

ROUNDING = 1e-12
"""Relative excess over a bound that is put down to floating point."""

STEPS = 48
"""Halvings of the interval in which an epsilon is sought."""


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
