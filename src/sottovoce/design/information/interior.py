"""A primal-dual interior-point method for the information program: ten to twenty steps, a few matrix products each.

Second derivatives jump where truths begin to be clipped, and vanish where all are. A proximal term that goes with the
infeasibility and a loose line search make up for that.
"""

from collections.abc import Iterator

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.program import Point, Program, first_point

MOST_STEPS, MOST_HALVINGS = 100, 8
NEAR, NEAREST = 1e-5, 1e-12
"""Complementarity, as a share of the information, below which a point may be good enough, and is as good as it gets."""
NEGLIGIBLE = 1e-16
"""Complementarity in nats that rounding hides."""


def central_path(program: Program, caution: float) -> Iterator[Point]:
    """Points ever closer to the optimum, from where they may be good enough; caution makes steps shorter."""
    point = first_point(program)
    for _ in range(MOST_STEPS):
        try:
            point = _stepped(point, caution)
        except np.linalg.LinAlgError:  # rounding has eaten what was left to gain
            break
        left = point.weights.size * point.center
        if left <= NEAR * max(point.information, program.unit**2 * 1e-7):
            yield point
        if left <= max(NEAREST * point.information, NEGLIGIBLE):
            break


def _stepped(point: Point, caution: float) -> Point:
    """One Newton step, centered as Mehrotra does and damped."""
    unit, size, center = point.program.unit, point.weights.size, point.center
    lack = np.abs(point.lacks).max()
    newton = _Newton(point, min(0.1, caution * size * max(center / unit**2, lack / unit)) + 1e-13)
    _, weights, slacks = newton.direction(0.0)
    straight = (point.weights + min(1.0, _longest(point.weights, weights)) * weights) @ (
        point.slacks + min(1.0, _longest(point.slacks, slacks)) * slacks
    )
    # What is lacking must not be left behind, or the weights of needed reports are lost to rounding.
    behind = min(center, max(NEGLIGIBLE, 0.1 * unit * lack / size))
    multipliers, weights, slacks = newton.direction(max((straight / size / center) ** 3 * center, behind))
    most = max(0.9, 1 - center / unit**2)
    step = min(1.0, most * _longest(point.weights, weights), most * _longest(point.slacks, slacks))
    acceptable = 2 * max(point.infeasibility, size * center / unit**2)
    for _ in range(MOST_HALVINGS):
        moved = point.moved(step, multipliers, weights, slacks)
        if moved.infeasibility <= acceptable:
            break
        step /= 2
    return moved


class _Newton:
    """Newton's equations at a point, reduced to worths and slope."""

    def __init__(self, point: Point, proximal: float) -> None:
        """Build the matrix once for all directions."""
        self._point = point
        self._gradients = point.gradients
        self._ratios = point.weights / point.slacks
        self._matrix = point.curvature() + self._gradients.T @ (self._ratios[:, None] * self._gradients)
        self._matrix[np.diag_indices_from(self._matrix)] += proximal * np.append(point.program.prior, 0.01)

    def direction(self, target: float) -> tuple[Array, Array, Array]:
        """Directions of multipliers, weights and slacks to where weights times slacks are the target."""
        point, losses = self._point, self._point.rows.losses
        right = point.lacks + (target / point.slacks - self._ratios * losses) @ self._gradients
        multipliers: Array = np.linalg.solve(self._matrix, right).astype(np.float64, copy=False)
        slacks = self._gradients @ multipliers + losses - point.slacks
        return multipliers, (target - point.weights * slacks) / point.slacks - point.weights, slacks


def _longest(values: Array, directions: Array) -> float:
    """Longest step, up to 2, that leaves positive values at zero or above."""
    falling = directions < 0
    return min(2.0, float((values[falling] / -directions[falling]).min())) if falling.any() else 2.0
