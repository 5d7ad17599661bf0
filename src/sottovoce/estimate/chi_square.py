"""Tail of the chi-square distribution, without a statistics library."""

from math import exp, lgamma, log

from sottovoce.errors import SottovoceError


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(chi-square with so many degrees of freedom >= statistic): the regularised incomplete gamma function.

    By its series below the mean and by Lentz's continued fraction above it (Abramowitz & Stegun 6.5.29,
    6.5.31), both to full precision.

    >>> round(chi_square_tail(3.841458820694124, 1), 12)
    0.05
    """
    if isinstance(degrees, bool) or not isinstance(degrees, int) or degrees < 1:
        raise SottovoceError("degrees", "must be a positive whole number", degrees)
    if statistic <= 0:
        return 1.0
    a, x = degrees / 2, statistic / 2
    scale = exp(a * log(x) - x - lgamma(a))
    return 1 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)


def _series(a: float, x: float) -> float:
    """Sum of `x^k / (a (a+1) ... (a+k))`."""
    term = total = 1 / a
    k = a
    while term > total * 1e-17:
        k += 1
        term *= x / k
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """`1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))`, from the front."""
    b = x + 1 - a
    c, d = 1e300, 1 / b
    product, step, k = d, 0.0, 0
    while abs(step - 1) > 1e-15 and k < 10_000:
        k += 1
        numerator = -k * (k - a)
        b += 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        step = c * d
        product *= step
    return product
