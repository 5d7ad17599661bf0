"""Supports of long sets smoothed by those of their subsets, to decide which sets survive.

The truth is `t = x_n - e`, e being the noise of a set's own estimate `x_n`, normal, with covariances `C` to all inputs
x. For such noise `E[v h e] = E[C . grad(v h)]` for any smooth h (C. Stein 1981, Ann. Statist. 9, 1135-1151), so that
`E[v x t]` and `E[v t^2]` follow from what is seen, whatever smooth weights v the sets have.

The estimate of a set of n items scatters more with every item, while supports of its subsets, which it is counted
with, scatter less and say nearly as much: what holds together in fours and threes holds together in fives much alike.
How alike is learnt from the candidates of a length themselves. For each set, in multiples of the threshold, let

    x_k = mean of the estimates of its subsets of k items,    k = n, n - 1, n - 2,
    m   = the lowest smoothed support of its subsets of n - 1 items.

The smoothed support is `w . (x, m)`, with the w that make it nearest to the true support t among candidates near the
threshold, weighed by `v`. The truth is not known, but the noise of all x is normal with covariances that the counts
themselves tell. So the normal equations `E[v x x'] w = E[v x t]` are known without the truth, and so is the mean square
of what is left, the spread of t around its smoothed value (`smoothing`; empirical Bayes; nothing else is assumed of
how supports are distributed); no less than that of the subsets, though, for few candidates tell little of it. `v`
falls to zero towards where candidates were cut off a length before, so that the cut does not bias the fit.

Errors of overlapping sets are nearly one error, and candidates of six items may be all of a few patterns: their own
estimates are too high or too low together, and a fit to them would be so, too. So from five items on the sums in the
equations are those of shorter candidates as well, of those that grew into longer ones, down to four items, as if they
had the noise of this length: `E[v x x'] + E[v] (C_n - C_(n-1))`.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.mining.itemsets.candidates import Numbers
from sottovoce.mining.itemsets.selection import Search

DEPTH = 4
"""Lengths of subsets that are looked at: n, n - 1, n - 2, n - 3."""
MEANS = 3
"""Lengths of subsets whose means are looked at: n, n - 1, n - 2. Shorter ones move the lowest subset, though."""

WIDTH = 0.35
"""Standard deviation of the weights around the threshold, in multiples of it."""

FADE = 3.0
"""Spreads from the cut of the length before over which weights rise to one."""

TRUST = 2.0
"""Part of the noise by which a fit without shorter sets is held to the lowest subset."""

FEWEST = 12.0
"""Sum of weights below which there is nothing to learn from."""

ROUNDS = 3


@lru_cache(maxsize=64)
def moments_of_means(ones: float, zeros: float, length: int) -> tuple[Array, Array, Array]:
    """What turns the sums `S_j` of a set into the means `x_k` of its subsets' counts, and into sums of their products.

    A report with a of the set's items counts for a number `g_k(a)` towards `x_k`, a polynomial in a, and so do
    products of two of them. `S_j` is the sum of `C(a, j)` over the reports, so that all of these are sums of `S_j`.
    Last come products of what the true numbers of items would count for: coins scatter by the difference.

    >>> to_means, _, _ = moments_of_means(0.9, 0.8, 2)
    >>> to_means.round(4)  # of both items, and the mean of the two
    array([[ 0.0816, -0.4082,  2.0408],
           [-0.2857,  0.7143,  0.    ]])
    """
    gap, numbers, lengths = ones + zeros - 1, range(length + 1), range(length, max(length - DEPTH, 0), -1)

    def weights(k: int) -> list[float]:
        return [
            comb(length - j, k - j) * (zeros - 1) ** (k - j) / gap**k / comb(length, k) if j <= k else 0.0
            for j in numbers
        ]

    choose = np.array([[comb(a, j) for j in numbers] for a in numbers], float)
    reported = np.linalg.inv(choose).T
    to_means = np.array([weights(k) for k in lengths])
    counts_for = choose @ to_means.T
    held = reported @ (np.array([[comb(length, k)] for k in numbers]) * [weights(k) for k in numbers])
    of_truth = np.array([[comb(h, k) / comb(length, k) for k in lengths] for h in numbers])
    to_squares = np.einsum("ak,al,aj->klj", counts_for, counts_for, reported)
    return to_means, to_squares, np.einsum("hk,hl,hj->klj", of_truth, of_truth, held)


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
        in proportion to the variance of their estimates (`selection`), so that squared variances count.

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


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed supports in multiples of the threshold, how far truths scatter around them, and where they were cut.

    `pull[j]` is how much the smoothed support moves with `x_(n-j)`; `taught` is what they were smoothed by.
    """

    support: Array
    spread: float
    pull: Array
    cut: float
    taught: Weighed | None = None

    @property
    def deviations(self) -> Array:
        """Spreads by which each exceeds the threshold."""
        return (self.support - 1) / self.spread

    def chosen(self, kept: NDArray[np.bool_]) -> "Smoothed":
        """Those that are kept, and where they are cut off by that."""
        cut = self.support[kept].min() if kept.any() else self.cut
        taught = None if self.taught is None else self.taught.chosen(kept)
        return Smoothed(self.support[kept], self.spread, self.pull, float(cut), taught)

    def moments(self, grown: Numbers) -> Moments | None:
        """What those say that grew into longer sets; None where they were not smoothed."""
        if self.taught is None:
            return None
        kept = np.zeros(len(self.support), bool)
        kept[grown] = True
        return self.taught.chosen(kept).moments


