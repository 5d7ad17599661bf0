"""Test of independence of two attributes, from their reports."""

from dataclasses import asdict, dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array, Progress, whole_number
from sottovoce.counts.frequencies import Frequencies
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import Counted, check_enough, count_reports
from sottovoce.estimates.likelihood import em
from sottovoce.estimates.presentation import TextResult
from sottovoce.estimates.proportions import is_large_set, needed_attributes, singular_channel_error
from sottovoce.plans.plan import Plan

FEWEST_A_CELL = 5
"""Fewest reports for each joint cell with which the statistic is close to chi-square."""


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Return P(chi-square with these degrees of freedom >= statistic), a regularised incomplete gamma function.

    By its series below the mean and by Lentz's continued fraction above it (Abramowitz & Stegun 6.5.29,
    6.5.31), both to full precision.

    >>> round(chi_square_tail(3.841458820694124, 1), 12)
    0.05
    """
    a, x = whole_number("degrees", degrees) / 2, statistic / 2
    if statistic <= 0:
        return 1.0
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


@dataclass(frozen=True, repr=False)
class IndependenceTest(TextResult):
    """Statistic, degrees of freedom and p-value of a test, and its method."""

    attributes: tuple[str, str]
    statistic: float
    degrees: int
    p_value: float
    method: str

    def to_json(self) -> dict[str, Any]:
        """Return all fields."""
        return asdict(self) | {"attributes": list(self.attributes)}

    def __str__(self) -> str:
        """Attributes and result, in one line."""
        names = " and ".join(self.attributes)
        numbers = f"statistic {self.statistic:.2f} on {self.degrees} degrees of freedom, p = {self.p_value:.3g}"
        return f"independence of {names}: {numbers} ({self.method})"


def independence_test(
    reports: Any,
    plan: Plan,
    first: str,
    second: str,
    *,
    frequencies: Frequencies = None,
    progress: Progress | None = None,
) -> IndependenceTest:
    """Test whether two attributes are independent, with (r - 1)(c - 1) degrees of freedom.

    Where both are disguised separately by square invertible channels, the truths are independent if and
    only if the reports are, so Pearson's test on the table of reports is valid as it is. Where they
    share coins, or there are more reports than truths, the test is a likelihood ratio through the channel; attributes
    that share an indivisible report with them may depend on both in any way. Pearson's
    statistic on reconstructed counts would reject far too often, and is not offered. `frequencies` say how many equal
    reports each row stands for.

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
    counted = _count_both(reports, plan, first, second, frequencies)
    rows, columns, *_ = (len(categories) for categories in counted.categories)
    degrees = (rows - 1) * (columns - 1)
    statistic, method = independence_statistic(
        counted.channel, counted.counts, counted.order, (rows, columns), progress
    )
    return IndependenceTest((first, second), statistic, degrees, chi_square_tail(statistic, degrees), method)


def _count_both(reports: Any, plan: Plan, first: str, second: str, frequencies: Frequencies) -> Counted:
    """Count the reports about both attributes and those that share an indivisible report with them."""
    names = needed_attributes(plan, [first, second])
    if is_large_set(plan.channel(names)):
        rule = "must give reports in categories, or sets of a few of them, to be tested for independence"
        raise SottovoceError("plan", rule, Words(plan.group_of(first).scheme))
    counted = count_reports(reports, plan, names, frequencies=frequencies)
    if np.isinf(counted.channel.condition_number):
        reason = SingularChannelError("reports", "must tell every truth from every other", Words("ones that do not"))
        raise singular_channel_error(reason, plan, names)
    check_enough(counted)
    fewest = FEWEST_A_CELL * len(counted.categories[0]) * len(counted.categories[1])
    if counted.respondents < fewest:
        rule = f"must be at least {fewest} for a chi-square test, {FEWEST_A_CELL} for each joint cell"
        raise SottovoceError("reports", rule, counted.respondents)
    return counted


def _is_separate(channel: Channel) -> bool:
    """Return whether each attribute has an invertible channel of its own with as many reports as truths."""
    if len(channel.factors) != 2 or len(channel.shape_in) != 2:
        return False
    return all(f.n_in == f.n_out and np.isfinite(f.condition_number) for f in channel.factors)


def independence_statistic(
    channel: Channel,
    counts: Any,
    order: NDArray[np.intp],
    shape: tuple[int, int],
    progress: Progress | None = None,
) -> tuple[float, str]:
    """Return the statistic of the test on counts of reports, and its method; the first two attributes have `shape`."""
    reports = np.asarray(counts, np.float64)
    if _is_separate(channel):
        return _pearson(reports.reshape(channel.shape_out)), "Pearson, on the reports"
    free = em(channel, reports, progress=progress).log_likelihood
    bound = _independent_log_likelihood(channel, reports, order, shape)
    return max(2 * (free - bound), 0.0), "likelihood ratio, through the channel"


def _pearson(table: Array) -> float:
    """Return `sum (O - E)^2 / E` over the table of reports, without empty rows and columns."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _independent_log_likelihood(
    channel: Channel,
    counts: Array,
    order: NDArray[np.intp],
    shape: tuple[int, int],
    tolerance: float = 1e-10,
    most_steps: int = 20_000,
) -> float:
    """Return the maximal log-likelihood if the first two attributes are independent, by EM with that constraint."""
    reported = counts / counts.sum()
    cells = np.full(channel.n_in, 1 / channel.n_in)
    mean, gain, steps = -np.inf, np.inf, 0
    while gain > tolerance / counts.sum() and steps < most_steps:
        expected = channel.matvec(cells)
        reached = float(np.sum(reported[reported > 0] * np.log(expected[reported > 0])))
        gain, mean, steps = reached - mean, reached, steps + 1
        ratio = np.divide(reported, expected, out=np.zeros_like(reported), where=expected > 0)
        cells[order] = _without_dependence((cells * channel.rmatvec(ratio))[order], shape)
    return mean * float(counts.sum())


def _without_dependence(cells: Array, shape: tuple[int, int]) -> Array:
    """Return `p(a) p(b) p(rest | a, b)` from expected frequencies of joint cells, in the order asked for."""
    table = cells.reshape(*shape, -1)
    pair = table.sum(axis=2)
    rest = np.divide(table, pair[..., None], out=np.full_like(table, 1 / table.shape[2]), where=pair[..., None] > 0)
    return np.asarray(np.outer(pair.sum(axis=1), pair.sum(axis=0))[..., None] * rest).ravel()
