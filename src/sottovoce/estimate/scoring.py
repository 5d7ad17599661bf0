"""Coefficients of a log-linear model by Fisher scoring on the likelihood of disguised reports."""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.observed import Observed

GAINED = 1e-3
"""Gain of plausibility, in units of log-likelihood, below which a step is the last."""

HALVINGS = 14
"""How often a step is halved that lowers the plausibility."""


@dataclass(frozen=True, eq=False)
class Model:
    """Reports, and the contrasts of the joint cells: `p ~ exp(Z b)`."""

    reports: Observed
    columns: Array

    def law(self, b: Array) -> Array:
        """Law of the joint cells."""
        heights = self.columns @ b
        cells = np.exp(heights - heights.max())
        return np.asarray(cells / cells.sum())

    def plausibility(self, b: Array, precision: Array) -> float:
        """Log-likelihood and prior of coefficients."""
        return self.reports.log_likelihood(self.law(b)) - 0.5 * float(precision @ b**2)

    def derivative(self, cells: Array) -> Array:
        """Of the joint cells by the coefficients."""
        return np.asarray(cells[:, None] * (self.columns - cells @ self.columns))

    def information(self, b: Array) -> Array:
        """Expected information about the coefficients."""
        cells = self.law(b)
        return self.reports.information(cells, self.derivative(cells))

    def score(self, b: Array) -> Array:
        """Derivative of the log-likelihood."""
        cells = self.law(b)
        return np.asarray(self.columns.T @ (cells * (self.reports.gradient(cells) - self.reports.total)))


def most_plausible(model: Model, b: Array, precision: Array, steps: int) -> Array:
    """Coefficients from these on, given the inverses of their prior variances.

    A step is `(H + diag(precision))^-1 (score - precision b)`; one that lowers the plausibility is halved.
    """
    height = model.plausibility(b, precision)
    for _ in range(steps):
        step = np.linalg.solve(model.information(b) + np.diag(precision), model.score(b) - precision * b)
        for halvings in range(HALVINGS):
            reached = model.plausibility(b + step / 2**halvings, precision)
            if reached >= height - 1e-6:
                break
        else:
            break
        b, gained, height = b + step / 2**halvings, reached - height, reached
        if gained < GAINED:
            break
    return b
