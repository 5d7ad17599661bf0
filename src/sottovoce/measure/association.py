"""Functionals of a two-way table that say how far its attributes are from independent.

p has the cells row by row, or is the table; r and c are its margins. All gradients are by every cell, with the
margins as sums of cells. At independence they vanish along all directions that sum to zero, and the delta method
fails with them. Correlations of scored categories are in `correlation`.
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.functional import cells, not_negative, plogp, positive


@dataclass(frozen=True)
class MutualInformation:
    """`I = sum_ij p_ij log2(p_ij / (r_i c_j))` bits, gradient `log2(p_ij / (r_i c_j)) - 1 / ln 2`.

    Not defined for an estimate with negative cells; no gradient at cells that are zero.

    >>> MutualInformation((2, 2)).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "mutual information"

    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Check the shape."""
        checked_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Bits; a cell that is zero adds nothing."""
        return float(self.values(not_negative(cells(p, self.shape), "mutual information")[:, None])[0])

    def values(self, laws: Array) -> Array:
        """Bits of each column of a matrix of distributions."""
        tables = laws.reshape(*self.shape, -1)
        margins = (plogp(tables.sum(axis=axis)).sum(axis=0) for axis in (0, 1))
        return np.asarray(plogp(tables).sum(axis=(0, 1)) - sum(margins))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        table = positive(cells(p, self.shape), "gradient of mutual information").reshape(self.shape)
        ratio = table / np.outer(table.sum(axis=1), table.sum(axis=0))
        return np.asarray(np.log2(ratio) - 1 / log(2)).ravel()


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
        checked_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Likelihood-ratio statistic of one respondent."""
        return 2 * log(2) * MutualInformation(self.shape).value(p)

    def values(self, laws: Array) -> Array:
        """Statistic of each column of a matrix of distributions."""
        return 2 * log(2) * MutualInformation(self.shape).values(laws)

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return 2 * log(2) * MutualInformation(self.shape).gradient(p)


@dataclass(frozen=True)
class ChiSquared:
    """`chi^2 / N = sum_ij (p_ij - r_i c_j)^2 / (r_i c_j) = sum_ij p_ij^2 / (r_i c_j) - 1` (Wang, Wu & Hu 2016, eq. 26).

    Its gradient is `2 p_ij / (r_i c_j) - sum_l p_il^2 / c_l / r_i^2 - sum_k p_kj^2 / r_k / c_j^2`. Negative
    cells are welcome as long as the margins are positive.

    >>> ChiSquared((2, 2)).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "chi^2 / N"

    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Check the shape."""
        checked_table_shape(self.shape)

    def value(self, p: Any) -> float:
        """Pearson's statistic of one respondent, phi squared."""
        return float(self.values(cells(p, self.shape)[:, None])[0])

    def values(self, laws: Array) -> Array:
        """Statistic of each column of a matrix of distributions."""
        tables, rows, columns = with_positive_margins(laws.reshape(*self.shape, -1))
        return np.asarray((tables**2 / (rows * columns)).sum(axis=(0, 1)) - 1)

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        table, rows, columns = with_positive_margins(cells(p, self.shape).reshape(self.shape))
        by_row = (table**2 / columns).sum(axis=1, keepdims=True) / rows**2
        by_column = (table**2 / rows).sum(axis=0, keepdims=True) / columns**2
        return np.asarray(2 * table / (rows * columns) - by_row - by_column).ravel()


def checked_table_shape(shape: Any) -> None:
    """Refuse what is not a number of rows and one of columns."""
    pair = isinstance(shape, tuple) and len(shape) == 2
    if not pair or any(isinstance(k, bool) or not isinstance(k, int) or k < 1 for k in shape):
        raise SottovoceError("shape", "must be a number of rows and a number of columns", shape)


def with_positive_margins(table: Array) -> tuple[Array, Array, Array]:
    """Table, row sums and column sums; refused unless the sums are positive."""
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    smallest = min(rows.min(), columns.min())
    if smallest <= 0:
        raise SottovoceError("p", "must have positive row and column sums", float(smallest))
    return table, rows, columns
