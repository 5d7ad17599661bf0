"""Long sets of items, judged by the most likely patterns of a few items at a time.

Sets that may be frequent are found as `frequent_itemsets` finds them. Those of four and more items are judged anew:
windows of some items cover them, all patterns of a window's items are counted in the reports, and the most likely
cells of the patterns (`mine.patterns`) say what each set's support is. Being never negative lifts cells that are empty
and takes from the others, the more so the more cells there are and the less the reports tell of them. So a window has
as many as they can tell; what is left of it is the same for all sets of a length, and shows in their subsets of three
or four items, which are known well without a model. How far the result misses is learnt from fits to reports drawn
from the fit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.count.patterns import cell_numbers, count_patterns
from sottovoce.mine.candidates import Numbers
from sottovoce.mine.coins import Coins, coins_of
from sottovoce.mine.itemsets import Itemsets
from sottovoce.mine.level import Level
from sottovoce.mine.levels import searched
from sottovoce.mine.patterns import at_least, drawn_counts, likely_cells, unbiased_supports, within
from sottovoce.mine.significance import chances
from sottovoce.mine.sources import sources_of
from sottovoce.mine.survival import Search, surest
from sottovoce.mine.windows import windows
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.fast import in_threads

WIDEST = 14
"""Items of the widest windows, and of the longest sets: 16,384 cells."""

NARROWEST = 6
"""Items of the narrowest windows."""

TOLD = 0.8
"""Cells of a window, in parts of the cube of the threshold in standard errors of sets of four items.

Chosen, like the other numbers here and the steps of a fit, on BMS-WebView-1 and -2, T10I4 and three other synthetic
data sets, so that the bias of all is small: too many cells take from long sets, in parts of the threshold nearly as
much as its standard error by 14 items and little by 8, which in turn leave a tenth more noise in what is known well."""

NEAR = 0.2
"""How far from the threshold, in parts of it, sets are that fits are held to."""

REFITS = 8
"""Fits to reports drawn anew; what they say is taken together for all sets of a length."""

JUDGED = 4
"""Items of the shortest sets that the model judges."""

CLEAR = 0.05
"""Standard errors of sets of four items, in parts of the threshold, up to which fits are held to those; else to sets of
three. Where they scatter more, too many are candidates because they came out too high."""


@dataclass(frozen=True, eq=False)
class Window:
    """Some items, the all-ones counts of all sets of them, and their coins."""

    items: Numbers
    counts: Array
    coins: Coins

    def fitted(self, known: int, rng: np.random.Generator) -> Array:
        """What is said of all sets by the fit, and by fits to reports drawn from it.

        Of each: supports, and what those of subsets of so many items sum up to, by the same fit and without a model.
        """
        cells, found = likely_cells(self.counts, self.coins), []
        for refit in range(1 + REFITS):
            told = drawn_counts(cells, int(self.counts.flat[0]), self.coins, rng) if refit else self.counts
            supports = at_least(likely_cells(told, self.coins) if refit else cells)
            found.append([supports, within(supports, known), within(unbiased_supports(told, self.coins), known)])
        return np.array(found).reshape(1 + REFITS, 3, -1)


def likely_itemsets(reports: object, plan: Plan, variable: ItemSet, search: Search) -> Itemsets:
    """Frequent sets; those of up to three items by inversion, longer ones by the model."""
    coins = coins_of(plan, variable, ", for a model")
    (source,), how = sources_of(reports, plan, variable)
    levels, families, noise = [], [], 0.0
    for found, names in searched([source], how, search):
        if found.family.length < JUDGED:
            levels.append(found.level(names))
        elif len(found.family):
            families.append(names[found.family.items])
            if found.family.length == JUDGED:
                noise = float(np.median(found.standard_error)) / search.min_support
    if families:
        chosen = windows(families, _width(noise))
        used = np.unique(np.concatenate(chosen))
        counts = count_patterns(
            source.narrowed(used), [np.searchsorted(used, items) for items in chosen], source.rows()
        )
        cover = [Window(*each, coins.chosen(each[0])) for each in zip(chosen, counts, strict=True)]
        fits = _fits(families, cover, JUDGED if noise <= CLEAR else JUDGED - 1, search)
        levels += _reported(levels[-1], families, fits, search)
    kept = tuple(level for level in levels if len(level.items))
    return Itemsets(variable.items, kept, source.rows(), search.min_support, search.target)


def _width(noise: float) -> int:
    """Items of a window, from the standard error of sets of four items in parts of the threshold.

    >>> _width(0.035), _width(0.07), _width(0.14), _width(0.0)
    (14, 11, 8, 14)
    """
    cells = TOLD / max(noise, 2.0**-WIDEST) ** 3
    return int(np.clip(np.log2(cells), NARROWEST, WIDEST))


def _fits(families: Sequence[Numbers], cover: Sequence[Window], known: int, search: Search) -> list[Array]:
    """What the fits say of all sets, each by those of the first window that it is in."""
    fits = [np.zeros((1 + REFITS, 3, len(items))) for items in families]
    first = [np.argmax([np.isin(items, window.items).all(axis=1) for window in cover], axis=0) for items in families]
    done = []

    def fit(place: int) -> None:
        window = cover[place]
        # Nothing private hangs on what is drawn here; the same reports give the same result.
        fitted = window.fitted(known, np.random.default_rng(place))
        for found, items, windows_of in zip(fits, families, first, strict=True):
            own = windows_of == place
            found[..., own] = fitted[..., cell_numbers(np.searchsorted(window.items, items[own]), len(window.items))]
        done.append(place)
        search.told(0, len(done), len(cover))

    in_threads(fit, len(cover), None)
    return fits


def _guess(fits: Array, threshold: float) -> tuple[Array, float]:
    """Supports of sets of one length, and a standard error for those at the threshold.

    All are multiplied by what subsets of sets near the threshold are without a model, in parts of what the fits say of
    them. Counts scatter with the root of what is counted.
    """
    fitted = fits[0, 0]
    near = np.abs(fitted - threshold) <= NEAR * threshold
    believed, told = fits[:, 1:, near if near.any() else slice(None)].sum(axis=2).T
    held = np.divide(np.maximum(told, 0), believed, out=np.ones_like(told), where=believed > 0)
    supports = fits[:, 0] * held[:, None]
    share = np.maximum(supports[0], threshold / 10)
    return supports[0], float(np.sqrt(((supports[1:] - fitted) ** 2 / share).mean() * threshold))


def _reported(below: Level, families: Sequence[Numbers], fits: Sequence[Array], search: Search) -> Iterator[Level]:
    """Sets all of whose subsets are reported, while few are expected to be false."""
    reported, least = set(map(tuple, below.items.tolist())), search.min_support
    for items, fit in zip(families, fits, strict=True):
        support, spread = _guess(fit, least)
        error = spread * np.sqrt(support / least)
        certain = np.where(support >= least, np.inf, -np.inf)
        deviations = np.divide(support - least, error, out=certain, where=error > 0)
        possible = [all(part in reported for part in combinations(row, len(row) - 1)) for row in items.tolist()]
        kept = surest(np.where(possible, deviations, -np.inf), search.false_positives or 0.0)
        level = Level(items, support, error, chances(deviations), by_model=True).chosen(kept)
        reported = set(map(tuple, level.items.tolist()))
        yield level
