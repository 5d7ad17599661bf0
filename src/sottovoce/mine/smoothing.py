"""Supports of long sets judged by those of their subsets, too: what only decides which sets survive.

The estimate of a set of n items scatters more with every item, while supports of its subsets, which it is counted
with, scatter less and say nearly as much: what holds together in fours and threes holds together in fives much alike.
How alike is learnt from the candidates of a length themselves. For each set, in multiples of the threshold, let

    x_k = mean of the estimates of its subsets of k items,    k = n, n - 1, n - 2, n - 3,
    m   = the lowest smoothed support of its subsets of n - 1 items.

The smoothed support is `w . (x, m)`, with the w that make it nearest to the true support t among candidates near the
threshold, weighed by `v`. The truth is not known, but `t = x_n - e`, e being noise, normal with covariances `C` to
all x that the counts themselves tell, and for such noise `E[v h e] = E[C . grad(v h)]` for any smooth h (Stein 1981,
Ann. Statist. 9, 1135-1151). So the normal equations `E[v x x'] w = E[v x t]` are known without the truth, and so is
the mean square of what is left, the spread of t around its smoothed value (empirical Bayes; nothing else is assumed
of how supports are distributed); no less than that of the subsets, though, for few candidates tell little of it.
`v` falls to zero towards where candidates were cut off a length before, so that the cut does not bias the fit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.candidates import Numbers
from sottovoce.mine.subset_means import moments_of_means
from sottovoce.mine.survival import Search

WIDTH = 0.35
"""Standard deviation of the weights around the threshold, in multiples of it."""

FADE = 1.5
"""Spreads from the cut of the length before over which weights rise to one."""

TRUST = 2.0
"""Part of the noise by which the fit is held to the lowest subset: errors of overlapping sets are one error."""

FEWEST = 12.0
"""Sum of weights below which there is nothing to learn from."""

ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed supports in multiples of the threshold, how far truths scatter around them, and where they were cut.

    `pull[j]` is how much the smoothed support moves with `x_(n-j)`.
    """

    support: Array
    spread: float
    pull: Array
    cut: float

    @property
    def deviations(self) -> Array:
        """Spreads by which each exceeds the threshold."""
        return (self.support - 1) / self.spread

    def chosen(self, kept: NDArray[np.bool_]) -> "Smoothed":
        """Those that are kept, and where they are cut off by that."""
        cut = self.support[kept].min() if kept.any() else self.cut
        return Smoothed(self.support[kept], self.spread, self.pull, float(cut))


def smoothed(
    sums: Array, without: Numbers, below: Smoothed, coin: tuple[float, float], search: Search, rows: int
) -> Smoothed | None:
    """Smooth the supports of candidates, from their sums `S_j` and what was found a length below; None of too few.

    `without` are places in what was found below.
    """
    to_means, to_squares, to_held = moments_of_means(*coin, sums.shape[1] - 1)
    scale = search.min_support * rows
    means = sums @ to_means.T / scale
    near = np.abs(means[:, 0] - 1) < 2 * WIDTH
    if not near.any() or not below.spread:
        return None
    middle, centre = sums[near].mean(axis=0), means[near].mean(axis=0)
    own = to_held @ middle / scale**2 if search.target == "table" else np.outer(centre, centre) / rows
    noise = to_squares @ middle / scale**2 - own
    inputs = np.column_stack([means, below.support[without].min(axis=1)])
    # How the inputs move with the means: each with its own, the lowest subset as it was smoothed itself.
    moves = np.vstack([np.eye(means.shape[1]), np.zeros(means.shape[1])])
    known = min(len(below.pull), means.shape[1] - 1)
    moves[-1, 1 : 1 + known] = below.pull[:known]
    return _fitted(inputs, moves @ noise @ moves.T, moves, below)


def _fitted(inputs: Array, noise: Array, moves: Array, below: Smoothed) -> Smoothed | None:
    """Weights by Stein's normal equations, a few rounds, for whom to weigh depends on them."""
    own, lowest, shared = inputs[:, 0], inputs[:, -1], noise[0]
    rise = (lowest - below.cut) / (FADE * below.spread)
    fade, slope = np.clip(rise, 0, 1), np.where((rise > 0) & (rise < 1), shared[-1] / (FADE * below.spread), 0)
    weights, lowest_alone = np.eye(len(moves))[[0, -1]]
    for _ in range(ROUNDS):
        guess, along = inputs @ weights, float(shared @ weights)
        close = np.exp(-((guess - 1) ** 2) / (2 * WIDTH**2))
        v = close * fade
        if v.sum() < FEWEST:
            return None
        # C . grad v, with which noise is taken out of the products of inputs and estimates.
        tilt = -v * (guess - 1) / WIDTH**2 * along + close * slope
        square = (inputs * v[:, None]).T @ inputs
        target = (inputs * v[:, None]).T @ own - v.sum() * shared - inputs.T @ tilt
        held = TRUST * v.sum() * noise
        weights = np.linalg.lstsq(square + held, target + held @ lowest_alone, rcond=None)[0]
    second = (
        v * along**2 * ((guess - 1) ** 2 / WIDTH**4 - 1 / WIDTH**2) - 2 * (guess - 1) / WIDTH**2 * along * close * slope
    )
    truth = float((v * own**2).sum() - v.sum() * noise[0, 0] - 2 * (own * tilt).sum() + second.sum())
    left = (truth - 2 * weights @ target + weights @ square @ weights) / v.sum()
    return Smoothed(
        inputs @ weights, max(float(np.sqrt(max(left, noise[0, 0] / 16))), below.spread), moves.T @ weights, 0.0
    )
