"""A primal-dual interior-point method for the multipliers of the information program.

By duality the least information, in nats, is the largest `p.worth - slope D` such that no report has a row with a
loss below zero (see `rows`): as many unknowns as truths, and one smooth concave constraint a report, whose multipliers
are the probabilities of the reports. Second derivatives are covariances of posteriors with the clipped truths taken
together, `diag(q_free) + q_clipped q_clipped^T / sum q_clipped - q q^T`, so that a step costs three matrix products and
one solve. They jump where truths begin to be clipped; a proximal term that vanishes with the residual tames that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.rows import Rows, best_rows

MOST_STEPS = 200
NEAR, ABSOLUTE = 1e-5, 1e-12
"""Complementarity, as a share of the information, below which a point may be good enough."""


@dataclass(frozen=True)
class Optimum:
    """Multipliers: the `worth` of a truth's probability, the `slope` of the front, the reports' `weights` and `slacks`.

    `rows` are the best rows against them.
    """

    worth: Array
    slope: float
    weights: Array
    slacks: Array
    rows: Rows

    @property
    def center(self) -> float:
        """Mean product of weights and slacks: zero at the optimum."""
        return float(self.weights @ self.slacks / self.weights.size)


def central_path(prior: Array, odds: float, distortion: float) -> Iterator[Optimum]:
    """Points ever closer to the multipliers of the channel that tells least, from a start that knows nothing."""
    unit = min(1.0, np.log(odds))
    rows = best_rows(prior, odds, np.zeros(prior.size), unit)
    # A constant added to the worth is taken from every loss: the start is feasible.
    worth = np.full(prior.size, rows.losses.min() - 0.1 * unit**2)
    rows = best_rows(prior, odds, worth, unit)
    point = Optimum(worth, unit, prior, rows.losses, rows)
    for _ in range(MOST_STEPS):
        gradients, residual = _stationarity(prior, distortion, point)
        point = _stepped(prior, odds, point, gradients, residual)
        nats = prior @ point.worth - point.slope * distortion
        left = prior.size * point.center
        if left <= max(NEAR * nats, ABSOLUTE):
            yield point
        if left <= max(1e-12 * nats, 1e-16):
            break


def _stationarity(prior: Array, distortion: float, point: Optimum) -> tuple[Array, Array]:
    """Gradients of the losses by worth and slope, a row each; and what columns and distortion lack."""
    posteriors = point.rows.posteriors
    gradients = np.column_stack([-posteriors, 1 - posteriors.diagonal()])
    return gradients, np.append(prior, -distortion) + point.weights @ gradients


def _stepped(prior: Array, odds: float, point: Optimum, gradients: Array, residual: Array) -> Optimum:
    """Mehrotra's choice of centering, then one damped Newton step."""
    weights, slacks, center = point.weights, point.slacks, point.center
    # Information is of second order in a small log odds, and what a column lacks of first.
    unit = min(1.0, np.log(odds))
    lack = np.abs(residual).max()
    ratios = weights / slacks
    system = _curvature(point) + gradients.T @ (ratios[:, None] * gradients)
    proximal = min(0.1, 10 * max(center / unit**2, lack / unit)) + 1e-13
    system[np.diag_indices_from(system)] += proximal * np.append(prior, 0.01)

    def direction(target: float) -> tuple[Array, Array, Array]:
        right = residual + gradients.T @ (target / slacks - ratios * point.rows.losses)
        move = np.linalg.solve(system, right)
        slack_move = gradients @ move + point.rows.losses - slacks
        return move, slack_move, (target - weights * slack_move) / slacks - weights

    _, slack_move, weight_move = direction(0.0)
    reached = (slacks + _longest(slacks, slack_move) * slack_move) @ (
        weights + _longest(weights, weight_move) * weight_move
    )
    share = (reached / prior.size / center) ** 3
    # The residual must not be left behind, or the weights of needed reports are lost to rounding.
    target = max(share * center, min(center, max(1e-16, 0.1 * unit * lack / prior.size)))
    move, slack_move, weight_move = direction(target)
    most = max(0.9, 1 - center / unit**2)
    step = min(
        1.0,
        most * _longest(slacks, slack_move, 2.0),
        most * _longest(weights, weight_move, 2.0),
        0.9 * _longest(np.array([point.slope]), move[-1:], 2.0),
    )
    worth, slope = point.worth + step * move[:-1], point.slope + step * float(move[-1])
    rows = best_rows(prior, odds, worth, slope, point.rows.levels)
    return Optimum(worth, slope, weights + step * weight_move, slacks + step * slack_move, rows)


def _curvature(point: Optimum) -> Array:
    """`sum_y weight_y H_y` by worth and slope; H_y takes constants to zero, so the slope acts on the diagonal alone."""
    weights, whole = point.weights, point.rows.posteriors
    clipped = np.where(point.rows.clipped, whole, 0)
    free = whole - clipped
    together = clipped.sum(axis=1)
    scaled = np.divide(weights, together, out=np.zeros_like(weights), where=together > 0)
    size = weights.size
    curvature = np.empty((size + 1, size + 1))
    curvature[:size, :size] = clipped.T @ (scaled[:, None] * clipped) - whole.T @ (weights[:, None] * whole)
    curvature[np.arange(size), np.arange(size)] += weights @ free
    own, own_clipped, own_free = whole.diagonal(), clipped.diagonal(), free.diagonal()
    curvature[:size, size] = weights * own_free + (scaled * own_clipped) @ clipped - (weights * own) @ whole
    curvature[size, :size] = curvature[:size, size]
    curvature[size, size] = weights @ (own_free - own**2) + scaled @ own_clipped**2
    return curvature


def _longest(values: Array, moves: Array, most: float = 1.0) -> float:
    """Longest step, up to `most`, that leaves positive values at zero or above."""
    falling = moves < 0
    return min(most, float((values[falling] / -moves[falling]).min())) if falling.any() else most
