"""Long sets of items, judged by the most likely patterns of a few items at a time.

Sets that may be frequent are found as `frequent_itemsets` finds them. Those of four and more items are judged anew:
windows of up to twelve items cover them, all patterns of a window's items are counted in the reports, and the most
likely cells of the patterns (`mine.patterns`) say what each set's support is. How far that misses is learnt from fits
to reports drawn from the fit. The support smoothed by those of the subsets (`mine.smoothing`) is another guess, by
other means: the two are averaged, each weighed by the reciprocal of its variance.
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
from sottovoce.mine.patterns import KNOWN, drawn_counts, held_supports, likely_cells
from sottovoce.mine.significance import chances
from sottovoce.mine.smoothing import Smoothed
from sottovoce.mine.sources import sources_of
from sottovoce.mine.survival import Search, surest
from sottovoce.mine.windows import windows
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.fast import in_threads

WIDEST = 12
"""Items of a window, and of the longest sets: 4,096 cells. Wider ones say little more, and are biased more."""

REFITS = 4
"""Fits to reports drawn anew; what they say is taken together for all sets of a length."""


@dataclass(frozen=True, eq=False)
class Grown:
    """Sets of one length that may be frequent, and their smoothed supports where all items have the same coin."""

    items: Numbers
    smooth: Smoothed | None


@dataclass(frozen=True, eq=False)
class Guess:
    """Supports, and a standard error for those near the threshold."""

    support: Array
    spread: float

    def averaged(self, other: "Guess") -> "Guess":
        """With another guess, each by the reciprocal of its variance, as if both erred to the same side.

        >>> both = Guess(np.array([3.0]), 1.0).averaged(Guess(np.array([0.0]), 0.5))
        >>> both.support.round(6).tolist(), round(both.spread, 6)
        ([0.6], 0.6)
        """
        if not self.spread * other.spread:
            return self if self.spread <= other.spread else other
        own = other.spread**2 / (self.spread**2 + other.spread**2)
        support = own * self.support + (1 - own) * other.support
        return Guess(support, own * self.spread + (1 - own) * other.spread)


def likely_itemsets(reports: object, plan: Plan, variable: ItemSet, search: Search) -> Itemsets:
    """Frequent sets; those of up to three items by inversion, longer ones by the model."""
    coins = coins_of(plan, variable, ", for a model")
    (source,), how = sources_of(reports, plan, variable)
    levels, grown = [], []
    for found, names in searched([source], how, search):
        if found.family.length <= KNOWN:
            levels.append(found.level(names))
        elif len(found.family):
            grown.append(Grown(names[found.family.items], found.smooth))
    if grown:
        cover = windows([each.items for each in grown], WIDEST)
        used = np.unique(np.concatenate(cover))
        counts = count_patterns(
            source.narrowed(used), [np.searchsorted(used, window) for window in cover], source.rows()
        )
        guesses = _fitted_guesses(grown, cover, counts, coins, search)
        levels += _reported(levels[-1], grown, guesses, search)
    kept = tuple(level for level in levels if len(level.items))
    return Itemsets(variable.items, kept, source.rows(), search.min_support, search.target)


def _fitted_guesses(
    grown: Sequence[Grown], cover: Sequence[Numbers], counts: Sequence[Array], coins: Coins, search: Search
) -> list[Guess]:
    """Supports of all sets by the windows they are in, and how far those of one length miss."""
    fits: list[Array] = [np.zeros(0)] * len(cover)
    done = []

    def fit(place: int) -> None:
        # Nothing private hangs on what is drawn here; the same reports give the same result.
        fits[place] = _fitted(counts[place], coins.chosen(cover[place]), np.random.default_rng(place))
        done.append(place)
        search.told(0, len(done), len(cover))

    in_threads(fit, len(cover), None)
    return [_guess(each.items, cover, fits, search.min_support) for each in grown]


def _fitted(counts: Array, coins: Coins, rng: np.random.Generator) -> Array:
    """Supports of all sets of a window, and of fits to reports drawn anew, side by side."""
    cells = likely_cells(counts, coins)
    found = [held_supports(counts, cells, coins)]
    for _ in range(REFITS):
        drawn = drawn_counts(cells, int(counts.flat[0]), coins, rng)
        found.append(held_supports(drawn, likely_cells(drawn, coins), coins))
    return np.stack([supports.ravel() for supports in found])


def _guess(items: Numbers, cover: Sequence[Numbers], fits: Sequence[Array], threshold: float) -> Guess:
    """Each set by the first window it is in; counts scatter with the root of what is counted."""
    found, left = np.zeros((1 + REFITS, len(items))), np.ones(len(items), bool)
    for window, fit in zip(cover, fits, strict=True):
        own = left & np.isin(items, window).all(axis=1)
        found[:, own] = fit[:, cell_numbers(np.searchsorted(window, items[own]), len(window))]
        left &= ~own
    support, drawn = found[0], found[1:]
    share = np.maximum(support, threshold / 10)
    return Guess(support, float(np.sqrt(((drawn - support) ** 2 / share).mean() * threshold)))


def _reported(below: Level, grown: Sequence[Grown], guesses: Sequence[Guess], search: Search) -> Iterator[Level]:
    """Sets all of whose subsets are reported, while few are expected to be false."""
    reported, least = set(map(tuple, below.items.tolist())), search.min_support
    for each, guess in zip(grown, guesses, strict=True):
        smooth = each.smooth
        best = guess if smooth is None else guess.averaged(Guess(smooth.support * least, smooth.spread * least))
        error = best.spread * np.sqrt(np.maximum(best.support, 0) / least)
        certain = np.where(best.support >= least, np.inf, -np.inf)
        deviations = np.divide(best.support - least, error, out=certain, where=error > 0)
        possible = [all(part in reported for part in combinations(row, len(row) - 1)) for row in each.items.tolist()]
        kept = surest(np.where(possible, deviations, -np.inf), search.false_positives or 0.0)
        level = Level(each.items, best.support, error, chances(deviations), by_model=True).chosen(kept)
        reported = set(map(tuple, level.items.tolist()))
        yield level
