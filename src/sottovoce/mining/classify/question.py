"""Tables of some attributes that reports tell of: their channel, and unbiased or likely reconstructions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.complement import Complement
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.mixture import Mixture
from sottovoce.counts.counter import count_cells
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.likelihood import extrapolated, factors, mean_log_likelihood, nearest_distribution
from sottovoce.estimates.proportions import named_singular, needed_attributes
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, ravel
from sottovoce.schemas.schema import Schema

MOST_REPORTS = 2**20
"""Joint reports of one question that are counted one by one."""
Repair = Literal["em", "simplex", "plain"]
"""What is done about estimates that noise carries out of the simplex: the most likely law, the nearest, or nothing."""

CLOSE_ENOUGH = 0.01
"""Log-likelihood of all reports together by which a law may fall short of the most likely one."""

MOST_STEPS = 500
MOST_ENTRIES = 2**24
"""Entries of a left inverse that is written out."""


@dataclass(frozen=True)
class Question:
    """Joint cells of `names`, in that order, the last varying fastest; `columns` of the coded reports speak of them.

    The columns are counted among those of a schema of reports, `reports_of` the attributes that are looked at.
    Attributes that share an indivisible report come behind, and are summed over.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    channel: Channel
    order: NDArray[np.intp]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan, names: Sequence[str], reports: Schema) -> "Question":
        """Look up a plan's columns and channel; refuse what reports cannot tell."""
        needed = needed_attributes(plan, names)
        channel = plan.channel(needed)
        if channel.n_out > MOST_REPORTS:
            rule = f"must have at most {MOST_REPORTS} joint reports"
            raise SottovoceError("attributes", rule, Words(f"{', '.join(needed)} with {channel.n_out}"))
        if np.isinf(channel.condition_number):
            reason = SingularChannelError(
                "reports", "must tell every truth from every other", Words("ones that do not")
            )
            raise named_singular(reason, plan, needed)
        columns = columns_of(plan, needed, reports)
        sizes = tuple(reports.sizes[column] for column in columns)
        shape = tuple(plan.schema.project([name]).cells for name in needed)
        return cls(tuple(names), columns, sizes, channel, plan.cell_order(needed), shape)

    def count(self, columns: Sequence[Codes]) -> NDArray[np.int64]:
        """Rows with each joint report."""
        return count_cells([columns[place] for place in self.columns], self.sizes)

    def weigh(self, columns: Sequence[Codes], weights: Array) -> Array:
        """Sum of weights of the rows with each joint report."""
        joint = ravel([columns[place] for place in self.columns], self.sizes)
        return np.asarray(np.bincount(joint, weights=weights, minlength=prod(self.sizes)), np.float64)

    def table(self, cells: Array) -> Array:
        """Joint cells by the names asked for, from columns in the channel's order: an axis a name, then the columns."""
        own = self.shape[: len(self.names)]
        return np.asarray(cells[self.order].reshape(*own, -1, cells.shape[1]).sum(axis=len(own)))

    def spread_out(self, functions: Array) -> Array:
        """Functions of the names' cells, a column each, as functions of the channel's truths."""
        behind = prod(self.shape[len(self.names) :])
        wide = np.empty((len(self.order), functions.shape[1]))
        wide[self.order] = np.repeat(functions, behind, axis=0)
        return wide


def pair_questions(plan: Plan, names: Sequence[str], target: str) -> list[Question]:
    """What naive Bayes asks: the class, then each attribute with the class."""
    reports = reports_of(plan, [*names, target])
    return [Question.of(plan, pair, reports) for pair in ([target], *([name, target] for name in names))]


def reports_of(plan: Plan, names: Sequence[str]) -> Schema:
    """Report columns that speak of some attributes, in their order; of no other has anything to be known.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("a"), boolean("b"), boolean("c")]), odds=9)
    >>> reports_of(plan, ["c", "a"]).names
    ('c', 'a')
    """
    found = [column for name in names for column in plan.report_names(needed_attributes(plan, [name]))]
    return plan.report_schema.project(list(dict.fromkeys(found)))


def columns_of(plan: Plan, names: Sequence[str], reports: Schema) -> tuple[int, ...]:
    """Where the reports of some attributes stand among coded columns, in the order of the plan's channel."""
    places = range(len(reports.sizes))
    return tuple(place for name in plan.report_names(names) for place in places[reports.columns_of(name)])


