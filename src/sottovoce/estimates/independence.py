"""Tests of independence of two attributes, from their reports."""

from dataclasses import asdict, dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import Counted, check_enough, count_reports
from sottovoce.estimates.likelihood import Progress, em
from sottovoce.estimates.proportions import is_large_set, named_singular, needed_attributes
from sottovoce.plans.plan import Plan

FEWEST_A_CELL = 5
"""Reports for each joint cell of the two attributes, below which a statistic is not what chi-square is like."""


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(chi-square with so many degrees of freedom >= statistic): the regularised incomplete gamma function.

    By its series below the mean and by Lentz's continued fraction above it (Abramowitz & Stegun 6.5.29,
    6.5.31), both to full precision.

    >>> round(chi_square_tail(3.841458820694124, 1), 12)
    0.05
    """
    if isinstance(degrees, bool) or not isinstance(degrees, int) or degrees < 1:
        raise SottovoceError("degrees", "must be a positive whole number", degrees)
    if statistic <= 0:
        return 1.0
    a, x = degrees / 2, statistic / 2
    scale = exp(a * log(x) - x - lgamma(a))
    return 1 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)


def _series(a: float, x: float) -> float:
    """Sum of `x^k / (a (a+1) ... (a+k))`."""
    term = total = 1 / a
    k = a
    while term > total * 1e-17:
        k += 1
        term *= x / k
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """`1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))`, from the front."""
    b = x + 1 - a
    c, d = 1e300, 1 / b
    product, step, k = d, 0.0, 0
    while abs(step - 1) > 1e-15 and k < 10_000:
        k += 1
        numerator = -k * (k - a)
        b += 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        step = c * d
        product *= step
    return product


@dataclass(frozen=True)
class IndependenceTest:
    """Statistic, degrees of freedom and p-value, and how they were found."""

    attributes: tuple[str, str]
    statistic: float
    degrees: int
    p_value: float
    method: str

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self) | {"attributes": list(self.attributes)}

    def __str__(self) -> str:
        """One line."""
        names = " and ".join(self.attributes)
        numbers = f"statistic {self.statistic:.2f} on {self.degrees} degrees of freedom, p = {self.p_value:.3g}"
        return f"independence of {names}: {numbers} ({self.method})"


def independence_test(
    reports: Any, plan: Plan, first: str, second: str, *, progress: Progress | None = None
) -> IndependenceTest:
    """Test that two attributes are independent, with (r - 1)(c - 1) degrees of freedom.

    Where both have coins of their own and square invertible channels, the truths are independent if and
    only if the reports are, so Pearson's test on the table of REPORTS is right as it stands. Where they
    share coins, or there are more reports than truths, the likelihood ratio through the channel takes its
    place; attributes that share an indivisible report with them may depend on both as they like. Pearson's
    statistic on reconstructed counts would reject far too often, and is not offered.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> reports = {"a": [True] * 50 + [False] * 50, "b": ([True] * 30 + [False] * 20) + ([True] * 20 + [False] * 30)}
    >>> print(independence_test(reports, plan, "a", "b"))
    independence of a and b: statistic 4.00 on 1 degrees of freedom, p = 0.0455 (Pearson, on the reports)
    """
    if first == second:
        raise SottovoceError("second", "must be another attribute than the first", second)
    counted = _counted(reports, plan, first, second)
    rows, columns, *_ = (len(categories) for categories in counted.categories)
    degrees = (rows - 1) * (columns - 1)
    if _separate(counted.channel):
        statistic, method = _pearson(counted), "Pearson, on the reports"
    else:
        statistic, method = _likelihood_ratio(counted, progress), "likelihood ratio, through the channel"
    return IndependenceTest((first, second), statistic, degrees, chi_square_tail(statistic, degrees), method)


def _counted(reports: Any, plan: Plan, first: str, second: str) -> Counted:
    """Reports about both, and about what shares an indivisible report with them: enough, and not too many kinds."""
    names = needed_attributes(plan, [first, second])
    if is_large_set(plan.channel(names)):
        rule = "must give reports in categories, or sets of a few of them, to be tested for independence"
        raise SottovoceError("plan", rule, Words(plan.group_of(first).scheme))
    counted = count_reports(reports, plan, names)
    if np.isinf(counted.channel.condition_number):
        reason = SingularChannelError("reports", "must tell every truth from every other", Words("ones that do not"))
        raise named_singular(reason, plan, names)
    check_enough(counted)
    fewest = FEWEST_A_CELL * len(counted.categories[0]) * len(counted.categories[1])
    if counted.respondents < fewest:
        rule = f"must be at least {fewest} for a chi-square test, {FEWEST_A_CELL} for each joint cell"
        raise SottovoceError("reports", rule, counted.respondents)
    return counted


def _separate(channel: Channel) -> bool:
    """Whether the attributes have coins of their own, and as many reports as truths that can be told apart."""
    if not isinstance(channel, Kronecker) or len(channel.factors) != 2 or len(channel.shape_in) != 2:
        return False
    return all(f.n_in == f.n_out and np.isfinite(f.condition_number) for f in channel.factors)


def _pearson(counted: Counted) -> float:
    """`sum (O - E)^2 / E` over the table of reports; rows and columns that never came are left out."""
    table = counted.counts.reshape(counted.channel.shape_out).astype(float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _likelihood_ratio(counted: Counted, progress: Progress | None = None) -> float:
    """Twice the difference of the largest log-likelihoods, with and without independence."""
    free = em(counted.channel, counted.counts, progress=progress).log_likelihood
    return max(2 * (free - _independent(counted)), 0.0)


def _independent(counted: Counted, tolerance: float = 1e-10, most_steps: int = 20_000) -> float:
    """Largest log-likelihood where the first two attributes are independent: EM whose step keeps their margins only."""
    channel, counts = counted.channel, counted.counts.astype(float)
    seen = counts / counts.sum()
    law = np.full(channel.n_in, 1 / channel.n_in)
    height, gained, steps = -np.inf, np.inf, 0
    while gained > tolerance / counts.sum() and steps < most_steps:
        expected = channel.matvec(law)
        reached = float(np.sum(seen[seen > 0] * np.log(expected[seen > 0])))
        gained, height, steps = reached - height, reached, steps + 1
        ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
        law[counted.order] = _without_dependence((law * channel.rmatvec(ratio))[counted.order], counted)
    return height * float(counts.sum())


def _without_dependence(cells: Array, counted: Counted) -> Array:
    """`p(a) p(b) p(rest | a, b)` for the likeliest p of expected counts of joint cells, in the order asked for."""
    table = cells.reshape(*(len(categories) for categories in counted.categories[:2]), -1)
    pair = table.sum(axis=2)
    rest = np.divide(table, pair[..., None], out=np.full_like(table, 1 / table.shape[2]), where=pair[..., None] > 0)
    return np.asarray(np.outer(pair.sum(axis=1), pair.sum(axis=0))[..., None] * rest).ravel()
