"""Estimates from sets of many categories, by how often each category is in them, or by the scores of the sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.drawn_sets import DrawnSets
from sottovoce.channel.set_valued import SetValued
from sottovoce.count.inclusions import count_inclusions, sum_scores
from sottovoce.count.protocol import Counter
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import categories_of
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import MatrixSpread, Target
from sottovoce.plan.plan import Plan
from sottovoce.schema.schema import Schema
from sottovoce.table.source import open_source

MOST_LISTED = 12
"""Categories of which all sets are listed and counted; of more, only memberships are."""


def is_large_set(channel: Channel) -> bool:
    """Whether a channel reports sets of too many categories to list them all."""
    return isinstance(channel, SetValued | DrawnSets) and channel.n_in > MOST_LISTED


def estimate_from_sets(reports: Any, plan: Plan, names: Sequence[str], target: Target, method: str) -> Estimate:
    """Unbiased proportions from the shares f of reports that hold each category, or the nearest distribution.

    For sets drawn by rank f is the mean of their scores `u_S / (h.u_S)` instead (`RandomSet.scores`). The estimate is
    linear in f, `p = c + B f`, so its covariance is `B S B^T / N` with S that of the memberships or scores, counted in
    pairs. For the table as target, what sampling adds, `(diag(p) - p p^T) / N`, is taken off.
    """
    channel = plan.channel(names)
    if not isinstance(channel, SetValued | DrawnSets) or method not in ("inversion", "simplex"):
        raise SottovoceError("method", "must be inversion or simplex for sets of many categories", method)
    mean, products, total = _moments(reports, plan, names, channel)
    order = plan.cell_order(names)
    value = channel.solve_inclusions(mean)[order]
    slopes = _slopes(channel)[order]
    spread = slopes @ (products - np.outer(mean, mean)) @ slopes.T
    if target == "table":
        spread -= np.diag(value) - np.outer(value, value)
    shown = nearest_distribution(value) if method == "simplex" else value
    attributes, categories = tuple(names), categories_of(plan, names)
    return Estimate(attributes, categories, shown, MatrixSpread(spread / total), mean, total, target, method)


def _moments(
    reports: Any, plan: Plan, names: Sequence[str], channel: SetValued | DrawnSets
) -> tuple[Array, Array, int]:
    """Means of memberships or scores and of their products, and the number of reports."""
    schema = plan.report_schema.project(plan.report_names(names))
    if isinstance(reports, Counter):
        return _counted(reports, schema, channel)
    sums, products, total = np.zeros(channel.n_in), np.zeros((channel.n_in, channel.n_in)), 0
    for columns in open_source(reports).coded(schema):
        if isinstance(channel, DrawnSets):
            own, pairs = sum_scores(columns, channel.scores)
        else:
            pairs = count_inclusions(columns).astype(np.float64)
            own = np.diag(pairs)
        sums += own
        products += pairs
        total += len(columns[0])
    return sums / total, products / total, total


def _counted(counter: Counter, schema: Schema, channel: SetValued | DrawnSets) -> tuple[Array, Array, int]:
    """The same from a counter, which knows how many reports hold both of two categories, but no scores."""
    if isinstance(channel, DrawnSets):
        rule = "must be a table or a file for sets drawn by rank, each of which has a score"
        raise SottovoceError("reports", rule, Words(type(counter).__name__))
    first, second = np.triu_indices(channel.n_in)
    held, total = np.zeros((channel.n_in, channel.n_in)), counter.rows()
    held[first, second] = held[second, first] = counter.all_ones(schema, np.stack([first, second], axis=1))
    return np.diag(held) / total, held / total, total


def _slopes(channel: SetValued | DrawnSets) -> Array:
    """How the estimate changes with every share: B."""
    zero = np.zeros(channel.n_in)
    at_zero = channel.solve_inclusions(zero, 0.0)
    return np.stack([channel.solve_inclusions(unit, 0.0) - at_zero for unit in np.eye(channel.n_in)], axis=1)