def count_all(questions: Sequence[Question], batches: Iterable[Columns]) -> list[NDArray[np.int64]]:
    """Counts for every question in one pass over the reports."""
    counts = [np.zeros(prod(question.sizes), np.int64) for question in questions]
    for columns in batches:
        for total, question in zip(counts, questions, strict=True):
            np.add(total, question.count(columns), out=total)
    return counts


def reconstructed(channel: Channel, seen: Array, respondents: int, repair: Repair) -> tuple[Array, Array]:
    """Law of the truths behind each column of frequencies, and how many clear records it is worth.

    N reports tell as much of a law p as `N_eff = sum p (1 - p) / sum V` records in clear would, V being the
    variances of the unbiased estimate; never more than N, and not less than one.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> law, worth = reconstructed(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.6], [0.4]]), 1000, "em")
    >>> law.ravel().round(6), worth.round(2)
    (array([0.7, 0.3]), array([218.75]))
    """
    raw = channel.solve(seen)
    law = raw if repair == "plain" else nearest_distribution(raw)
    outside = (raw < 0).any(axis=0) if channel.n_in == channel.n_out else np.ones(raw.shape[1], bool)
    if repair == "em" and outside.any():
        law[:, outside] = likeliest(channel, seen[:, outside], CLOSE_ENOUGH / respondents)
    scatter = np.maximum(channel.solve_squared(seen) - raw**2, 0).sum(axis=0) / respondents
    own = np.maximum((law * (1 - law)).sum(axis=0), 0)
    worth = np.divide(own, scatter, out=np.full(len(own), float(respondents)), where=scatter > 0)
    return law, np.clip(worth, 1, respondents)


def likeliest(channel: Channel, seen: Array, tolerance: float) -> Array:
    """Most likely law of each column, to within `tolerance` of mean log-likelihood: `estimates.likelihood` for columns.

    Pairs of EM steps are extrapolated (Varadhan & Roland 2008) where that does not lower the likelihood.
    """
    found = np.full((channel.n_in, seen.shape[1]), 1 / channel.n_in)
    left = np.arange(seen.shape[1])
    for _ in range(MOST_STEPS):
        by = factors(channel, seen[:, left], found[:, left])
        short = np.log(by.max(axis=0)) > tolerance
        if not short.any():
            break
        left = left[short]
        found[:, left] = _improved(channel, seen[:, left], found[:, left], by[:, short])
    return found


def _improved(channel: Channel, seen: Array, point: Array, by: Array) -> Array:
    """Two steps, or more by extrapolation where that is better."""
    first = point * by
    second = first * factors(channel, seen, first)
    bold = extrapolated(point, first, second)
    bold = bold * factors(channel, seen, bold)
    better = mean_log_likelihood(channel, seen, bold) >= mean_log_likelihood(channel, seen, second)
    return np.where(better, bold, second)


@singledispatch
def report_functions(channel: Channel, functions: Array) -> Array:
    """`h = B^T f`, B the channel's left inverse, column by column: `E[h(report) | truth x] = f(x)` for every x.

    The mean of h over reports estimates the mean of f over truths without bias, and how h scatters says how well.

    >>> from fractions import Fraction
    >>> report_functions(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.0], [1.0]])).ravel()
    array([-0.5,  1.5])
    """
    if channel.n_in * channel.n_out > MOST_ENTRIES:
        rule = f"must have at most {MOST_ENTRIES} entries for its inverse to be written out"
        raise SottovoceError("channel", rule, (channel.n_out, channel.n_in))
    return np.asarray(channel.solve(np.eye(channel.n_out)).T @ functions)


@report_functions.register
def _(channel: Mixture, functions: Array) -> Array:
    """`(f - (1 - keep) E_Y f) / keep`: the paper's equation 1, for a function."""
    keep = float(channel.keep)
    return np.asarray(((1 + keep) * functions - channel.rmatvec(functions)) / keep)


@report_functions.register(KeepOrUniform)
@report_functions.register(Complement)
def _(channel: KeepOrUniform | Complement, functions: Array) -> Array:
    """The inverse is symmetric."""
    return channel.solve(functions)


@report_functions.register
def _(channel: Kronecker, functions: Array) -> Array:
    """Along the axes of each factor."""
    table = functions.reshape(*(factor.n_in for factor in channel.factors), functions.shape[1])
    for axis, factor in enumerate(channel.factors):
        first = np.moveaxis(table, axis, 0)
        done = report_functions(factor, first.reshape(factor.n_in, -1))
        table = np.moveaxis(done.reshape(factor.n_out, *first.shape[1:]), 0, axis)
    return np.asarray(table.reshape(channel.n_out, -1))
