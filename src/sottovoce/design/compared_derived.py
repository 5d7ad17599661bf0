"""Errors of what follows from proportions, for schemes to be compared by: entropy, chi-square and their like."""

from math import sqrt

from sottovoce.channel.channel import Array, Channel
from sottovoce.errors import SottovoceError
from sottovoce.estimate.named import MAKERS
from sottovoce.estimate.spread import Target
from sottovoce.measure.covariance import estimate_covariance

FUNCTIONALS = {
    "entropy_error": "entropy",
    "chi_squared_error": "chi-squared",
    "mutual_information_error": "mutual-information",
    "correlation_error": "correlation",
}
"""Standard errors by the delta method, and the functional that each is of."""


def fitting_functionals(asked: list[str], shape: tuple[int, ...]) -> list[str]:
    """Names of such errors among the measures that are asked for, if they are of so many attributes.

    >>> fitting_functionals(["mse", "entropy_error"], (3,))
    ['entropy_error']
    """
    found = [name for name in asked if name in FUNCTIONALS]
    for name in found:
        if len(shape) == 1 and MAKERS[FUNCTIONALS[name]][0] == "of two attributes":
            raise SottovoceError("measures", "must fit the prior, which is of one attribute", name)
    return found


def derived_error(channel: Channel, law: Array, name: str, respondents: float, target: Target = "population") -> float:
    """`sqrt(g^T S g)`, g the gradient at the law and S the covariance of the estimated proportions.

    Infinite where there is no gradient, as of the entropy of a law with an empty cell, or nothing to estimate from.

    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> import numpy as np
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> round(derived_error(channel, np.array([0.7, 0.3]), "entropy_error", 1000), 4)
    0.0199
    """
    functional = MAKERS[FUNCTIONALS[name]][1]([tuple(range(size)) for size in channel.shape_in])
    try:
        gradient = functional.gradient(law)
        spread = estimate_covariance(channel.dense(), law, respondents, target)
    except SottovoceError:
        return float("inf")
    return sqrt(max(float(gradient @ spread @ gradient), 0.0))
