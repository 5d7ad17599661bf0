"""Functionals of distributions: numbers with their gradients, analytic or numerical.

By the delta method a functional of an estimate with covariance C has variance `gradient^T C gradient` (Wang,
Wu & Hu 2016, eq. 24). Estimates sum to one, so C has no variance along the vector of ones: only directions
that sum to zero matter, and gradients that differ by a constant in all cells are equivalent.
Functionals of two-way tables are in `association`.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log, prod
from typing import Any, Protocol

import numpy as np
from numpy.exceptions import ComplexWarning

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array

SUM_TOLERANCE = 1e-4
"""Tolerance on the sum of the cells: enough for the steps of a numerical gradient, not for counts."""

COMPLEX_STEP = 1e-30
"""Step of the complex-step derivative, which loses no digits however small it is."""

CENTRAL_STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Relative step of central differences: balances the truncation error, step^2, with rounding, epsilon / step."""

AGREEMENT = 1e-4
"""Largest difference of both gradients, relative to the largest entry, at which the complex step is used."""


class Functional(Protocol):
    """Protocol for a number that depends on a distribution, with its derivative by every cell.

    p has the cells of the table one after another, the last attribute varying fastest, or is the table
    itself; the gradient has one entry for each cell, in that order.
    """

    @property
    def name(self) -> str:
        """Name of the number, as shown."""

    def value(self, p: Any) -> float:
        """Return the number at this distribution."""

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""


def cells(p: Any, shape: tuple[int, ...] | None = None) -> Array:
    """Return the cells of a distribution as a vector; raise unless they are finite, sum to one and fit the shape."""
    array = real_array("p", p).ravel()
    if array.size == 0 or not np.isfinite(array).all() or abs(array.sum() - 1) > SUM_TOLERANCE:
        raise SottovoceError("p", "must be proportions that sum to 1", p)
    if shape is not None and array.size != prod(shape):
        raise SottovoceError("p", f"must have {prod(shape)} cells", array.size)
    return array


def not_negative(array: Array, what: str) -> Array:
    """Return the cells; raise if one is negative, where a functional is not defined."""
    if (array < 0).any():
        rule = f"must have no negative cell, where {what} is not defined; estimate it within the simplex instead"
        raise SottovoceError("p", rule, float(array.min()))
    return array


def positive(array: Array, what: str) -> Array:
    """Return the cells; raise if one is not positive, where a functional or its gradient is not defined."""
    if (array <= 0).any():
        raise SottovoceError("p", f"must have positive cells, without which there is no {what}", float(array.min()))
    return array


def plogp(array: Array) -> Array:
    """Return `p log2 p`, which is 0 for a cell that is 0."""
    return np.asarray(array * np.log2(np.where(array > 0, array, 1)))


def checked_scores(parameter: str, scores: Iterable[float]) -> tuple[float, ...]:
    """Return scores as floats: at least one, all finite."""
    numbers = real_array(parameter, tuple(scores))
    if not numbers.size or not np.isfinite(numbers).all():
        raise SottovoceError(parameter, "must be at least one finite number", numbers)
    return tuple(numbers.tolist())


@dataclass(frozen=True)
class Entropy:
    """`H = -sum_i p_i log2 p_i` bits, gradient `-(log2 p_i + 1 / ln 2)` (Wang, Wu & Hu 2016, eq. 25).

    Not defined for an estimate with negative cells; steep near zero cells, where it has no gradient.

    >>> Entropy().value([0.5, 0.25, 0.25])
    1.5
    """

    name = "entropy"
    unit = "bits"

    def value(self, p: Any) -> float:
        """Return the bits; a cell that is zero contributes nothing."""
        return float(self.values(not_negative(cells(p), "entropy")[:, None])[0])

    def values(self, distributions: Array) -> Array:
        """Return the bits of each column of a matrix of distributions."""
        return np.asarray(-plogp(distributions).sum(axis=0))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        return -(np.log2(positive(cells(p), "gradient of the entropy")) + 1 / log(2))

    def hessian(self, p: Any) -> Array:
        """Return the second derivatives, `-1 / (p_i ln 2)` on the diagonal."""
        return np.diag(-1 / (positive(cells(p), "gradient of the entropy") * log(2)))


@dataclass(frozen=True)
class Mean:
    """`sum_i s_i p_i` for a score s of every category; linear, so negative cells are allowed.

    >>> Mean([0, 1, 2]).value([0.5, 0.25, 0.25])
    0.75
    """

    name = "mean"

    scores: tuple[float, ...]

    def __init__(self, scores: Iterable[float]) -> None:
        """Read finite scores."""
        object.__setattr__(self, "scores", checked_scores("scores", scores))

    def value(self, p: Any) -> float:
        """Return the mean score."""
        return float(cells(p, (len(self.scores),)) @ np.array(self.scores))

    def gradient(self, p: Any) -> Array:
        """Return the scores."""
        cells(p, (len(self.scores),))
        return np.array(self.scores)


