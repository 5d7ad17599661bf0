"""Audit a plan: draw reports of each group and bound its epsilon from below.

Reports are drawn with the code that a respondent's device runs, and counted. A plan is violated if some report is, at
the given level, more likely under one truth than the stated odds to another truth allow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, exp, inf, isfinite, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Progress, whole_number
from sottovoce.checks import level as checked_level
from sottovoce.disguises.audit.evidence import (
    Auditable,
    Event,
    Finding,
    Sampler,
    impossible,
    log_ratio,
    ruled_out,
    suspects,
)
from sottovoce.disguises.audit.result import REACHED, Audit, GroupAudit
from sottovoce.mechanisms.coins import Randomness, RandomWords, random_words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns

FEWEST_SAMPLES = 10_000
MOST_SAMPLES = 2**24
MOST_COINS = 2**27
"""Limits on the reports drawn of one truth unless the caller asks for more."""

MOST_TABULATED = 1000, 64
"""Most reports and truths for which every report is tested over all pairs of truths."""


class Parts:
    """Factors of a product channel, each with its own worst report; any other channel has none.

    The worst report of the product is worst in every factor, so the same draws serve all factors.
    """

    def __init__(self, channel: Channel) -> None:
        """Find the worst report of every distinct factor once."""
        self.factors = channel.factors if len(channel.factors) > 1 else ()
        events = {factor: Event(factor) for factor in set(self.factors)}
        self._events = [events[factor] for factor in self.factors]
        ends = accumulate((len(factor.shape_out) for factor in self.factors), initial=0)
        self._columns = [slice(*pair) for pair in pairwise(ends)]

    def count(self, reports: Columns) -> NDArray[np.int64]:
        """Number of reports that belong to each factor's event."""
        counts = [event.count(reports[columns]) for event, columns in zip(self._events, self._columns, strict=True)]
        return np.array(counts, np.int64)

    def findings(self, often: NDArray[np.int64], seldom: NDArray[np.int64], samples: int, risk: float) -> list[Finding]:
        """Lower bounds of all factors, which fail to hold together with probability `risk` at most."""
        each = risk / (2 * max(len(self.factors), 1))
        bounds: dict[tuple[int, int], float] = {}
        findings = []
        for number, pair in enumerate(zip(often.tolist(), seldom.tolist(), strict=True)):
            if pair not in bounds:
                bounds[pair] = log_ratio(*pair, samples, each)
            event = self._events[number]
            findings.append(Finding(bounds[pair], f"{event.reports} of part {number}", event.most, event.least))
        return findings

    def smallest_share(self, findings: list[Finding]) -> float | None:
        """Smallest ratio of lower bound to stated epsilon over the factors; None without factors."""
        pairs = [(finding.bound, factor.epsilon) for finding, factor in zip(findings, self.factors, strict=True)]
        return min((bound / epsilon for bound, epsilon in pairs if epsilon > 0 and isfinite(epsilon)), default=None)


