"""Functionals of two-way tables: mutual information, chi-square, correlation, odds ratio.

p has the cells row by row, or is the table; r and c are its margins. Gradients are by every cell, with the
margins as sums of cells. At independence those of mutual information, G^2 and chi-square vanish along all directions
that sum to zero, and the delta method fails. A two-by-two table has the cells `(p00, p01, p10, p11)`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.measures.functionals import cells, checked_scores, not_negative, plogp, positive

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True)
class MutualInformation:
    """`I = sum_ij p_ij log2(p_ij / (r_i c_j))` bits, gradient `log2(p_ij / (r_i c_j)) - 1 / ln 2`.

    Not defined for an estimate with negative cells; no gradient at cells that are zero.

    >>> MutualInformation((2, 2)).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "mutual information"
    unit = "bits"

    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Check the shape."""
        check_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Return the bits; a cell that is zero contributes nothing."""
        return float(self.values(not_negative(cells(p, self.shape), "mutual information")[:, None])[0])

    def values(self, distributions: Array) -> Array:
        """Return the bits of each column of a matrix of distributions."""
        tables = distributions.reshape(*self.shape, -1)
        margins = (plogp(tables.sum(axis=axis)).sum(axis=0) for axis in (0, 1))
        return np.asarray(plogp(tables).sum(axis=(0, 1)) - sum(margins))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        table = positive(cells(p, self.shape), "gradient of mutual information").reshape(self.shape)
        ratio = table / np.outer(table.sum(axis=1), table.sum(axis=0))
        return np.asarray(np.log2(ratio) - 1 / log(2)).ravel()

    def hessian(self, p: Any) -> Array:
        """Return the second derivatives, `([same cell] / p_ij - [same row] / r_i - [same column] / c_j) / ln 2`."""
        table = positive(cells(p, self.shape), "gradient of mutual information").reshape(self.shape)
        by_row = np.kron(np.diag(1 / table.sum(axis=1)), np.ones((self.shape[1], self.shape[1])))
        by_column = np.kron(np.ones((self.shape[0], self.shape[0])), np.diag(1 / table.sum(axis=0)))
        return np.asarray((np.diag(1 / table.ravel()) - by_row - by_column) / log(2))


@dataclass(frozen=True)
class GSquared:
    """`G^2 / N = 2 sum_ij p_ij ln(p_ij / (r_i c_j))`: `2 ln 2` times the mutual information in bits.

    >>> round(GSquared((2, 2)).value([0.5, 0, 0, 0.5]), 6)
    1.386294
    """

    name = "G^2 / N"

    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Check the shape."""
        check_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Return the likelihood-ratio statistic per respondent."""
        return 2 * log(2) * MutualInformation(self.shape).value(p)

    def values(self, distributions: Array) -> Array:
        """Return the statistic of each column of a matrix of distributions."""
        return 2 * log(2) * MutualInformation(self.shape).values(distributions)

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        return 2 * log(2) * MutualInformation(self.shape).gradient(p)

    def hessian(self, p: Any) -> Array:
        """Return the second derivatives."""
        return 2 * log(2) * MutualInformation(self.shape).hessian(p)


@dataclass(frozen=True)
class ChiSquared:
    """`chi^2 / N = sum_ij (p_ij - r_i c_j)^2 / (r_i c_j) = sum_ij p_ij^2 / (r_i c_j) - 1` (Wang, Wu & Hu 2016, eq. 26).

    Its gradient is `2 p_ij / (r_i c_j) - sum_l p_il^2 / c_l / r_i^2 - sum_k p_kj^2 / r_k / c_j^2`. Negative
    cells are allowed as long as the margins are positive.

    >>> ChiSquared((2, 2)).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "chi^2 / N"

    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Check the shape."""
        check_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Return Pearson's statistic per respondent, phi squared."""
        return float(self.values(cells(p, self.shape)[:, None])[0])

    def values(self, distributions: Array) -> Array:
        """Return the statistic of each column of a matrix of distributions."""
        tables, rows, columns = with_positive_margins(distributions.reshape(*self.shape, -1))
        return np.asarray((tables**2 / (rows * columns)).sum(axis=(0, 1)) - 1)

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        table, rows, columns = with_positive_margins(cells(p, self.shape).reshape(self.shape))
        by_row = (table**2 / columns).sum(axis=1, keepdims=True) / rows**2
        by_column = (table**2 / rows).sum(axis=0, keepdims=True) / columns**2
        return np.asarray(2 * table / (rows * columns) - by_row - by_column).ravel()


def check_table_shape(shape: Any) -> None:
    """Raise for anything but a number of rows and a number of columns."""
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise SottovoceError("shape", "must be a number of rows and a number of columns", shape)
    for size in shape:
        whole_number("shape", size)


def with_positive_margins(table: Array) -> tuple[Array, Array, Array]:
    """Return table, row sums and column sums; raise unless all sums are positive."""
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    smallest = min(rows.min(), columns.min())
    if smallest <= 0:
        raise SottovoceError("p", "must have positive row and column sums", float(smallest))
    return table, rows, columns


