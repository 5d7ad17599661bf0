"""The unrelated question with unknown frequencies: two samples estimate both distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.channels.mixture import Mixture
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import Counted, check_number, count_reports
from sottovoce.estimates.covariance import MatrixSpread
from sottovoce.estimates.estimate import Estimate
from sottovoce.exact import Number, distribution, probability
from sottovoce.measures.utility import checked_counts
from sottovoce.plans.plan import Plan


def solve_two_samples(first: Any, second: Any, theta: tuple[Number, Number]) -> tuple[Array, Array]:
    """Sensitive and unrelated proportions, one behind the other, and their covariance, from two rows of counts.

    Of the reports of sample i a share `lam_i = theta_i p + (1-theta_i) y` is expected, so

        p = ((1-theta_2) lam_1 - (1-theta_1) lam_2) / d,   y = (theta_1 lam_2 - theta_2 lam_1) / d,

    `d = theta_1 - theta_2` (Greenberg, Abul-Ela, Simmons & Horvitz 1969, JASA 64, 520-539; there for yes and no). The
    samples are independent, each with covariance `(diag(lam) - lam lam^T) / n`. That one person's two answers
    may hang together does no harm: only one of them is ever reported.

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
    laws = np.stack([c / c.sum() for c in counts])
    spreads = [(np.diag(law) - np.outer(law, law)) / c.sum() for law, c in zip(laws, counts, strict=True)]
    covariance = sum(np.kron(np.outer(row, row), spread) for row, spread in zip(rows.T, spreads, strict=True))
    return (rows @ laws).ravel(), np.asarray(covariance)


def best_split(theta: tuple[Number, Number], sensitive: Any, unrelated: Any) -> float:
    """Share of the people to ask in the first sample, so that the sensitive proportions come out best.

    `n_1 : n_2 = (1-theta_2) s_1 : (1-theta_1) s_2`, `s_i^2 = 1 - sum lam_i^2` the sum of the variances of one report's
    cells, makes the sum of the variances of p least (for yes and no: Greenberg et al. 1969, their optimal
    allocation). It needs a guess of both distributions.

    >>> round(best_split((0.8, 0.2), sensitive=[0.9, 0.1], unrelated=[0.5, 0.5]), 3)
    0.757
    """
    shares = _shares(theta)
    known, other = distribution("sensitive", sensitive), distribution("unrelated", unrelated)
    if len(known) != len(other):
        raise SottovoceError("unrelated", f"must have {len(known)} proportions, as the sensitive", len(other))
    scatter = [1 - sum((t * p + (1 - t) * y) ** 2 for p, y in zip(known, other, strict=True)) for t in shares]
    if not any(scatter):
        raise SottovoceError("sensitive", "must leave something to be found out", sensitive)
    parts = [float(1 - t) * sqrt(s) for t, s in zip(reversed(shares), scatter, strict=True)]
    return parts[0] / sum(parts)


def _shares(theta: Sequence[Number]) -> tuple[Fraction, Fraction]:
    first, second = (probability("theta", t) for t in theta)
    if first == second:
        rule = "must differ between the samples: only then are two distributions told apart"
        raise SingularChannelError("theta", rule, float(first))
    return first, second


@dataclass(frozen=True)
class TwoSamples:
    """Proportions of the sensitive and of the unrelated answers; `covariance` is that of both, one behind the other."""

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

    On the device of each sample a person answers the sensitive question with probability theta, and else an
    unrelated one, with the same possible answers, for herself. Both plans are `unrelated_question` for the
    same attributes, with different theta; the distribution that they list as known is not used. The odds they
    state hold if the unrelated answers have that distribution. If theirs is y, whatever the sensitive answer, the
    odds are `1 + theta / ((1-theta) min y)`. The formula is in `solve_two_samples`.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> plans = [Plan.of(Schema([boolean("tax")]), {"tax": UnrelatedQuestion(t)}) for t in (0.75, 0.25)]
    >>> tables = [{"tax": [True] * yes + [False] * (400 - yes)} for yes in (120, 200)]
    >>> print(estimate_two_samples(tables[0], plans[0], tables[1], plans[1], "tax"))
    sensitive tax: 800 reports, proportions in the population by two samples
      False    0.8000 +- 0.0366  [ 0.7283,  0.8717]
      True     0.2000 +- 0.0366  [ 0.1283,  0.2717]
    unrelated tax: 800 reports, proportions in the population by two samples
      False    0.4000 +- 0.0392  [ 0.3231,  0.4769]
      True     0.6000 +- 0.0392  [ 0.5231,  0.6769]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    samples = (count_reports(first, first_plan, names), count_reports(second, second_plan, names))
    if samples[0].categories != samples[1].categories:
        raise SottovoceError("plans", "must have the same categories of the same attributes", samples[1].categories)
    theta = (_theta(samples[0]), _theta(samples[1]))
    for sample in samples:
        check_number(sample.respondents)
    counts = [sample.counts[sample.order] for sample in samples]
    value, covariance = solve_two_samples(counts[0], counts[1], theta)
    seen = np.concatenate([sample.seen[sample.order] for sample in samples])
    respondents, cells = sum(sample.respondents for sample in samples), len(counts[0])
    found = [
        Estimate(
            samples[0].attributes,
            samples[0].categories,
            value[part],
            MatrixSpread(covariance[part, part]),
            seen,
            respondents,
            "population",
            "two samples",
        )
        for part in (slice(0, cells), slice(cells, None))
    ]
    return TwoSamples(found[0], found[1], covariance)


def _theta(sample: Counted) -> Fraction:
    """Probability of the sensitive question, if that is what the plan asks."""
    if not isinstance(sample.channel, Mixture):
        rule = "must disguise these attributes together by unrelated_question"
        raise SottovoceError("plan", rule, Words(type(sample.channel).__name__))
    return sample.channel.keep
