"""Long sets of items judged by maximum-likelihood patterns of a few items at a time.

Sets that may be frequent are found as `frequent_itemsets` finds them. Those of four and more items are judged anew:
windows of some items cover them, all patterns of a window's items are counted in the reports, and the most likely
cells of the patterns (`patterns`) say what each set's support is. Being never negative lifts cells that are empty
and takes from the others, the more so the more cells there are and the less the reports tell of them. So a window has
as many as they can tell; what is left of it is the same for all sets of a length, and shows in their subsets of three
or four items, which are known well without a model. How far the result misses is learnt from fits to reports drawn
from the fit.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.transactions import count_patterns
from sottovoce.mining.itemsets.candidates import Level, Numbers
from sottovoce.mining.itemsets.frequent import sources_of
from sottovoce.mining.itemsets.parametric_bootstrap import JUDGED, Fits, Window, fits_of
from sottovoce.mining.itemsets.reconstruct import CoinCovariances, ModelCovariances, coins_of, square_of
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.search import searched
from sottovoce.mining.itemsets.selection import Search, chances, surest
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

Words = NDArray[np.uint64]
"""Items as bits of a row of words."""
WIDEST = 14
"""Items of the widest windows, and of the longest sets: 16,384 cells."""

NARROWEST = 6
"""Items of the narrowest windows."""

TOLD = 0.8
"""Cells of a window, in parts of the cube of the threshold in standard errors of sets of four items.

Chosen, like the other numbers here and the steps of a fit, on BMS-WebView-1 and -2, T10I4 and three other synthetic
data sets, so that the bias of all is small: too many cells take from long sets, in parts of the threshold nearly as
much as its standard error by 14 items and little by 8, which in turn leave a tenth more noise in what is known well."""

CLEAR = 0.05
"""Standard errors of sets of four items, in parts of the threshold, up to which fits are held to those; else to sets of
three. Where they scatter more, too many are candidates because they came out too high."""


def windows(families: Sequence[Numbers], most: int) -> list[Numbers]:
    """Sets of at most `most` items, ascending, such that every given set, shorter ones first, is within one of them.

    Greedily: a window starts with the longest set that is in none yet, and takes in, while there is room, whatever
    other shares the most items with it, of these the one that adds the fewest. Sets that have less than two items in
    common with it tell it nothing, and wait for a window of their own.

    >>> [window.tolist() for window in windows([np.array([[0, 1], [4, 5]]), np.array([[0, 1, 2], [1, 2, 3]])], most=4)]
    [[0, 1, 2, 3], [4, 5]]
    """
    waiting, found = np.concatenate([_words(items, families) for items in reversed(families)]), []
    while len(waiting):
        window = _grown(waiting, waiting[0], most)
        waiting = waiting[(waiting & ~window).any(axis=1)]
        found.append(np.flatnonzero(np.unpackbits(window.view(np.uint8), bitorder="little")))
    return found


def _words(items: Numbers, families: Sequence[Numbers]) -> Words:
    """Bits of the items of each set, in as many words as the highest item of all needs."""
    bits = np.zeros((len(items), -(-(1 + max(int(family.max()) for family in families)) // 64) * 64), bool)
    bits[np.arange(len(items))[:, None], items] = True
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _grown(waiting: Words, window: Words, most: int) -> Words:
    """The window with as many others as it has room for."""
    while True:
        added, shared = (
            np.bitwise_count(bits).sum(axis=1, dtype=int) for bits in (waiting & ~window, waiting & window)
        )
        room = most - int(np.bitwise_count(window).sum())
        fitting = (added > 0) & (added <= room) & (shared >= 2)
        if not fitting.any():
            return window
        window = window | waiting[np.argmax(np.where(fitting, most * shared - added, -most))]


def likely_itemsets(reports: object, plan: Plan, variable: ItemSet, search: Search) -> Itemsets:
    """Frequent sets; those of up to three items by inversion, longer ones by the model."""
    coins = coins_of(plan, variable, ", for a model")
    (source,), how = sources_of(reports, plan, variable)
    levels, families, noise, least = [], [], 0.0, search.min_support
    for found, names in searched([source], how, search):
        if found.family.length < JUDGED:
            levels.append(found.level(names))
        elif len(found.family):
            families.append(names[found.family.items])
            if found.family.length == JUDGED:
                noise = float(np.median(found.standard_error)) / least
    rows = source.rows()  # known once everything was read
    fits: list[Fits] = []
    if families:
        chosen = windows(families, _width(noise))
        used = np.unique(np.concatenate(chosen))
        counts = count_patterns(source.narrowed(used), [np.searchsorted(used, items) for items in chosen], rows)
        cover = [Window(*each, coins.chosen(each[0])) for each in zip(chosen, counts, strict=True)]
        known = JUDGED if noise <= CLEAR else JUDGED - 1
        fits = fits_of(families, cover, known, search)
        levels += _reported(levels[-1], families, fits, search)
    kept = tuple(level for level in levels if len(level.items))
    covariances = ModelCovariances(
        CoinCovariances(square_of(coins.ones, coins.zeros), rows, search.target), _shared(fits, least)
    )
    return Itemsets(variable.items, kept, rows, least, search.target, covariances)


def _width(noise: float) -> int:
    """Items of a window, from the standard error of sets of four items in parts of the threshold.

    >>> _width(0.035), _width(0.07), _width(0.14), _width(0.0)
    (14, 11, 8, 14)
    """
    cells = TOLD / max(noise, 2.0**-WIDEST) ** 3
    return int(np.clip(np.log2(cells), NARROWEST, WIDEST))


def _reported(below: Level, families: Sequence[Numbers], fits: Sequence[Fits], search: Search) -> Iterator[Level]:
    """Sets all of whose subsets are reported, while few are expected to be false."""
    reported, least = set(map(tuple, below.items.tolist())), search.min_support
    for items, fit in zip(families, fits, strict=True):
        support, error = fit.support, fit.error(least)
        certain = np.where(support >= least, np.inf, -np.inf)
        deviations = np.divide(support - least, error, out=certain, where=error > 0)
        possible = [all(part in reported for part in combinations(row, len(row) - 1)) for row in items.tolist()]
        kept = surest(np.where(possible, deviations, -np.inf), search.false_positives or 0.0)
        level = Level(items, support, error, chances(deviations), by_model=True).chosen(kept)
        reported = set(map(tuple, level.items.tolist()))
        yield level


def _shared(fits: Sequence[Fits], threshold: float) -> dict[tuple[int, int], float]:
    """By number of items of a set and of a part of it, how they scatter together: see `ModelCovariances`."""
    return {
        (fit.length, length): fit.scattered(length if length < JUDGED else fits[length - JUDGED], threshold)
        for fit in fits
        for length in range(1, fit.length)
    }
