"""How many forged reports would move a result out of its interval."""

from collections.abc import Sequence
from math import floor, inf, isfinite, prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.set_valued import SetValued
from sottovoce.channel.subset_selection import SubsetSelection
from sottovoce.errors import SottovoceError
from sottovoce.estimate.spread import inverse_rows
from sottovoce.plan.plan import Group, Plan

Ends = tuple[Array, Array]


def extreme_weights(channel: Channel, order: NDArray[np.intp]) -> Ends:
    """Least and largest contribution of a single report to each cell's estimate; NaN of reports too many to list.

    At 3 : 1, one forged report counts for up to 1.5 people of two categories, and 4.5 of eight:

    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> [float(extreme_weights(RandomizedResponse(odds=3).mechanism((k,)).channel, np.arange(k))[1][0]) for k in (2, 8)]
    [1.5, 4.5]
    """
    if isinstance(channel, SetValued):
        reach = float(channel.inside - channel.outside)
        low, high = -float(channel.outside) / reach, float(1 - channel.outside) / reach
        return np.full(len(order), low), np.full(len(order), high)
    try:
        weights = inverse_rows(channel, order)
    except SottovoceError:
        return _unknown_weights(len(order))
    return weights.min(axis=1), weights.max(axis=1)


def joint_weights(plan: Plan, questions: Sequence[str]) -> Ends:
    """The same for every joint cell of some questions, in their order: groups have own coins, so weights multiply.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> coin = RandomizedResponse(odds=3)
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": coin, "b": coin})
    >>> [float(end[0]) for end in joint_weights(plan, ["a", "b"])]
    [-0.75, 2.25]
    """
    sizes = {name: plan.schema.project([name]).cells for name in questions}
    codes = dict(zip(questions, np.indices(list(sizes.values())).reshape(len(sizes), -1), strict=True))
    low = high = np.ones(prod(sizes.values()))
    for group in plan.groups:
        own = [name for name in group.attributes if name in sizes]
        if own:
            cells = np.ravel_multi_index([codes[name] for name in own], [sizes[name] for name in own])
            ends = _group_weights(plan, group, own)
            products = np.stack([before * end[cells] for before in (low, high) for end in ends])
            low, high = products.min(axis=0), products.max(axis=0)
    return low, high


def _group_weights(plan: Plan, group: Group, own: Sequence[str]) -> Ends:
    """Of the joint cells of some questions of a group. Of w cells reported, K are among the m that make up a cell."""
    channel, cells = group.mechanism.channel, plan.schema.project(own).cells
    if isinstance(channel, SubsetSelection):
        among = channel.n_in // cells
        fewest, most = max(0, channel.size - channel.n_in + among), min(channel.size, among)
        ends = [float((k - among * channel.outside) / (channel.inside - channel.outside)) for k in (fewest, most)]
        return np.full(cells, ends[0]), np.full(cells, ends[1])
    try:
        return extreme_weights(plan.channel(own), np.arange(cells))
    except SottovoceError:  # another common report that does not split
        return _unknown_weights(cells)


def _unknown_weights(cells: int) -> Ends:
    """What is said of cells whose reports cannot be listed."""
    return np.full(cells, np.nan), np.full(cells, np.nan)


def forged_reports(value: float, half_width: float, weights: tuple[float, float], respondents: int) -> int | None:
    """Fewest forged reports, added to n honest ones, that carry an estimate p out of `p +- half_width`.

    m reports of weight w move it by `m (w - p) / (n + m)`. None: no number of them would, or none is known.

    >>> forged_reports(0.2, 0.05, (-0.5, 1.5), 1000)
    41
    """
    reach = max(weights[1] - value, value - weights[0])
    needed = respondents * half_width / (reach - half_width) if not reach <= half_width else inf
    return floor(needed) + 1 if isfinite(needed) else None
