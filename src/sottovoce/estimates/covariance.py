"""Covariances of estimates: variances for any number of cells, full matrices for as many as fit in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel, kron
from sottovoce.checks import Array, Target
from sottovoce.errors import SottovoceError

MOST_CELLS = 4096
"""Most cells whose covariance matrix is computed as a whole."""

Cells = Sequence[int] | NDArray[np.intp]
"""Indices of cells."""


class Covariance(Protocol):
    """Covariance of an estimate, computed in the parts that are asked for."""

    @property
    def variances(self) -> Array:
        """Variance of every cell."""

    def block(self, cells: Cells) -> Array:
        """Covariance matrix of some cells."""


@dataclass(frozen=True)
class InversionCovariance:
    """Covariance of `B lam`, B the channel's left inverse, from N reports with frequencies lam.

    For the population, sampling and coins are random: `(B diag(lam) B^T - p p^T) / N` (Wang et al. 2016,
    eq. 18). For the table, only the coins are: `(B diag(lam) B^T - diag(p)) / N` (Agrawal 2004, 4.10).
    """

    channel: Channel
    reported: Array
    value: Array
    respondents: float
    order: NDArray[np.intp]
    target: Target

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell, from the squared entries of the inverse, without the matrix."""
        square_of_mean = self.value**2 if self.target == "population" else self.value
        second_moments = self.channel.solve_squared(self.reported)[self.order]
        return np.asarray(np.maximum(second_moments - square_of_mean, 0) / self.respondents)

    def block(self, cells: Cells) -> Array:
        """Covariance matrix of some cells, from their rows of the inverse."""
        wanted = np.asarray(cells)
        rows = inverse_rows(self.channel, self.order[wanted])
        p = self.value[wanted]
        product_of_means = np.outer(p, p) if self.target == "population" else np.diag(p)
        return np.asarray(((rows * self.reported) @ rows.T - product_of_means) / self.respondents)


@dataclass(frozen=True)
class MatrixCovariance:
    """A covariance matrix that was computed as a whole; `source` has the reports and their channel, where known."""

    matrix: Array
    source: InversionCovariance | None = None

    @property
    def variances(self) -> Array:
        """Diagonal of the matrix."""
        return np.diag(self.matrix)

    def block(self, cells: Cells) -> Array:
        """Rows and columns of some cells."""
        wanted = np.asarray(cells)
        return np.asarray(self.matrix[np.ix_(wanted, wanted)])


@dataclass(frozen=True, eq=False)
class FactorCovariance:
    """Covariance `F F^T`, given by a factor F with a row for each cell: for a sum of cells, rows are summed."""

    factor: Array

    @cached_property
    def variances(self) -> Array:
        """Sums of the squares of each row."""
        return np.asarray((self.factor**2).sum(axis=1))

    def block(self, cells: Cells) -> Array:
        """Products of the rows of some cells."""
        rows = self.factor[np.asarray(cells)]
        return np.asarray(rows @ rows.T)


def inverse_rows(channel: Channel, cells: NDArray[np.intp]) -> Array:
    """Return rows of a channel's left inverse; those of a Kronecker product are products of its factors' rows.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.channels.kronecker import Kronecker
    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> inverse_rows(Kronecker([coin, coin]), np.array([0]))
    array([[ 2.25, -0.75, -0.75,  0.25]])
    """
    if max(factor.n_out for factor in channel.factors) > MOST_CELLS:
        raise SottovoceError("cells", f"must be fewer than {MOST_CELLS} in one group for covariances", len(cells))
    parts = []
    for factor in reversed(channel.factors):
        cells, index = np.divmod(cells, factor.n_in)
        parts.append(factor.solve(np.eye(factor.n_out))[index])
    return np.stack([kron(rows) for rows in zip(*reversed(parts), strict=True)])
