"""Supports that are shown: shrunken, and possible.

The highest of many estimates are high because of their noise, and some are impossible: a set that seems more frequent
than one of its subsets. So for each set of two and more items the share of its rarest subset that it has,

    t = support / m,    m = lowest support shown of its subsets with one item less,

is shrunk towards the mean of all sets of that length (parametric empirical Bayes, C. N. Morris 1983, JASA 78, 47-55).
With standard errors d, `t ~ N(mu, tau^2)`, and mu and tau^2 estimated from the k sets themselves,

    E[t] = (1 - B) t + B mu,    B = (k - 3) / (k - 1)  d^2 / (d^2 + tau^2),

which moves an estimate by 1.96 standard errors at the most (limited translation, B. Efron & C. Morris 1972, JASA 67,
130-139). What is shown is the mean of that normal distribution cut to [0, 1], times m: from 0 to the support of every
subset. Single items are not shrunk towards each other, but cut to [0, 1] likewise. An estimate without noise is shown
as it is. On BMS-WebView-2 and synthetic baskets that lowers errors of confidences by more than a third, and the rules
that come first hold more often than those with the highest estimates (`benchmarks.itemsets.picked`).
"""

from collections.abc import Mapping, Sequence
from math import erfc, exp, expm1, pi, sqrt

import numpy as np

from sottovoce.checks import Array
from sottovoce.mining.itemsets.selection import Level

Items = tuple[int, ...]

FEWEST = 4
"""Fewest sets of a length that are shrunk: a mean and a variance are estimated from them."""

SMALLEST = 1e-24
"""Variance that stands for none."""

ROUNDS = 50
"""Iterations for the variance among the sets of a length."""

MOST_MOVED = 1.96
"""Standard errors by which an estimate is shrunk at the most: within its 95 % interval."""

FAR = 30.0
"""Standard deviations from 0 and 1 beyond which a mean inside is left as it is, and the tail of one outside is
taken as exponential."""

FLAT = 1e3
"""Standard deviation from which on the distribution within [0, 1] is taken as uniform."""


def possible_supports(levels: Sequence[Level]) -> list[Array]:
    """Return the shrunken supports of each level, shorter sets first.

    >>> single = Level(np.array([[0], [1]]), np.array([0.5, 0.3]), np.array([0.01, 0.01]))
    >>> pair = Level(np.array([[0, 1]]), np.array([0.31]), np.array([0.02]))
    >>> [shown.round(4) for shown in possible_supports([single, pair])]
    [array([0.5, 0.3]), array([0.2872])]
    """
    shown: list[Array] = []
    known: dict[Items, float] = {}
    for level in levels:
        sets = list(map(tuple, level.items.tolist()))
        bound = np.array([_lowest_subset(items, known) for items in sets])
        scale = np.where(bound > 0, bound, 1.0)
        # Without a standard error because all reports are alike, an impossible estimate is as uncertain as it is far.
        far = np.abs(level.support - np.clip(level.support, 0, 1))
        noise = np.where(level.standard_error > 0, level.standard_error, far)
        share, error = level.support / scale, noise / scale
        if level.items.shape[1] > 1:
            share, error = shrink(share, error)
        exact = np.clip(level.support, 0, bound)
        shown.append(np.where(noise > 0, bound * mean_within_one(share, error), exact))
        known |= zip(sets, shown[-1].tolist(), strict=True)
    return shown


def shrink(value: Array, error: Array) -> tuple[Array, Array]:
    """Return posterior means and standard deviations of normal means around a common one; fewer than 4 stay.

    >>> shrink(np.array([0.2, 0.4, 0.6, 0.8, 1.0]), np.full(5, 0.1))[0].round(3)
    array([0.22, 0.41, 0.6 , 0.79, 0.98])
    """
    count, variance = len(value), error**2
    if count < FEWEST or not variance.any():
        return value, error
    among = float(value.var())
    for _ in range(ROUNDS):
        weight = 1 / np.maximum(among + variance, SMALLEST)
        mean = float(weight @ value / weight.sum())
        among = max(0.0, float(weight @ (count / (count - 1) * (value - mean) ** 2 - variance) / weight.sum()))
    shrinkage = (count - 3) / (count - 1) * variance / np.maximum(variance + among, SMALLEST)
    moved = np.clip(shrinkage * (mean - value), -MOST_MOVED * error, MOST_MOVED * error)
    return value + moved, error * np.sqrt(1 - shrinkage)


def mean_within_one(mean: Array, deviation: Array) -> Array:
    """Return the means of normal distributions cut to [0, 1]; without a deviation, the nearest number there.

    >>> mean_within_one(np.array([0.5, 1.0, 1.2, -9.0]), np.array([0.01, 0.1, 0.0, 0.1])).round(4)
    array([0.5   , 0.9202, 1.    , 0.0011])
    """
    pairs = zip(mean.tolist(), deviation.tolist(), strict=True)
    return np.array([_mean_within_one(*pair) for pair in pairs], float)


def _mean_within_one(mean: float, deviation: float) -> float:
    if min(mean, 1 - mean) >= FAR * deviation:
        return mean
    if mean > 0.5:  # mirrored, so that tails are small numbers and not differences of ones
        return 1 - _mean_within_one(1 - mean, deviation)
    if deviation == 0:
        return 0.0
    if deviation > FLAT:
        return 0.5
    low = -mean / deviation
    if low > FAR:  # a tail, as good as exponential
        rate = low / deviation
        return 1 / rate - exp(-rate) / -expm1(-rate)
    high = low + 1 / deviation
    inside = (erfc(low / sqrt(2)) - erfc(high / sqrt(2))) / 2
    return float(np.clip(deviation * ((_density(low) - _density(high)) / inside - low), 0, 1))


def _density(deviation: float) -> float:
    return exp(-(deviation**2) / 2) / sqrt(2 * pi)


def _lowest_subset(items: Items, known: Mapping[Items, float]) -> float:
    """Return the lowest support shown of all subsets that are known; one if there are none."""
    if len(items) == 1:
        return 1.0
    shorter = ((*items[:left_out], *items[left_out + 1 :]) for left_out in range(len(items)))
    return min(known[part] if part in known else _lowest_subset(part, known) for part in shorter)
