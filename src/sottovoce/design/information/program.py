"""The dual of the information program: its points, what they lack, and its curvature.

The least information, in nats, is the largest `p.worth - slope D` such that no report has a row with a loss below zero
(see `rows`): one unknown a truth and one more, and a smooth concave constraint a report, whose multipliers are the
probabilities of the reports. Stationarity says that the columns of the channel sum to one and its distortion is D.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.rows import Rows, best_rows


@dataclass(frozen=True)
class Program:
    """Least information within odds above one and at a distortion between the smallest and the largest useful one."""

    prior: Array
    odds: float
    distortion: float

    @property
    def unit(self) -> float:
        """Size of multipliers and deviations from one where the odds are near one; information has its square."""
        return min(1.0, float(np.log(self.odds)))


@dataclass(frozen=True)
class Point:
    """Multipliers of a program, and the rows that are best against them.

    `worth` has the worth of each truth's probability, `slope` the front's; `weights` are the probabilities of the
    reports, `slacks` stand for the losses of their rows and meet them at the optimum.
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
    def lacks(self) -> Array:
        """What columns, in shares of the truths, and distortion lack."""
        return np.append(self.program.prior, -self.program.distortion) + self.weights @ self.gradients

    @property
    def infeasibility(self) -> float:
        """Largest lack or distance of a slack from its loss, each in its unit."""
        apart = np.abs(self.rows.losses - self.slacks).max()
        return float(max(np.abs(self.lacks).max() / self.program.unit, apart / self.program.unit**2))

    def moved(self, step: float, multipliers: Array, weights: Array, slacks: Array) -> "Point":
        """Point a step along these directions; `multipliers` has those of the worths, then of the slope."""
        worth = self.worth + step * multipliers[:-1]
        # The slope must stay above zero, but a step that would end there must not hold up the rest.
        slope = max(self.slope + step * float(multipliers[-1]), self.slope / 10)
        rows = best_rows(self.program.prior, self.program.odds, worth, slope, self.rows.levels)
        return Point(self.program, worth, slope, self.weights + step * weights, self.slacks + step * slacks, rows)

    def curvature(self) -> Array:
        """Minus the second derivatives of the losses by worths and slope, weighted and summed.

        Of one report by its targets they are the covariance of the posterior with the clipped truths taken together,
        `diag(q_free) + q_clipped q_clipped^T / sum q_clipped - q q^T`. It takes constants to zero, so that the
        slope acts on the report's own truth alone.
        """
        weights, whole = self.weights, self.rows.posteriors
        clipped = np.where(self.rows.clipped, whole, 0)
        together = clipped.sum(axis=1)
        shared = np.divide(weights, together, out=np.zeros_like(weights), where=together > 0)
        free = whole - clipped
        by_worth = clipped.T @ (shared[:, None] * clipped) - whole.T @ (weights[:, None] * whole)
        by_worth[np.diag_indices_from(by_worth)] += weights @ free
        own, own_clipped, own_free = whole.diagonal(), clipped.diagonal(), free.diagonal()
        mixed = weights * own_free + (shared * own_clipped) @ clipped - (weights * own) @ whole
        by_slope = weights @ (own_free - own**2) + shared @ own_clipped**2
        return np.block([[by_worth, mixed[:, None]], [mixed[None, :], by_slope]])


def first_point(program: Program) -> Point:
    """A point that knows nothing but is feasible: a constant added to every worth is taken from every loss."""
    size, slope = program.prior.size, program.unit
    losses = best_rows(program.prior, program.odds, np.zeros(size), slope).losses
    worth = np.full(size, losses.min() - 0.1 * program.unit**2)
    rows = best_rows(program.prior, program.odds, worth, slope)
    return Point(program, worth, slope, program.prior, rows.losses, rows)
