"""Priors to design for: one's own, checked, and those that the papers draw their figures for."""

from collections.abc import Callable
from functools import cache
from math import atan, erf, exp, log, log1p, pi, sqrt
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.measure.matrices import as_prior
from sottovoce.measure.reals import real_array

TRIALS, CHANCE = 10_000, 0.3
"""Of the binomial prior."""


def checked_prior(prior: Any) -> Array:
    """Probabilities of two categories or more, none of them zero, with a sum put right within 1e-9.

    >>> checked_prior([0.5, 0.5, 0])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: prior must be positive in every category; leave out category 2. Got 0.0 instead.
    """
    given = real_array("prior", prior)
    if given.ndim != 1 or len(given) < 2:
        raise SottovoceError("prior", "must be the probabilities of two categories or more", prior)
    law = as_prior(given, len(given))
    if not law.min() > 0:
        raise SottovoceError("prior", f"must be positive in every category; leave out category {law.argmin()}", 0.0)
    return law


def named_prior(name: str, categories: int) -> Array:
    """Prior of so many equal bins, as the papers cut them (Huang & Du 2008; Gao et al. 2018).

    normal: the standard normal on +-3; gamma: shape 1, scale 2, on [0, 8]; beta: (1, 2) on [0, 1]; t: 3 degrees of
    freedom on +-4; chi2: 8 degrees on [0, 24]; binomial: 10,000 trials of .3 on +-3.5 standard deviations; uniform;
    zipf: category k in proportion to 1/k. What lies outside is left out.

    >>> named_prior("normal", 10).round(4)
    array([0.0069, 0.0278, 0.0794, 0.1596, 0.2264, 0.2264, 0.1596, 0.0794,
           0.0278, 0.0069])
    >>> named_prior("zipf", 3)
    array([0.54545455, 0.27272727, 0.18181818])
    """
    if name not in NAMES:
        raise SottovoceError("prior_name", f"must be one of {', '.join(NAMES)}", name)
    if isinstance(categories, bool) or not isinstance(categories, int) or categories < 2:
        raise SottovoceError("categories", "must be a whole number of at least 2", categories)
    if name == "zipf":
        masses = 1 / np.arange(1, categories + 1)
    else:
        low, high, law = _CUMULATIVE[name]
        masses = np.diff([law(edge) for edge in np.linspace(low, high, categories + 1)])
    if not masses.min() > 0:
        rule = f"must leave something in every bin of the {name} prior, whose outermost are empty here"
        raise SottovoceError("categories", rule, Words(f"{categories} bins"))
    return np.asarray(masses / masses.sum())


def _normal(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def _exponential(x: float) -> float:
    return 1 - exp(-x / 2)


def _beta(x: float) -> float:
    return 1 - (1 - x) ** 2


def _t(x: float) -> float:
    """Of 3 degrees of freedom."""
    return 0.5 + (atan(x / sqrt(3)) + sqrt(3) * x / (3 + x * x)) / pi


def _chi2(x: float) -> float:
    """Of 8 degrees of freedom: four events of a Poisson process at time x / 2."""
    return 1 - exp(-x / 2) * (1 + x / 2 + (x / 2) ** 2 / 2 + (x / 2) ** 3 / 6)


def _binomial(x: float) -> float:
    return float(_binomial_law()[int(x)])


@cache
def _binomial_law() -> Array:
    """Probabilities of at most so many successes."""
    counts = np.arange(TRIALS + 1)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    ways = factorials[-1] - factorials - factorials[::-1]
    return np.cumsum(np.exp(ways + counts * log(CHANCE) + counts[::-1] * log1p(-CHANCE)))


_SPREAD = 3.5 * sqrt(TRIALS * CHANCE * (1 - CHANCE))

_CUMULATIVE: dict[str, tuple[float, float, Callable[[float], float]]] = {
    "normal": (-3, 3, _normal),
    "gamma": (0, 8, _exponential),
    "beta": (0, 1, _beta),
    "uniform": (0, 1, float),
    "t": (-4, 4, _t),
    "chi2": (0, 24, _chi2),
    "binomial": (TRIALS * CHANCE - _SPREAD, TRIALS * CHANCE + _SPREAD, _binomial),
}

NAMES = (*_CUMULATIVE, "zipf")
"""Priors that have a name."""
