"""The best mixture of weighted sets: an augmented Lagrangian that starts from the relaxation's multipliers."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.relaxation import Certificate
from sottovoce.design.large.set_mixture import Condition, SetMixture, Support
from sottovoce.design.large.slab import slab
from sottovoce.design.solution import SetDesign
from sottovoce.errors import MissingExtraError

ROUNDS = 5
"""Updates of the prices on `J p = 1`."""

RESIDUAL = 1e-9
"""Largest deviation of a column's sum from one."""

_LARGEST_LOG_WEIGHT = 8.0  # weights have to become whole numbers of 32 bits
_LONGEST = 40


def best_mixture(certificate: Certificate, progress: Callable[[int], object]) -> tuple[SetDesign, float] | None:
    """A mixture with columns that sum to one, and its error; None where Newton's method finds none nearby."""
    prior, n = certificate.prior, len(certificate.prior)
    mixture = SetMixture(prior, certificate.odds, _supports(certificate))
    parameters, _ = mixture.normalised(start(mixture, certificate.multipliers[:n]))
    price, penalty = certificate.multipliers[n : 2 * n], 0.3 * n * mixture.error(parameters)
    for step in range(ROUNDS):
        objective = partial(mixture.lagrangian, price=price, penalty=penalty)
        parameters = descend(objective, parameters, len(mixture.supports))
        excess = mixture.information(*mixture.laws(parameters)) @ prior - 1
        progress(step)
        price, penalty = price + penalty * excess, 2 * penalty
    parameters, residual = mixture.normalised(parameters)
    return (mixture.design(parameters), mixture.error(parameters)) if residual < RESIDUAL else None


def _supports(certificate: Certificate) -> list[Support]:
    """Two or three sizes, and two total lengths.

    At the relaxation's optimum `a . z` is near `1.a / (odds + 1)` for its multipliers a, so lengths in proportion to
    these hold the sets near it.
    """
    n = len(certificate.prior)
    agreement, ones = certificate.multipliers[:n], np.ones(n)
    middle = int(n / (certificate.odds + 1))
    sizes = (middle, middle + 1) if middle > 2 else (1, 2, 3)
    lengths = np.clip(np.round(agreement / np.quantile(agreement, 0.25)), 1, _LONGEST)
    total = int(lengths.sum() / (certificate.odds + 1))
    longer = [(lengths, max(1, total)), (lengths, total + 1)] if lengths.max() > 1 and total else []
    return [(ones, size) for size in sizes] + longer


def start(mixture: SetMixture, agreement: Array) -> Array:
    """Weights that fall with the multipliers until `a . z` has its mean, and masses that favour sizes near it."""
    n = len(agreement)
    relative, target = agreement / agreement.mean(), n / (mixture.odds + 1)
    rows, masses = [], []
    for lengths, size in mixture.supports:
        plain = lengths.max() == 1
        rows.append(_tilted(relative, lengths, size, target) if plain else np.zeros(n))
        masses.append(np.exp(-abs(size - target) / max(1, np.sqrt(target))) if plain else 2.0)
    parameters = np.concatenate([*rows, np.log(masses)])
    information = mixture.information(*mixture.laws(parameters))
    parameters[-len(masses) :] -= np.log(mixture.prior @ information @ mixture.prior)
    return parameters


def _tilted(relative: Array, lengths: Array, size: int, target: float) -> Array:
    low, high = -2.0, 2.0
    for _ in range(30):
        middle = (low + high) / 2
        above = slab(-middle * relative, lengths, size).inclusion @ relative > target
        low, high = (middle, high) if above else (low, middle)
    return np.clip(-low * relative, -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)


def descend(objective: Condition, parameters: Array, masses: int) -> Array:
    """A limited number of quasi-Newton steps, with bounded log-weights; the masses, at the end, are free."""
    try:
        minimize = import_module("scipy.optimize").minimize
    except ImportError:
        raise MissingExtraError("designing mixtures of sets", "scipy", "design") from None
    reach = (-_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)
    found = minimize(
        objective,
        parameters,
        jac=True,
        method="L-BFGS-B",
        bounds=[reach] * (len(parameters) - masses) + [(None, None)] * masses,
        options={"maxiter": 150, "maxcor": 30, "ftol": 1e-9, "gtol": 1e-9},
    )
    return np.asarray(found.x)
