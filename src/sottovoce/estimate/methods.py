"""From counts to an estimate, by each of the methods there are."""

from typing import Literal

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimate.blue import blue_matrix
from sottovoce.estimate.counted import Counted
from sottovoce.estimate.em import Progress, em, observed_covariance
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import InversionSpread, MatrixSpread, Spread, Target
from sottovoce.estimate.weights import WeightedSpread, shift_of

Method = Literal["inversion", "blue", "em", "simplex"]


def by_inversion(counted: Counted, target: Target, method: Method = "inversion") -> Estimate:
    """Unbiased estimate from counts, or the distribution nearest to it."""
    channel, order, seen = counted.channel, counted.order, counted.seen
    value = channel.solve(seen)[order]
    spread: Spread
    if counted.weighted is None:
        spread = InversionSpread(channel, seen, value, counted.respondents, order, target)
    else:
        twice = counted.weighted.seen_squared
        own = InversionSpread(channel, twice, channel.solve(twice)[order], counted.effective, order, target)
        spread = WeightedSpread(own, shift_of(own, value))
    return _estimate(counted, nearest_distribution(value) if method == "simplex" else value, spread, target, method)


def by_blue(counted: Counted, target: Target) -> Estimate:
    """Weigh by the distribution nearest to a first, plain estimate; unbiased up to its noise."""
    first = nearest_distribution(counted.channel.solve(counted.seen))
    rows = blue_matrix(counted.channel, first)[counted.order]
    value = rows @ counted.seen
    twice = counted.seen if counted.weighted is None else counted.weighted.seen_squared
    again = rows @ twice
    # Around the estimate itself, as WeightedSpread has it; without weights both are the same.
    own = np.outer(again, value) + np.outer(value, again) - np.outer(value, value)
    taken = own if target == "population" else np.diag(again)
    spread = MatrixSpread(((rows * twice) @ rows.T - taken) / counted.effective)
    return _estimate(counted, value, spread, target, "blue")


def by_em(counted: Counted, target: Target, progress: Progress | None = None) -> Estimate:
    """Most likely distribution, with the covariance of its observed information."""
    if target == "table":
        raise SottovoceError("target", "must be the population for em, whose likelihood is that of a sample", target)
    if counted.weighted is not None:
        raise SottovoceError(
            "method", "must be inversion, blue or simplex with weights, which have no likelihood", "em"
        )
    if np.isinf(counted.channel.condition_number):
        raise SingularChannelError("channel", "must tell every truth from every other", Words("one that does not"))
    fit = em(counted.channel, counted.counts, progress=progress)
    covariance = observed_covariance(counted.channel, counted.counts, fit.value)
    matrix = covariance[counted.order][:, counted.order]
    value = fit.value[counted.order]
    return _estimate(counted, value, MatrixSpread(matrix), target, fit.method)


def _estimate(counted: Counted, value: Array, spread: Spread, target: Target, method: str) -> Estimate:
    attributes, categories = counted.attributes, counted.categories
    effective = None if counted.weighted is None else counted.effective
    return Estimate(attributes, categories, value, spread, counted.seen, counted.respondents, target, method, effective)
