"""Maximum-likelihood fits of the patterns of a few items, and their standard errors by a parametric bootstrap.

An array has an axis of two for each item. Cells are the shares of transactions with exactly the items of a pattern;
supports, of those with these items and possibly others.

Every window is fitted to its reports, and again to reports simulated from the fit. The refits tell how far fitted
supports are from true ones, and how the errors of a set and of its subsets covary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from sottovoce.checks import Array
from sottovoce.estimates.likelihood import em_factors
from sottovoce.mining.itemsets.reconstruct import Coins, squared_score
from sottovoce.mining.itemsets.selection import Indices, Search
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.tables.parallel import in_threads


def cells_from_supports(supports: Array) -> Array:
    """Return cells from supports.

    >>> cells_from_supports(np.array([[10, 4], [3, 2]])).tolist()
    [[5, 2], [1, 2]]
    """
    cells = np.array(supports)
    for axis in range(cells.ndim):
        without, within = _halves(cells, axis)
        without -= within
    return cells


def supports_from_cells(cells: Array) -> Array:
    """Return supports from cells.

    >>> supports_from_cells(np.array([[5, 2], [1, 2]])).tolist()
    [[10, 4], [3, 2]]
    """
    supports = np.array(cells)
    for axis in range(supports.ndim):
        without, within = _halves(supports, axis)
        without += within
    return supports


def unbiased_supports(counts: Array, coins: Coins) -> Array:
    """Return unbiased supports of all sets from their all-ones counts, item by item (see `reconstruct`).

    >>> from sottovoce.mechanisms.flips import BitCoin
    >>> coin = Coins((BitCoin(one=9, zero=2, sides=10),))
    >>> unbiased_supports(np.array([100, 34]), coin).round(4).tolist()  # (.34 - .2) / .7
    [1.0, 0.2]
    """
    supports = counts / counts.flat[0]
    for axis, (one, zero) in enumerate(zip(coins.ones, coins.zeros, strict=True)):
        without, within = _halves(supports, axis)
        within -= (1 - zero) * without
        within /= one + zero - 1
    return supports


def unbiased_variances(supports: Array, coins: Coins, rows: int) -> Array:
    """Return the variances of `unbiased_supports` if these are the true ones: `(mean f^2 - support^2) / N`.

    >>> from sottovoce.mechanisms.flips import BitCoin
    >>> certain = Coins((BitCoin(one=1, zero=0, sides=1),))
    >>> unbiased_variances(np.array([1.0, 0.2]), certain, 100).round(4).tolist()
    [0.0, 0.0016]
    """
    squares = np.array(supports)
    for axis, (slope, rest) in enumerate(zip(*squared_score(coins.ones, coins.zeros), strict=True)):
        without, within = _halves(squares, axis)
        within *= slope
        within += rest * without
    return np.asarray(np.maximum(squares - supports**2, 0) / rows)


def fit_cells(counts: Sequence[Array], coins: Coins, steps: int = DEFAULT_TUNING.em_steps) -> list[Array]:
    """Return cells after some EM steps (see `likelihood`) from independent items, for each of several counts.

    Cells are never negative, which says much about long sets: most patterns of many items occur in no transaction at
    all, while inversion estimates them around zero. A limited number of steps leaves cells that the reports say little
    about near the start.
    """
    cells = np.stack([_independent_cells(count, coins) for count in counts], axis=1)
    shares = np.stack([cells_from_supports(count).ravel() / count.flat[0] for count in counts], axis=1)
    for _ in range(steps):
        cells *= em_factors(coins.channel, shares, cells)
    return [column.reshape(counts[0].shape) for column in np.ascontiguousarray(cells.T)]


def _independent_cells(counts: Array, coins: Coins) -> Array:
    unbiased, rows, cells = unbiased_supports(counts, coins), counts.flat[0], np.ones(1)
    for axis in range(counts.ndim):
        share = unbiased[tuple(int(other == axis) for other in range(counts.ndim))]
        share = np.clip(share, 1 / (rows + 1), rows / (rows + 1))
        cells = np.outer(cells, [1 - share, share]).ravel()
    return cells


def subset_sums(supports: Sequence[Array], positions: Indices) -> Array:
    """Return, for each set given by its positions in a window, sums of the supports of its subsets by length.

    >>> subset_sums([np.array([[10, 4], [3, 2]])], np.array([[0, 1], [1, 0]])).tolist()
    [[[10.0, 7.0, 2.0], [10.0, 7.0, 2.0]]]
    """
    length = positions.shape[1]
    members = np.indices((2,) * length).reshape(length, -1)
    cells = (1 << (supports[0].ndim - 1 - positions)) @ members
    lengths = np.eye(length + 1)[members.sum(axis=0)]
    return np.stack([each.ravel()[cells] @ lengths for each in supports])


def simulate_counts(cells: Array, rows: int, coins: Coins, rng: np.random.Generator) -> Array:
    """Return the all-ones counts of simulated reports of transactions drawn from the cells."""
    distribution = np.maximum(coins.channel.matvec(cells.ravel()), 0)
    reports = rng.multinomial(rows, distribution / distribution.sum())
    return supports_from_cells(reports.astype(float).reshape(cells.shape))


def _halves(array: Array, axis: int) -> tuple[Array, Array]:
    """Return views of the patterns without an item, and of those with it."""
    parts = array.reshape(2**axis, 2, -1)
    return parts[:, 0], parts[:, 1]


@dataclass(frozen=True, eq=False)
class Window:
    """Some items, the all-ones counts of all sets of them, and their coins."""

    items: Indices
    counts: Array
    coins: Coins
    tuning: Tuning = DEFAULT_TUNING

    @property
    def rows(self) -> int:
        """Number of reports."""
        return int(self.counts.flat[0])

    def simulate(self, fitted: Array, replications: int, rng: np.random.Generator) -> list[Array]:
        """Return the counts of as many reports as there are, simulated from fitted supports several times."""
        cells = cells_from_supports(fitted)
        return [simulate_counts(cells, self.rows, self.coins, rng) for _ in range(replications)]

    def supports(self, counts: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Return the supports of all sets by fits to some counts, and unbiased ones without a model."""
        fitted = [supports_from_cells(cells) for cells in fit_cells(counts, self.coins, self.tuning.em_steps)]
        return fitted, [unbiased_supports(count, self.coins) for count in counts]

    def squared_errors(self, fitted: Array, simulated: Sequence[Array]) -> tuple[float, float]:
        """Return the summed squared errors of simulated unbiased supports of sets of three, and their expectation."""
        known = np.indices(fitted.shape).sum(axis=0) == self.tuning.shortest_modelled - 1
        variance = unbiased_variances(fitted, self.coins, self.rows)
        errors = sum(float(((unbiased - fitted)[known] ** 2).sum()) for unbiased in simulated)
        return errors, len(simulated) * float(variance[known].sum())


