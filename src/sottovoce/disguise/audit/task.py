"""The audit of one group: how many reports to draw, and what their counts say about its epsilon."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from sottovoce.disguise.audit.evidence import Finding, impossible, log_ratio, ruled_out, suspects
from sottovoce.disguise.audit.result import REACHED, GroupAudit
from sottovoce.disguise.audit.sampler import Auditable, Event, Sampler
from sottovoce.mechanism.coins import RandomWords

if TYPE_CHECKING:
    from sottovoce.disguise.files import Progress

FEWEST_SAMPLES = 10_000
MOST_SAMPLES = 2**24
MOST_COINS = 2**27
"""Limits of what is drawn of one truth unless the caller asks for more."""

MOST_TABULATED = 1000, 64
"""Reports and truths up to which every report is tested over all pairs of truths."""


@dataclass(frozen=True)
class AuditTask:
    """One group; half of the risk is the worst pair's, half the table's of all reports and truths.

    The pair alone takes all of it where the table would be too large to test.
    """

    name: str
    mechanism: Auditable
    asked: int | None
    risk: float

    @cached_property
    def event(self) -> Event:
        """Worst report, or several as bad."""
        return Event(self.mechanism.channel)

    @cached_property
    def cells(self) -> int:
        """Entries of the table of all reports and truths; zero where they are too many to test."""
        channel = self.mechanism.channel
        few = channel.n_out <= MOST_TABULATED[0] and channel.n_in <= MOST_TABULATED[1]
        return channel.n_out * channel.n_in if few else 0

    @cached_property
    def risk_of_pair(self) -> float:
        """Risk of each of the worst pair's two bounds."""
        return self.risk / (4 if self.cells else 2)

    @cached_property
    def needed(self) -> float:
        """Samples that should show 90 % of the stated epsilon, or a zero.

        A share of n samples has relative error `sqrt((1 - p) / (p n))`. The bound lies as many of these
        below the truth as its risk asks for, and three more leave room for chance.
        """
        high, low = self.event.chance_most, self.event.chance_least
        epsilon = self.mechanism.channel.epsilon
        if high == 0 or (low == 0 and epsilon < inf):
            return inf
        if low == 0:
            return 30 / high  # a report this likely stays unseen with probability e^-30
        errors = sqrt((1 - min(high, 1)) / high) + sqrt((1 - min(low, 1)) / low)
        deviations = NormalDist().inv_cdf(1 - self.risk_of_pair) + 3
        return (deviations * errors / ((1 - REACHED) * max(epsilon, 0.5))) ** 2

    @cached_property
    def samples(self) -> int:
        """Reports drawn of each of the two truths of the worst pair."""
        most = min(MOST_SAMPLES, MOST_COINS // max(len(self.mechanism.coins), 1))
        return self.asked or max(ceil(min(self.needed, most)), FEWEST_SAMPLES)

    @cached_property
    def samples_of_table(self) -> int:
        """Reports drawn of every truth for the table."""
        return min(self.samples, MOST_SAMPLES // self.mechanism.channel.n_in) if self.cells else 0

    @property
    def draws(self) -> int:
        """All reports drawn."""
        return 2 * self.samples + self.mechanism.channel.n_in * self.samples_of_table

    def run(self, words: RandomWords, meter: "Meter") -> GroupAudit:
        """Draw, count, and hold the counts against the statement."""
        channel, event = self.mechanism.channel, self.event
        sampler = Sampler(self.mechanism, words, meter.add)
        seen = [sum(map(event.count, sampler.reports(truth, self.samples))) for truth in (event.most, event.least)]
        bound = log_ratio(seen[0], seen[1], self.samples, self.risk_of_pair)
        findings = [Finding(bound, event.reports, event.most, event.least)]
        violations = []
        if channel.odds is None and seen[1]:
            violations.append(ruled_out(event.reports, event.least))
        if self.cells:
            counts = sampler.table(self.samples_of_table)
            findings += suspects(counts, self.samples_of_table, self.risk / 2)
            violations += impossible(channel, counts)
        worst = max(findings, key=lambda finding: finding.bound)
        if worst.bound > channel.epsilon:
            violations.append(f"{worst}, not at most {exp(channel.epsilon):.6g} times as stated")
        if sampler.strays:
            violations.append(f"{sampler.strays} rows are none of the {channel.n_out} reports of the channel")
        return GroupAudit(
            name=self.name,
            epsilon=channel.epsilon,
            lower_bound=max(worst.bound, 0.0),
            samples=self.samples,
            enough=self.samples >= self.needed,
            report=event.report,
            most=event.most,
            least=event.least,
            seen_most=seen[0],
            seen_least=seen[1],
            cells=self.cells,
            violations=tuple(violations),
        )


class Meter:
    """Reports drawn so far, told to a `progress` callback."""

    def __init__(self, total: int, progress: "Progress | None") -> None:
        """Start at none of them."""
        self._done, self._total, self._progress = 0, total, progress

    def add(self, reports: int) -> None:
        """Count these, and tell."""
        self._done += reports
        if self._progress is not None:
            self._progress(self._done, self._total)
