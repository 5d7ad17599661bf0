"""Joint tables of a few attributes: the reports they depend on, their channel, and their reconstruction."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.complement import Complement
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.mixture import Mixture
from sottovoce.checks import Array
from sottovoce.counts.counter import count_cells
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.likelihood import em_factors, extrapolate, mean_log_likelihood, nearest_distribution
from sottovoce.estimates.proportions import needed_attributes, singular_channel_error
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, ravel
from sottovoce.schemas.schema import Schema

MOST_REPORTS = 2**20
"""Joint reports of one table that are counted one by one."""

Repair = Literal["em", "simplex", "plain"]
"""What to do about negative estimates: take the maximum-likelihood distribution, the nearest one, or nothing."""

TOLERANCE = 0.01
"""Convergence tolerance of EM on the log-likelihood of all reports together."""

MOST_STEPS = 500
"""EM steps at most."""

MOST_ENTRIES = 2**24
"""Entries of a left inverse that is written out."""


@dataclass(frozen=True)
class JointTable:
    """Joint cells of `names`, in that order, the last varying fastest, and the report columns they depend on.

    `columns` are indices in the report columns of the attributes in use (`report_schema_of`). Attributes that share an
    indivisible report with `names` come last, and are summed over.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    channel: Channel
    order: NDArray[np.intp]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan, names: Sequence[str], reports: Schema) -> "JointTable":
        """Look up a plan's columns and channel; raise if the reports do not identify the cells."""
        table = cls.unchecked(plan, names, reports)
        needed, channel = needed_attributes(plan, names), table.channel
        if channel.n_out > MOST_REPORTS:
            rule = f"must have at most {MOST_REPORTS} joint reports"
            raise SottovoceError("attributes", rule, Words(f"{', '.join(needed)} with {channel.n_out}"))
        if np.isinf(channel.condition_number):
            reason = SingularChannelError(
                "reports", "must identify every combination of values", Words("ones that do not")
            )
            raise singular_channel_error(reason, plan, needed)
        return table

    @classmethod
    def unchecked(cls, plan: Plan, names: Sequence[str], reports: Schema) -> "JointTable":
        """Look up a plan's columns and channel, whether or not the reports identify the cells."""
        needed = needed_attributes(plan, names)
        view, columns = plan.view(needed), column_indices(plan, needed, reports)
        sizes = tuple(reports.sizes[column] for column in columns)
        return cls(tuple(names), columns, sizes, view.channel, view.order, view.shape)

    def count(self, columns: Sequence[Codes]) -> NDArray[np.int64]:
        """Return the number of rows with each joint report."""
        return count_cells([columns[index] for index in self.columns], self.sizes)

    def weigh(self, columns: Sequence[Codes], weights: Array) -> Array:
        """Return the sum of the weights of the rows with each joint report."""
        joint = ravel([columns[index] for index in self.columns], self.sizes)
        return np.asarray(np.bincount(joint, weights=weights, minlength=prod(self.sizes)), np.float64)

    def table(self, cells: Array) -> Array:
        """Return the table with an axis for each name, then one for the columns of `cells`, in the channel's order."""
        shape = self.shape[: len(self.names)]
        return np.asarray(cells[self.order].reshape(*shape, -1, cells.shape[1]).sum(axis=len(shape)))

    def expand(self, functions: Array) -> Array:
        """Return functions of the names' cells, one in each column, as functions of the channel's inputs."""
        summed = prod(self.shape[len(self.names) :])
        expanded = np.empty((len(self.order), functions.shape[1]))
        expanded[self.order] = np.repeat(functions, summed, axis=0)
        return expanded


def class_tables(plan: Plan, names: Sequence[str], label: str) -> list[JointTable]:
    """Return the tables that naive Bayes needs: of the class, then of each attribute with the class."""
    reports = report_schema_of(plan, [*names, label])
    return [JointTable.of(plan, pair, reports) for pair in ([label], *([name, label] for name in names))]


def report_schema_of(plan: Plan, names: Sequence[str]) -> Schema:
    """Return the report columns that depend on the given attributes, in their order.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("a"), boolean("b"), boolean("c")]), odds=9)
    >>> report_schema_of(plan, ["c", "a"]).names
    ('c', 'a')
    """
    columns = [column for name in names for column in plan.report_names(needed_attributes(plan, [name]))]
    return plan.report_schema.project(list(dict.fromkeys(columns)))


def column_indices(plan: Plan, names: Sequence[str], reports: Schema) -> tuple[int, ...]:
    """Return the indices of the coded report columns of some attributes, in the order of the plan's channel."""
    indices = range(len(reports.sizes))
    return tuple(index for name in plan.report_names(names) for index in indices[reports.columns_of(name)])


