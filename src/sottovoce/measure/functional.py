"""What a functional of a distribution is: a number with a gradient; and the checks they share.

By the delta method a functional of an estimate with covariance C has variance `gradient^T C gradient` (Wang,
Wu & Hu 2016, eq. 24). Estimates sum to one, so C has no variance along the vector of ones: only directions
that sum to zero matter, and gradients that differ by a constant in all cells are as good as each other.
"""

from collections.abc import Iterable
from math import prod
from typing import Any, Protocol

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.reals import real_array

SUM_TOLERANCE = 1e-4
"""How far cells may be from summing to one: enough for the steps of a numerical gradient, not for counts."""


class Functional(Protocol):
    """A number that depends on a distribution, and how it changes with every cell.

    p has the cells of the table one after another, the last attribute varying fastest, or is the table
    itself; the gradient has one entry for each cell, in that order.
    """

    @property
    def name(self) -> str:
        """What the number is called where it is shown."""

    def value(self, p: Any) -> float:
        """Number at this distribution."""

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""


def cells(p: Any, shape: tuple[int, ...] | None = None) -> Array:
    """Cells of a distribution one after another: finite, as many as the shape has, with sum one."""
    array = real_array("p", p).ravel()
    if array.size == 0 or not np.isfinite(array).all() or abs(array.sum() - 1) > SUM_TOLERANCE:
        raise SottovoceError("p", "must be proportions that sum to 1", p)
    if shape is not None and array.size != prod(shape):
        raise SottovoceError("p", f"must have {prod(shape)} cells", array.size)
    return array


def not_negative(array: Array, what: str) -> Array:
    """Refuse negative cells, for a functional that is not defined there."""
    if (array < 0).any():
        rule = f"must have no negative cell, where {what} is not defined; estimate it within the simplex instead"
        raise SottovoceError("p", rule, float(array.min()))
    return array


def positive(array: Array, what: str) -> Array:
    """Refuse cells that are zero or negative, for a functional or gradient that is not defined there."""
    if (array <= 0).any():
        raise SottovoceError("p", f"must have positive cells, without which there is no {what}", float(array.min()))
    return array


def plogp(array: Array) -> Array:
    """`p log2 p`, and 0 for a cell that is 0."""
    return np.asarray(array * np.log2(np.where(array > 0, array, 1)))


def checked_scores(parameter: str, scores: Iterable[float]) -> tuple[float, ...]:
    """At least one finite number."""
    found = real_array(parameter, tuple(scores))
    if not found.size or not np.isfinite(found).all():
        raise SottovoceError(parameter, "must be at least one finite number", found)
    return tuple(found.tolist())
