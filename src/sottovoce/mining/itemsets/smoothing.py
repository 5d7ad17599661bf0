"""Supports of long sets smoothed by those of their subsets, to decide which sets are reported.

The estimate of a set of n items has a larger variance with every item, while the supports of its subsets, which are
counted anyway, vary less and predict it well: sets whose subsets of three and four items are frequent are much alike at
five. How alike is learned from the candidates of a length themselves. For each set, in multiples of the threshold, let

    x_k = mean of the estimates of its subsets of k items,    k = n, n - 1, n - 2,
    m   = the lowest smoothed support of its subsets of n - 1 items.

The smoothed support is the linear regression `w . (x, m)` of the true support t on these inputs, among candidates near
the threshold, with weights `v`. The truth is unknown, `t = x_n - e`, but the noise e of `x_n` is normal with known
covariances `C` to all inputs x. For such noise `E[v h e] = E[C . grad(v h)]` for any smooth h (C. Stein 1981, Ann.
Statist. 9, 1135-1151), so that the normal equations `E[v x x'] w = E[v x t]` and the residual variance of t follow
from the estimates: empirical Bayes without any assumption about the distribution of supports. The residual variance is
taken to be at least that of the subsets, since few candidates tell little about it. The weights `v` fall to zero
towards the cut-off of the previous length, so that the cut-off does not bias the regression.

Errors of overlapping sets are nearly the same error, and the candidates of six items may all come from a few patterns:
their estimates are too high or too low together, and so would be a regression on them alone. So from five items on the
normal equations include the shorter candidates that were extended, down to four items, with the noise of this length:
`E[v x x'] + E[v] (C_n - C_(n-1))`.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from sottovoce.checks import Array
from sottovoce.mining.itemsets.selection import Indices, Mask, Search
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums over sets: of 1 (`weight`), `x x'` (`square`), `x t` (`cross`) and `t^2` (`truth`); noise of x."""

    weight: float
    square: Array
    cross: Array
    truth: float
    noise: Array

    def with_noise(self, noise: Array) -> "Moments":
        """Return the moments as if x had another noise, independent of t.

        They count as much as the same number of sets near the truth would with that noise: candidates were selected for
        being high, and are too high in proportion to their variance (`selection`), hence the squared variance ratio.

        >>> shorter = Moments(8.0, np.array([[16.0]]), np.array([8.0]), 8.0, np.array([[1.0]]))
        >>> noisier = shorter.with_noise(np.array([[2.0]]))
        >>> noisier.weight, noisier.square, noisier.cross
        (32.0, array([[96.]]), array([32.]))
        """
        scale = float(noise[0, 0] / self.noise[0, 0]) ** 2
        square = self.square + self.weight * (noise - self.noise)
        return Moments(scale * self.weight, scale * square, scale * self.cross, scale * self.truth, noise)

    def pooled_with(self, other: "Moments | None") -> "Moments":
        """Return the sums over the sets of both, with the noise of these."""
        if other is None:
            return self
        more = other.with_noise(self.noise)
        return Moments(
            self.weight + more.weight,
            self.square + more.square,
            self.cross + more.cross,
            self.truth + more.truth,
            self.noise,
        )

    def coefficients(self, shrinkage: float) -> Array:
        """Return the regression coefficients of t on x, shrunk towards the last input by a multiple of the noise."""
        penalty = shrinkage * self.weight * self.noise
        return np.asarray(np.linalg.lstsq(self.square + penalty, self.cross + penalty[:, -1], rcond=None)[0])

    def residual_variance(self, coefficients: Array) -> float:
        """Return the mean square of t around the regression."""
        square = coefficients @ self.square @ coefficients
        return float(self.truth - 2 * coefficients @ self.cross + square) / self.weight


