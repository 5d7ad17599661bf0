"""Moments of what supports are smoothed by and of the true supports, without the truth; and those of shorter sets.

The truth is `t = x_n - e`, e being the noise of a set's own estimate `x_n`, normal, with covariances `C` to all inputs
x. For such noise `E[v h e] = E[C . grad(v h)]` for any smooth h (C. Stein 1981, Ann. Statist. 9, 1135-1151), so that
`E[v x t]` and `E[v t^2]` follow from what is seen, whatever smooth weights v the sets have.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over sets of v, `v x x'`, `v x t` and `v t^2`, and the noise of x."""

    total: float
    square: Array
    target: Array
    truth: float
    noise: Array

    def under(self, noise: Array) -> "Moments":
        """As they were, had x more noise, of which t knows nothing.

        Sets weigh as many with that noise as are as near to the truth: candidates are such for being high, and too high
        in proportion to the variance of their estimates (`mine.significance`), so that squared variances count.

        >>> known = Moments(8.0, np.array([[16.0]]), np.array([8.0]), 8.0, np.array([[1.0]])).under(np.array([[2.0]]))
        >>> known.total, known.square, known.target
        (32.0, array([[96.]]), array([32.]))
        """
        times = float(noise[0, 0] / self.noise[0, 0]) ** 2
        square = self.square + self.total * (noise - self.noise)
        return Moments(times * self.total, times * square, times * self.target, times * self.truth, noise)

    def plus(self, other: "Moments | None") -> "Moments":
        """Those of both, under the noise of these."""
        if other is None:
            return self
        more = other.under(self.noise)
        return Moments(
            self.total + more.total,
            self.square + more.square,
            self.target + more.target,
            self.truth + more.truth,
            self.noise,
        )

    def weights(self, trust: float) -> Array:
        """The w for which `w . x` is nearest to t, held to the last input by that part of the noise."""
        held = trust * self.total * self.noise
        return np.asarray(np.linalg.lstsq(self.square + held, self.target + held[:, -1], rcond=None)[0])

    def left(self, weights: Array) -> float:
        """Mean square of t around `w . x`."""
        return float(self.truth - 2 * weights @ self.target + weights @ self.square @ weights) / self.total


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sets with their inputs, their own estimate first; weights v, and `C . grad v` and `C . grad(C . grad v)`."""

    inputs: Array
    weight: Array
    tilt: Array
    bend: Array
    noise: Array
    shorter: Moments | None = None

    def chosen(self, kept: NDArray[np.bool_]) -> "Weighed":
        """Those that are kept."""
        return Weighed(self.inputs[kept], self.weight[kept], self.tilt[kept], self.bend[kept], self.noise, self.shorter)

    @property
    def moments(self) -> Moments:
        """Of these sets, and of shorter ones under their noise."""
        own, weighed, total = self.inputs[:, 0], self.inputs * self.weight[:, None], float(self.weight.sum())
        target = weighed.T @ own - total * self.noise[0] - self.inputs.T @ self.tilt
        truth = weighed[:, 0] @ own - total * self.noise[0, 0] - 2 * own @ self.tilt + self.bend.sum()
        return Moments(total, weighed.T @ self.inputs, target, float(truth), self.noise).plus(self.shorter)
