"""Results of ordinal scales beyond the share of each step: the mean of the scores, and the shares up to each step."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class MedianEstimate:
    """The median step of a scale, with the least and the largest step that a confidence interval holds."""

    step: int
    low: int
    high: int


@dataclass(frozen=True)
class ScaleSummary:
    """Mean and median of those who gave a step, None where nobody seems to have, and the shares up to each step."""

    mean: ScaleEstimate | None
    median: MedianEstimate | None
    up_to: tuple[ScaleEstimate, ...]


def scale_summary(shares: Estimate, steps: int, level: float = 0.95) -> ScaleSummary:
    """Return mean, median and shares up to each step of a scale, from the shares of its steps."""
    return ScaleSummary(
        scale_mean(shares, steps, level), scale_median(shares, steps, level), shares_up_to(shares, steps, level)
    )


def scale_median(shares: Estimate, steps: int, level: float = 0.95) -> MedianEstimate | None:
    """Return the first step up to which at least half of those are who gave one, with an interval.

    The median is at most s if `G(s) = p(1) + ... + p(s) - (p(1) + ... + p(steps)) / 2` is not negative. The interval
    holds the steps m for which neither `G(m) < 0` nor `G(m - 1) >= 0` is certain at half the error each: it
    inverts the intervals of the shares up to each step, and so misses the median no more often than they miss G.
    """
    cells = np.arange(len(shares.value))
    given = cells < steps
    if float(given @ shares.value) <= 0:
        return None
    excess = [
        _linear(shares, weights, float(weights @ shares.value), (-1, 1), level) for weights in _halves(cells, steps)
    ]
    low = next((step for step, each in enumerate(excess, 1) if each.high >= 0), steps)
    high = 1 + max((step for step, each in enumerate(excess, 1) if each.low < 0), default=0)
    step = next((step for step, each in enumerate(excess, 1) if each.value >= 0), steps)
    return MedianEstimate(step, min(low, step), max(high, step))


def _halves(cells: NDArray[np.intp], steps: int) -> list[Array]:
    """Return the weights of `G(s)` for each step but the last, where it is half of those who gave one."""
    return [np.where(cells < step, 0.5, np.where(cells < steps, -0.5, 0.0)) for step in range(1, steps)]


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