@dataclass(frozen=True, eq=False)
class Training:
    """Sets with their inputs, the set's own estimate first, and regression weights v.

    `first_derivative` is `C . grad v` and `second_derivative` is `C . grad(C . grad v)`.
    """

    inputs: Array
    weight: Array
    first_derivative: Array
    second_derivative: Array
    noise: Array
    shorter: Moments | None = None

    def select(self, kept: Mask) -> "Training":
        """Return the sets of a mask."""
        return Training(
            self.inputs[kept],
            self.weight[kept],
            self.first_derivative[kept],
            self.second_derivative[kept],
            self.noise,
            self.shorter,
        )

    @property
    def moments(self) -> Moments:
        """Moments of these sets, pooled with those of shorter ones."""
        estimate, weighted, total = self.inputs[:, 0], self.inputs * self.weight[:, None], float(self.weight.sum())
        cross = weighted.T @ estimate - total * self.noise[0] - self.inputs.T @ self.first_derivative
        truth = (
            weighted[:, 0] @ estimate
            - total * self.noise[0, 0]
            - 2 * estimate @ self.first_derivative
            + self.second_derivative.sum()
        )
        return Moments(total, weighted.T @ self.inputs, cross, float(truth), self.noise).pooled_with(self.shorter)


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed supports in multiples of the threshold, and the standard deviation of true supports around them.

    `sensitivity[j]` is the derivative of the smoothed support by `x_(n-j)`; `cut_off` is the lowest smoothed support
    that was kept, and `training` what the regression learned from.
    """

    support: Array
    standard_deviation: float
    sensitivity: Array
    cut_off: float
    training: Training | None = None

    @property
    def deviations(self) -> Array:
        """Distance above the threshold in standard deviations."""
        return (self.support - 1) / self.standard_deviation

    def select(self, kept: Mask) -> "Smoothed":
        """Return the sets of a mask, with the cut-off that follows from it."""
        cut_off = self.support[kept].min() if kept.any() else self.cut_off
        training = None if self.training is None else self.training.select(kept)
        return Smoothed(self.support[kept], self.standard_deviation, self.sensitivity, float(cut_off), training)

    def moments(self, extended: Indices) -> Moments | None:
        """Return the moments of the sets in these rows; None if supports were not smoothed."""
        if self.training is None:
            return None
        kept = np.zeros(len(self.support), bool)
        kept[extended] = True
        return self.training.select(kept).moments


def smooth_supports(
    sums: Array, subsets: Indices, below: Smoothed, coin: tuple[float, float], search: Search, rows: int
) -> Smoothed | None:
    """Smooth the supports of candidates, given their sums `S_j`; return None if there are too few to learn from.

    `below` are the smoothed supports one length down, and `subsets` rows in them.
    """
    length, tuning = sums.shape[1] - 1, search.tuning
    to_means, to_products, to_true_products = subset_moments(*coin, length, tuning.smoothing_lengths)
    scale = search.min_support * rows
    means = sums @ to_means.T / scale
    near = np.abs(means[:, 0] - 1) < 2 * tuning.smoothing_width
    if not near.any() or not below.standard_deviation:
        return None
    mean_sums, centre = sums[near].mean(axis=0), means[near].mean(axis=0)
    if search.target == "table":
        subtracted = to_true_products @ mean_sums / scale**2
    else:
        subtracted = np.outer(centre, centre) / rows
    noise = to_products @ mean_sums / scale**2 - subtracted
    count = tuning.smoothing_inputs
    inputs = np.column_stack([means[:, :count], below.support[subsets].min(axis=1)])
    # Derivatives of the inputs by the means: each by itself, the lowest subset as it was smoothed itself.
    derivatives = np.vstack([np.eye(means.shape[1])[:count], np.zeros(means.shape[1])])
    known = min(len(below.sensitivity), means.shape[1] - 1)
    derivatives[-1, 1 : 1 + known] = below.sensitivity[:known]
    noise = derivatives @ noise @ derivatives.T
    # Shorter sets have the same inputs unless single items are among those, which are unlike all others.
    shorter = below.moments(subsets) if length - 1 > count else None
    fitted = _fit(inputs, noise, below, shorter, tuning)
    if fitted is None:
        return None
    coefficients, residual, training = fitted
    deviation = float(np.sqrt(max(residual, noise[0, 0] / 16, below.standard_deviation**2)))
    return Smoothed(inputs @ coefficients, deviation, derivatives.T @ coefficients, 0.0, training)


@lru_cache(maxsize=64)
def subset_moments(
    ones: float, zeros: float, length: int, lengths: int = DEFAULT_TUNING.smoothing_lengths
) -> tuple[Array, Array, Array]:
    """Return matrices from the sums `S_j` of a set to sums over the reports of `x_k`, of their products, of true ones.

    A report with a of the set's items has a score `g_k(a)` towards `x_k`, a polynomial in a, and so are products of two
    scores. `S_j` is the sum of `C(a, j)` over the reports, so that all of these are linear in `S_j`. The last matrix is
    for products of the scores that the true numbers of items would have: the coins' noise is the difference.

    >>> to_means, _, _ = subset_moments(0.9, 0.8, 2)
    >>> to_means.round(4)  # of both items, and the mean of the two
    array([[ 0.0816, -0.4082,  2.0408],
           [-0.2857,  0.7143,  0.    ]])
    """
    gap, numbers, used = ones + zeros - 1, range(length + 1), range(length, max(length - lengths, 0), -1)

    def weights(k: int) -> list[float]:
        return [
            comb(length - j, k - j) * (zeros - 1) ** (k - j) / gap**k / comb(length, k) if j <= k else 0.0
            for j in numbers
        ]

    choose = np.array([[comb(a, j) for j in numbers] for a in numbers], float)
    reported = np.linalg.inv(choose).T
    to_means = np.array([weights(k) for k in used])
    scores = choose @ to_means.T
    true = reported @ (np.array([[comb(length, k)] for k in numbers]) * [weights(k) for k in numbers])
    true_scores = np.array([[comb(h, k) / comb(length, k) for k in used] for h in numbers])
    to_products = np.einsum("ak,al,aj->klj", scores, scores, reported)
    return to_means, to_products, np.einsum("hk,hl,hj->klj", true_scores, true_scores, true)


def _fit(
    inputs: Array, noise: Array, below: Smoothed, shorter: Moments | None, tuning: Tuning
) -> tuple[Array, float, Training] | None:
    """Fit coefficients and residual variance, iterating because the regression weights depend on the coefficients."""
    shrinkage = tuning.smoothing_shrinkage if shorter is None else 0.0
    coefficients = np.eye(len(noise))[0] if shorter is None else shorter.with_noise(noise).coefficients(shrinkage)
    for _ in range(tuning.smoothing_rounds):
        training = _training(inputs, noise, below, coefficients, shorter, tuning)
        moments = training.moments
        if moments.weight < tuning.smoothing_weight:
            return None
        coefficients = moments.coefficients(shrinkage)
    return coefficients, moments.residual_variance(coefficients), training


def _training(
    inputs: Array, noise: Array, below: Smoothed, coefficients: Array, shorter: Moments | None, tuning: Tuning
) -> Training:
    """Weight candidates by the distances of smoothed supports from the threshold and of subsets from the cut-off."""
    width, fade = tuning.smoothing_width, tuning.smoothing_fade * below.standard_deviation
    over, along = inputs @ coefficients - 1, float(noise[0] @ coefficients)
    rise = (inputs[:, -1] - below.cut_off) / fade
    slope = np.where((rise > 0) & (rise < 1), noise[0, -1] / fade, 0)
    close = np.exp(-(over**2) / (2 * width**2))
    weight, steep = close * np.clip(rise, 0, 1), over / width**2 * along
    second = weight * (steep**2 - along**2 / width**2) - 2 * steep * close * slope
    return Training(inputs, weight, close * slope - weight * steep, second, noise, shorter)
