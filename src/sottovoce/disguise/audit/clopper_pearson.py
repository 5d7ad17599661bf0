"""Exact confidence bounds of a probability from a count, in numpy alone.

A bound is found by bisection on the binomial tail, which is summed term by term: C. J. Clopper &
E. S. Pearson (1934), Biometrika 26, 404-413.
"""

from math import ceil, lgamma, log, log1p, sqrt

import numpy as np

BISECTIONS = 80
"""Halvings of the interval below the observed share: more than double precision can tell apart."""


def lower_bound(successes: int, trials: int, risk: float) -> float:
    """Largest p with `P(Binomial(trials, p) >= successes) <= risk`: the truth lies below with at most that risk.

    It is the quantile `risk` of a Beta(successes, trials - successes + 1) variable.

    >>> round(lower_bound(10, 10, 0.05), 6) == round(0.05 ** (1 / 10), 6)
    True
    """
    if successes == 0:
        return 0.0
    low, high = 0.0, successes / trials
    tail = _UpperTail(successes, trials)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail.log_probability(middle) <= log(risk) else (low, middle)
    return low


def upper_bound(successes: int, trials: int, risk: float) -> float:
    """Smallest p with `P(Binomial(trials, p) <= successes) <= risk`: the lower bound of the failures, mirrored.

    >>> round(upper_bound(0, 10, 0.05), 6) == round(1 - 0.05 ** (1 / 10), 6)
    True
    """
    return 1 - lower_bound(trials - successes, trials, risk)


class _UpperTail:
    """`P(X >= k) = P(X = k) (1 + r_1 + r_1 r_2 + ...)`, `r_i = (n - k - i + 1) / (k + i) p / (1 - p)`.

    Below p = k / n the products fall at least as fast as a normal density's tail, so that ten standard
    deviations of them are all that double precision can see.
    """

    def __init__(self, successes: int, trials: int) -> None:
        """Prepare what does not depend on p."""
        failures = trials - successes
        deviation = sqrt(successes * failures / trials)
        steps = np.arange(1, min(failures, ceil(10 * deviation) + 100) + 1)
        self._factors = (failures - steps + 1) / (successes + steps)
        self._counts = successes, failures
        self._log_ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(failures + 1)

    def log_probability(self, p: float) -> float:
        """Logarithm of the tail, for 0 < p <= k / n."""
        successes, failures = self._counts
        if failures == 0:
            return successes * log(p)
        further = np.cumprod(self._factors * (p / (1 - p))).sum()
        return float(self._log_ways + successes * log(p) + failures * log1p(-p) + log1p(further))
