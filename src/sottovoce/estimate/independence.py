"""Whether two attributes are independent, judged from their reports."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimate.chi_square import chi_square_tail
from sottovoce.estimate.counted import Counted, count_reports
from sottovoce.estimate.em import em
from sottovoce.plan.plan import Plan


@dataclass(frozen=True)
class IndependenceTest:
    """Statistic, degrees of freedom and p-value, and how they were found."""

    attributes: tuple[str, str]
    statistic: float
    degrees: int
    p_value: float
    method: str

    def __str__(self) -> str:
        """One line."""
        names = " and ".join(self.attributes)
        numbers = f"statistic {self.statistic:.2f} on {self.degrees} degrees of freedom, p = {self.p_value:.3g}"
        return f"independence of {names}: {numbers} ({self.method})"


def independence_test(reports: Any, plan: Plan, first: str, second: str) -> IndependenceTest:
    """Test that two attributes are independent, with (r - 1)(c - 1) degrees of freedom.

    Where both have coins of their own and square invertible channels, the truths are independent if and
    only if the reports are, so Pearson's test on the table of REPORTS is right as it stands. Where they
    share coins, or there are more reports than truths, the likelihood ratio through the channel takes its
    place. Pearson's statistic on reconstructed counts would reject far too often, and is not offered.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> reports = {"a": [True] * 50 + [False] * 50, "b": ([True] * 30 + [False] * 20) + ([True] * 20 + [False] * 30)}
    >>> print(independence_test(reports, plan, "a", "b"))
    independence of a and b: statistic 4.00 on 1 degrees of freedom, p = 0.0455 (Pearson, on the reports)
    """
    if first == second:
        raise SottovoceError("second", "must be another attribute than the first", second)
    counted = count_reports(reports, plan, [first, second])
    sizes = (len(counted.categories[0]), len(counted.categories[1]))
    degrees = (sizes[0] - 1) * (sizes[1] - 1)
    if _separate(counted.channel):
        statistic, method = _pearson(counted), "Pearson, on the reports"
    else:
        statistic, method = _likelihood_ratio(counted), "likelihood ratio, through the channel"
    return IndependenceTest((first, second), statistic, degrees, chi_square_tail(statistic, degrees), method)


def _separate(channel: Channel) -> bool:
    """Whether the attributes have coins of their own, and as many reports as truths that can be told apart."""
    if not isinstance(channel, Kronecker) or len(channel.factors) != 2:
        return False
    return all(f.n_in == f.n_out and np.isfinite(f.condition_number) for f in channel.factors)


def _pearson(counted: Counted) -> float:
    """`sum (O - E)^2 / E` over the table of reports; rows and columns that never came are left out."""
    table = counted.counts.reshape(counted.channel.shape_out).astype(float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _likelihood_ratio(counted: Counted) -> float:
    """Twice the difference of the largest log-likelihoods, with and without independence."""
    free = em(counted.channel, counted.counts).log_likelihood
    return max(2 * (free - _independent(counted.channel, counted.counts.astype(float))), 0.0)


def _independent(channel: Channel, counts: Array, tolerance: float = 1e-10, most_steps: int = 20_000) -> float:
    """Largest log-likelihood among products of two distributions: EM whose step keeps the margins only."""
    shape, seen = channel.shape_in, counts / counts.sum()
    law = np.full(channel.n_in, 1 / channel.n_in)
    height, gained, steps = -np.inf, np.inf, 0
    while gained > tolerance / counts.sum() and steps < most_steps:
        expected = channel.matvec(law)
        reached = float(np.sum(seen[seen > 0] * np.log(expected[seen > 0])))
        gained, height, steps = reached - height, reached, steps + 1
        ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
        joint = (law * channel.rmatvec(ratio)).reshape(shape)
        law = np.outer(joint.sum(axis=1), joint.sum(axis=0)).ravel()
    return height * float(counts.sum())
