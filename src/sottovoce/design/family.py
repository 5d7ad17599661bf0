"""The most useful member of a family of schemes that a requirement allows."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log

from sottovoce.design.measured import measures_of
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
    most = requirement.odds
    allowed = None if most is None else _member(family, most, requirement, respondents)
    if allowed is not None and _kept(allowed, requirement):
        return allowed
    low, high = 0.0, LOOSEST if most is None else log(most)
    for _ in range(STEPS):
        middle = (low + high) / 2
        point = _member(family, Fraction(exp(middle)), requirement, respondents)
        low, high = (middle, high) if _kept(point, requirement) else (low, middle)
    return _member(family, Fraction(exp(low)), requirement, respondents)


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


def _member(family: str, odds: Fraction, requirement: Requirement, respondents: float) -> Point:
    return _measured(FAMILIES[family](odds, len(requirement.prior)), requirement, respondents)


def _measured(scheme: Scheme, requirement: Requirement, respondents: float) -> Point:
    settled = Settled.of(scheme, (len(requirement.prior),))
    return Point(settled, measures_of(settled.settled.channel, requirement.prior, respondents))


def _kept(point: Point, requirement: Requirement) -> bool:
    bounds = ((requirement.accuracy, "adversary_accuracy"), (requirement.delta, "worst_posterior"))
    return all(bound is None or point[name] <= bound * (1 + ROUNDING) for bound, name in bounds)
