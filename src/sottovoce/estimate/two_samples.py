"""The unrelated question whose frequencies nobody knows: two samples tell both distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.mixture import Mixture
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import Counted, count_reports
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.greenberg import solve_two_samples
from sottovoce.estimate.spread import MatrixSpread
from sottovoce.plan.plan import Plan


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

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
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
