"""Information in bits: what the truth holds, what the report tells of it, what it leaves open."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.measure.matrices import as_prior, conditional, joint
from sottovoce.measure.reals import real_array


def entropy(prior: Any) -> Array:
    """`H(X) = -sum_x p(x) log2 p(x)`.

    >>> float(entropy([0.5, 0.25, 0.25]))
    1.5
    """
    law = real_array("prior", prior)
    bits: Array = -_weighted_logarithm(as_prior(law, law.shape[-1] if law.ndim else 1)).sum(axis=-1)
    return bits


def conditional_entropy(channel: Any, prior: Any) -> Array:
    """`H(X | Y) = -sum_yx P(y, x) log2 P(x | y)`: what a report leaves open (Gao et al. 2018).

    >>> float(conditional_entropy([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]))
    1.0
    """
    together = joint(channel, prior)
    left: Array = -_weighted_logarithm(together, conditional(together)).sum(axis=(-2, -1))
    return left


def mutual_information(channel: Any, prior: Any) -> Array:
    """`I(X; Y) = sum_yx P(y, x) log2(P(x | y) / p(x)) = H(X) - H(X | Y)`: what a report tells (Gao et al. 2018).

    >>> round(float(mutual_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])), 6)
    0.188722
    """
    together = joint(channel, prior)
    law = together.sum(axis=-2, keepdims=True)
    lift = np.divide(conditional(together), law, out=np.zeros_like(together), where=together > 0)
    told: Array = _weighted_logarithm(together, lift).sum(axis=(-2, -1))
    # Rounding may leave less than nothing where a report tells nothing.
    return np.maximum(told, 0.0)


def _weighted_logarithm(weights: Array, values: Array | None = None) -> Array:
    """`w log2 v` with 0 log 0 = 0; v = w where it is left out."""
    values = weights if values is None else values
    logarithms = np.log2(values, out=np.zeros_like(values), where=(weights > 0) & (values > 0))
    product: Array = weights * logarithms
    return product
