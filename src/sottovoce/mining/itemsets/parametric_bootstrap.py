"""Pattern fits of windows of items, and their standard errors by a parametric bootstrap.

Every window is fitted to its reports, and again to reports simulated from the fit. The refits tell how far fitted
supports are from true ones, and how the errors of a set and of its subsets covary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from sottovoce.checks import Array
from sottovoce.mining.itemsets.patterns import (
    cells_from_supports,
    fit_cells,
    simulate_counts,
    subset_sums,
    supports_from_cells,
    unbiased_supports,
    unbiased_variances,
)
from sottovoce.mining.itemsets.reconstruct import Coins
from sottovoce.mining.itemsets.selection import Indices, Search
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.tables.parallel import in_threads


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
