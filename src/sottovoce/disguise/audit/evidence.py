"""What counts of reports prove about the odds between truths, at a given risk of being wrong."""

from dataclasses import dataclass
from math import exp, inf, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Channel
from sottovoce.disguise.audit.clopper_pearson import lower_bound, upper_bound

Counts = NDArray[np.int64]
"""How often each report came from each truth, reports by truths."""

SUSPECTS = 3
"""Reports of a table whose exact bounds are computed: those that look worst."""


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
