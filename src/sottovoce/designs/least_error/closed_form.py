r"""A lower bound on the error in closed form, for any number of categories.

`n N MSE >= (1 - |p|^2)^2 / (H(a) - |p|^2)`, a the adversary's chance of a right guess and H the concave envelope of the
expected squared posterior that reports with a given largest posterior can have: the points (1/k, 1/k) of uniform
posteriors on k categories, 1/k <= delta, and (delta, k delta^2 + (1 - k delta)^2), k = floor(1/delta).
"""

from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.designs.requirement import LEAST_DIFFERENCE, rounded_up
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import as_prior, real_array


def closed_form_bound(prior: Any, accuracy: float | None = None, delta: float | None = None) -> float:
    """Lower bound of the error times respondents of every channel within these limits; tight for uniform priors.

    By the Cauchy-Schwarz inequality, `tr J^-1` restricted to contrasts is at least the squared trace of the projection
    on contrasts over the trace of J there, and the latter is the expected squared posterior.

    >>> round(closed_form_bound([0.1] * 10, accuracy=0.5, delta=0.75), 10)
    0.2025
    """
    array = real_array("prior", prior)
    shares = as_prior(array, array.size)
    squared = float(shares @ shares)
    chance = min(1.0 if level is None else float(level) for level in (accuracy, delta))
    squares = largest_squares(chance, delta, shares.size) if chance >= shares.max() - LEAST_DIFFERENCE else 0.0
    if not squares > squared + LEAST_DIFFERENCE**2:
        name, level = ("accuracy", accuracy) if accuracy == chance else ("delta", delta)
        rule = f"must be above {rounded_up(shares.max())}, the largest probability of the prior"
        raise SottovoceError(name, rule, level)
    return (1 - squared) ** 2 / (squares - squared) / shares.size


def largest_squares(chance: float, delta: float | None, categories: int) -> float:
    """Return H(chance), the largest expected sum of squared posteriors at an adversary's chance of a right guess.

    >>> largest_squares(0.5, None, 4), largest_squares(0.5, 0.5, 4)
    (0.5, 0.5)
    """
    corner = 1.0 if delta is None else min(float(delta), 1.0)
    whole = int(1 / corner + 1e-12)
    sets = 1 / np.arange(categories, 0, -1.0)
    sets = sets[sets <= corner + 1e-12]
    points = np.column_stack([np.append(sets, corner), np.append(sets, whole * corner**2 + (1 - whole * corner) ** 2)])
    return _envelope(points, chance)


def _envelope(points: Array, at: float) -> float:
    """Value at `at` of the least concave function above the points: the highest chord."""
    left, right = points[points[:, 0] <= at], points[points[:, 0] >= at]
    share = (at - left[:, None, 0]) / np.maximum(right[:, 0] - left[:, None, 0], 1e-300)
    return float((left[:, None, 1] + np.minimum(share, 1) * (right[:, 1] - left[:, None, 1])).max())