@dataclass(frozen=True, eq=False)
class Fits:
    """Fit and bootstrap refits of sets of one length, calibrated on their subsets.

    `sums[fit, way, set, k]` is the sum of the supports of the subsets of k items, fitted (way 0) or unbiased without a
    model (way 1); fit 0 is that of the reports, the others are refits. All supports of the length are multiplied by
    `calibration[fit]`. `error_ratio` is the ratio of squared to expected errors of the simulated reports, which
    variances are divided by.
    """

    sums: Array
    calibration: Array
    error_ratio: float = 1.0

    @classmethod
    def calibrate(
        cls,
        sums: Array,
        known: int,
        threshold: float,
        error_ratio: float = 1.0,
        width: float = DEFAULT_TUNING.calibration_width,
    ) -> "Fits":
        """Calibrate fits so that subsets of `known` items of sets near the threshold agree with unbiased supports."""
        near = np.abs(sums[0, 0, :, -1] - threshold) <= width * threshold
        fitted, unbiased = sums[:, :, near if near.any() else slice(None), known].sum(axis=2).T
        ratio = np.divide(np.maximum(unbiased, 0), fitted, out=np.ones_like(unbiased), where=fitted > 0)
        return cls(sums, ratio, error_ratio)

    @property
    def length(self) -> int:
        """Number of items."""
        return int(self.sums.shape[-1]) - 1

    @property
    def support(self) -> Array:
        """Calibrated support of each set."""
        return np.asarray(self.calibration[0] * self.sums[0, 0, :, -1])

    def standard_error(self, threshold: float) -> Array:
        """Return standard errors: like those of counts proportional to the root of the support."""
        return np.sqrt(self.covariance_ratio(self, threshold) * self.support)

    def covariance_ratio(self, part: "Fits | int", threshold: float) -> float:
        """Return the covariance of the supports of sets and of their subsets, divided by the support of the set.

        `part` is the length of the subsets, for unbiased supports, or their fits.
        """
        length, scale, way = (part, 1.0, 1) if isinstance(part, int) else (part.length, part.calibration[1:, None], 0)
        errors = self.calibration[1:, None] * self.sums[1:, 0, :, -1] - self.sums[0, 0, :, -1]
        of_parts = scale * self.sums[1:, way, :, length] - self.sums[0, 0, :, length]
        support = np.maximum(self.support, threshold / 10)
        return float((errors * of_parts / support).mean()) / comb(self.length, length) / self.error_ratio


def fit_windows(sets: Sequence[Indices], windows: Sequence[Window], known: int, search: Search) -> list[Fits]:
    """Return fits of all sets, by length, each by the first window that contains it, calibrated on `known` items."""
    tuning = search.tuning
    refits = max(tuning.refits, tuning.least_refits // len(windows))
    sums = [np.zeros((1 + refits, 2, len(items), items.shape[1] + 1)) for items in sets]
    first = [np.argmax([np.isin(items, window.items).all(axis=1) for window in windows], axis=0) for items in sets]
    errors = []

    def fit(index: int) -> None:
        window = windows[index]
        (fitted,), (unbiased,) = window.supports([window.counts])
        # Nothing private depends on these random numbers; the same reports give the same result.
        refitted, simulated = window.supports(window.simulate(fitted, refits, np.random.default_rng(index)))
        for length_sums, items, window_of in zip(sums, sets, first, strict=True):
            inside = window_of == index
            positions = np.searchsorted(window.items, items[inside])
            for way, supports in enumerate(([fitted, *refitted], [unbiased, *simulated])):
                length_sums[:, way, inside] = subset_sums(supports, positions)
        errors.append(window.squared_errors(fitted, simulated))
        search.report_progress(0, len(errors), len(windows))

    in_threads(fit, len(windows), None)
    squared, expected = np.sort(errors, axis=0).sum(axis=0)  # sorted, for threads finish in any order
    ratio = squared / expected if squared and expected else 1.0
    return [Fits.calibrate(each, known, search.min_support, ratio, tuning.calibration_width) for each in sums]
