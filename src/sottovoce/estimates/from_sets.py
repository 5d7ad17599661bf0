"""Proportions of many categories from reports that are sets of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.set_valued import SetChannel, SetValued
from sottovoce.checks import Array, Target
from sottovoce.counts.counter import as_pattern_counter, count_inclusions, sum_scores
from sottovoce.counts.protocol import Counter
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import Cells, Covariance, MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import open_source

Held = Callable[[NDArray[np.intp]], NDArray[np.int64]]
"""Counts, for some categories, the reports that contain both of two."""


def estimate_from_sets(reports: Any, plan: Plan, names: Sequence[str], target: Target, method: str) -> Estimate:
    """Return unbiased proportions from the shares f of reports that contain each category, or the nearest distribution.

    The estimate is linear in f, `p = c + B f`, so its covariance is `B S B^T / N` with S that of the memberships. Where
    all categories are treated alike, B is a number, and the variances need no pairs (`SetCovariance`). For sets drawn
    by rank f is the mean of their scores `u_S / (h.u_S)` instead (`RandomSet.scores`), whose products are summed. For
    the table as target, the variance of sampling, `(diag(p) - p p^T) / N`, is subtracted.
    """
    channel = plan.channel(names)
    if not isinstance(channel, SetChannel) or method not in ("inversion", "simplex"):
        raise SottovoceError("method", "must be inversion or simplex for sets of many categories", method)
    if isinstance(channel, SetValued):
        mean, covariance, total = _from_memberships(reports, plan, names, channel, target)
    else:
        mean, covariance, total = _from_scores(reports, plan, names, channel, target)
    order = plan.cell_order(names)
    value, tests = channel.solve_inclusions(mean)[order], None
    if isinstance(channel, SetValued):
        inside, outside = (np.full(len(mean), float(chance)) for chance in (channel.inside, channel.outside))
        tests = IndicatorTests(mean[order] * total, total, inside, outside, target)
    return Estimate(
        tuple(names),
        plan.categories_of(names),
        nearest_distribution(value) if method == "simplex" else value,
        covariance,
        mean,
        total,
        target,
        method,
        tests=tests,
    )


@dataclass(frozen=True, eq=False)
class SetCovariance:
    """Covariance of `p = (f - outside) / (inside - outside)`, f the shares of reports that contain each category.

    `Var p_j = f_j (1 - f_j) / (inside - outside)^2 / N`, for the table less `p_j (1 - p_j) / N`. Covariances need the
    shares of reports that contain two categories, `held`, which are counted for those that are asked for.
    """

    shares: Array
    value: Array
    gain: float
    respondents: int
    target: Target
    order: NDArray[np.intp]
    held: Held

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        shares, p = self.shares[self.order], self.value
        sampling = p * (1 - p) if self.target == "table" else 0.0
        return np.asarray((shares * (1 - shares) / self.gain**2 - sampling) / self.respondents)

    def block(self, cells: Cells) -> Array:
        """Covariance matrix of some cells, from the reports that contain two of them."""
        wanted = np.asarray(cells)
        categories, p = self.order[wanted], self.value[wanted]
        shares = self.shares[categories]
        covariance = (self.held(categories) / self.respondents - np.outer(shares, shares)) / self.gain**2
        if self.target == "table":
            covariance -= np.diag(p) - np.outer(p, p)
        return np.asarray(covariance / self.respondents)


class Memberships:
    """Which reports contain which categories, as bits, or how many contain two, whichever is smaller.

    >>> held = Memberships(2)
    >>> held.add([np.array([1, 1, 0]), np.array([0, 1, 1])])
    >>> held.singles, held(np.array([0, 1]))
    (array([2, 2]), array([[2, 1],
           [1, 2]]))
    """

    def __init__(self, categories: int) -> None:
        """Start without reports."""
        self.singles = np.zeros(categories, np.int64)
        self.total = 0
        self._bits: list[tuple[int, NDArray[np.uint8]]] = []
        self._pairs: NDArray[np.int64] | None = None

    def add(self, columns: Sequence[NDArray[Any]]) -> None:
        """Add reports, a column of bits for each category."""
        bits = np.stack([np.asarray(column, dtype=bool) for column in columns])
        self.singles += bits.sum(axis=1)
        self.total += bits.shape[1]
        if self._pairs is not None:
            self._pairs += count_inclusions(columns)
            return
        self._bits.append((bits.shape[1], np.packbits(bits, axis=1)))
        if sum(packed.nbytes for _, packed in self._bits) > 8 * len(self.singles) ** 2:
            self._pairs, self._bits = self(np.arange(len(self.singles))), []

    def __call__(self, categories: NDArray[np.intp]) -> NDArray[np.int64]:
        """Count the reports that contain both of two of these categories."""
        if self._pairs is not None:
            return self._pairs[np.ix_(categories, categories)]
        counts = np.zeros((len(categories), len(categories)), np.int64)
        for rows, packed in self._bits:
            counts += count_inclusions(list(np.unpackbits(packed[categories], axis=1, count=rows)))
        return counts


_SetMoments = tuple[Array, Covariance, int]
"""Mean memberships or scores, the covariance of the proportions, and the number of reports."""


def _from_memberships(
    reports: Any, plan: Plan, names: Sequence[str], channel: SetValued, target: Target
) -> _SetMoments:
    schema = plan.report_schema.project(plan.report_names(names))
    held: Held
    if isinstance(reports, Counter):
        singles = reports.all_ones(schema, np.arange(channel.n_in)[:, None])
        held, total = partial(_held_in_counter, reports, schema), reports.rows()
    else:
        held = Memberships(channel.n_in)
        for columns in open_source(reports).coded(schema):
            held.add(columns)
        singles, total = held.singles, held.total
    check_number(total)
    mean, order = np.asarray(singles / total), plan.cell_order(names)
    gain = float(channel.inside - channel.outside)
    value = channel.solve_inclusions(mean)[order]
    return mean, SetCovariance(mean, value, gain, total, target, order, held), total


def _held_in_counter(counter: Counter, schema: Schema, categories: NDArray[np.intp]) -> NDArray[np.int64]:
    first, second = np.triu_indices(len(categories))
    held = np.zeros((len(categories), len(categories)), np.int64)
    counts = counter.all_ones(schema, np.stack([categories[first], categories[second]], axis=1))
    held[first, second] = held[second, first] = counts
    return held


def _from_scores(reports: Any, plan: Plan, names: Sequence[str], channel: SetChannel, target: Target) -> _SetMoments:
    found = as_pattern_counter(reports).patterns(plan.report_schema.project(plan.report_names(names)))
    total = found.reports
    check_number(total)
    sums, products = sum_scores(found.columns, channel.scores, found.times)
    mean, order = sums / total, plan.cell_order(names)
    value = channel.solve_inclusions(mean)[order]
    at_zero = channel.solve_inclusions(np.zeros(channel.n_in), 0.0)
    slopes = (channel.solve_inclusions(np.eye(channel.n_in), np.zeros(channel.n_in)) - at_zero[:, None])[order]
    covariance = slopes @ (products / total - np.outer(mean, mean)) @ slopes.T
    if target == "table":
        covariance -= np.diag(value) - np.outer(value, value)
    return mean, MatrixCovariance(covariance / total), total
