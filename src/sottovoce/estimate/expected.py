"""What an estimate will be like before any report is in: its exact covariance under a known law of the truths."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import categories_of
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.marginals import margin, needed_attributes
from sottovoce.estimate.sets import MOST_LISTED, is_large_set
from sottovoce.estimate.spread import InversionSpread, Target
from sottovoce.measure.covariance import checked_respondents, checked_target
from sottovoce.measure.matrices import as_prior
from sottovoce.plan.plan import Plan
from sottovoce.schema.variable import Label


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

    >>> from sottovoce.estimate.derived import derive
    >>> from sottovoce.measure.functionals import Entropy
    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
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

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
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
