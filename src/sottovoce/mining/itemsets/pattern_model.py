"""Frequent itemsets by a model of joint cells, under any plan: of categories, or of patterns of items.

Itemsets of categories come from joint tables (`estimate_joint`). For sets of items, candidates are found as by
`frequent_itemsets`, and those of four and more items are estimated again: windows of a few items cover them, all
patterns of a window's items are counted in the reports, and a fit of the patterns' cells (`pattern_fits`) gives the
support of each set. Cells cannot be negative, which raises empty cells and lowers the others, the more so the more
cells there are and the less the reports say about them. So the number of items of a window depends on the precision of
the reports; the remaining bias is nearly the same for all sets of a length, and is corrected by their subsets of three
or four items, which are known precisely without a model. Standard errors come from a parametric bootstrap.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Target
from sottovoce.counts.transactions import count_patterns
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.log_linear import estimate_joint
from sottovoce.mining.itemsets.categories import CategoryItems, estimate_categories, mine_categories
from sottovoce.mining.itemsets.frequent import (
    agreed_plan,
    attribute_names,
    checked_longest,
    checked_support,
    item_set_among,
    sources_of,
    split_wanted,
)
from sottovoce.mining.itemsets.halves import HalvesOptions, random_halves
from sottovoce.mining.itemsets.pattern_fits import Fits, Window, fit_windows
from sottovoce.mining.itemsets.reconstruct import CoinCovariances, ModelCovariances, item_coins, squared_score
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.search import search_levels
from sottovoce.mining.itemsets.selection import (
    Indices,
    LengthProgress,
    Level,
    Search,
    probability_frequent,
    select_probable,
)
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

BitRows = NDArray[np.uint64]
"""Sets as rows of bits, 64 items to a word."""
POPULATION: Target = "population"
"""What models estimate."""


def modelled_item_sets(reports: object, plan: Plan, variable: ItemSet, search: Search) -> Itemsets:
    """Return the frequent sets of items; supports of up to three items by inversion, of more by the model."""
    coins = item_coins(plan, variable, ", for a model")
    (source,), how = sources_of(reports, plan, variable, search.tuning.longest)
    levels, sets, noise, threshold = [], [], 0.0, search.min_support
    shortest = search.tuning.shortest_modelled
    for survivors, names in search_levels([source], how, search):
        candidates = survivors.candidates
        if candidates.length < shortest:
            levels.append(survivors.level(names))
        elif len(candidates):
            sets.append(names[candidates.items])
            if candidates.length == shortest:
                noise = float(np.median(survivors.standard_error)) / threshold
    rows = source.rows()  # known once everything was read
    fits: list[Fits] = []
    if sets:
        chosen = cover_with_windows(sets, window_items(noise, search.tuning))
        used = np.unique(np.concatenate(chosen))
        counts = count_patterns(source.narrowed(used), [np.searchsorted(used, items) for items in chosen], rows)
        windows = [
            Window(items, count, coins.select(items), search.tuning)
            for items, count in zip(chosen, counts, strict=True)
        ]
        known = shortest if noise <= search.tuning.precise_error else shortest - 1
        fits = fit_windows(sets, windows, known, search)
        levels += _select_levels(levels[-1], sets, fits, search)
    kept = tuple(level for level in levels if len(level.items))
    covariances = ModelCovariances(
        CoinCovariances(squared_score(coins.ones, coins.zeros), rows, search.target),
        _covariance_ratios(fits, threshold, shortest),
    )
    searched = dict(search.searched)
    return Itemsets(variable.items, kept, rows, threshold, search.target, covariances, search.tuning, searched)


def cover_with_windows(sets: Sequence[Indices], most: int) -> list[Indices]:
    """Return sets of at most `most` items, ascending, such that each given set (shorter ones first) is within one.

    Greedily: a window starts with the longest set that is not covered, and takes in, while there is room, the set that
    shares the most items with it, of these the one that adds the fewest. Sets that share fewer than two items with it
    tell nothing about it, and wait for a window of their own.

    >>> sets = [np.array([[0, 1], [4, 5]]), np.array([[0, 1, 2], [1, 2, 3]])]
    >>> [window.tolist() for window in cover_with_windows(sets, most=4)]
    [[0, 1, 2, 3], [4, 5]]
    """
    waiting, windows = np.concatenate([_bit_rows(items, sets) for items in reversed(sets)]), []
    while len(waiting):
        window = _fill_window(waiting, waiting[0], most)
        waiting = waiting[(waiting & ~window).any(axis=1)]
        windows.append(np.flatnonzero(np.unpackbits(window.view(np.uint8), bitorder="little")))
    return windows


def _bit_rows(items: Indices, sets: Sequence[Indices]) -> BitRows:
    """Return the sets as bits, in as many words as the highest item of all sets needs."""
    bits = np.zeros((len(items), -(-(1 + max(int(each.max()) for each in sets)) // 64) * 64), bool)
    bits[np.arange(len(items))[:, None], items] = True
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _fill_window(waiting: BitRows, window: BitRows, most: int) -> BitRows:
    """Add waiting sets to a window while there is room."""
    while True:
        added, shared = (
            np.bitwise_count(bits).sum(axis=1, dtype=int) for bits in (waiting & ~window, waiting & window)
        )
        room = most - int(np.bitwise_count(window).sum())
        fitting = (added > 0) & (added <= room) & (shared >= 2)
        if not fitting.any():
            return window
        window = window | waiting[np.argmax(np.where(fitting, most * shared - added, -most))]


def window_items(noise: float, tuning: Tuning = DEFAULT_TUNING) -> int:
    """Return the items of a window, from the standard error of sets of four items as a share of the threshold.

    >>> window_items(0.035), window_items(0.07), window_items(0.14), window_items(0.0)
    (14, 11, 8, 14)
    """
    cells = tuning.window_cells / max(noise, 2.0**-tuning.widest_window) ** 3
    return int(np.clip(np.log2(cells), tuning.narrowest_window, tuning.widest_window))


def _select_levels(below: Level, sets: Sequence[Indices], fits: Sequence[Fits], search: Search) -> Iterator[Level]:
    """Yield the sets all of whose subsets are reported, while few false ones are expected."""
    reported, threshold = set(map(tuple, below.items.tolist())), search.min_support
    for items, fit in zip(sets, fits, strict=True):
        support, error = fit.support, fit.standard_error(threshold)
        certain = np.where(support >= threshold, np.inf, -np.inf)
        deviations = np.divide(support - threshold, error, out=certain, where=error > 0)
        possible = [all(part in reported for part in combinations(row, len(row) - 1)) for row in items.tolist()]
        kept = select_probable(np.where(possible, deviations, -np.inf), search.tuning)
        probability = probability_frequent(deviations, search.tuning)
        level = Level(items, support, error, probability, by_model=True).select(kept)
        reported = set(map(tuple, level.items.tolist()))
        yield level


def _covariance_ratios(fits: Sequence[Fits], threshold: float, shortest: int) -> dict[tuple[int, int], float]:
    """Return the ratios of `ModelCovariances`, by the lengths of a set and of a part of it."""
    return {
        (fit.length, length): fit.covariance_ratio(length if length < shortest else fits[length - shortest], threshold)
        for fit in fits
        for length in range(1, fit.length)
    }


class JointEstimateItems(CategoryItems):
    """Items whose supports are margins of one joint estimate."""

    def __init__(self, joint: Estimate) -> None:
        """Index the categories of the estimate."""
        self._index_categories(joint.attributes, joint.categories)
        self._whole = joint

    def _estimate_joint(self, attributes: tuple[int, ...]) -> Estimate:
        return self._whole.marginal(self._named(attributes))


class ModelledItems(CategoryItems):
    """Items whose supports come from a model of each set of attributes, on its own cells."""

    def _estimate_joint(self, attributes: tuple[int, ...]) -> Estimate:
        return estimate_joint(self.counter, self._plan, self._named(attributes))


def modelled_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    longest: int | None = None,
    progress: LengthProgress | None = None,
    **halves: Unpack[HalvesOptions],
) -> Itemsets:
    """Find frequent combinations attribute = value, or frequent sets of items, by a model of joint cells.

    Up to 4,096 joint cells, all attributes are modelled at once (`estimate_joint`); otherwise each set of attributes is
    modelled on its own cells, from all that the reports say about them: keep `longest` small enough for
    those to be at most 4,096. A model finds long combinations that no respondent was asked together, under any plan;
    `frequent_itemsets` estimates those that were asked together without a model. Supports are those of the population,
    and sets whose modelled support reaches the threshold are reported. A file that carries its plan needs no other.

    Sets of items that have a coin each, up to 14 long, are searched as by `frequent_itemsets`; those of four and more
    items are then estimated by maximum-likelihood patterns of the items around them (`pattern_model`), whose variance
    is much smaller than that of unbiased supports, at the price of a small bias. `association_rules` takes both.
    With `halves=True`, one half of the reports picks and the other estimates, which is for categories only.

    >>> from sottovoce.mining.small_set_plan import mining_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = mining_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> reports = {"a": [True, False] * 500, "b": [True, False] * 500}
    >>> modelled_itemsets(reports, plan, min_support=0.3).itemsets[-2:]
    (('a=False', 'b=False'), ('a=True', 'b=True'))
    """
    agreed = agreed_plan(reports, plan)
    names = agreed.schema.project(attribute_names(agreed, attributes)).names
    variable, threshold = item_set_among(agreed, names), checked_support(min_support)
    split, rng = split_wanted(**halves)
    if variable is not None:
        if split:
            rule = "must be left out with a model of sets of items, which is made of what the search finds"
            raise SottovoceError("halves", rule, value=True)
        most = checked_longest(longest, DEFAULT_TUNING.widest_window)
        search = Search(threshold, "smoothed", POPULATION, most, progress)
        return modelled_item_sets(reports, agreed, variable, search)
    search = Search(threshold, "threshold", POPULATION, checked_longest(longest, len(names)), progress)
    first, second = reports, None
    if split:
        first, second = random_halves(reports, None, POPULATION, rng)
    items, rows = _modelled_items(first, agreed, names)
    picks = _mine_modelled(items, rows, search)
    if second is None:
        return picks
    items, rows = _modelled_items(second, agreed, names)
    return picks.estimated_on(estimate_categories(items, picks.levels), rows, items)


def _modelled_items(reports: Any, plan: Plan, names: Sequence[str]) -> tuple[CategoryItems, int]:
    """Return items by one model of all attributes, if they have few enough cells, and the number of reports."""
    if plan.schema.project(names).cells <= MOST_CELLS:
        joint = estimate_joint(reports, plan, names)
        return JointEstimateItems(joint), joint.respondents
    items = ModelledItems(reports, plan, names, POPULATION)
    return items, items.counter.rows()


def _mine_modelled(items: CategoryItems, rows: int, search: Search) -> Itemsets:
    levels = tuple(mine_categories(items, search))
    searched = dict(search.searched)
    return Itemsets(items.labels, levels, rows, search.min_support, search.target, items, search.tuning, searched)


def itemsets_of(
    joint: Estimate, min_support: float, *, longest: int | None = None, progress: LengthProgress | None = None
) -> Itemsets:
    """Return the combinations of an estimate's categories whose support, a sum of joint cells, is high enough.

    >>> import numpy as np
    >>> from sottovoce.estimates.covariance import MatrixCovariance
    >>> p = np.array([0.6, 0.1, 0.2, 0.1])
    >>> covariance = MatrixCovariance(np.eye(4) / 1e4)
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), p, covariance, p, 10, "table", "inversion")
    >>> itemsets_of(joint, 0.25).itemsets
    (('a=0',), ('a=1',), ('b=0',), ('a=0', 'b=0'))
    """
    items, threshold = JointEstimateItems(joint), checked_support(min_support)
    most = checked_longest(longest, len(joint.attributes))
    return _mine_modelled(items, joint.respondents, Search(threshold, "threshold", joint.target, most, progress))
