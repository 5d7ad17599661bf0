"""Expected widths of intervals, and the number of respondents needed for a width, before anyone is asked."""

from collections.abc import Callable, Sequence
from math import ceil, hypot, prod
from statistics import NormalDist
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array, Target, number, whole_number
from sottovoce.checks import target as checked_target
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.cell_tests import NormalTests
from sottovoce.estimates.covariance import InversionCovariance
from sottovoce.estimates.derived import derive
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.proportions import MOST_LISTED, is_large_set, needed_attributes
from sottovoce.measures.functionals import Functional
from sottovoce.measures.matrices import as_prior
from sottovoce.measures.utility import checked_respondents
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Label

MOST_RESPONDENTS = 10**12
"""Number of respondents at which the search for an interval gives up."""


def expected_estimate(
    channel: Channel,
    prior: Any,
    respondents: int,
    target: Target = "population",
    categories: Sequence[Sequence[Label]] | None = None,
) -> Estimate:
    """Return the expected estimate by inversion: the truth, with the covariance that estimates of it have.

    With A the channel, B its inverse and `lam = A p`, the covariance is `(B diag(lam) B^T - p p^T) / N` where the
    respondents are a sample of the population, `(B diag(lam) B^T - diag(p)) / N` where p are the proportions of
    this table. `delta_method` gives the standard errors of functionals by the delta method.

    >>> from sottovoce.estimates.derived import delta_method
    >>> from sottovoce.measures.functionals import Entropy
    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> print(delta_method(expected_estimate(channel, [0.7, 0.3], 1000), Entropy()))
    entropy: 0.8822 +- 0.0199 bits  [0.8432, 0.9212]
    """
    truth: Array = as_prior(np.ravel(prior), channel.n_in)
    count = checked_respondents(respondents)
    checked_target(target)
    reported = channel.matvec(truth)
    labels = tuple(map(tuple, categories or [range(size) for size in channel.shape_in]))
    names = tuple(f"attribute {number}" for number in range(1, len(labels) + 1))
    covariances = InversionCovariance(channel, reported, truth, count, np.arange(len(truth)), target)
    return Estimate(names, labels, truth, covariances, reported, int(count), target, "expected")


def expected_proportions(
    plan: Plan, attributes: str | Sequence[str], prior: Any, respondents: int, target: Target = "population"
) -> Estimate:
    """Return the expected estimate of a plan's attributes if their distribution is `prior`, uniform for None.

    Cells are in the order of the attributes named, the last varying fastest. Attributes that share an indivisible
    report with them are assumed to be uniform and independent.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(expected_proportions(plan, "evaded tax", [0.9, 0.1], 1000))
    evaded tax: 1000 reports, proportions in the population by expected, exact 95 % intervals
      False    0.9000 +- 0.0290  [ 0.8414,  0.9559]
      True     0.1000 +- 0.0290  [ 0.0441,  0.1586]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    needed = needed_attributes(plan, names)
    channel = plan.channel(needed)
    if is_large_set(channel):
        rule = f"must report categories, or sets of at most {MOST_LISTED}, for the errors of estimates to be predicted"
        raise SottovoceError("plan", rule, Words(plan.group_of(names[0]).scheme))
    categories = plan.categories_of(needed)
    sizes = [len(labels) for labels in categories]
    cells, others = prod(sizes[: len(names)]), prod(sizes[len(names) :])
    asked = as_prior(np.full(cells, 1 / cells) if prior is None else np.ravel(prior), cells)
    truth = np.repeat(asked / others, others)
    checked_target(target)
    order = plan.cell_order(needed)
    grouped = np.empty_like(truth)
    grouped[order] = truth
    reported = channel.matvec(grouped)
    covariances = InversionCovariance(channel, reported, truth, respondents, order, target)
    joint = Estimate(tuple(needed), categories, truth, covariances, reported, respondents, target, "expected")
    return joint if others == 1 else joint.marginal(names)


def expected_width(
    plan: Plan,
    attributes: str | Sequence[str],
    respondents: int,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> Array:
    """Return the expected width of the interval of every cell, or of one functional, with so many respondents.

    It is the width of the default interval (`Estimate.interval`) of the numbers of reports that are expected if the
    distribution is `prior` (uniform if left out; cells in the order of the attributes named, the last varying
    fastest): about `2 z sqrt(V / N)`, V the variance of one report's contribution, within [0, 1]. Of a functional it
    is that of the interval of `derive`, infinite where an end is.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> expected_width(plan, "evaded tax", 10_000, prior=[0.9, 0.1]).round(4)
    array([0.0361, 0.0361])
    """
    expected = expected_proportions(plan, attributes, prior, whole_number("respondents", respondents))
    if functional is None:
        low, high = expected.interval(level)
        return high - low
    derived = derive(expected, functional, level)
    if derived.low is None or derived.high is None:
        raise SottovoceError("functional", f"must have an interval; {derived.name} has none", Words(derived.reason))
    return np.array([derived.high - derived.low])


def expected_widths(proportions: Any, variances: Any, deviations: float) -> Array:
    """Return the expected widths of intervals where no more is known than the estimates' variances.

    That is `2 z sqrt(V)`, and less where an interval would reach beyond 0 or 1.

    >>> expected_widths([0.5, 0.01], [0.0001, 0.0001], 1.96).round(4)
    array([0.0392, 0.0296])
    """
    low, high = NormalTests(np.asarray(proportions, float), np.sqrt(np.maximum(variances, 0))).ends(deviations)
    return high - low


def respondents_needed(
    plan: Plan,
    attributes: str | Sequence[str],
    width: float,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> int:
    """Return the fewest respondents for whom no interval is expected to be wider than `width`.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> respondents_needed(plan, "evaded tax", 0.05, prior=[0.9, 0.1])
    5182
    """
    width = number("width", width, 0, open_ends=True)
    one, deviations = expected_proportions(plan, attributes, prior, 1), 2 * critical_value(level)
    constant = float(one.standard_error.max() * deviations) ** 2
    if functional is not None:
        gradient = functional.gradient(one.value)
        constant = max(float(gradient @ one.covariance @ gradient), 0.0) * deviations**2
    options: dict[str, Any] = {"prior": prior, "functional": functional, "level": level}
    return fewest_respondents(
        lambda count: float(expected_width(plan, attributes, count, **options).max()), width, constant
    )


def fewest_respondents(width_for: Callable[[int], float], width: float, constant: float) -> int:
    """Return the fewest respondents for whom an interval is no wider, near `constant / width^2`, its limit for many.

    >>> fewest_respondents(lambda count: 2 / count**0.5, 0.1, constant=4.0)
    400
    """
    high = max(ceil(constant / width**2), 1)
    while width_for(high) > width:
        high = 2 * high
        if high > MOST_RESPONDENTS:
            raise SottovoceError("width", f"must be reached with at most {MOST_RESPONDENTS} respondents", width)
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if width_for(middle) > width else (low, middle)
    return high


def detectable_difference(first: float, second: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest difference between two groups that a test finds with probability `power`.

    With `s1` and `s2` the standard errors of the groups' estimates, that is `(z(1 - a/2) + z(power)) sqrt(s1^2 + s2^2)`
    for a two-sided test at the significance level `a = 1 - level`, z being quantiles of the normal distribution (Cohen
    1988, chapter 6). Standard errors of disguised answers hardly depend on the shares, so those of one group serve for
    the other as well.

    >>> round(detectable_difference(0.02, 0.02), 4)
    0.0792
    """
    number("power", power, 0, 1, open_ends=True)
    return (critical_value(level) + NormalDist().inv_cdf(power)) * hypot(first, second)
