"""Proportions from the respondents who were asked all the attributes in question: unbiased, and no model."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.sampled import Sampled
from sottovoce.errors import SingularChannelError, Words
from sottovoce.estimate.by_part import count_by_part
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.observed import Axes, Block
from sottovoce.estimate.proportions import estimate_proportions
from sottovoce.estimate.spread import MatrixSpread, Target
from sottovoce.plan.plan import Plan


def estimate_covered(
    reports: Any, plan: Plan, attributes: str | Sequence[str], *, target: Target = "population"
) -> Estimate:
    """Estimate joint proportions from every part of a sampling plan that asks all the attributes, the surest most.

    Each such part Q gives `p_Q = B_Q c_Q / N_Q`, unbiased whatever the number N_Q of its respondents; they are averaged
    with the inverses of the variances that they would have if all cells were alike, `N_Q keep_Q^2` for gamma-diagonal
    parts. The weights do not look at the answers, so the average is unbiased too. A cell of the table has the variance

        sum_Q w_Q^2 l (1 - l) / (keep_Q^2 N_Q) - s (1 - s) / N,   l = (1 - keep_Q) / n + keep_Q s;

    of the population, without the last term. Where nothing is sampled this is `estimate_proportions`.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3)})
    >>> no = plan.report_schema["a"].categories[-1]
    >>> rows = {"a": [True] * 40 + [False] * 60 + [no] * 100, "b": [no] * 100 + [True, False] * 50}
    >>> print(estimate_covered(rows, plan, "a"))
    a: 200 reports, proportions in the population by inverse-variance weighting
      False    0.7000 +- 0.0980  [ 0.5080,  0.8920]
      True     0.3000 +- 0.0980  [ 0.1080,  0.4920]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if not isinstance(plan.channel(names), Sampled):
        return estimate_proportions(reports, plan, names, target=target)
    found = count_by_part(reports, plan, names)
    blocks = [block for block in found.around.blocks if set(found.kept) <= set(block.axes)]
    if not blocks:
        rule = "must be asked together of some respondents; a model joins what was not (estimate_joint)"
        raise SingularChannelError("attributes", rule, Words(" and ".join(names)))
    check_number(int(sum(block.total for block in blocks)))
    value, covariance = _weighted([_alone(block, found.kept, found.around.sizes) for block in blocks])
    counted = found.counted
    if target == "table":
        covariance = covariance - (np.diag(value) - np.outer(value, value)) / counted.respondents
    spread = MatrixSpread(covariance[np.ix_(counted.order, counted.order)])
    about = counted.attributes, counted.categories, value[counted.order], spread
    return Estimate(*about, counted.seen, counted.respondents, target, "inverse-variance weighting")


def _alone(block: Block, kept: Axes, sizes: Sequence[int]) -> tuple[Array, Array, float]:
    """Estimate of one block, its covariance, and its precision at the uniform law.

    The whole report is undone and then summed over what is not wanted: a part of it can say less.
    """
    shape = [sizes[a] for a in block.axes]
    dropped = tuple(place for place, a in enumerate(block.axes) if a not in kept)
    whole = np.linalg.pinv(block.law(np.eye(prod(shape))))
    inverse = whole.reshape(*shape, -1).sum(axis=dropped).reshape(-1, whole.shape[1])
    seen = block.counts / block.total
    value = inverse @ seen
    covariance = ((inverse * seen) @ inverse.T - np.outer(value, value)) / block.total
    alike = inverse**2 @ block.law(np.full(prod(shape), 1 / prod(shape)))
    return value, covariance, block.total / float(alike.mean() - 1 / len(value) ** 2)


def _weighted(estimates: Sequence[tuple[Array, Array, float]]) -> tuple[Array, Array]:
    """Mean of unbiased estimates by their precisions, and its covariance."""
    values, spreads, precisions = zip(*estimates, strict=True)
    shares = np.array(precisions) / sum(precisions)
    return np.tensordot(shares, np.array(values), axes=1), np.tensordot(shares**2, np.array(spreads), axes=1)
