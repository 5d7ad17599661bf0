"""What is said of a rule A -> C: numbers made of the supports s of both together, a of A and c of C, with gradients."""

from collections.abc import Callable

import numpy as np

from sottovoce.channel.channel import Array

Valued = tuple[Array, Array]
"""Values by rule, and gradients by rule and support: of both, of A, of C."""


def confidence(s: Array, a: Array, _c: Array) -> Valued:
    """Share of those with A that have C too: `s / a`."""
    return s / a, _gradient(1 / a, -s / a**2, 0)


def lift(s: Array, a: Array, c: Array) -> Valued:
    """How much likelier C is with A: `s / (a c)`, one where they are independent (S. Brin et al. 1997)."""
    return s / (a * c), _gradient(1 / (a * c), -s / (a**2 * c), -s / (a * c**2))


def leverage(s: Array, a: Array, c: Array) -> Valued:
    """Share beyond what independent A and C would have: `s - a c` (G. Piatetsky-Shapiro 1991)."""
    return s - a * c, _gradient(1, -c, -a)


def doubt(s: Array, a: Array, c: Array) -> Valued:
    """How much rarer the rule fails than for independent A and C: `(a - s) / (a (1 - c))`, conviction's reciprocal.

    Conviction has no bound, and noise carries it to infinity and back; this is nearly a line in the supports.
    """
    rest = a * (1 - c)
    return (a - s) / rest, _gradient(-1 / rest, s / (a * rest), (a - s) / (rest * (1 - c)))


MEASURES: dict[str, Callable[[Array, Array, Array], Valued]] = {
    "antecedent support": lambda s, a, c: (a, _gradient(0 * s, 1, 0)),
    "consequent support": lambda s, a, c: (c, _gradient(0 * s, 0, 1)),
    "support": lambda s, a, c: (s, _gradient(0 * s + 1, 0, 0)),
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": doubt,
}
"""By mlxtend's names, in its order; conviction by its reciprocal."""


def valued(name: str, supports: Array, covariances: Array) -> tuple[Array, Array]:
    """Values and standard errors by the delta method: `g^T S g`, S the covariance of the three supports."""
    value, gradient = MEASURES[name](*supports.T)
    variance = np.einsum("ri,rij,rj->r", gradient, covariances, gradient)
    return np.asarray(value, float), np.sqrt(np.maximum(variance, 0))


def turned(value: Array) -> Array:
    """Reciprocals; infinite where nothing, or less than nothing, is left."""
    return np.divide(1, value, out=np.full_like(value, np.inf), where=value > 0)


def _gradient(*parts: Array | float) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)
