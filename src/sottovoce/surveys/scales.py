"""Results of ordinal scales beyond the share of each step: the mean of the scores, and the shares up to each step."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from sottovoce.checks import Array
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value


@dataclass(frozen=True)
class ScaleEstimate:
    """A number that is estimated from the shares of a scale's steps, with its confidence interval."""

    value: float
    standard_error: float
    low: float
    high: float


def scale_mean(shares: Estimate, steps: int, level: float = 0.95) -> ScaleEstimate | None:
    """Return the mean of the scores 1 to `steps` among those who gave one; None where nobody seems to have.

    The first `steps` cells are those of the scale, others are of people who declined or were not asked. The mean is
    `R = s p / b p`, where s are the scores and b is one for the steps, and zero elsewhere for both; by the delta method
    its variance is `g S g` with `g = (s - R b) / b p`, where S is the covariance of the shares.
    """
    given = np.arange(len(shares.value)) < steps
    scores = np.where(given, np.arange(1, len(given) + 1), 0)
    answered = float(given @ shares.value)
    if answered <= 0:
        return None
    mean = float(scores @ shares.value) / answered
    return _linear(shares, (scores - mean * given) / answered, mean, (1, steps), level)


def shares_up_to(shares: Estimate, steps: int, level: float = 0.95) -> tuple[ScaleEstimate, ...]:
    """Return the share of respondents at or below each step but the last one."""
    cells = np.arange(len(shares.value))
    weights = [np.where(cells <= step, 1.0, 0.0) for step in range(steps - 1)]
    return tuple(_linear(shares, weight, float(weight @ shares.value), (0, 1), level) for weight in weights)


def _linear(shares: Estimate, weights: Array, value: float, bounds: tuple[float, float], level: float) -> ScaleEstimate:
    """Return a value that changes by these weights with the shares, and an interval within its bounds."""
    error = sqrt(max(float(weights @ shares.covariance @ weights), 0.0))
    low, high = np.clip([value - critical_value(level) * error, value + critical_value(level) * error], *bounds)
    return ScaleEstimate(value, error, float(low), float(high))
