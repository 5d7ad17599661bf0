"""Gradients of functions that come without one, so that any function of a distribution can be estimated."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.exceptions import ComplexWarning

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.functional import cells
from sottovoce.measure.reals import real_array

COMPLEX_STEP = 1e-30
"""Nothing is subtracted, so nothing is lost, however small the step."""

CENTRAL_STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Balances the error of cutting Taylor's series, step^2, with that of rounding, epsilon / step."""

AGREEMENT = 1e-4
"""How far both ways may differ, relative to the largest entry, for the complex step to be believed."""


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