def smoothed(
    sums: Array, without: Numbers, below: Smoothed, coin: tuple[float, float], search: Search, rows: int
) -> Smoothed | None:
    """Smooth the supports of candidates, from their sums `S_j` and what was found a length below; None of too few.

    `without` are places in what was found below.
    """
    length = sums.shape[1] - 1
    to_means, to_squares, to_held = moments_of_means(*coin, length)
    scale = search.min_support * rows
    means = sums @ to_means.T / scale
    near = np.abs(means[:, 0] - 1) < 2 * WIDTH
    if not near.any() or not below.spread:
        return None
    middle, centre = sums[near].mean(axis=0), means[near].mean(axis=0)
    own = to_held @ middle / scale**2 if search.target == "table" else np.outer(centre, centre) / rows
    noise = to_squares @ middle / scale**2 - own
    inputs = np.column_stack([means[:, :MEANS], below.support[without].min(axis=1)])
    # How the inputs move with the means: each with its own, the lowest subset as it was smoothed itself.
    moves = np.vstack([np.eye(means.shape[1])[:MEANS], np.zeros(means.shape[1])])
    known = min(len(below.pull), means.shape[1] - 1)
    moves[-1, 1 : 1 + known] = below.pull[:known]
    noise = moves @ noise @ moves.T
    # Shorter sets have the same inputs, unless those of single items, which are like no others, are among them.
    shorter = below.moments(without) if length - 1 > MEANS else None
    fitted = _fitted(inputs, noise, below, shorter)
    if fitted is None:
        return None
    weights, left, taught = fitted
    spread = float(np.sqrt(max(left, noise[0, 0] / 16, below.spread**2)))
    return Smoothed(inputs @ weights, spread, moves.T @ weights, 0.0, taught)


def _fitted(
    inputs: Array, noise: Array, below: Smoothed, shorter: Moments | None
) -> tuple[Array, float, Weighed] | None:
    """Weights, and the mean square that they leave, in a few rounds, for whom to weigh depends on them."""
    trust = TRUST if shorter is None else 0.0
    weights = np.eye(len(noise))[0] if shorter is None else shorter.under(noise).weights(trust)
    for _ in range(ROUNDS):
        taught = _weighed(inputs, noise, below, weights, shorter)
        known = taught.moments
        if known.total < FEWEST:
            return None
        weights = known.weights(trust)
    return weights, known.left(weights), taught


def _weighed(inputs: Array, noise: Array, below: Smoothed, weights: Array, shorter: Moments | None) -> Weighed:
    """Weights of the candidates, by how near their smoothed supports are to the threshold, and subsets to the cut."""
    over, along = inputs @ weights - 1, float(noise[0] @ weights)
    rise = (inputs[:, -1] - below.cut) / (FADE * below.spread)
    slope = np.where((rise > 0) & (rise < 1), noise[0, -1] / (FADE * below.spread), 0)
    close = np.exp(-(over**2) / (2 * WIDTH**2))
    v, steep = close * np.clip(rise, 0, 1), over / WIDTH**2 * along
    bend = v * (steep**2 - along**2 / WIDTH**2) - 2 * steep * close * slope
    return Weighed(inputs, v, close * slope - v * steep, bend, noise, shorter)
