"""Distributions from frequencies of reports, many tables at once: a column for each."""

from typing import Literal

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.estimate.em import extrapolated, factors, mean_log_likelihood
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
        by = factors(channel, seen[:, left], found[:, left])
        short = np.log(by.max(axis=0)) > tolerance
        if not short.any():
            break
        left = left[short]
        found[:, left] = _improved(channel, seen[:, left], found[:, left], by[:, short])
    return found


def _improved(channel: Channel, seen: Array, point: Array, by: Array) -> Array:
    """Two steps, or more by extrapolation where that is better."""
    first = point * by
    second = first * factors(channel, seen, first)
    bold = extrapolated(point, first, second)
    bold = bold * factors(channel, seen, bold)
    better = mean_log_likelihood(channel, seen, bold) >= mean_log_likelihood(channel, seen, second)
    return np.where(better, bold, second)
