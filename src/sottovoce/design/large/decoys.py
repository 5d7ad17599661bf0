"""Decoy sets: the truth among others that look as likely, for a bound on the adversary's accuracy without LDP."""

from collections.abc import Iterator

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.slab import Slab, slab
from sottovoce.design.solution import SetComponent, SetDesign
from sottovoce.errors import SottovoceError

_LEAST = 1e-6
"""Least share of either size for any truth: weights stay positive, and within reach of whole numbers."""

_MARGIN = 1e-9
"""Share of the accuracy that is left for weights to be rounded to whole numbers."""

_MOST_STEPS = 50

_SIZES = 16
"""Larger sizes that are tried."""


def decoy_sets(prior: Array, accuracy: float, delta: float = 1.0) -> tuple[SetDesign, float]:
    """Sets of two sizes with a uniform posterior, `E[1/|S| | x] = 1 - s + s p_x`, and their error.

    The adversary is right with `E[1/|S|]`, at most `accuracy`, and no set is smaller than `1/delta`. With that mean
    the closed-form bound would be attained if J had no other deviation; s is `(1 - accuracy) / (1 - |p|^2)`, or where
    sizes of at least `1/delta` cannot follow, what makes the accuracy right.
    """
    found = [
        (error, (small, large), parts)
        for small, large, shares in _sizes(prior, accuracy, delta)
        for parts, error in [_mixed(prior, small, large, shares)]
        if parts
    ]
    if not found:
        rule = f"must be further above {prior.max():.6g}, the largest probability of the prior, for sets of decoys"
        raise SottovoceError("accuracy", rule, accuracy)
    error, _, parts = min(found)
    return SetDesign(parts, None), error


def _sizes(prior: Array, accuracy: float, delta: float) -> Iterator[tuple[int, int, Array]]:
    """Pairs of sizes around those wanted, and each truth's share of the smaller."""
    least = int(np.ceil(1 / delta - 1e-9))
    bound = min(accuracy * (1 - _MARGIN), 1 / least)
    steepness = (1 - bound) / (1 - prior @ prior)
    wanted = 1 - steepness + steepness * prior
    smallest, largest = int(1 / wanted.max() + 1e-9), int(np.ceil(1 / wanted.min() - 1e-9)) + 5
    others = np.unique(np.linspace(int(1 / bound), min(largest, len(prior) - 1), _SIZES).astype(int))
    for small in range(least, max(least, min(smallest, least + 3)) + 1):
        for large in others[others > small]:
            shares = _shares(prior, bound, small, int(large))
            if shares is not None:
                yield small, int(large), shares


def _shares(prior: Array, accuracy: float, small: int, large: int) -> Array | None:
    """Shares of the smaller size with which the adversary has this accuracy, by bisection on s; None if none have."""
    low, high = 0.0, 2 / (1 - prior.max())
    for _ in range(50):
        middle = (low + high) / 2
        above = _accuracy(prior, _shares_at(prior, middle, small, large), small, large) > accuracy
        low, high = (middle, high) if above else (low, middle)
    shares = _shares_at(prior, high, small, large)
    return shares if _accuracy(prior, shares, small, large) <= accuracy * (1 + 1e-12) else None


def _accuracy(prior: Array, shares: Array, small: int, large: int) -> float:
    return float(prior @ (shares / small + (1 - shares) / large))


def _shares_at(prior: Array, steepness: float, small: int, large: int) -> Array:
    """Shares with mean `1 - s + s p` of 1/|S|, but so large that no category has to be in more than all larger sets.

    That caps `p (1 - share)` at 1/large of its sum: with the j most frequent capped, at `rest_j / (large - j)`.
    """
    shares = (1 - steepness + steepness * prior - 1 / large) / (1 / small - 1 / large)
    others = prior * (1 - np.clip(shares, _LEAST, 1 - _LEAST))
    largest = np.sort(others)[::-1][: large - 1]
    rests = others.sum() - np.cumsum(largest) + largest
    size = large / (1 - _LEAST)
    caps = rests / (size - np.arange(len(largest)))
    fits = largest <= caps
    cap = caps[np.argmax(fits)] if fits.any() else caps[-1]
    return np.asarray(1 - np.minimum(others, cap) / prior)


def _mixed(prior: Array, small: int, large: int, shares: Array) -> tuple[tuple[SetComponent, ...], float]:
    """Components with these shares, and `(tr J^-1 - |p|^2) / n`; no components where a share is too large for sets."""
    information, parts, ones = np.zeros((len(prior), len(prior))), [], np.ones(len(prior))
    for size, part in ((small, prior * shares), (large, prior * (1 - shares))):
        inclusion = size * part / part.sum()
        if inclusion.max() >= 1:
            return (), np.inf
        weights, law = _weights(inclusion, size)
        information += part.sum() / size**2 * law.pairs / np.outer(prior, prior)
        parts.append(SetComponent(float(part.sum()) / size, size, weights, ones))
    return tuple(parts), float((np.trace(np.linalg.inv(information)) - prior @ prior) / len(prior))


def _weights(inclusion: Array, size: int) -> tuple[Array, Slab]:
    """Weights with which sets of a size hold each category so often, by Newton steps on the log-weights."""
    logs, ones = np.log(inclusion / (1 - inclusion)), np.ones(len(inclusion))
    law, steps = slab(logs, ones, size), 0
    while np.abs(law.inclusion / inclusion - 1).max() > 1e-12 and steps < _MOST_STEPS:
        # The law does not change with a factor common to all weights, along which the covariance is zero.
        covariance = law.pairs - np.outer(law.inclusion, law.inclusion) + 1 / len(logs)
        step = np.linalg.solve(covariance, inclusion - law.inclusion)
        logs = logs + step / max(1.0, np.abs(step).max())
        law, steps = slab(logs, ones, size), steps + 1
    return np.exp(logs - logs.mean()), law
