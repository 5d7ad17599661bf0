"""What counts of reports prove about the odds between truths, at a given risk of being wrong.

A bound is found by bisection on the binomial tail, which is summed term by term: C. J. Clopper &
E. S. Pearson (1934), Biometrika 26, 404-413.
"""

from dataclasses import dataclass
from math import ceil, exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel

BISECTIONS = 80
"""Halvings of the interval below the observed share: more than double precision can tell apart."""
Counts = NDArray[np.int64]
"""How often each report came from each truth, reports by truths."""

SUSPECTS = 3
"""Reports of a table whose exact bounds are computed: those that look worst."""


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


@dataclass(frozen=True)
class Finding:
    """Bound of the logarithm of the odds between two truths, and where it was found.

    >>> print(Finding(log(4), "report 2", most=2, least=0))
    report 2 is at least 4 times as likely under truth 2 as under truth 0
    """

    bound: float
    reports: str
    most: int
    least: int

    def __str__(self) -> str:
        """Odds and where they were seen."""
        times = f"at least {exp(self.bound):.6g} times as likely"
        return f"{self.reports} is {times} under truth {self.most} as under truth {self.least}"


def log_ratio(often: int, seldom: int, samples: int, risk: float) -> float:
    """Lower bound of `ln(p / p')` from counts out of equally many samples; each share has this risk.

    `ln(lower(often) / upper(seldom))`, by Clopper and Pearson: it is wrong with probability `2 risk` at most.

    >>> log_ratio(7500, 2500, 10_000, 0.001) < log(3)
    True
    """
    low, high = lower_bound(often, samples, risk), upper_bound(seldom, samples, risk)
    return log(low / high) if low else -inf


def suspects(counts: Counts, samples: int, risk: float) -> list[Finding]:
    """Bounds of the reports that look worst, over all pairs of truths.

    A report's worst pair of truths are those from which it came most and least often. Every entry of
    the table has its share of the risk (Bonferroni), so it does no harm to choose after looking.
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
    """Complaint about reports that came although their truth rules them out."""
    found = [(y, x) for y, x in np.argwhere(counts > 0).tolist() if channel.entry(y, x) == 0]
    return [ruled_out(f"report {found[0][0]}", found[0][1], more=len(found) - 1)] if found else []


def ruled_out(reports: str, truth: int, more: int = 0) -> str:
    """Complaint about a report that came from a truth under which it is impossible.

    >>> ruled_out("report 3", 1, more=2)
    'report 3 came from truth 1, which rules it out; so did 2 others'
    """
    others = f"; so did {more} others" if more else ""
    return f"{reports} came from truth {truth}, which rules it out{others}"
