"""Functionals of distributions: a number with its gradient, analytic or numerical.

By the delta method a functional of an estimate with covariance C has variance `gradient^T C gradient` (Wang,
Wu & Hu 2016, eq. 24). Estimates sum to one, so C has no variance along the vector of ones: only directions
that sum to zero matter, and gradients that differ by a constant in all cells are as good as each other.

Those of two-way tables are in `association`, `correlation` and `two_by_two`, users' own in `gradients`.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log, prod
from typing import Any, Protocol

import numpy as np
from numpy.exceptions import ComplexWarning

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array

SUM_TOLERANCE = 1e-4
"""How far cells may be from summing to one: enough for the steps of a numerical gradient, not for counts."""
COMPLEX_STEP = 1e-30
"""Nothing is subtracted, so nothing is lost, however small the step."""

CENTRAL_STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Balances the error of cutting Taylor's series, step^2, with that of rounding, epsilon / step."""

AGREEMENT = 1e-4
"""How far both ways may differ, relative to the largest entry, for the complex step to be believed."""


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


@dataclass(frozen=True)
class Entropy:
    """`H = -sum_i p_i log2 p_i` bits, gradient `-(log2 p_i + 1 / ln 2)` (Wang, Wu & Hu 2016, eq. 25).

    Not defined for an estimate with negative cells; steep near zero cells, where it has no gradient.

    >>> Entropy().value([0.5, 0.25, 0.25])
    1.5
    """

    name = "entropy"

    def value(self, p: Any) -> float:
        """Bits; a cell that is zero adds nothing."""
        return float(self.values(not_negative(cells(p), "entropy")[:, None])[0])

    def values(self, laws: Array) -> Array:
        """Bits of each column of a matrix of distributions."""
        return np.asarray(-plogp(laws).sum(axis=0))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return -(np.log2(positive(cells(p), "gradient of the entropy")) + 1 / log(2))


@dataclass(frozen=True)
class Mean:
    """`sum_i s_i p_i` for a score s of every category; linear, so negative cells are welcome.

    >>> Mean([0, 1, 2]).value([0.5, 0.25, 0.25])
    0.75
    """

    name = "mean"

    scores: tuple[float, ...]

    def __init__(self, scores: Iterable[float]) -> None:
        """Read finite scores."""
        object.__setattr__(self, "scores", checked_scores("scores", scores))

    def value(self, p: Any) -> float:
        """Mean score."""
        return float(cells(p, (len(self.scores),)) @ np.array(self.scores))

    def gradient(self, p: Any) -> Array:
        """Scores themselves."""
        cells(p, (len(self.scores),))
        return np.array(self.scores)


@dataclass(frozen=True)
class ConditionalProbability:
    """`P(event | given) = sum of p over both / sum of p over given`, for cells by their numbers.

    Its gradient is `(1[event] - P(event | given)) / P(given)` in the given cells and 0 elsewhere. Negative
    cells are welcome as long as the given ones have a positive sum.

    >>> ConditionalProbability(event=[1, 3], given=[2, 3]).value([0.4, 0.1, 0.2, 0.3])
    0.6
    """

    name = "conditional probability"

    event: frozenset[int]
    given: frozenset[int]

    def __init__(self, event: Iterable[int], given: Iterable[int]) -> None:
        """Read numbers of cells."""
        object.__setattr__(self, "event", _cell_numbers("event", event))
        object.__setattr__(self, "given", _cell_numbers("given", given))

    def value(self, p: Any) -> float:
        """Share of the event among the given cells."""
        both, given, _ = self._parts(p)
        return both / given

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        both, given, gradient = self._parts(p)
        gradient[list(self.given)] = -both / given**2
        gradient[list(self.event & self.given)] += 1 / given
        return gradient

    def _parts(self, p: Any) -> tuple[float, float, Array]:
        array = cells(p)
        for parameter, numbers in (("event", self.event), ("given", self.given)):
            if max(numbers) >= array.size:
                raise SottovoceError(parameter, f"must be numbers of the {array.size} cells", sorted(numbers))
        given = float(array[list(self.given)].sum())
        if given <= 0:
            raise SottovoceError("p", "must have a positive sum over the given cells", given)
        return float(array[list(self.event & self.given)].sum()), given, np.zeros(array.size)


def _cell_numbers(parameter: str, numbers: Iterable[int]) -> frozenset[int]:
    found = frozenset(int(number) for number in numbers)
    if not found or min(found) < 0:
        raise SottovoceError(parameter, "must be at least one number of a cell, from 0 on", sorted(found))
    return found


def numerical_gradient(function: Callable[[Any], Any], point: Any) -> Array:
    """Gradient by complex step, `Im f(x + i h e_k) / h` exact to rounding; else by central differences.

    The complex step (Squire & Trapp 1998, SIAM Review 40, 110-112) needs a function that accepts complex
    numbers and is analytic in them. Some that accept them are not (`abs`, comparisons, real parts), so it is
    used only where central differences agree with it.

    >>> numerical_gradient(lambda p: p[0] / (p[0] + p[1]), [0.2, 0.3, 0.5]).round(12)
    array([ 1.2, -0.8,  0. ])
    """
    x = real_array("point", point)
    flat = x.ravel()
    rough = np.array([_central(function, x, k) for k in range(flat.size)])
    if not np.isfinite(rough).all():
        raise SottovoceError("function", "must be finite at the point and close to it on all sides", point)
    fine = _by_complex_step(function, x)
    scale = np.abs(rough).max(initial=0)
    believed = fine is not None and bool((np.abs(fine - rough) <= AGREEMENT * scale).all())
    return rough if fine is None or not believed else fine


@dataclass(frozen=True)
class UserFunction:
    """Any function of the cells of a distribution as a functional; its gradient is found numerically.

    >>> ratio = UserFunction("first over second", lambda p: p[0] / p[1])
    >>> ratio.value([0.2, 0.4, 0.4]), ratio.gradient([0.2, 0.4, 0.4]).round(9)
    (0.5, array([ 2.5 , -1.25,  0.  ]))
    """

    name: str
    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        if not callable(self.function):
            raise SottovoceError("function", "must be a function of the cells", self.function)

    def value(self, p: Any) -> float:
        """Whatever real number the function gives."""
        return _real(self.function(cells(p)))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return numerical_gradient(self.function, cells(p))


def _real(value: Any) -> float:
    number = real_array("function", value)
    if number.size != 1:
        raise SottovoceError("function", "must give one number", value)
    return float(number.ravel()[0])


def _central(function: Callable[[Any], Any], x: Array, k: int) -> float:
    """One central difference; the step is small against the coordinate, which may be a small probability."""
    step = CENTRAL_STEP * max(abs(float(x.flat[k])), 1e-3)
    high, low = x.copy(), x.copy()
    high.flat[k] += step
    low.flat[k] -= step
    with np.errstate(all="ignore"):
        return (_real(function(high)) - _real(function(low))) / (high.flat[k] - low.flat[k])


def _by_complex_step(function: Callable[[Any], Any], x: Array) -> Array | None:
    """Gradient, or None where the function does not take complex numbers."""
    steps = np.zeros((x.size, *x.shape), dtype=np.complex128)
    steps.reshape(x.size, x.size)[np.diag_indices(x.size)] = 1j * COMPLEX_STEP
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", ComplexWarning)
            found = [np.asarray(function(x + step)).item() for step in steps]
    except (TypeError, ValueError, ArithmeticError, ComplexWarning):
        return None
    return np.array([complex(value).imag / COMPLEX_STEP for value in found])