@dataclass(frozen=True)
class AuditTask:
    """Audit of one group.

    The risk is split evenly among the worst pair of truths, the table of all reports and truths, and the parts of a
    product. A table too large to test, and parts of a channel that is no product, get none of it.
    """

    name: str
    mechanism: Auditable
    asked: int | None
    risk: float

    @cached_property
    def event(self) -> Event:
        """The report with the worst odds, and all others that are as bad."""
        return Event(self.mechanism.channel)

    @cached_property
    def parts(self) -> Parts:
        """Factors of a product channel, which are also audited one by one."""
        return Parts(self.mechanism.channel)

    @cached_property
    def cells(self) -> int:
        """Entries of the table of all reports and truths; zero if they are too many to test."""
        channel = self.mechanism.channel
        few = channel.n_out <= MOST_TABULATED[0] and channel.n_in <= MOST_TABULATED[1]
        return channel.n_out * channel.n_in if few else 0

    @cached_property
    def risk_of_pair(self) -> float:
        """Risk of each of the two bounds of the worst pair."""
        families = 1 + bool(self.cells) + bool(self.parts.factors)
        return self.risk / (2 * families)

    @cached_property
    def needed(self) -> float:
        """Samples expected to show 90 % of the stated epsilon, or a report that is impossible under one truth.

        A proportion p of n samples has relative standard error `sqrt((1 - p) / (p n))`. The bound lies z of
        these below the truth, z being the normal quantile of its risk; three more allow for chance.
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
        """Number of reports drawn of each of the two truths of the worst pair."""
        most = min(MOST_SAMPLES, MOST_COINS // max(len(self.mechanism.coins), 1))
        return self.asked or max(ceil(min(self.needed, most)), FEWEST_SAMPLES)

    @cached_property
    def samples_of_table(self) -> int:
        """Number of reports drawn of every truth for the table."""
        return min(self.samples, MOST_SAMPLES // self.mechanism.channel.n_in) if self.cells else 0

    @property
    def draws(self) -> int:
        """Number of all reports drawn."""
        return 2 * self.samples + self.mechanism.channel.n_in * self.samples_of_table

    def _counted(self, sampler: Sampler, truth: int) -> tuple[int, NDArray[np.int64]]:
        """Number of draws that showed the worst report, and the worst report of every part."""
        joint, parts = 0, np.zeros(len(self.parts.factors), np.int64)
        for reports in sampler.reports(truth, self.samples):
            joint += self.event.count(reports)
            parts += self.parts.count(reports)
        return joint, parts

    def run(self, words: RandomWords, meter: "Meter") -> GroupAudit:
        """Draw reports, count them, and compare the counts with the stated odds."""
        channel, event = self.mechanism.channel, self.event
        sampler = Sampler(self.mechanism, words, meter.add)
        seen, of_parts = zip(*(self._counted(sampler, truth) for truth in (event.most, event.least)), strict=True)
        bound = log_ratio(seen[0], seen[1], self.samples, self.risk_of_pair)
        findings = [Finding(bound, event.reports, event.most, event.least)]
        part_findings = self.parts.findings(of_parts[0], of_parts[1], self.samples, 2 * self.risk_of_pair)
        violations = list(_exceeded(part_findings, [factor.epsilon for factor in self.parts.factors]))
        if channel.odds is None and seen[1]:
            violations.append(ruled_out(event.reports, event.least))
        if self.cells:
            counts = sampler.table(self.samples_of_table)
            findings += suspects(counts, self.samples_of_table, 2 * self.risk_of_pair)
            violations += impossible(channel, counts)
        worst = max(findings, key=lambda finding: finding.bound)
        violations += _exceeded([worst], [channel.epsilon])
        if sampler.strays:
            violations.append(f"{sampler.strays} rows are not among the {channel.n_out} reports of the channel")
        return GroupAudit(
            name=self.name,
            epsilon=channel.epsilon,
            lower_bound=max(worst.bound, 0.0, *(finding.bound for finding in part_findings)),
            samples=self.samples,
            enough=self.samples >= self.needed,
            report=event.report,
            most=event.most,
            least=event.least,
            seen_most=seen[0],
            seen_least=seen[1],
            cells=self.cells,
            parts=len(part_findings),
            share_of_parts=self.parts.smallest_share(part_findings),
            violations=tuple(violations),
        )


def _exceeded(findings: Sequence[Finding], stated: Sequence[float]) -> Iterator[str]:
    """Message for every bound above its stated epsilon."""
    for finding, epsilon in zip(findings, stated, strict=True):
        if finding.bound > epsilon:
            yield f"{finding}, not at most {exp(epsilon):.6g} times as stated"


class Meter:
    """Counts the reports drawn so far for a `progress` callback."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        """Start at zero."""
        self._done, self._total, self._progress = 0, total, progress

    def add(self, reports: int) -> None:
        """Add to the count and report it."""
        self._done += reports
        if self._progress is not None:
            self._progress(self._done, self._total)


def audit(
    plan: Plan,
    *,
    samples: int | None = None,
    level: float = 0.99,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit every group of a plan; all lower bounds hold together with probability `level` (Bonferroni).

    `samples` is the number of reports drawn of each truth. By default it is large enough to show 90 % of an epsilon
    between .5 and 3, within limits.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> audit = audit(new_plan(Schema([boolean("evaded tax")]), odds=3), rng=1)
    >>> audit.passed, 0.9 * audit.epsilon <= audit.lower_bound <= audit.epsilon
    (True, True)
    """
    level, asked = checked_level(level), _checked(samples)
    risk = (1 - level) / len(plan.groups)
    tasks = [AuditTask(", ".join(group.attributes), group.mechanism, asked, risk) for group in plan.groups]
    words, meter = random_words(rng), Meter(sum(task.draws for task in tasks), progress)
    groups = tuple(task.run(words, meter) for task in tasks)
    return Audit(level, plan.guarantee.epsilon, groups)


def audit_mechanism(
    mechanism: Auditable,
    *,
    name: str = "mechanism",
    samples: int | None = None,
    level: float = 0.99,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> GroupAudit:
    """Audit one mechanism, or any object with `sizes`, `coins`, `respond` and the `channel` it claims to follow.

    >>> from sottovoce.mechanisms.diagonal import Diagonal
    >>> audit_mechanism(Diagonal((3,), truth=3, other=1), rng=1).verdict
    'confirmed'
    """
    task = AuditTask(name, mechanism, _checked(samples), 1 - checked_level(level))
    return task.run(random_words(rng), Meter(task.draws, progress))


def _checked(samples: int | None) -> int | None:
    return None if samples is None else whole_number("samples", samples)
