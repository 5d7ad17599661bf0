"""Measures of association rules A -> C as functions of three supports, with standard errors by the delta method."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array

Measured = tuple[Array, Array]
"""Values by rule, and gradients by rule and support: of both together, of A, of C."""


def confidence(s: Array, a: Array, _c: Array) -> Measured:
    """Share of those with A that have C too: `s / a`."""
    return s / a, _gradient(1 / a, -s / a**2, 0)


def lift(s: Array, a: Array, c: Array) -> Measured:
    """How much likelier C is with A: `s / (a c)`, one if they are independent (S. Brin et al. 1997)."""
    return s / (a * c), _gradient(1 / (a * c), -s / (a**2 * c), -s / (a * c**2))


def leverage(s: Array, a: Array, c: Array) -> Measured:
    """Support beyond that of independent A and C: `s - a c` (G. Piatetsky-Shapiro 1991)."""
    return s - a * c, _gradient(1, -c, -a)


def inverse_conviction(s: Array, a: Array, c: Array) -> Measured:
    """Reciprocal of conviction, `(a - s) / (a (1 - c))`: failures of the rule relative to independent A and C.

    Conviction itself is unbounded, and noise carries it to infinity and back; this is nearly linear in the supports.
    """
    rest = a * (1 - c)
    return (a - s) / rest, _gradient(-1 / rest, s / (a * rest), (a - s) / (rest * (1 - c)))


def _gradient(*parts: Array | float) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


MEASURES: dict[str, Callable[[Array, Array, Array], Measured]] = {
    "antecedent support": lambda s, a, c: (a, _gradient(0 * s, 1, 0)),
    "consequent support": lambda s, a, c: (c, _gradient(0 * s, 0, 1)),
    "support": lambda s, a, c: (s, _gradient(0 * s + 1, 0, 0)),
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": inverse_conviction,
}
"""By mlxtend's names, in its order; conviction by its reciprocal."""


def measure_values(name: str, supports: Array) -> Array:
    """Return values of a measure, of conviction its reciprocal; nan where a denominator is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value, _ = MEASURES[name](*supports.T)
    return np.where(_defined(name, supports), value, np.nan)


def estimate_measure(name: str, supports: Array, covariances: Array) -> tuple[Array, Array]:
    """Return values and standard errors by the delta method: `g^T S g`, S the covariance of the three supports.

    Both are nan where a denominator is not positive.
    """
    defined = _defined(name, supports)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value, gradient = MEASURES[name](*supports.T)
        variance = np.einsum("ri,rij,rj->r", gradient, covariances, gradient)
    error = np.sqrt(np.maximum(variance, 0))
    return np.where(defined, value, np.nan), np.where(defined, error, np.nan)


def confidence_slope(name: str, a: Array, c: Array) -> Array:
    """Return the derivative of a measure, of conviction's reciprocal, by the confidence; nan for supports."""
    with np.errstate(divide="ignore"):
        slopes = {"confidence": np.ones_like(a), "lift": 1 / c, "leverage": a, "conviction": 1 / (1 - c)}
    return slopes.get(name, np.full_like(a, np.nan))


def _defined(name: str, supports: Array) -> NDArray[np.bool_]:
    """Mask of the rules for which all denominators of a measure are positive."""
    _, a, c = supports.T
    positive = {"confidence": a > 0, "lift": (a > 0) & (c > 0), "conviction": (a > 0) & (c < 1)}
    return np.asarray(positive.get(name, np.ones(len(supports), bool)))


def reciprocal(value: Array) -> Array:
    """Return reciprocals; infinite for zero and below, and for what is undefined."""
    return np.divide(1, value, out=np.full_like(value, np.inf), where=value > 0)


POSSIBLE: dict[str, tuple[float, float]] = {"lift": (0, np.inf), "leverage": (-0.25, 0.25), "conviction": (0, np.inf)}
"""Least and greatest value of a measure, of conviction's reciprocal; others are from 0 to 1."""
