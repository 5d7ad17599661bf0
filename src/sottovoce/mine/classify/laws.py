"""Distributions from frequencies of reports, many tables at once: a column for each."""

from typing import Literal

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.estimate.em import FARTHEST
from sottovoce.estimate.simplex import nearest_distribution

Repair = Literal["em", "simplex", "plain"]
"""What is done about estimates that noise carries out of the simplex: the most likely law, the nearest, or nothing."""

CLOSE_ENOUGH = 0.01
"""Log-likelihood of all reports together by which a law may fall short of the most likely one."""

MOST_STEPS = 500


def reconstructed(channel: Channel, seen: Array, respondents: int, repair: Repair) -> tuple[Array, Array]:
    """Law of the truths behind each column of frequencies, and how many clear records it is worth.

    N reports tell as much of a law p as `N_eff = sum p (1 - p) / sum V` records in clear would, V being the
    variances of the unbiased estimate; never more than N, and not less than one.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> law, worth = reconstructed(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.6], [0.4]]), 1000, "em")
    >>> law.ravel().round(6), worth.round(2)
    (array([0.7, 0.3]), array([218.75]))
    """
    raw = channel.solve(seen)
    law = raw if repair == "plain" else nearest_distribution(raw)
    outside = (raw < 0).any(axis=0) if channel.n_in == channel.n_out else np.ones(raw.shape[1], bool)
    if repair == "em" and outside.any():
        law[:, outside] = likeliest(channel, seen[:, outside], CLOSE_ENOUGH / respondents)
    scatter = np.maximum(channel.solve_squared(seen) - raw**2, 0).sum(axis=0) / respondents
    own = np.maximum((law * (1 - law)).sum(axis=0), 0)
    worth = np.divide(own, scatter, out=np.full(len(own), float(respondents)), where=scatter > 0)
    return law, np.clip(worth, 1, respondents)


def likeliest(channel: Channel, seen: Array, tolerance: float) -> Array:
    """Most likely law of each column, to within `tolerance` of mean log-likelihood: `estimate.em` for columns.

    Pairs of EM steps are extrapolated (Varadhan & Roland 2008) where that does not lower the likelihood.
    """
    found = np.full((channel.n_in, seen.shape[1]), 1 / channel.n_in)
    left = np.arange(seen.shape[1])
    for _ in range(MOST_STEPS):
        factors = _factors(channel, seen[:, left], found[:, left])
        short = np.log(factors.max(axis=0)) > tolerance
        if not short.any():
            break
        left = left[short]
        found[:, left] = _improved(channel, seen[:, left], found[:, left], factors[:, short])
    return found


def _improved(channel: Channel, seen: Array, point: Array, factors: Array) -> Array:
    """Two steps, or more by extrapolation where that is better."""
    first = point * factors
    second = first * _factors(channel, seen, first)
    bold = _extrapolated(point, first, second)
    bold = bold * _factors(channel, seen, bold)
    better = _likelihood(channel, seen, bold) >= _likelihood(channel, seen, second)
    return np.where(better, bold, second)


def _factors(channel: Channel, seen: Array, point: Array) -> Array:
    expected = channel.matvec(point)
    return channel.rmatvec(np.divide(seen, expected, out=np.zeros_like(expected), where=expected > 0))


def _extrapolated(start: Array, first: Array, second: Array) -> Array:
    change, bend = first - start, second - 2 * first + start
    lengths = np.linalg.norm(change, axis=0), np.maximum(np.linalg.norm(bend, axis=0), 1e-300)
    stride = np.clip(lengths[0] / lengths[1], 1.0, FARTHEST)
    # A cell that falls to zero could never rise again: a jump may take only most of it.
    jumped = np.maximum(start + 2 * stride * change + stride**2 * bend, second / 100)
    return np.asarray(jumped / jumped.sum(axis=0))


def _likelihood(channel: Channel, seen: Array, point: Array) -> Array:
    expected = channel.matvec(point)
    logs = np.log(expected, out=np.full_like(expected, -np.inf), where=expected > 0)
    return np.asarray(np.where(seen > 0, seen * np.where(seen > 0, logs, 0), 0).sum(axis=0))
