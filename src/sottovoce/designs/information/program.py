"""The dual of the information program, solved by a primal-dual interior-point method.

With `L_yx = worth_x - slope [x != y]`, row y minimises `sum_x p_x v_x (log v_x - L_yx)` over likelihood ratios v with
`p.v = 1` and `max v <= e min v`. The answer is `v_x = c min(e, max(1, exp(L_yx + r)))`, where r balances what is lost
by clipping: `sum_x p_x max(0, -L_yx - r) = e sum_x p_x max(0, L_yx + r - log e)`, decreasing in r and linear in pieces.

The least information, in nats, is the largest `p.worth - slope D` such that no report has a row with a loss below
zero: an unknown for each truth and one more, and a smooth concave constraint for each report, whose multipliers are the
probabilities of the reports. Stationarity means that the columns of the channel sum to one and its distortion is D.

Second derivatives jump where truths begin to be clipped, and vanish where all are; a proximal term in proportion to the
infeasibility and a loose line search compensate for that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sottovoce.checks import Array

MOST_ROUNDS = 100
MOST_STEPS, MOST_HALVINGS = 100, 8
NEAR, NEAREST = 1e-5, 1e-12
"""Complementarity relative to the information: below the first a point may be good enough, below the second stop."""
NEGLIGIBLE = 1e-16
"""Complementarity in nats that is lost in rounding."""


@dataclass(frozen=True)
class Rows:
    """Best rows: the minima as `losses`, `posteriors` p_x v_x, a mask of `clipped` entries, and the `levels` r."""

    losses: Array
    posteriors: Array
    clipped: Array
    levels: Array


def targets(worth: Array, slope: float) -> Array:
    """`L_yx = worth_x - slope [x != y]`."""
    matrix: Array = worth - slope * (1 - np.eye(worth.size))
    return matrix


def best_rows(prior: Array, odds: float, worth: Array, slope: float, near: Array | None = None) -> Rows:
    """Minimise every row, starting from the levels `near`."""
    wanted = targets(worth, slope)
    levels = _levels(prior, odds, wanted, near)
    raised = wanted + levels[:, None]
    logarithms = np.clip(raised, 0, np.log(odds))
    posteriors = prior * np.exp(logarithms)
    sums = posteriors.sum(axis=1)
    posteriors /= sums[:, None]
    losses = (posteriors * (logarithms - wanted)).sum(axis=1) - np.log(sums)
    return Rows(losses, posteriors, (raised <= 0) | (raised >= np.log(odds)), levels)


def _levels(prior: Array, odds: float, wanted: Array, near: Array | None) -> Array:
    """Newton's method within brackets, exact once it meets the same linear piece, known by its slope, twice.

    If a row need not be clipped at all, a whole interval of levels is balanced; its middle is returned.
    """
    ceiling = np.log(odds)
    low, high = -wanted.max(axis=1), ceiling - wanted.min(axis=1)
    middle = (low + high) / 2
    unclipped = np.ptp(wanted, axis=1) <= ceiling
    levels = middle if near is None else np.clip(near, low, high)
    piece = np.full(prior.size, np.nan)
    for _ in range(MOST_ROUNDS):
        raised = wanted + levels[:, None]
        below, above = np.minimum(raised, 0), np.maximum(raised - ceiling, 0)
        balance = -(below @ prior) - odds * (above @ prior)
        steepness = (below < 0) @ prior + odds * ((above > 0) @ prior)
        converged = (steepness == piece) | unclipped
        low, high = np.where(balance > 0, levels, low), np.where(balance < 0, levels, high)
        moved = levels + np.divide(balance, steepness, out=np.zeros_like(balance), where=steepness > 0)
        if converged.all():
            levels = moved
            break
        # Bisect at the ends of the bracket, which have been tried: Newton may cycle between two kinks.
        outside = ~converged & ((moved <= low) | (moved >= high))
        levels = np.where(outside, (low + high) / 2, moved)
        piece = np.where(outside, np.nan, steepness)
    chosen: Array = np.where(unclipped, middle, levels)
    return chosen


@dataclass(frozen=True)
class Program:
    """Minimise information within odds above one, at a distortion between the smallest and the largest useful one."""

    prior: Array
    odds: float
    distortion: float

    @property
    def unit(self) -> float:
        """Scale of multipliers and deviations from one for odds near one; information scales with its square."""
        return min(1.0, float(np.log(self.odds)))


@dataclass(frozen=True)
class Point:
    """Multipliers of a program, and the best rows for them.

    `worth` are the multipliers of the columns, `slope` is that of the distortion, the slope of the front; `weights` are
    the probabilities of the reports, and `slacks` equal the losses of their rows at the optimum.
    """

    program: Program
    worth: Array
    slope: float
    weights: Array
    slacks: Array
    rows: Rows

    @property
    def center(self) -> float:
        """Mean product of weights and slacks: zero at the optimum."""
        return float(self.weights @ self.slacks / self.weights.size)

    @property
    def information(self) -> float:
        """`p.worth - slope D`, in nats: a bound if no loss is below zero."""
        return float(self.program.prior @ self.worth - self.slope * self.program.distortion)

    @property
    def gradients(self) -> Array:
        """Derivatives of each report's loss by the worths and by the slope."""
        posteriors = self.rows.posteriors
        return np.column_stack([-posteriors, 1 - posteriors.diagonal()])

    @property
    def residuals(self) -> Array:
        """Residuals of the columns' sums, weighted by the prior, and of the distortion."""
        return np.append(self.program.prior, -self.program.distortion) + self.weights @ self.gradients

    @property
    def infeasibility(self) -> float:
        """Largest residual, or difference of a slack and its loss, each in its unit."""
        difference = np.abs(self.rows.losses - self.slacks).max()
        return float(max(np.abs(self.residuals).max() / self.program.unit, difference / self.program.unit**2))

    def moved(self, step: float, multipliers: Array, weights: Array, slacks: Array) -> "Point":
        """Return the point a step along these directions; `multipliers` are worths, then slope."""
        worth = self.worth + step * multipliers[:-1]
        # Keep the slope above zero without shortening the step for the rest.
        slope = max(self.slope + step * float(multipliers[-1]), self.slope / 10)
        rows = best_rows(self.program.prior, self.program.odds, worth, slope, self.rows.levels)
        return Point(self.program, worth, slope, self.weights + step * weights, self.slacks + step * slacks, rows)

    def curvature(self) -> Array:
        """Minus the weighted sum of second derivatives of the losses with respect to worths and slope.

        For one report and its targets they are the covariance of the posterior with the clipped truths merged,
        `diag(q_free) + q_clipped q_clipped^T / sum q_clipped - q q^T`. Constants are in its null space, so that the
        slope acts on the diagonal entry alone.
        """
        weights, whole = self.weights, self.rows.posteriors
        clipped = np.where(self.rows.clipped, whole, 0)
        merged = clipped.sum(axis=1)
        shared = np.divide(weights, merged, out=np.zeros_like(weights), where=merged > 0)
        free = whole - clipped
        by_worth = clipped.T @ (shared[:, None] * clipped) - whole.T @ (weights[:, None] * whole)
        by_worth[np.diag_indices_from(by_worth)] += weights @ free
        diagonal, diagonal_clipped, diagonal_free = whole.diagonal(), clipped.diagonal(), free.diagonal()
        mixed = weights * diagonal_free + (shared * diagonal_clipped) @ clipped - (weights * diagonal) @ whole
        by_slope = weights @ (diagonal_free - diagonal**2) + shared @ diagonal_clipped**2
        return np.block([[by_worth, mixed[:, None]], [mixed[None, :], by_slope]])


