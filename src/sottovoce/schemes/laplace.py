"""The Laplace mechanism on ordered categories: add noise, round, and clip to the range."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import expm1, log, log1p
from typing import Any

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, fraction, odds_of_epsilon
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.rounding import matrix_odds
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields

MOST_CATEGORIES = 300
"""Largest number of categories: the plan lists the whole matrix."""


@dataclass(frozen=True)
class Laplace(Scheme):
    """`P(y | x) = F(y + 1/2 - x) - F(y - 1/2 - x)`, for categories 1 ... t in order (eq. 11 and 21).

    F is the distribution function of Laplace noise of scale `b = (t - 1) / epsilon`; reports below 1 or above t become
    1 or t. Rounding and clipping lower epsilon: with `u = e^(epsilon / (2 (t - 1)))` the odds are
    `e^epsilon (1 - (1 - 1/u)^2)` : 1. So compare with other schemes both at the nominal epsilon and at the channel's.

    >>> scheme = Laplace(epsilon=5)
    >>> float(scheme.nominal), round(scheme.mechanism((2,)).channel.epsilon, 2)
    (5.0, 3.15)
    """

    name = "laplace"
    citation = "Y. Wang, X. Wu & D. Hu (2016), Proc. EDBT/ICDT Workshops"
    identified = "epsilon must not be 0"

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        """Read epsilon exactly."""
        odds_of_epsilon("epsilon", epsilon)
        set_fields(self, epsilon=fraction("epsilon", epsilon))

    @property
    def nominal(self) -> Fraction:
        """Epsilon asked for, an upper bound on the epsilon of the channel."""
        return self.epsilon

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin for the rounded noise."""
        if len(sizes) != 1 or not 2 <= sizes[0] <= MOST_CATEGORIES:
            raise SottovoceError("sizes", f"must be those of one attribute of 2 to {MOST_CATEGORIES} categories", sizes)
        rows = laplace_rows(self.epsilon, sizes[0])
        odds = matrix_odds(rows)
        if odds is None or odds > odds_of_epsilon("epsilon", self.epsilon):
            rule = f"must be within reach of 64-bit integers over {sizes[0]} categories"
            raise SottovoceError("epsilon", rule, float(self.epsilon))
        return Listed.near(sizes, rows)

    @classmethod
    def cases(cls) -> Iterator[tuple["Laplace", Sizes]]:
        """Small, ordinary and large epsilon, few and many categories, uninformative."""
        yield cls(epsilon=0.01), (4,)
        yield cls(epsilon=1), (2,)
        yield cls(epsilon="3/2"), (9,)
        yield cls(epsilon=5), (2,)
        yield cls(epsilon=7), (3,)
        yield cls(epsilon=0), (3,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Negative, far too large, or not a number."""
        for epsilon in (-1, 10_000, float("nan"), "lots", None):
            yield "epsilon", {"epsilon": epsilon}


def nominal_epsilon(actual: Number, categories: int) -> float:
    """Nominal epsilon for which the channel's epsilon is `actual`, or slightly less.

    The root of `nominal + ln(1 - (1 - e^(-nominal / (2 (t - 1))))^2) = actual`, rounded down.

    >>> round(nominal_epsilon(1, 2), 4), round(nominal_epsilon(1, 6), 4)
    (1.2402, 1.0093)
    """
    odds_of_epsilon("epsilon", actual)
    steps = whole_number("categories", categories, least=2, most=MOST_CATEGORIES) - 1
    wanted = float(fraction("epsilon", actual))
    low, high = wanted, 2 * wanted + 2 * log(2)
    for _ in range(100):
        middle = (low + high) / 2
        correction = log1p(-(expm1(-middle / (2 * steps)) ** 2))
        low, high = (middle, high) if middle + correction <= wanted else (low, middle)
    return low * (1 - 1e-12)


def laplace_rows(epsilon: Fraction, t: int) -> list[list[Fraction]]:
    """Matrix to 19 digits, as differences of `P(report <= y | x)`, so that every column sums to one exactly.

    >>> laplace_rows(Fraction(0), 3)[0]
    [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]
    """
    tails = _tails(epsilon, t)
    at_most = [[tails[x - y - 1] if y < x else 1 - tails[y - x] for x in range(t)] for y in range(t - 1)]
    ends = [[Fraction(0)] * t, *at_most, [Fraction(1)] * t]
    return [[high - low for low, high in zip(*pair, strict=True)] for pair in pairwise(ends)]


def _tails(epsilon: Fraction, t: int) -> list[Fraction]:
    """`P(noise > k + 1/2) = e^(-(k + 1/2) / b) / 2` for k = 0 ... t - 1, to 19 digits, which fit into 64 bits."""
    with localcontext(Context(prec=60)):
        half_step = Decimal(epsilon.numerator) / (Decimal(epsilon.denominator) * 2 * (t - 1))
        exact = [(-half_step * (2 * k + 1)).exp() / 2 for k in range(t)]
        return [Fraction(tail.quantize(Decimal("1e-19"))) for tail in exact]