@dataclass(frozen=True)
class ConditionalProbability:
    """`P(event | given) = sum of p over both / sum of p over given`, for cells by their indices.

    Its gradient is `(1[event] - P(event | given)) / P(given)` in the given cells and 0 elsewhere. Negative
    cells are allowed as long as the given ones have a positive sum.

    >>> ConditionalProbability(event=[1, 3], given=[2, 3]).value([0.4, 0.1, 0.2, 0.3])
    0.6
    """

    name = "conditional probability"

    event: frozenset[int]
    given: frozenset[int]

    def __init__(self, event: Iterable[int], given: Iterable[int]) -> None:
        """Read indices of cells."""
        object.__setattr__(self, "event", _cell_indices("event", event))
        object.__setattr__(self, "given", _cell_indices("given", given))

    def value(self, p: Any) -> float:
        """Return the share of the event among the given cells."""
        both, given, _ = self._parts(p)
        return both / given

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        both, given, gradient = self._parts(p)
        gradient[list(self.given)] = -both / given**2
        gradient[list(self.event & self.given)] += 1 / given
        return gradient

    def _parts(self, p: Any) -> tuple[float, float, Array]:
        array = cells(p)
        for parameter, numbers in (("event", self.event), ("given", self.given)):
            if max(numbers) >= array.size:
                raise SottovoceError(parameter, f"must be indices of the {array.size} cells", sorted(numbers))
        given = float(array[list(self.given)].sum())
        if given <= 0:
            raise SottovoceError("p", "must have a positive sum over the given cells", given)
        return float(array[list(self.event & self.given)].sum()), given, np.zeros(array.size)


def _cell_indices(parameter: str, numbers: Iterable[int]) -> frozenset[int]:
    indices = frozenset(int(number) for number in numbers)
    if not indices or min(indices) < 0:
        raise SottovoceError(parameter, "must be at least one index of a cell, from 0 on", sorted(indices))
    return indices


def numerical_gradient(function: Callable[[Any], Any], point: Any) -> Array:
    """Return the gradient by complex step, `Im f(x + i h e_k) / h`, or by central differences.

    The complex step (Squire & Trapp 1998, SIAM Review 40, 110-112) is exact to rounding, but needs a function that
    accepts complex numbers and is analytic in them. Some that accept them are not (`abs`, comparisons, real parts), so
    it is used only where central differences agree with it.

    >>> numerical_gradient(lambda p: p[0] / (p[0] + p[1]), [0.2, 0.3, 0.5]).round(12)
    array([ 1.2, -0.8,  0. ])
    """
    x = real_array("point", point)
    flat = x.ravel()
    differences = np.array([_central(function, x, k) for k in range(flat.size)])
    if not np.isfinite(differences).all():
        raise SottovoceError("function", "must be finite at the point and close to it on all sides", point)
    exact = _by_complex_step(function, x)
    scale = np.abs(differences).max(initial=0)
    if exact is None or not (np.abs(exact - differences) <= AGREEMENT * scale).all():
        return differences
    return exact


@dataclass(frozen=True)
class UserFunction:
    """Any function of the cells of a distribution as a functional; its gradient is numerical.

    >>> ratio = UserFunction("first over second", lambda p: p[0] / p[1])
    >>> ratio.value([0.2, 0.4, 0.4]), ratio.gradient([0.2, 0.4, 0.4]).round(9)
    (0.5, array([ 2.5 , -1.25,  0.  ]))
    """

    name: str
    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        """Check that the function can be called."""
        if not callable(self.function):
            raise SottovoceError("function", "must be a function of the cells", self.function)

    def value(self, p: Any) -> float:
        """Return the function's value, a real number."""
        return _real(self.function(cells(p)))

    def gradient(self, p: Any) -> Array:
        """Return the derivative by every cell."""
        return numerical_gradient(self.function, cells(p))


def _real(value: Any) -> float:
    number = real_array("function", value)
    if number.size != 1:
        raise SottovoceError("function", "must return one number", value)
    return float(number.ravel()[0])


def _central(function: Callable[[Any], Any], x: Array, k: int) -> float:
    """Return one central difference, with a step relative to the coordinate, which may be a small probability."""
    step = CENTRAL_STEP * max(abs(float(x.flat[k])), 1e-3)
    high, low = x.copy(), x.copy()
    high.flat[k] += step
    low.flat[k] -= step
    with np.errstate(all="ignore"):
        return (_real(function(high)) - _real(function(low))) / (high.flat[k] - low.flat[k])


def _by_complex_step(function: Callable[[Any], Any], x: Array) -> Array | None:
    """Return the gradient, or None where the function does not accept complex numbers."""
    steps = np.zeros((x.size, *x.shape), dtype=np.complex128)
    steps.reshape(x.size, x.size)[np.diag_indices(x.size)] = 1j * COMPLEX_STEP
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", ComplexWarning)
            values = [np.asarray(function(x + step)).item() for step in steps]
    except (TypeError, ValueError, ArithmeticError, ComplexWarning):
        return None
    return np.array([complex(value).imag / COMPLEX_STEP for value in values])
