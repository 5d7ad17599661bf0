"""Estimates from sets of many categories, by how often each category is in them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.random_set import RandomSet
from sottovoce.channel.set_valued import SetValued
from sottovoce.count.inclusions import count_inclusions
from sottovoce.errors import SottovoceError
from sottovoce.estimate.counted import categories_of
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import MatrixSpread, Target
from sottovoce.plan.plan import Plan
from sottovoce.table.source import open_source

MOST_LISTED = 12
"""Categories of which all sets are listed and counted; of more, only memberships are."""


def is_large_set(channel: Channel) -> bool:
    """Whether a channel reports sets of too many categories to list them all."""
    return isinstance(channel, SetValued | RandomSet) and channel.n_in > MOST_LISTED


def estimate_from_sets(reports: Any, plan: Plan, names: Sequence[str], target: Target, method: str) -> Estimate:
    """Unbiased proportions from the shares f of reports that hold each category, or the nearest distribution.

    The estimate is linear in f, `p = c + B f`, so its covariance is `B S B^T / N` with S that of the
    memberships, counted in pairs. For the table as target, what sampling adds, `(diag(p) - p p^T) / N`, is taken off.
    """
    channel = plan.channel(names)
    if not isinstance(channel, SetValued | RandomSet) or method not in ("inversion", "simplex"):
        raise SottovoceError("method", "must be inversion or simplex for sets of many categories", method)
    schema = plan.report_schema.project(plan.report_names(names))
    together, total = np.zeros((channel.n_in, channel.n_in), np.int64), 0
    for columns in open_source(reports).coded(schema):
        together += count_inclusions(columns)
        total += len(columns[0])
    shares, order = np.diag(together) / total, plan.cell_order(names)
    value = channel.solve_inclusions(shares)[order]
    slopes = _slopes(channel)[order]
    spread = slopes @ (together / total - np.outer(shares, shares)) @ slopes.T
    if target == "table":
        spread -= np.diag(value) - np.outer(value, value)
    shown = nearest_distribution(value) if method == "simplex" else value
    attributes, categories = tuple(names), categories_of(plan, names)
    return Estimate(attributes, categories, shown, MatrixSpread(spread / total), shares, total, target, method)


def _slopes(channel: SetValued | RandomSet) -> Array:
    """How the estimate changes with every share: B."""
    zero = np.zeros(channel.n_in)
    at_zero = channel.solve_inclusions(zero, 0.0)
    return np.stack([channel.solve_inclusions(unit, 0.0) - at_zero for unit in np.eye(channel.n_in)], axis=1)
