"""Survey weights: reports that stand for unequal numbers of people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.covariance import InversionSpread
from sottovoce.schemas.attribute import Codes, is_missing, ravel


@dataclass(frozen=True)
class Weighted:
    """Sums of the weights, and of their squares, by report cell: all that a weighted estimate needs."""

    sums: Array
    squares: Array

    def __add__(self, other: "Weighted") -> "Weighted":
        """Weights of more reports."""
        return Weighted(self.sums + other.sums, self.squares + other.squares)

    @property
    def seen(self) -> Array:
        """Frequencies of the reports by weight."""
        return np.asarray(self.sums / self.sums.sum())

    @property
    def seen_squared(self) -> Array:
        """Frequencies of the reports by the squares of their weights, which scatter is made of."""
        return np.asarray(self.squares / self.squares.sum())

    @property
    def effective(self) -> float:
        """Reports of equal weight that would tell as much: `(sum w)^2 / sum w^2` (Kish 1965, 11.7)."""
        return float(self.sums.sum() ** 2 / self.squares.sum())


@dataclass(frozen=True)
class WeightedSpread:
    """Covariance of `p = B sum w_i e(y_i) / sum w_i`, B the left inverse, linearised as a ratio.

    `sum w_i^2 (B e(y_i) - p)(B e(y_i) - p)^T / (sum w_i)^2` for the population. With q the estimate from
    the squared weights, and n the effective number of reports, this is what n reports with q's
    frequencies would have, plus `(q - p)(q - p)^T / n`. For the table only the coins are random, and q
    takes the place of p altogether: there is no shift.
    """

    squared: InversionSpread
    shift: Array

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        return np.asarray(self.squared.variances + self.shift**2)

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Covariance matrix of some cells."""
        own = self.shift[np.asarray(cells)]
        return np.asarray(self.squared.covariance(cells) + np.outer(own, own))


def shift_of(squared: InversionSpread, value: Array) -> Array:
    """How far squared weights carry the estimate from `value`, in standard errors of one report."""
    if squared.target == "table":
        return np.zeros_like(value)
    return np.asarray((squared.value - value) / np.sqrt(squared.respondents))


def weigh(columns: Sequence[Codes], sizes: Sequence[int], weights: Array) -> Weighted:
    """Sums by joint cell of coded columns.

    >>> weigh([np.array([0, 1, 1])], (2,), np.array([1.0, 2.0, 3.0])).squares
    array([ 1., 13.])
    """
    joint, cells = ravel(columns, sizes), int(np.prod(sizes))
    sums, squares = (np.bincount(joint, w, minlength=cells).astype(np.float64) for w in (weights, weights**2))
    return Weighted(sums, squares)


def checked_weights(values: Any, rows: slice) -> Array:
    """Weights of the rows of a batch: numbers, there, finite and not negative; the first that is not is named.

    >>> checked_weights(["1", "2.5"], slice(0, 2))
    array([1. , 2.5])
    """
    listed = plain_list(values)
    found = np.array([_number(value) for value in listed], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        value = listed[wrong[0]]
        rule = f"must be finite numbers that are not negative; row {rows.start + wrong[0] + 1}"
        raise SottovoceError("weights", rule, Words("a missing one") if is_missing(value) or value == "" else value)
    return found


def plain_list(values: Any) -> list[Any]:
    """Python's own values of a column, whatever holds them.

    >>> plain_list(np.array([1, 2])), plain_list(("a", "b"))
    ([1, 2], ['a', 'b'])
    """
    way = next((name for name in ("to_list", "tolist") if hasattr(values, name)), None)
    return list(values) if way is None else list(getattr(values, way)())


def _number(value: Any) -> float:
    """Number that a value is or spells; what is neither becomes one that is refused."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
