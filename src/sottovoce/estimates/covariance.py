"""Covariances of estimates: variances for any number of cells, full matrices for as many as fit in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel, kron
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError

Target = Literal["population", "table"]
"""What is estimated: the proportions of this table, or of the population it is a sample of."""

MOST_CELLS = 4096
"""Cells whose covariance matrix is written out."""


class Spread(Protocol):
    """Covariance of an estimate, asked for in parts."""

    @property
    def variances(self) -> Array:
        """Variance of every cell."""

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Covariance matrix of some cells."""


@dataclass(frozen=True)
class InversionSpread:
    """Covariance of `B lam`, B the channel's left inverse, from N reports with frequencies lam.

    For the population, sampling and coins are random: `(B diag(lam) B^T - p p^T) / N` (Wang et al. 2016,
    eq. 18). For the table, only the coins are: `(B diag(lam) B^T - diag(p)) / N` (Agrawal 2004, 4.10).
    """

    channel: Channel
    seen: Array
    value: Array
    respondents: float
    order: NDArray[np.intp]
    target: Target

    @cached_property
    def variances(self) -> Array:
        """By the squares of the inverse's entries, never by the matrix."""
        own = self.value**2 if self.target == "population" else self.value
        second = self.channel.solve_squared(self.seen)[self.order]
        return np.asarray(np.maximum(second - own, 0) / self.respondents)

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """From the rows of the inverse that belong to these cells."""
        wanted = np.asarray(cells)
        rows = inverse_rows(self.channel, self.order[wanted])
        p = self.value[wanted]
        own = np.outer(p, p) if self.target == "population" else np.diag(p)
        return np.asarray(((rows * self.seen) @ rows.T - own) / self.respondents)


@dataclass(frozen=True)
class MatrixSpread:
    """A covariance matrix that was computed as a whole."""

    matrix: Array

    @property
    def variances(self) -> Array:
        """Diagonal."""
        return np.diag(self.matrix)

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Block of the matrix."""
        wanted = np.asarray(cells)
        return np.asarray(self.matrix[np.ix_(wanted, wanted)])


def inverse_rows(channel: Channel, cells: NDArray[np.intp]) -> Array:
    """Rows of a channel's left inverse; those of a product are products of rows.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> inverse_rows(Kronecker([coin, coin]), np.array([0]))
    array([[ 2.25, -0.75, -0.75,  0.25]])
    """
    factors = channel.factors if isinstance(channel, Kronecker) else (channel,)
    if max(factor.n_out for factor in factors) > MOST_CELLS:
        raise SottovoceError("cells", f"must be fewer than {MOST_CELLS} in one group for covariances", len(cells))
    parts = []
    for factor in reversed(factors):
        cells, own = np.divmod(cells, factor.n_in)
        parts.append(factor.solve(np.eye(factor.n_out))[own])
    return np.stack([kron(rows) for rows in zip(*reversed(parts), strict=True)])
