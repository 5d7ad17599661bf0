"""Expected widths of intervals, and respondents needed for a width, before anyone is asked."""

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.counted import categories_of
from sottovoce.estimates.covariance import InversionSpread, Target
from sottovoce.estimates.derived import Derived, derive
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.proportions import MOST_LISTED, is_large_set, margin, needed_attributes
from sottovoce.measures.functionals import Functional
from sottovoce.measures.matrices import as_prior
from sottovoce.measures.utility import checked_respondents, checked_target
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Label

MOST_RESPONDENTS = 10**12
"""More people than there are: whatever has no interval from so many has none."""


def expected_estimate(
    channel: Channel,
    prior: Any,
    respondents: int,
    target: Target = "population",
    categories: Sequence[Sequence[Label]] | None = None,
) -> Estimate:
    """Estimate by inversion as it is on average: the truth, with the covariance that estimates of it really have.

    With A the channel, B its inverse and `lam = A p`, the covariance is `(B diag(lam) B^T - p p^T) / N` where the
    respondents are a sample of the population, `(B diag(lam) B^T - diag(p)) / N` where p are the proportions of
    this table. `derive` gives the standard errors of functionals, by the delta method, or says why it cannot.

    >>> from sottovoce.estimates.derived import derive
    >>> from sottovoce.measures.functionals import Entropy
    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> print(derive(expected_estimate(channel, [0.7, 0.3], 1000), Entropy()))
    entropy: 0.8822 +- 0.0199  [0.8432, 0.9212]
    """
    law: Array = as_prior(np.ravel(prior), channel.n_in)
    count = checked_respondents(respondents)
    checked_target(target)
    seen = channel.matvec(law)
    labels = tuple(map(tuple, categories or [range(size) for size in channel.shape_in]))
    names = tuple(f"attribute {place}" for place in range(1, len(labels) + 1))
    spread = InversionSpread(channel, seen, law, count, np.arange(len(law)), target)
    return Estimate(names, labels, law, spread, seen, int(count), target, "expected")


def expected_proportions(
    plan: Plan, attributes: str | Sequence[str], prior: Any, respondents: int, target: Target = "population"
) -> Estimate:
    """Estimate of a plan's attributes as it will be on average, if the truth has the law `prior`, uniform for None.

    Cells are in the order of the attributes named, the last varying fastest. Attributes that share an indivisible
    report with them are taken as uniform and independent.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(expected_proportions(plan, "evaded tax", [0.9, 0.1], 1000))
    evaded tax: 1000 reports, proportions in the population by expected
      False    0.9000 +- 0.0290  [ 0.8432,  0.9568]
      True     0.1000 +- 0.0290  [ 0.0432,  0.1568]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    needed = needed_attributes(plan, names)
    channel = plan.channel(needed)
    if is_large_set(channel):
        rule = f"must report categories, or sets of at most {MOST_LISTED}, for the errors of estimates to be foretold"
        raise SottovoceError("plan", rule, Words(plan.group_of(names[0]).scheme))
    categories = categories_of(plan, needed)
    sizes = [len(labels) for labels in categories]
    cells, others = prod(sizes[: len(names)]), prod(sizes[len(names) :])
    law = np.repeat(as_prior(np.full(cells, 1 / cells) if prior is None else np.ravel(prior), cells) / others, others)
    checked_target(target)
    order = plan.cell_order(needed)
    grouped = np.empty_like(law)
    grouped[order] = law
    spread = InversionSpread(channel, channel.matvec(grouped), law, respondents, order, target)
    joint = Estimate(tuple(needed), categories, law, spread, spread.seen, respondents, target, "expected")
    return joint if others == 1 else margin(joint, names)


def expected_width(
    plan: Plan,
    attributes: str | Sequence[str],
    respondents: int,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> Array:
    """Width of the interval of every cell, or of one functional, with so many respondents.

    `2 z sqrt(V / N)`, V the variance of one report's contribution if the truth has the law `prior` (uniform
    if left out; cells in the order of the attributes named, the last varying fastest). Where the delta method would
    give a functional no interval, as at a uniform law or near independence, this says so.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> expected_width(plan, "evaded tax", 10_000, prior=[0.9, 0.1]).round(4)
    array([0.0359, 0.0359])
    """
    if isinstance(respondents, bool) or not isinstance(respondents, int) or respondents < 1:
        raise SottovoceError("respondents", "must be a positive whole number", respondents)
    expected = expected_proportions(plan, attributes, prior, respondents)
    if functional is None:
        return 2 * critical_value(level) * expected.standard_error
    found = derive(expected, functional, level)
    if found.standard_error is None:
        raise _no_interval(found, respondents)
    return np.array([2 * critical_value(level) * found.standard_error])


def respondents_needed(
    plan: Plan,
    attributes: str | Sequence[str],
    width: float,
    *,
    prior: Any = None,
    functional: Functional | None = None,
    level: float = 0.95,
) -> int:
    """Fewest respondents with whom no interval is expected to be wider than `width`; for a functional, to within 5 %.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> respondents_needed(plan, "evaded tax", 0.05, prior=[0.9, 0.1])
    5163
    """
    if not 0 < width < np.inf:
        raise SottovoceError("width", "must be a positive number", width)
    one, deviations = expected_proportions(plan, attributes, prior, 1), 2 * critical_value(level)
    if functional is None:
        return max(ceil(float(one.standard_error.max() * deviations / width) ** 2), 1)
    gradient = functional.gradient(one.value)
    variance = max(float(gradient @ one.covariance @ gradient), 0.0)
    fewest = max(ceil(variance * (deviations / width) ** 2), 1)
    return _until_trusted(
        lambda count: derive(expected_proportions(plan, attributes, prior, count), functional, level), fewest
    )


def _until_trusted(derived: Callable[[int], Derived], fewest: int) -> int:
    """So many respondents, or more until the delta method gives an interval."""
    low, high = fewest, fewest
    while (found := derived(high)).standard_error is None:
        low, high = high, 2 * high
        if high > MOST_RESPONDENTS:
            raise _no_interval(found, low)
    while high > 1.05 * low:
        middle = (low + high) // 2
        low, high = (middle, high) if derived(middle).standard_error is None else (low, middle)
    return high


def _no_interval(found: Derived, respondents: int) -> SottovoceError:
    rule = f"must have an interval from {respondents} respondents; {found.name} has none here"
    return SottovoceError("functional", rule, Words(found.reason))
