"""Fits of windows, refits to reports drawn from them, and what both say of sets of items and of how far they miss."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.mining.itemsets.candidates import Numbers
from sottovoce.mining.itemsets.patterns import (
    at_least,
    drawn_counts,
    exactly,
    likely_cells,
    unbiased_noise,
    unbiased_supports,
    within,
)
from sottovoce.mining.itemsets.reconstruct import Coins
from sottovoce.mining.itemsets.selection import Search
from sottovoce.tables.parallel import in_threads

NEAR = 0.2
"""How far from the threshold, in parts of it, sets are that fits are held to."""

REFITS = 8
"""Fits of each window to reports drawn anew; what they say is taken together for all sets of a length."""

ALL_REFITS = 32
"""Such fits of all windows together, where these are few, at the least."""

JUDGED = 4
"""Items of the shortest sets that the model judges."""


@dataclass(frozen=True, eq=False)
class Window:
    """Some items, the all-ones counts of all sets of them, and their coins."""

    items: Numbers
    counts: Array
    coins: Coins

    @property
    def rows(self) -> int:
        """Number of reports."""
        return int(self.counts.flat[0])

    def drawn(self, fitted: Array, refits: int, rng: np.random.Generator) -> list[Array]:
        """Counts of as many reports, drawn anew from a fit as often as asked for."""
        cells = exactly(fitted)
        return [drawn_counts(cells, self.rows, self.coins, rng) for _ in range(refits)]

    def supports(self, counts: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Supports of all sets by fits to these counts, and without a model."""
        fitted = [at_least(cells) for cells in likely_cells(counts, self.coins)]
        return fitted, [unbiased_supports(own, self.coins) for own in counts]

    def luck(self, fitted: Array, drawn: Sequence[Array]) -> tuple[float, float]:
        """What supports of sets of three, drawn from a fit, miss it by without a model: squares, and expected ones."""
        known = np.indices(fitted.shape).sum(axis=0) == JUDGED - 1
        noise = unbiased_noise(fitted, self.coins, self.rows)
        missed = sum(float(((own - fitted)[known] ** 2).sum()) for own in drawn)
        return missed, len(drawn) * float(noise[known].sum())


@dataclass(frozen=True, eq=False)
class Fits:
    """What the fit and the refits say of sets of one length, and how they are held to what is known without a model.

    `sums[fit, way, set, k]` is what supports of the subsets of k items sum up to, by the fit (0) or without a model
    (1). Every support of the length is multiplied by `held[fit]`. `luck` is how far the drawn reports of the refits
    scatter, in squares and in parts of what is to be expected: all errors learnt from them have it taken out.
    """

    sums: Array
    held: Array
    luck: float = 1.0

    @classmethod
    def of(cls, sums: Array, known: int, threshold: float, luck: float = 1.0) -> "Fits":
        """Held to what subsets of so many items of sets near the threshold are without a model."""
        near = np.abs(sums[0, 0, :, -1] - threshold) <= NEAR * threshold
        believed, told = sums[:, :, near if near.any() else slice(None), known].sum(axis=2).T
        return cls(sums, np.divide(np.maximum(told, 0), believed, out=np.ones_like(told), where=believed > 0), luck)

    @property
    def length(self) -> int:
        """Number of items."""
        return int(self.sums.shape[-1]) - 1

    @property
    def support(self) -> Array:
        """The support of each set."""
        return np.asarray(self.held[0] * self.sums[0, 0, :, -1])

    def error(self, threshold: float) -> Array:
        """Standard errors. Counts scatter with the root of what is counted, by a factor that is one for the length."""
        return np.sqrt(self.scattered(self, threshold) * self.support)

    def scattered(self, part: "Fits | int", threshold: float) -> float:
        """Covariance of supports of sets and of their subsets, in parts of those of the sets: all that they share.

        Subsets are of a length that has fits, or of so many items without a model.
        """
        length, held, way = (part, 1.0, 1) if isinstance(part, int) else (part.length, part.held[1:, None], 0)
        misses = self.held[1:, None] * self.sums[1:, 0, :, -1] - self.sums[0, 0, :, -1]
        of_parts = held * self.sums[1:, way, :, length] - self.sums[0, 0, :, length]
        share = np.maximum(self.support, threshold / 10)
        return float((misses * of_parts / share).mean()) / comb(self.length, length) / self.luck


def fits_of(families: Sequence[Numbers], cover: Sequence[Window], known: int, search: Search) -> list[Fits]:
    """Fits of all sets, by length, each by those of the first window that it is in; held to subsets of known length."""
    refits = max(REFITS, ALL_REFITS // len(cover))
    sums = [np.zeros((1 + refits, 2, len(items), items.shape[1] + 1)) for items in families]
    first = [np.argmax([np.isin(items, window.items).all(axis=1) for window in cover], axis=0) for items in families]
    lucks = []

    def fit(place: int) -> None:
        window = cover[place]
        (fitted,), (told,) = window.supports([window.counts])
        # Nothing private hangs on what is drawn here; the same reports give the same result.
        again, drawn = window.supports(window.drawn(fitted, refits, np.random.default_rng(place)))
        for found, items, windows_of in zip(sums, families, first, strict=True):
            own = windows_of == place
            places = np.searchsorted(window.items, items[own])
            for way, supports in enumerate(([fitted, *again], [told, *drawn])):
                found[:, way, own] = within(supports, places)
        lucks.append(window.luck(fitted, drawn))
        search.told(0, len(lucks), len(cover))

    in_threads(fit, len(cover), None)
    missed, expected = np.sort(lucks, axis=0).sum(axis=0)  # sorted, for threads finish in any order
    luck = missed / expected if missed and expected else 1.0
    return [Fits.of(own, known, search.min_support, luck) for own in sums]
