"""Audit a plan: draw reports of each group and bound its epsilon from below.

Reports are drawn as a respondent's device draws them, and counted. If a report comes from one truth more
often than the stated odds to another truth allow, at the stated confidence, the statement is wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, exp, inf, isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.disguises.audit.evidence import Finding, impossible, log_ratio, ruled_out, suspects
from sottovoce.disguises.audit.result import REACHED, Audit, GroupAudit
from sottovoce.disguises.audit.sampler import Auditable, Event, Sampler
from sottovoce.errors import SottovoceError
from sottovoce.exact import probability
from sottovoce.mechanisms.coins import Randomness, RandomWords, random_words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns

if TYPE_CHECKING:
    from sottovoce.disguises.tables import Progress

FEWEST_SAMPLES = 10_000
MOST_SAMPLES = 2**24
MOST_COINS = 2**27
"""Limits of what is drawn of one truth unless the caller asks for more."""

MOST_TABULATED = 1000, 64
"""Reports and truths up to which every report is tested over all pairs of truths."""


class Parts:
    """Factors of a product, each with its own worst report; a channel that is no product has none.

    The joint worst case is that of all factors at once, so the same draws serve them all.
    """

    def __init__(self, channel: Channel) -> None:
        """Find the worst case of every different factor once."""
        self.factors = channel.factors if isinstance(channel, Kronecker) else ()
        events = {factor: Event(factor) for factor in set(self.factors)}
        self._events = [events[factor] for factor in self.factors]
        ends = accumulate((len(factor.shape_out) for factor in self.factors), initial=0)
        self._columns = [slice(*pair) for pair in pairwise(ends)]

    def count(self, reports: Columns) -> NDArray[np.int64]:
        """How many of these reports belong to each factor's event."""
        counts = [event.count(reports[own]) for event, own in zip(self._events, self._columns, strict=True)]
        return np.array(counts, np.int64)

    def findings(self, often: NDArray[np.int64], seldom: NDArray[np.int64], samples: int, risk: float) -> list[Finding]:
        """Bound of every factor; all of them together have this risk."""
        each = risk / (2 * max(len(self.factors), 1))
        bounds: dict[tuple[int, int], float] = {}
        found = []
        for number, pair in enumerate(zip(often.tolist(), seldom.tolist(), strict=True)):
            if pair not in bounds:
                bounds[pair] = log_ratio(*pair, samples, each)
            event = self._events[number]
            found.append(Finding(bounds[pair], f"{event.reports} of part {number}", event.most, event.least))
        return found

    def smallest_share(self, findings: list[Finding]) -> float | None:
        """Least share of its stated epsilon that any factor reached; None without factors to reach it."""
        pairs = [(found.bound, factor.epsilon) for found, factor in zip(findings, self.factors, strict=True)]
        return min((bound / epsilon for bound, epsilon in pairs if epsilon > 0 and isfinite(epsilon)), default=None)


@dataclass(frozen=True)
class AuditTask:
    """One group; the risk is shared by the worst pair, the table of all reports and truths, and the parts.

    A table too large to test, and a channel that is no product, take none of it.
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
    def parts(self) -> Parts:
        """Factors of a product, audited one by one besides."""
        return Parts(self.mechanism.channel)

    @cached_property
    def cells(self) -> int:
        """Entries of the table of all reports and truths; zero where they are too many to test."""
        channel = self.mechanism.channel
        few = channel.n_out <= MOST_TABULATED[0] and channel.n_in <= MOST_TABULATED[1]
        return channel.n_out * channel.n_in if few else 0

    @cached_property
    def risk_of_pair(self) -> float:
        """Risk of each of the worst pair's two bounds."""
        families = 1 + bool(self.cells) + bool(self.parts.factors)
        return self.risk / (2 * families)

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

    def _counted(self, sampler: Sampler, truth: int) -> tuple[int, NDArray[np.int64]]:
        """How often the worst report came, and that of every part."""
        joint, parts = 0, np.zeros(len(self.parts.factors), np.int64)
        for reports in sampler.reports(truth, self.samples):
            joint += self.event.count(reports)
            parts += self.parts.count(reports)
        return joint, parts

    def run(self, words: RandomWords, meter: "Meter") -> GroupAudit:
        """Draw, count, and hold the counts against the statement."""
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
            violations.append(f"{sampler.strays} rows are none of the {channel.n_out} reports of the channel")
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
    """Complaint about every bound above its stated epsilon."""
    for finding, epsilon in zip(findings, stated, strict=True):
        if finding.bound > epsilon:
            yield f"{finding}, not at most {exp(epsilon):.6g} times as stated"


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


def audit_plan(
    plan: Plan,
    *,
    samples: int | None = None,
    confidence: float = 0.99,
    rng: Randomness = None,
    progress: "Progress | None" = None,
) -> Audit:
    """Audit every group of a plan; all bounds hold together at the stated confidence (Bonferroni).

    `samples` is the number of reports drawn of each truth; left out, it is as many as should show 90 % of
    an epsilon between .5 and 3, within limits.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> audit = audit_plan(new_plan(Schema([boolean("evaded tax")]), odds=3), rng=1)
    >>> audit.passed, 0.9 * audit.epsilon <= audit.lower_bound <= audit.epsilon
    (True, True)
    """
    risk = _risk(confidence) / len(plan.groups)
    tasks = [AuditTask(", ".join(group.attributes), group.mechanism, _checked(samples), risk) for group in plan.groups]
    words, meter = random_words(rng), Meter(sum(task.draws for task in tasks), progress)
    groups = tuple(task.run(words, meter) for task in tasks)
    return Audit(float(confidence), plan.guarantee.epsilon, groups)


def audit_mechanism(
    mechanism: Auditable,
    *,
    name: str = "mechanism",
    samples: int | None = None,
    confidence: float = 0.99,
    rng: Randomness = None,
    progress: "Progress | None" = None,
) -> GroupAudit:
    """Audit one mechanism, or anything else with `sizes`, `coins`, `respond` and the `channel` it claims.

    >>> from sottovoce.mechanisms.diagonal import Diagonal
    >>> audit_mechanism(Diagonal((3,), truth=3, other=1), rng=1).verdict
    'confirmed'
    """
    task = AuditTask(name, mechanism, _checked(samples), _risk(confidence))
    return task.run(random_words(rng), Meter(task.draws, progress))


def _risk(confidence: Any) -> float:
    if not 0 < probability("confidence", confidence) < 1:
        raise SottovoceError("confidence", "must be between 0 and 1, neither of them", confidence)
    return 1 - float(confidence)


def _checked(samples: Any) -> int | None:
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or samples < 1):
        raise SottovoceError("samples", "must be a positive whole number", samples)
    return samples
