"""What reports say of a node of a decision tree: the table of an attribute and the class among its records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.estimate.chi_square import chi_square_tail
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.measure.association import MutualInformation
from sottovoce.measure.functionals import Entropy
from sottovoce.mine.classify.question import Question
from sottovoce.mine.classify.unbiased import report_functions
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Codes, Columns, ravel, unravel
from sottovoce.schema.schema import Schema

MOST_CELLS = 2**62
"""Joint reports that can be numbered."""

Path = Mapping[str, int]
"""Values on the way from the root to a node."""


@dataclass(frozen=True)
class Reports:
    """Different reports, and how many of each there are."""

    plan: Plan
    schema: Schema
    columns: Columns
    weights: Array

    @classmethod
    def of(cls, plan: Plan, schema: Schema, columns: Sequence[Codes]) -> "Reports":
        """Put equal reports together where their joint cells can be numbered; leave them as they are otherwise."""
        sizes = schema.sizes
        if prod(sizes) > MOST_CELLS:
            return cls(plan, schema, tuple(columns), np.ones(len(columns[0])))
        joint, counts = np.unique(ravel(columns, sizes), return_counts=True)
        return cls(plan, schema, unravel(joint, sizes), counts.astype(float))

    @property
    def respondents(self) -> float:
        """Number of reports."""
        return float(self.weights.sum())

    def table(self, path: Path, names: Sequence[str]) -> tuple[Array, Array]:
        """Unbiased shares of the cells of `names` among ALL records, within the path, and their covariance."""
        question = Question.of(self.plan, [*path, *names], self.schema)
        seen = question.weigh(self.columns, self.weights) / self.respondents
        own = question.shape[: len(question.names)]
        inside = np.arange(prod(own)).reshape(own)[tuple(path.values())].ravel()
        functions = np.zeros((prod(own), len(inside)))
        functions[inside, np.arange(len(inside))] = 1
        meaning = report_functions(question.channel, question.spread_out(functions))
        value = seen @ meaning
        second = meaning.T @ (seen[:, None] * meaning)
        return value, (second - np.outer(value, value)) / self.respondents


@dataclass(frozen=True)
class Split:
    """How much an attribute says of the class within a node, in bits, and whether that could be noise."""

    attribute: str
    gain: float
    gain_ratio: float
    p_value: float
    table: Array


def split_of(reports: Reports, path: Path, attribute: str, target: str) -> Split | None:
    """Gain of a split (Quinlan 1986; Du & Zhan 2003), and a test of independence; None where nobody seems to be.

    `W = d^T V^-1 d` with `d = p(a, c) - p(a) p(c) / p(node)` for all values but the last, and V its covariance through
    that of the estimates: coins and sampling. Without dependence W is chi-square with (k - 1)(m - 1) degrees.
    """
    value, covariance = reports.table(path, [attribute, target])
    shape = tuple(reports.plan.schema.project([name]).cells for name in (attribute, target))
    share = float(value.sum())
    if share <= 0:
        return None
    law = nearest_distribution(value / share)
    gain = float(MutualInformation((shape[0], shape[1])).values(law[:, None])[0])
    within = Entropy().value(law.reshape(shape).sum(axis=1))
    ratio = gain / within if within > 0 else 0.0
    return Split(attribute, gain, ratio, _p_value(value.reshape(shape), covariance), law.reshape(shape) * share)


def _p_value(table: Array, covariance: Array) -> float:
    share, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / share
    ones_r, ones_c = np.eye(len(rows)), np.eye(len(columns))
    gradient = np.einsum("ia,jb->ijab", ones_r, ones_c)
    gradient -= np.einsum("ia,j->ija", ones_r, columns / share)[..., None]
    gradient -= np.einsum("jb,i->ijb", ones_c, rows / share)[:, :, None, :]
    gradient += (expected / share)[..., None, None]
    free: tuple[NDArray[np.intp], ...] = np.ix_(np.arange(len(rows) - 1), np.arange(len(columns) - 1))
    slopes = gradient[free].reshape(-1, table.size)
    residual = (table - expected)[free].ravel()
    inner = slopes @ covariance @ slopes.T
    statistic = float(residual @ np.linalg.pinv(inner, hermitian=True) @ residual)
    return chi_square_tail(statistic, len(residual))
