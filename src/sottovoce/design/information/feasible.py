"""From nearly optimal rows to a channel that meets every requirement."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.program import Point
from sottovoce.design.information.smallest import answered_by_others, least_distorting


def feasible_channel(point: Point) -> Array:
    """Drop reports that vanish at the optimum, make columns sum to one, and mix towards odds and distortion.

    Each step changes the channel by no more than what the multipliers left open.
    """
    prior, odds, distortion = point.program.prior, point.program.odds, point.program.distortion
    kept = np.flatnonzero(point.weights > point.slacks)
    matrix = np.zeros((prior.size, prior.size))
    matrix[kept] = (point.weights[:, None] * point.rows.posteriors)[kept] / prior
    matrix = answered_by_others(matrix / matrix.sum(axis=0), prior, kept)
    return _within_distortion(_within_odds(matrix, prior, odds), prior, odds, distortion)


def _within_odds(matrix: Array, prior: Array, odds: float) -> Array:
    """Mix with the channel that answers by the law of the reports, as little as the worst row needs."""
    law = (matrix @ prior)[:, None]
    excess = np.maximum(matrix.max(axis=1) - odds * matrix.min(axis=1), 0)[:, None]
    needed = np.divide(excess, excess + (odds - 1) * law, out=np.zeros_like(law), where=excess > 0).max()
    mixed: Array = (1 - needed) * matrix + needed * law
    return mixed


def _within_distortion(matrix: Array, prior: Array, odds: float, distortion: float) -> Array:
    """Mix with the least distorting channel, as little as is needed."""
    best = least_distorting(prior, odds)
    has, least = (1 - float(one.diagonal() @ prior) for one in (matrix, best))
    needed = min((has - distortion) / (has - least), 1.0) if has > distortion else 0.0
    mixed: Array = (1 - needed) * matrix + needed * best
    return mixed
