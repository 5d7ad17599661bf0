"""Some attributes of a group whose report is one for all of them: the margin of the joint estimate."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.spread import MOST_CELLS, MatrixSpread
from sottovoce.plan.plan import Plan


def needed_attributes(plan: Plan, names: Sequence[str]) -> list[str]:
    """These attributes, and behind them the others of every group whose report does not split.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("b", "a"): SubsetSelection(odds=3)})
    >>> needed_attributes(plan, ["a"])
    ['a', 'b']
    """
    wanted = plan.schema.project(names).names
    others: list[str] = []
    for group in plan.groups:
        own = [name for name in group.attributes if name in wanted]
        if own and not _splits(plan, own):
            others += [name for name in group.attributes if name not in wanted]
    if others and plan.schema.project([*wanted, *others]).cells > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint cells with {', '.join(others)}, which share their report"
        raise SottovoceError("attributes", rule, wanted)
    return [*wanted, *others]


def margin(joint: Estimate, names: Sequence[str]) -> Estimate:
    """Proportions of the first attributes of an estimate, summed over the others: `M p`, covariance `M S M^T`.

    M has a one where a joint cell belongs to a cell of the margin. Sums of unbiased estimates are unbiased,
    for the table and for the population alike.
    """
    kept, dropped = prod(joint.shape[: len(names)]), prod(joint.shape[len(names) :])
    value = joint.value.reshape(kept, dropped).sum(axis=1)
    covariance = joint.covariance.reshape(kept, dropped, kept, dropped).sum(axis=(1, 3))
    attributes, categories = joint.attributes[: len(names)], joint.categories[: len(names)]
    spread = MatrixSpread(np.asarray(covariance))
    return replace(joint, attributes=attributes, categories=categories, value=value, spread=spread)


def _splits(plan: Plan, names: Sequence[str]) -> bool:
    """Whether a group's report has a part of its own for these attributes."""
    try:
        plan.channel(names)
    except SottovoceError:
        return False
    return True
