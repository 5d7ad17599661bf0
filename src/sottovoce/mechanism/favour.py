"""How much sets that hold the truth may be favoured, for the odds that are asked for."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, floor, gcd, isqrt
from typing import Any

from sottovoce.channel.set_moments import Moments
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import epsilon_of_odds
from sottovoce.mechanism.mechanism import integer

GRAIN = 2**96
"""Denominator of square roots and of the favour."""


def favour_from_json(json: Any) -> Fraction:
    """Two positive whole numbers in lowest terms, as a quotient."""
    numbers = integers("favour", json)
    if len(numbers) != 2 or min(numbers) < 1 or gcd(*numbers) != 1:
        raise SottovoceError("favour", "must be two positive whole numbers in lowest terms", numbers)
    return Fraction(*numbers)


def integers(parameter: str, json: Any) -> list[int]:
    """Whole numbers of a list, each written as text."""
    if not isinstance(json, list):
        raise SottovoceError(parameter, "must be a list of whole numbers written as text", json)
    return [integer(parameter, number) for number in json]


def out_of_reach(odds: Fraction) -> SottovoceError:
    """Refusal of odds that no coins of these components have."""
    rule = "must be above 1 : 1 and within reach of coins of 2^64 sides with these components"
    return SottovoceError("odds", rule, Words(f"e^{epsilon_of_odds(odds):.6g} : 1"))


def favour_of_shares(odds: Fraction, least: Fraction, most: Fraction) -> Fraction:
    """Root g >= 1 of `g (1 + (g - 1) most) / (1 + (g - 1) least) = odds`, or a hair less.

    The norms of a design are proportional to `1 + (g - 1)` times the inclusion shares, of which these are the
    least and the most.

    >>> favour_of_shares(Fraction(3), least=Fraction(1, 2), most=Fraction(1, 2))
    Fraction(3, 1)
    >>> float(favour_of_shares(Fraction(3), least=Fraction(0), most=Fraction(1)))
    1.7320508075688772
    """
    linear = 1 + most - odds * least
    root = _root_above(linear**2 + 4 * most * (odds - 1))
    return 1 + Fraction(floor(2 * (odds - 1) / (linear + root) * GRAIN), GRAIN)


def _root_above(square: Fraction) -> Fraction:
    """Square root, exact or rounded up."""
    scaled = ceil(square * GRAIN**2)
    return Fraction(isqrt(scaled - 1) + 1 if scaled else 0, GRAIN)


def excess(moments: Moments, odds: Fraction) -> Fraction:
    """Root e >= 0 of `g max norm / min norm = odds`, g = 1 + e, as a multiple of 2^-96 that the caller checks.

    Norms are polynomials in e whose coefficients are `norm_moments`. The left side is 1 at e = 0 and at least the
    odds at g = odds. Whole numbers find the same root on every machine.

    >>> from sottovoce.channel.set_moments import norm_moments
    >>> from sottovoce.channel.slab import Slab
    >>> excess(norm_moments([Slab(1, 1, (1, 1, 1))], tilt=(1, 1, 1)), Fraction(3))
    Fraction(2, 1)
    """
    shares = [[part * GRAIN // row[0] for part in reversed(row)] for row in zip(*moments, strict=True)]
    low, high = 0, floor((odds - 1) * GRAIN) + 1
    while high - low > 1:
        middle = (low + high) // 2
        norms = [_polynomial(row, middle) for row in shares]
        above = (GRAIN + middle) * max(norms) * odds.denominator > GRAIN * min(norms) * odds.numerator
        low, high = (low, middle) if above else (middle, high)
    return Fraction(low, GRAIN)


def _polynomial(coefficients: Sequence[int], place: int) -> int:
    """Value of a polynomial, its highest power first, all counted in grains and rounded down."""
    return reduce(lambda value, coefficient: value * place // GRAIN + coefficient, coefficients)


def below(number: Fraction) -> Fraction:
    """Largest multiple of the grain that is not above a number."""
    return Fraction(floor(number * GRAIN), GRAIN)
