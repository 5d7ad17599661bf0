"""What reports say of some attributes: which of their columns, through which channel, in which order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array, Channel
from sottovoce.count.contingency import count_cells
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.estimate.singular import named_singular
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Codes, Columns, ravel
from sottovoce.schema.schema import Schema

MOST_REPORTS = 2**20
"""Joint reports of one question that are counted one by one."""


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

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
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
