"""Weights of single reports in an estimate, and how many forged ones move it."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, inf, isfinite, prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import inverse_rows
from sottovoce.plans.plan import Group, Plan

Range = tuple[Array, Array]
"""Smallest and largest value of each cell."""


def forged_reports(
    value: float, interval: tuple[float, float], weights: tuple[float, float], respondents: int
) -> int | None:
    """Return the smallest number of forged reports that move an estimate out of its interval.

    Added to n honest reports, m reports of weight w move an estimate p by `m (w - p) / (n + m)`; an estimate outside
    its interval, below zero say, counts as the nearest end. None if no number is enough, or if the weights are not
    known (NaN).

    >>> forged_reports(0.2, (0.14, 0.26), (-0.5, 1.5), 1000)
    49
    """
    start = min(max(value, interval[0]), interval[1])
    needed = inf
    for end, weight in zip(interval, weights, strict=True):
        distance, reach = abs(end - start), abs(weight - start)
        if reach > distance:
            needed = min(needed, respondents * distance / (reach - distance))
    return floor(needed) + 1 if isfinite(needed) else None


def report_weight_range(channel: Channel, order: NDArray[np.intp]) -> Range:
    """Return the smallest and largest contribution of a single report to the estimate of each cell.

    NaN where there are too many reports to list. At 3 : 1, one forged report counts for up to 1.5 respondents with
    two categories, and for 4.5 with eight:

    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> channels = [RandomizedResponse(odds=3).mechanism((k,)).channel for k in (2, 8)]
    >>> [float(report_weight_range(channel, np.arange(channel.n_in))[1][0]) for channel in channels]
    [1.5, 4.5]
    """
    if channel.inclusion is not None:
        inside, outside = channel.inclusion
        reach = float(inside - outside)
        low, high = -float(outside) / reach, float(1 - outside) / reach
        return np.full(len(order), low), np.full(len(order), high)
    try:
        weights = inverse_rows(channel, order)
    except SottovoceError:
        return _unknown(len(order))
    return weights.min(axis=1), weights.max(axis=1)


def joint_weight_range(plan: Plan, questions: Sequence[str]) -> Range:
    """Return the same for every joint cell of some questions. Groups are disguised independently: weights multiply.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> coin = RandomizedResponse(odds=3)
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": coin, "b": coin})
    >>> [float(end[0]) for end in joint_weight_range(plan, ["a", "b"])]
    [-0.75, 2.25]
    """
    sizes = {name: plan.schema.project([name]).cells for name in questions}
    codes = dict(zip(questions, np.indices(list(sizes.values())).reshape(len(sizes), -1), strict=True))
    low = high = np.ones(prod(sizes.values()))
    for group in plan.groups:
        names = [name for name in group.attributes if name in sizes]
        if names:
            cells = np.ravel_multi_index([codes[name] for name in names], [sizes[name] for name in names])
            ends = _group_weight_range(plan, group, names)
            products = np.stack([before * end[cells] for before in (low, high) for end in ends])
            low, high = products.min(axis=0), products.max(axis=0)
    return low, high


def picked_weight_range(plan: Plan, questions: Sequence[str]) -> Range:
    """Return the same for questions of one group that the device picks from, among the reports that tell them all.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3)})
    >>> [float(end[0].round(6)) for end in picked_weight_range(plan, ["a"])]
    [-0.5, 1.5]
    """
    parts = [part for part in plan.channel(questions).parts if len(part.axes) == len(questions)]
    matrices = [part.weight * part.channel.dense() for part in parts if part.channel is not None]
    weights = np.linalg.pinv(np.sum(matrices, axis=0) / sum(part.weight for part in parts))[plan.cell_order(questions)]
    return weights.min(axis=1), weights.max(axis=1)


def _group_weight_range(plan: Plan, group: Group, names: Sequence[str]) -> Range:
    """Return the range of weights of the joint cells of some questions of a group.

    Under subset selection, the weight depends on how many of the reported cells of the group lie in the joint cell.
    """
    channel, cells = group.mechanism.channel, plan.schema.project(names).cells
    if isinstance(channel, SubsetSelection):
        among = channel.n_in // cells
        fewest, most = max(0, channel.size - channel.n_in + among), min(channel.size, among)
        ends = [float((k - among * channel.outside) / (channel.inside - channel.outside)) for k in (fewest, most)]
        return np.full(cells, ends[0]), np.full(cells, ends[1])
    try:
        return report_weight_range(plan.channel(names), np.arange(cells))
    except SottovoceError:  # another joint report, which cannot be split into questions
        return _unknown(cells)


def _unknown(cells: int) -> Range:
    return np.full(cells, np.nan), np.full(cells, np.nan)


def chance_told(plan: Plan, question: str) -> Fraction:
    """Return the probability that a report tells something about a question: 1, unless the device picks answers.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema(map(boolean, "abc")), {("a", "b", "c"): AttributeSampling(odds=3, size=2)})
    >>> chance_told(plan, "a")
    Fraction(2, 3)
    """
    group = plan.group_of(question)
    schema = plan.schema.project(group.attributes)
    own = set(range(len(schema.sizes))[schema.columns_of(question)])
    parts = group.mechanism.channel.parts
    return Fraction(sum(p.weight for p in parts if own & set(p.axes)), sum(p.weight for p in parts))
