"""Exact rational arithmetic: probabilities, odds, and epsilon rounded towards privacy.

Guarantees are computed in integers. A float that the caller passes is read as the decimal that it prints as: .7 means
7/10.
"""

import re
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import inf, isfinite, lcm
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError, Words

Number = int | float | Fraction | Decimal | str
"""How a caller may write a rational number: 3, .75, Fraction(3, 4), Decimal("0.75"), "3/4"."""

OddsLike = Number | tuple[int, int]
"""How a caller may write odds: 3, "3:1", (3, 1), Fraction(3)."""

_PRECISE = Context(prec=60)

_RATIO = re.compile(r"([0-9]+)/([0-9]+)")

_HUGE = re.compile(r"[eE][+-]?[\d_]{4,}")
"""Exponents of numbers whose digits would fill the memory, such as 1e999999999."""


def fraction(parameter: str, value: Any) -> Fraction:
    """Read a number as the exact rational that it stands for.

    >>> fraction("p", 0.7), fraction("p", "3/4")
    (Fraction(7, 10), Fraction(3, 4))
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float | Fraction | Decimal | str):
        raise SottovoceError(parameter, "must be a number", value)
    if isinstance(plain, float | Decimal) and not isfinite(plain):
        raise SottovoceError(parameter, "must be a finite number", value)
    if isinstance(plain, str) and _HUGE.search(plain):
        raise SottovoceError(parameter, "must have an exponent of at most three digits", value)
    try:
        if isinstance(plain, str) and (parts := _RATIO.fullmatch(plain)):
            # int() refuses more than 4,300 digits, and the odds of thousands of items have more: Decimal does not.
            return Fraction(*(int(Decimal(part)) for part in parts.groups()))
        return Fraction(repr(plain) if isinstance(plain, float) else plain)
    except (ValueError, ZeroDivisionError):
        raise SottovoceError(parameter, "must be a number", value) from None


def ratio_text(ratio: Fraction) -> str:
    """Write a rational as "numerator/denominator", with as many digits as it has; `fraction` reads it back.

    >>> ratio_text(Fraction(7, 2))
    '7/2'
    """
    return f"{Decimal(ratio.numerator)}/{Decimal(ratio.denominator)}"


def probability(parameter: str, value: Any) -> Fraction:
    """Read a probability as an exact rational from 0 to 1.

    >>> probability("keep", 1.2)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: keep must be between 0 and 1. Got 1.2 instead.
    """
    exact = fraction(parameter, value)
    if not 0 <= exact <= 1:
        raise SottovoceError(parameter, "must be between 0 and 1", value)
    return exact


def distribution(parameter: str, values: Iterable[Any]) -> tuple[Fraction, ...]:
    """Read probabilities that sum to one; a sum that is off by at most 1e-9 is renormalised, more is an error.

    >>> distribution("known", [0.5, 0.25, 0.25])
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    """
    parts = tuple(probability(parameter, v) for v in values)
    total = sum(parts, start=Fraction(0))
    if abs(total - 1) > Fraction(1, 10**9):
        raise SottovoceError(parameter, f"must sum to 1; the sum is {float(total):.12g}", [float(v) for v in parts])
    return tuple(v / total for v in parts)


def odds(parameter: str, value: Any) -> Fraction:
    """Read odds a : b of at least 1 : 1 as the rational a / b.

    >>> odds("odds", "3:1"), odds("odds", (19, 2))
    (Fraction(3, 1), Fraction(19, 2))
    """
    try:
        ratio = fraction(parameter, _ratio(parameter, value))
    except ZeroDivisionError:
        raise SottovoceError(parameter, "must be finite", value) from None
    if ratio < 1:
        raise SottovoceError(parameter, "must be at least 1 : 1", value)
    return ratio


def odds_of_epsilon(parameter: str, epsilon: Any, share: int = 1) -> Fraction:
    """Odds that `epsilon / share` allows: exp(epsilon / share), rounded down to 50 digits.

    >>> float(odds_of_epsilon("epsilon", 1))
    2.718281828459045
    """
    exact = fraction(parameter, epsilon)
    if not 0 <= exact <= 700:
        raise SottovoceError(parameter, "must be between 0 and 700", epsilon)
    with localcontext(_PRECISE):
        power = (Decimal(exact.numerator) / (Decimal(exact.denominator) * share)).exp()
    return _below(power)


def odds_asked(**given: Any) -> Fraction:
    """Odds from exactly one of several arguments: `epsilon`, or `odds` under this or another name.

    >>> odds_asked(odds="3:1", epsilon=None)
    Fraction(3, 1)
    """
    passed = {name: value for name, value in given.items() if value is not None}
    if len(passed) != 1:
        raise SottovoceError(" or ".join(given), "must be given, exactly one of them", passed or Words("none"))
    ((name, value),) = passed.items()
    return odds_of_epsilon(name, value) if name == "epsilon" else odds(name, value)


def root_of_odds(whole: Fraction, share: int) -> Fraction:
    """Equal share of a privacy budget: the `share`-th root of the odds, exact or rounded down to 50 digits.

    >>> root_of_odds(Fraction(9), 2)
    Fraction(3, 1)
    """
    with localcontext(_PRECISE):
        root = (_logarithm(whole) / share).exp()
    nearest = Fraction(root).limit_denominator(10**6)
    return nearest if nearest**share == whole else _below(root)


def epsilon_of_odds(ratio: Fraction | None) -> float:
    """Epsilon, the natural logarithm of the odds; infinite if they are unbounded (None).

    >>> epsilon_of_odds(Fraction(3)), epsilon_of_odds(None)
    (1.0986122886681098, inf)
    """
    if ratio is None:
        return inf
    with localcontext(_PRECISE):
        return float(_logarithm(ratio))


def common_denominator(values: Iterable[Fraction]) -> int:
    """Least common denominator of some rationals."""
    return lcm(*(v.denominator for v in values))


def _ratio(parameter: str, value: Any) -> Any:
    if isinstance(value, str) and value.count(":") == 1:
        value = tuple(value.split(":"))
    if isinstance(value, tuple | list) and len(value) == 2:
        return fraction(parameter, value[0]) / fraction(parameter, value[1])
    return value


def _logarithm(ratio: Fraction) -> Decimal:
    """Natural logarithm, as a difference at 60 digits, which is exact to a double even for odds near 1 : 1."""
    return Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()


def _below(value: Decimal) -> Fraction:
    """Round a 60-digit number down to 50 digits, but not below one."""
    cut = Context(prec=50, rounding=ROUND_FLOOR).plus(value)
    return max(Fraction(cut), Fraction(1))