def first_point(program: Program) -> Point:
    """Return a feasible start: a constant added to every worth is subtracted from every loss."""
    size, slope = program.prior.size, program.unit
    losses = best_rows(program.prior, program.odds, np.zeros(size), slope).losses
    worth = np.full(size, losses.min() - 0.1 * program.unit**2)
    rows = best_rows(program.prior, program.odds, worth, slope)
    return Point(program, worth, slope, program.prior, rows.losses, rows)


def central_path(program: Program, caution: float) -> Iterator[Point]:
    """Yield points that approach the optimum, once they may be good enough; caution shortens the steps."""
    point = first_point(program)
    for _ in range(MOST_STEPS):
        try:
            point = _step(point, caution)
        except np.linalg.LinAlgError:  # no further progress in floating point
            break
        left = point.weights.size * point.center
        if left <= NEAR * max(point.information, program.unit**2 * 1e-7):
            yield point
        if left <= max(NEAREST * point.information, NEGLIGIBLE):
            break


def _step(point: Point, caution: float) -> Point:
    """One damped Newton step with Mehrotra's centring."""
    unit, size, center = point.program.unit, point.weights.size, point.center
    residual = np.abs(point.residuals).max()
    newton = _Newton(point, min(0.1, caution * size * max(center / unit**2, residual / unit)) + 1e-13)
    _, weights, slacks = newton.direction(0.0)
    straight = (point.weights + min(1.0, _longest(point.weights, weights)) * weights) @ (
        point.slacks + min(1.0, _longest(point.slacks, slacks)) * slacks
    )
    # Residuals must fall as fast as complementarity, or weights of needed reports are lost to rounding.
    least_target = min(center, max(NEGLIGIBLE, 0.1 * unit * residual / size))
    multipliers, weights, slacks = newton.direction(max((straight / size / center) ** 3 * center, least_target))
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
        """Build the matrix, once for all directions."""
        self._point = point
        self._gradients = point.gradients
        self._ratios = point.weights / point.slacks
        self._matrix = point.curvature() + self._gradients.T @ (self._ratios[:, None] * self._gradients)
        self._matrix[np.diag_indices_from(self._matrix)] += proximal * np.append(point.program.prior, 0.01)

    def direction(self, target: float) -> tuple[Array, Array, Array]:
        """Return directions of multipliers, weights and slacks towards weights times slacks = target."""
        point, losses = self._point, self._point.rows.losses
        right = point.residuals + (target / point.slacks - self._ratios * losses) @ self._gradients
        multipliers: Array = np.linalg.solve(self._matrix, right).astype(np.float64, copy=False)
        slacks = self._gradients @ multipliers + losses - point.slacks
        return multipliers, (target - point.weights * slacks) / point.slacks - point.weights, slacks


def _longest(values: Array, directions: Array) -> float:
    """Longest step, up to 2, that leaves positive values at zero or above."""
    falling = directions < 0
    return min(2.0, float((values[falling] / -directions[falling]).min())) if falling.any() else 2.0
