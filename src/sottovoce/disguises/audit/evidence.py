"""Confidence bounds on the odds between truths, from counts of reports.

Bounds on proportions are those of C. J. Clopper & E. S. Pearson (1934), Biometrika 26, 404-413, found by bisection on
the binomial tail, which is summed term by term.
"""

from dataclasses import dataclass
from math import ceil, exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel

BISECTIONS = 80
"""Halvings of the interval below the observed proportion: more than double precision resolves."""

Counts = NDArray[np.int64]
"""Counts of reports (rows) by truth (columns)."""

SUSPECTS = 3
"""Number of reports of a table whose exact bounds are computed: those that look worst."""


def lower_bound(successes: int, trials: int, risk: float) -> float:
    """Clopper-Pearson lower bound: the largest p with `P(Binomial(trials, p) >= successes) <= risk`.

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
    """Clopper-Pearson upper bound: the smallest p with `P(Binomial(trials, p) <= successes) <= risk`.

    >>> round(upper_bound(0, 10, 0.05), 6) == round(1 - 0.05 ** (1 / 10), 6)
    True
    """
    return 1 - lower_bound(trials - successes, trials, risk)


class _UpperTail:
    """Upper tail of the binomial distribution.

    `P(X >= k) = P(X = k) (1 + r_1 + r_1 r_2 + ...)` with `r_i = (n - k - i + 1) / (k + i) p / (1 - p)`. Below
    p = k / n the products fall at least as fast as the tail of a normal density, so that terms beyond ten
    standard deviations are lost in double precision.
    """

    def __init__(self, successes: int, trials: int) -> None:
        """Compute what does not depend on p."""
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


@dataclass(frozen=True)
class Finding:
    """Lower bound of the log odds of a report between two truths.

    >>> print(Finding(log(4), "report 2", most=2, least=0))
    report 2 is at least 4 times as likely under truth 2 as under truth 0
    """

    bound: float
    reports: str
    most: int
    least: int

    def __str__(self) -> str:
        """Report, odds and truths in a sentence."""
        times = f"at least {exp(self.bound):.6g} times as likely"
        return f"{self.reports} is {times} under truth {self.most} as under truth {self.least}"


def log_ratio(often: int, seldom: int, samples: int, risk: float) -> float:
    """Lower bound of `ln(p / p')`, `ln(lower(often) / upper(seldom))`, from counts out of equally many samples.

    Each of the two Clopper-Pearson bounds fails with probability `risk` at most, the ratio with `2 risk`.

    >>> log_ratio(7500, 2500, 10_000, 0.001) < log(3)
    True
    """
    low, high = lower_bound(often, samples, risk), upper_bound(seldom, samples, risk)
    return log(low / high) if low else -inf


def suspects(counts: Counts, samples: int, risk: float) -> list[Finding]:
    """Bounds of the reports that look worst, over all pairs of truths.

    A report's worst pair are the truths that gave it most and least often. The risk is split over every entry of
    the table (Bonferroni), so choosing reports after seeing the counts is sound.
    """
    share = risk / (2 * counts.size)
    most, least = counts.argmax(axis=1), counts.argmin(axis=1)
    often, seldom = counts.max(axis=1) + 0.5, counts.min(axis=1) + 0.5
    deviations = NormalDist().inv_cdf(1 - share)
    rough = np.log(often / seldom) - deviations * (often**-0.5 + seldom**-0.5)
    return [
        Finding(
            log_ratio(int(counts[y, most[y]]), int(counts[y, least[y]]), samples, share),
            f"report {y}",
            most[y],
            least[y],
        )
        for y in np.argsort(-rough)[:SUSPECTS].tolist()
    ]


def impossible(channel: Channel, counts: Counts) -> list[str]:
    """Message about reports that were drawn although they are impossible under their truth."""
    found = [(y, x) for y, x in np.argwhere(counts > 0).tolist() if channel.entry(y, x) == 0]
    return [ruled_out(f"report {found[0][0]}", found[0][1], more=len(found) - 1)] if found else []


def ruled_out(reports: str, truth: int, more: int = 0) -> str:
    """Message about a report that was drawn from a truth under which it is impossible.

    >>> ruled_out("report 3", 1, more=2)
    'report 3 came from truth 1, which rules it out; so did 2 others'
    """
    others = f"; so did {more} others" if more else ""
    return f"{reports} came from truth {truth}, which rules it out{others}"