@dataclass(frozen=True)
class PearsonCorrelation:
    """`C / sqrt(V W)` of two attributes with a score for each category: covariance C, variances V and W.

    With means m and w of the scores s and t, C has gradient `s_i t_j - w s_i - m t_j` and V has
    `s_i^2 - 2 m s_i`; the correlation follows by the quotient rule. Negative cells are allowed as long as
    both variances are positive.

    >>> PearsonCorrelation([0, 1], [0, 1]).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "correlation"

    rows: tuple[float, ...]
    columns: tuple[float, ...]

    def __init__(self, rows: Iterable[float], columns: Iterable[float]) -> None:
        """Read finite scores."""
        object.__setattr__(self, "rows", checked_scores("rows", rows))
        object.__setattr__(self, "columns", checked_scores("columns", columns))

    def value(self, p: Any) -> float:
        """Return the correlation of the scores."""
        (covariance, first, second), _ = self._moments(p)
        return float(covariance / np.sqrt(first * second))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        moments, means = self._moments(p)
        by_covariance, by_first, by_second = self._derivatives(means)
        covariance, first, second = moments
        scale = np.sqrt(first * second)
        return np.asarray(by_covariance / scale - covariance / (2 * scale) * (by_first / first + by_second / second))

    def hessian(self, p: Any) -> Array:
        """Return the second derivatives by every pair of cells.

        `C'' / S - (c e^T + e c^T) / 2S + r e e^T / 4 - r (V'' / V - v v^T / V^2 + W'' / W - w w^T / W^2) / 2` with the
        gradients c, v and w of C, V and W, `S = sqrt(V W)`, `r = C / S` and `e = v / V + w / W`.
        """
        (covariance, first, second), means = self._moments(p)
        by_covariance, by_first, by_second = self._derivatives(means)
        s, t = self._products[:2]
        scale, by_first, by_second = np.sqrt(first * second), by_first / first, by_second / second
        together, crossed = by_first + by_second, np.outer(s, t)
        mixed = np.outer(by_covariance, together)
        bends = -2 * np.outer(s, s) / first - 2 * np.outer(t, t) / second
        bends -= np.outer(by_first, by_first) + np.outer(by_second, by_second) + np.outer(together, together) / 2
        return np.asarray(-(crossed + crossed.T + (mixed + mixed.T) / 2 + covariance / 2 * bends) / scale)

    def _derivatives(self, means: tuple[float, float]) -> tuple[Array, Array, Array]:
        """Return the gradients of the covariance and of both variances."""
        s, t, rows, columns, both = self._products
        m, w = means
        return both - w * s - m * t, rows - 2 * m * s, columns - 2 * w * t

    @cached_property
    def _products(self) -> Array:
        """Scores of the rows and of the columns, their squares, and their products, by cell."""
        s, t = (scores.ravel() for scores in np.meshgrid(_centred(self.rows), _centred(self.columns), indexing="ij"))
        return np.array([s, t, s**2, t**2, s * t])

    def _moments(self, p: Any) -> tuple[tuple[float, float, float], tuple[float, float]]:
        """Return covariance and both variances, and both means."""
        products = self._products
        m, w, rows, columns, both = (products @ cells(p, (len(self.rows), len(self.columns)))).tolist()
        first, second = rows - m**2, columns - w**2
        for parameter, variance, squares in (("rows", first, products[2]), ("columns", second, products[3])):
            # The variance of a constant is zero up to rounding, which would pass for a correlation.
            if variance <= 1e-12 * float(squares.max()):
                raise SottovoceError("p", f"must give the scores of the {parameter} a positive variance", variance)
        return (both - m * w, first, second), (m, w)


def _centred(scores: tuple[float, ...]) -> Array:
    """Return centred scores: the correlation is the same, and large scores such as years lose no digits."""
    array = np.array(scores)
    return np.asarray(array - array.mean())


@dataclass(frozen=True)
class LogOddsRatio:
    """`ln(p00 p11 / (p01 p10))`, gradient `1 / p00, -1 / p01, -1 / p10, 1 / p11`.

    Not defined for an estimate with a cell that is zero or negative.

    >>> round(LogOddsRatio().value([0.4, 0.1, 0.1, 0.4]), 6)
    2.772589
    """

    name = "log odds ratio"

    def value(self, p: Any) -> float:
        """Return the natural logarithm of the odds ratio."""
        return float(_SIGNS @ np.log(positive(cells(p, (2, 2)), "odds ratio")))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        return _SIGNS / positive(cells(p, (2, 2)), "odds ratio")


@dataclass(frozen=True)
class OddsRatio:
    """`p00 p11 / (p01 p10)`, gradient the ratio times that of its logarithm.

    Its distribution is skewed: compute intervals of `LogOddsRatio`, and exponentiate them.

    >>> round(OddsRatio().value([0.4, 0.1, 0.1, 0.4]), 6)
    16.0
    """

    name = "odds ratio"

    def value(self, p: Any) -> float:
        """Return the odds of the outcome in the second group divided by those in the first."""
        return exp(LogOddsRatio().value(p))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        return self.value(p) * LogOddsRatio().gradient(p)


@dataclass(frozen=True)
class RiskDifference:
    """`p11 / (p10 + p11) - p01 / (p00 + p01)`: the share of the outcome in the second group minus that in the first.

    With the sums g of a group, a cell with the outcome has the derivative `p_i0 / g_i^2` and one
    without it `-p_i1 / g_i^2`, with the sign of the group. Negative cells are allowed as long as both
    groups have a positive sum.

    >>> round(RiskDifference().value([0.4, 0.1, 0.1, 0.4]), 6)
    0.6
    """

    name = "risk difference"

    def value(self, p: Any) -> float:
        """Return the difference of the two shares."""
        table, groups = _groups(p)
        first, second = table[:, 1] / groups
        return float(second - first)

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        table, groups = _groups(p)
        derivative = np.stack([-table[:, 1], table[:, 0]], axis=1) / groups[:, None] ** 2
        return (derivative * [[-1.0], [1.0]]).ravel()


def _groups(p: Any) -> tuple[Array, Array]:
    table = cells(p, (2, 2)).reshape(2, 2)
    groups = table.sum(axis=1)
    if groups.min() <= 0:
        raise SottovoceError("p", "must have a positive sum in both rows", float(groups.min()))
    return table, groups