def reconstruct(channel: Channel, frequencies: Array, respondents: int, repair: Repair) -> tuple[Array, Array]:
    """Return the distribution behind each column of report frequencies, and its effective number of records.

    N reports estimate a distribution p as precisely as `N_eff = sum p (1 - p) / sum V` undisguised records, V being the
    variances of the unbiased estimate; it is limited to at least one and at most N.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> distribution, effective = reconstruct(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.6], [0.4]]), 1000, "em")
    >>> distribution.ravel().round(6), effective.round(2)
    (array([0.7, 0.3]), array([218.75]))
    """
    unbiased = channel.solve(frequencies)
    distribution = unbiased if repair == "plain" else nearest_distribution(unbiased)
    outside = (unbiased < 0).any(axis=0) if channel.n_in == channel.n_out else np.ones(unbiased.shape[1], bool)
    if repair == "em" and outside.any():
        distribution[:, outside] = maximum_likelihood(channel, frequencies[:, outside], TOLERANCE / respondents)
    variance = np.maximum(channel.solve_squared(frequencies) - unbiased**2, 0).sum(axis=0) / respondents
    single = np.maximum((distribution * (1 - distribution)).sum(axis=0), 0)
    effective = np.divide(single, variance, out=np.full(len(single), float(respondents)), where=variance > 0)
    return distribution, np.clip(effective, 1, respondents)


def maximum_likelihood(channel: Channel, frequencies: Array, tolerance: float) -> Array:
    """Return the maximum-likelihood distribution of each column, to a tolerance of the mean log-likelihood.

    Like `estimates.likelihood`, for many columns at once: EM with SQUAREM extrapolation (Varadhan & Roland 2008) where
    that does not lower the likelihood.
    """
    distribution = np.full((channel.n_in, frequencies.shape[1]), 1 / channel.n_in)
    active = np.arange(frequencies.shape[1])
    for _ in range(MOST_STEPS):
        step = em_factors(channel, frequencies[:, active], distribution[:, active])
        unfinished = np.log(step.max(axis=0)) > tolerance
        if not unfinished.any():
            break
        active = active[unfinished]
        distribution[:, active] = _improve(
            channel, frequencies[:, active], distribution[:, active], step[:, unfinished]
        )
    return distribution


def _improve(channel: Channel, frequencies: Array, point: Array, step: Array) -> Array:
    """Take two EM steps, or extrapolate them where that has a higher likelihood."""
    first = point * step
    second = first * em_factors(channel, frequencies, first)
    further = extrapolate(point, first, second)
    further = further * em_factors(channel, frequencies, further)
    better = mean_log_likelihood(channel, frequencies, further) >= mean_log_likelihood(channel, frequencies, second)
    return np.where(better, further, second)


@singledispatch
def unbiased_scores(channel: Channel, functions: Array) -> Array:
    """Return `h = B^T f`, B the channel's left inverse, column by column: `E[h(report) | truth x] = f(x)` for every x.

    The mean of the scores h over reports is an unbiased estimate of the mean of f over truths, and the variance of h
    gives its standard error.

    >>> from fractions import Fraction
    >>> unbiased_scores(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.0], [1.0]])).ravel()
    array([-0.5,  1.5])
    """
    if channel.n_in * channel.n_out > MOST_ENTRIES:
        rule = f"must have at most {MOST_ENTRIES} entries for its inverse to be written out"
        raise SottovoceError("channel", rule, (channel.n_out, channel.n_in))
    return np.asarray(channel.solve(np.eye(channel.n_out)).T @ functions)


@unbiased_scores.register
def _(channel: Mixture, functions: Array) -> Array:
    """`(f - (1 - keep) E_Y f) / keep` (Zhan & Matwin 2006, equation 1, for a function)."""
    keep = float(channel.keep)
    return np.asarray(((1 + keep) * functions - channel.rmatvec(functions)) / keep)


@unbiased_scores.register(KeepOrUniform)
@unbiased_scores.register(Complement)
def _(channel: KeepOrUniform | Complement, functions: Array) -> Array:
    """The inverse is symmetric, so that `B^T f = B f`."""
    return channel.solve(functions)


@unbiased_scores.register
def _(channel: Kronecker, functions: Array) -> Array:
    """Apply the scores of each factor along its axis."""
    table = functions.reshape(*(factor.n_in for factor in channel.factors), functions.shape[1])
    for axis, factor in enumerate(channel.factors):
        moved = np.moveaxis(table, axis, 0)
        scores = unbiased_scores(factor, moved.reshape(factor.n_in, -1))
        table = np.moveaxis(scores.reshape(factor.n_out, *moved.shape[1:]), 0, axis)
    return np.asarray(table.reshape(channel.n_out, -1))
