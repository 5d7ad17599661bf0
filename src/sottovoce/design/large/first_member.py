"""Which category comes first among a set's members, in a given order, and how that changes with the weights."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.large.slab import typical_shift


@dataclass(frozen=True)
class FirstMembers:
    """Sums over the sets of the categories from each rank on, by total length: all, and those that hold the first.

    Each of plain products of weights, and of these times `slope . z`.
    """

    lengths: NDArray[np.int64]
    weights: Array
    slope: Array
    plain: Array
    held: Array
    held_tilted: Array

    @staticmethod
    def of(log_weights: Array, lengths: Array, size: int, slope: Array) -> "FirstMembers":
        """Sums from the last rank up; all arguments are in the order of ranks."""
        weights = np.exp(log_weights + typical_shift(log_weights, lengths, size) * lengths)
        steps, n = lengths.astype(np.int64), len(weights)
        plain, held, held_tilted = np.zeros((n + 1, size + 1)), np.zeros((n, size + 1)), np.zeros((n, size + 1))
        plain[n, 0], tilted = 1.0, np.zeros(size + 1)
        for r in range(n - 1, -1, -1):
            held[r] = weights[r] * _up(plain[r + 1], steps[r])
            held_tilted[r] = weights[r] * _up(tilted, steps[r]) + slope[r] * held[r]
            plain[r], tilted = plain[r + 1] + held[r], tilted + held_tilted[r]
        return FirstMembers(steps, weights, slope, plain, held, held_tilted)

    def shares(self, constant: float) -> Array:
        """`E[t; the first member has rank r]` for each r, with `t = constant + slope . z`.

        >>> FirstMembers.of(np.zeros(3), np.ones(3), 2, np.zeros(3)).shares(1.0).round(12)
        array([0.66666667, 0.33333333, 0.        ])
        """
        return np.asarray((constant * self.held[:, -1] + self.held_tilted[:, -1]) / self.plain[0, -1])

    def slopes(self, constant: float, gains: Array) -> Array:
        """Derivatives of `gains . shares` by the log-weights, from the first rank down (reverse differentiation)."""
        total, found = self.plain[0, -1], np.zeros(len(gains))
        by_plain, by_tilted = np.zeros_like(self.plain[0]), np.zeros_like(self.plain[0])
        by_plain[-1] = -gains @ self.shares(constant) / total
        for r, (weight, step) in enumerate(zip(self.weights, self.lengths, strict=True)):
            by_held_tilted = by_tilted.copy()
            by_held_tilted[-1] += gains[r] / total
            by_held = by_plain + self.slope[r] * by_held_tilted
            by_held[-1] += gains[r] * constant / total
            rest = self.held_tilted[r] - self.slope[r] * self.held[r]
            found[r] = by_held @ self.held[r] + by_held_tilted @ rest
            by_plain = by_plain + weight * _down(by_held, step)
            by_tilted = by_tilted + weight * _down(by_held_tilted, step)
        return found


def _up(row: Array, by: int) -> Array:
    """Row moved to totals longer by this."""
    return np.concatenate([np.zeros(min(by, len(row))), row[: max(len(row) - by, 0)]])


def _down(row: Array, by: int) -> Array:
    """Transpose of `_up`."""
    return np.concatenate([row[by:], np.zeros(min(by, len(row)))])
