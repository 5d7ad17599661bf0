"""Evidence on the odds between truths: counts of many sampled reports, and confidence bounds from them.

Bounds on proportions are those of C. J. Clopper & E. S. Pearson (1934), Biometrika 26, 404-413, found by bisection on
the binomial tail, which is summed term by term.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.mechanisms.coins import Coin, Coins, RandomWords, flip
from sottovoce.schemas.attribute import Columns, narrow, ravel

COINS_AT_ONCE = 2**20
"""Coins flipped at once: enough for numpy to be fast, and few enough for memory however many a report takes."""

LARGEST_LIST = 2**20
"""Most reports and truths for which all reports with the worst odds are listed."""
BISECTIONS = 80
"""Halvings of the interval below the observed proportion: more than double precision resolves."""

Counts = NDArray[np.int64]
"""Counts of reports (rows) by truth (columns)."""

SUSPECTS = 3
"""Number of reports of a table whose exact bounds are computed: those that look worst."""


class Auditable(Protocol):
    """Protocol of mechanisms that can be audited."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute of the truth."""

    @property
    def coins(self) -> tuple[Coin, ...]:
        """Coins that one report uses."""

    @property
    def channel(self) -> Channel:
        """Distribution that the reports are said to follow."""

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Reports of coded truths, given what the coins show, row by row."""


class Event:
    """The report of a channel with the worst odds between two truths, and all others with the same odds between them.

    Together they are drawn more often than one of them, and their odds are the same.
    """

    def __init__(self, channel: Channel) -> None:
        """Find the worst report, and list those that are as bad if the channel is small."""
        self.report, self.most, self.least = channel.worst_case()
        self.shape = channel.shape_out
        self.listed: NDArray[np.bool_] | None = None
        if max(channel.n_in, channel.n_out) > LARGEST_LIST or channel.odds == 1:
            high, low = (float(channel.entry(self.report, truth)) for truth in (self.most, self.least))
        else:
            likely, unlikely = channel.column(self.most), channel.column(self.least)
            self.listed = _log_ratios(likely, unlikely) >= channel.epsilon - 1e-9
            self.listed[self.report] = True
            high, low = float(likely[self.listed].sum()), float(unlikely[self.listed].sum())
        self.chance_most, self.chance_least = high, 0.0 if channel.odds is None else low

    @property
    def reports(self) -> str:
        """Name of the event: one report, and how many others are as bad."""
        others = 0 if self.listed is None else int(self.listed.sum()) - 1
        return f"report {self.report}" + (f" (or one of {others} as bad)" if others else "")

    def count(self, reports: Columns) -> int:
        """Number of these reports that belong to the event."""
        if self.listed is not None:
            return int(self.listed[ravel(reports, self.shape)].sum())
        same = [column == code for column, code in zip(reports, codes_of(self.report, self.shape), strict=True)]
        return int(np.logical_and.reduce(same).sum())


@dataclass
class Sampler:
    """Draws reports of one mechanism; rows that are not reports of its channel are left out and counted in `strays`."""

    mechanism: Auditable
    words: RandomWords
    drawn: Callable[[int], None]
    strays: int = field(default=0, init=False)

    def reports(self, truth: int, count: int) -> Iterator[Columns]:
        """Draw reports of one truth, batch by batch."""
        at_once = max(COINS_AT_ONCE // max(len(self.mechanism.coins), 32), 1)
        codes = codes_of(truth, self.mechanism.sizes)
        for start in range(0, count, at_once):
            rows = min(at_once, count - start)
            columns = tuple(narrow(np.full(rows, c), s) for c, s in zip(codes, self.mechanism.sizes, strict=True))
            yield self._known(self.mechanism.respond(columns, flip(self.mechanism.coins, rows, self.words)))
            self.drawn(rows)

    def table(self, count: int) -> NDArray[np.int64]:
        """Counts of reports (rows) by truth (columns), from `count` draws of each truth."""
        channel = self.mechanism.channel
        counts = np.zeros((channel.n_out, channel.n_in), np.int64)
        for truth in range(channel.n_in):
            for report in self.reports(truth, count):
                counts[:, truth] += np.bincount(ravel(report, channel.shape_out), minlength=channel.n_out)
        return counts

    def _known(self, reports: Columns) -> Columns:
        shape = self.mechanism.channel.shape_out
        inside = [(column >= 0) & (column < size) for column, size in zip(reports, shape, strict=True)]
        known = np.logical_and.reduce(inside)
        if known.all():
            return reports
        self.strays += int((~known).sum())
        return tuple(column[known] for column in reports)


def _log_ratios(likely: Array, unlikely: Array) -> Array:
    """Logarithm of the ratio of two distributions, by report; minus infinity where the first is zero."""
    ratios = np.full(len(likely), -np.inf)
    possible = likely > 0
    with np.errstate(divide="ignore"):
        ratios[possible] = np.log(likely[possible]) - np.log(unlikely[possible])
    return ratios


def codes_of(number: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Codes of one joint cell by its number, which may exceed 64 bits.

    >>> codes_of(2**100, (2,) * 101)[:3]
    (1, 0, 0)
    """
    codes = []
    for size in reversed(sizes):
        number, code = divmod(number, size)
        codes.append(code)
    return tuple(reversed(codes))


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
