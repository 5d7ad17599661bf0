"""The unrelated question with unknown frequencies: two samples estimate both distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.channels.mixture import Mixture
from sottovoce.checks import Array
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import Counted, check_number, count_reports
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.presentation import TextResult
from sottovoce.estimates.profile_likelihood import TwoSampleTests
from sottovoce.exact import Number, distribution, probability
from sottovoce.measures.utility import checked_counts
from sottovoce.plans.plan import Plan


def solve_two_samples(first: Any, second: Any, theta: tuple[Number, Number]) -> tuple[Array, Array]:
    """Return the sensitive and the unrelated proportions, concatenated, and their covariance, from counts of reports.

    The reports of sample i have the distribution `lam_i = theta_i p + (1-theta_i) y`, so

        p = ((1-theta_2) lam_1 - (1-theta_1) lam_2) / d,   y = (theta_1 lam_2 - theta_2 lam_1) / d,

    `d = theta_1 - theta_2` (Greenberg, Abul-Ela, Simmons & Horvitz 1969, JASA 64, 520-539; there for yes and no). The
    samples are independent, each with covariance `(diag(lam) - lam lam^T) / n`. A person's two answers may
    depend on each other: only one of them is ever reported.

    >>> value, covariance = solve_two_samples([280, 120], [200, 200], theta=(0.75, 0.25))
    >>> value
    array([0.8, 0.2, 0.4, 0.6])
    """
    shares = _shares(theta)
    rows = np.linalg.inv(np.array([[float(t), float(1 - t)] for t in shares]))
    counts = [checked_counts(name, c, np.size(c)) for name, c in (("first", first), ("second", second))]
    if counts[0].shape != counts[1].shape or counts[0].ndim != 1:
        raise SottovoceError("second", "must be one row of counts, as long as the first", counts[1].shape)
    if not all(c.sum() for c in counts):
        raise SottovoceError("counts", "must be of at least one report in each sample", counts)
    reported = np.stack([c / c.sum() for c in counts])
    blocks = [(np.diag(lam) - np.outer(lam, lam)) / c.sum() for lam, c in zip(reported, counts, strict=True)]
    covariance = sum(np.kron(np.outer(row, row), block) for row, block in zip(rows.T, blocks, strict=True))
    return (rows @ reported).ravel(), np.asarray(covariance)


def best_split(theta: tuple[Number, Number], sensitive: Any, unrelated: Any) -> float:
    """Return the share of respondents in the first sample that minimises the variance of the sensitive proportions.

    `n_1 : n_2 = (1-theta_2) s_1 : (1-theta_1) s_2`, `s_i^2 = 1 - sum lam_i^2` the sum of the variances of one report's
    cells, minimises the sum of the variances of p (for yes and no: the optimal allocation of Greenberg et al. 1969).
    It needs a guess of both distributions.

    >>> round(best_split((0.8, 0.2), sensitive=[0.9, 0.1], unrelated=[0.5, 0.5]), 3)
    0.757
    """
    shares = _shares(theta)
    known, other = distribution("sensitive", sensitive), distribution("unrelated", unrelated)
    if len(known) != len(other):
        raise SottovoceError("unrelated", f"must have {len(known)} proportions, as the sensitive", len(other))
    variances = [1 - sum((t * p + (1 - t) * y) ** 2 for p, y in zip(known, other, strict=True)) for t in shares]
    if not any(variances):
        raise SottovoceError("sensitive", "must not be certain, together with the unrelated answers", sensitive)
    parts = [float(1 - t) * sqrt(s) for t, s in zip(reversed(shares), variances, strict=True)]
    return parts[0] / sum(parts)


def _shares(theta: Sequence[Number]) -> tuple[Fraction, Fraction]:
    first, second = (probability("theta", t) for t in theta)
    if first == second:
        rule = "must differ between the samples, or the two distributions cannot be estimated"
        raise SingularChannelError("theta", rule, float(first))
    return first, second


@dataclass(frozen=True, repr=False)
class TwoSamples(TextResult):
    """Estimates of the sensitive and the unrelated proportions; `covariance` is that of both, concatenated."""

    sensitive: Estimate
    unrelated: Estimate
    covariance: Array

    def __str__(self) -> str:
        """Both tables."""
        return f"sensitive {self.sensitive}\nunrelated {self.unrelated}"


def estimate_two_samples(
    first: Any, first_plan: Plan, second: Any, second_plan: Plan, attributes: str | Sequence[str]
) -> TwoSamples:
    """Estimate the sensitive and the unrelated answers of one population from two independent samples of it.

    In each sample a person answers the sensitive question with probability theta, and otherwise an
    unrelated one with the same possible answers. Both plans are `unrelated_question` for the
    same attributes, with different theta; their known distributions are not used. The odds that the plans
    state hold if the unrelated answers have these distributions. If theirs is y, independent of the sensitive answer,
    the odds are `1 + theta / ((1-theta) min y)`. The formula is in `solve_two_samples`.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> plans = [Plan.of(Schema([boolean("tax")]), {"tax": UnrelatedQuestion(t)}) for t in (0.75, 0.25)]
    >>> tables = [{"tax": [True] * yes + [False] * (400 - yes)} for yes in (120, 200)]
    >>> print(estimate_two_samples(tables[0], plans[0], tables[1], plans[1], "tax"))
    sensitive tax: 800 reports, proportions in the population by two samples, profile 95 % intervals
      False    0.8000 +- 0.0366  [ 0.7260,  0.8690]
      True     0.2000 +- 0.0366  [ 0.1310,  0.2740]
    unrelated tax: 800 reports, proportions in the population by two samples, profile 95 % intervals
      False    0.4000 +- 0.0392  [ 0.3235,  0.4766]
      True     0.6000 +- 0.0392  [ 0.5234,  0.6765]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    samples = (count_reports(first, first_plan, names), count_reports(second, second_plan, names))
    if samples[0].categories != samples[1].categories:
        raise SottovoceError("plans", "must have the same categories of the same attributes", samples[1].categories)
    theta = (_sensitive_share(samples[0]), _sensitive_share(samples[1]))
    for sample in samples:
        check_number(sample.respondents)
    counts = [sample.counts[sample.order] for sample in samples]
    value, covariance = solve_two_samples(counts[0], counts[1], theta)
    reported = np.concatenate([sample.reported[sample.order] for sample in samples])
    respondents, cells = sum(sample.respondents for sample in samples), len(counts[0])
    sizes = (samples[0].respondents, samples[1].respondents)
    (one, other), (two, rest) = ((float(share), float(1 - share)) for share in theta)
    pair = (counts[0].astype(np.float64), counts[1].astype(np.float64))
    # Of the unrelated question, the chances of both questions change places.
    tests = [
        TwoSampleTests(pair, sizes, chances) for chances in (((one, other), (two, rest)), ((other, one), (rest, two)))
    ]
    estimates = [
        Estimate(
            samples[0].attributes,
            samples[0].categories,
            value[part],
            MatrixCovariance(covariance[part, part]),
            reported,
            respondents,
            "population",
            "two samples",
            tests=test,
        )
        for part, test in zip((slice(0, cells), slice(cells, None)), tests, strict=True)
    ]
    return TwoSamples(estimates[0], estimates[1], covariance)


def _sensitive_share(sample: Counted) -> Fraction:
    """Return the probability of the sensitive question; raise unless the plan is an unrelated question."""
    if not isinstance(sample.channel, Mixture):
        rule = "must disguise these attributes together by unrelated_question"
        raise SottovoceError("plan", rule, Words(type(sample.channel).__name__))
    return sample.channel.keep
