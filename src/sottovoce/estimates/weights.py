"""Survey weights: reports that stand for unequal numbers of people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.counts.frequencies import as_numbers, check_rows, plain_list
from sottovoce.counts.protocol import Counts
from sottovoce.estimates.covariance import Cells, InversionCovariance
from sottovoce.schemas.attribute import Codes, ravel


@dataclass(frozen=True)
class Weighted:
    """Sums of the weights and of their squares, by report cell: all that a weighted estimate needs."""

    sums: Array
    squares: Array

    def __add__(self, other: "Weighted") -> "Weighted":
        """Sums of both groups of reports."""
        return Weighted(self.sums + other.sums, self.squares + other.squares)

    @property
    def reported(self) -> Array:
        """Weighted frequencies of the reports."""
        return np.asarray(self.sums / self.sums.sum())

    @property
    def reported_squared(self) -> Array:
        """Frequencies of the reports by the squares of their weights, as variances need them."""
        return np.asarray(self.squares / self.squares.sum())

    @property
    def effective(self) -> float:
        """Effective sample size, `(sum w)^2 / sum w^2` (Kish 1965, 11.7)."""
        return float(self.sums.sum() ** 2 / self.squares.sum())


@dataclass(frozen=True)
class WeightedCovariance:
    """Covariance of `p = B sum w_i e(y_i) / sum w_i`, B the left inverse, linearised as a ratio.

    `sum w_i^2 (B e(y_i) - p)(B e(y_i) - p)^T / (sum w_i)^2` for the population. With q the estimate from
    the squared weights, and n the effective sample size, this is the covariance from n reports with q's
    frequencies, plus `(q - p)(q - p)^T / n`. For the table only the coins are random, and q
    takes the place of p altogether: there is no shift.
    """

    squared: InversionCovariance
    shift: Array

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        return np.asarray(self.squared.variances + self.shift**2)

    def block(self, cells: Cells) -> Array:
        """Covariance matrix of some cells."""
        shift = self.shift[np.asarray(cells)]
        return np.asarray(self.squared.block(cells) + np.outer(shift, shift))


def shift_by_squares(squared: InversionCovariance, value: Array) -> Array:
    """Return `(q - p) / sqrt(n)`, q the estimate from squared weights; zero for the table."""
    if squared.target == "table":
        return np.zeros_like(value)
    return np.asarray((squared.value - value) / np.sqrt(squared.respondents))


def sum_weights(
    columns: Sequence[Codes], sizes: Sequence[int], weights: Array, frequencies: Counts | None = None
) -> Weighted:
    """Sum weights and their squares by joint cell of coded columns; a row counts as often as its frequency says.

    >>> sum_weights([np.array([0, 1, 1])], (2,), np.array([1.0, 2.0, 3.0])).squares
    array([ 1., 13.])
    """
    joint, cells = ravel(columns, sizes), int(np.prod(sizes))
    times: Any = 1 if frequencies is None else frequencies
    summed = (np.bincount(joint, w * times, minlength=cells).astype(np.float64) for w in (weights, weights**2))
    return Weighted(*summed)


def checked_weights(values: Any, rows: slice) -> Array:
    """Return the weights of a batch of rows; raise and name the first that is missing, infinite or negative.

    >>> checked_weights(["1", "2.5"], slice(0, 2))
    array([1. , 2.5])
    """
    listed = plain_list(values)
    numbers = as_numbers(listed)
    right = np.isfinite(numbers) & (numbers >= 0)
    check_rows("weights", "must be finite numbers that are not negative", listed, right, rows)
    return numbers
