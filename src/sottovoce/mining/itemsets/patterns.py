"""Patterns of a few items: their most likely joint cells, and what those say of every set of the items.

An array has an axis of two for each item. As cells it holds, at each pattern, transactions with just these items; as
supports, those with these items and maybe others.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.estimates.likelihood import factors as em_factors
from sottovoce.mining.itemsets.candidates import Numbers
from sottovoce.mining.itemsets.reconstruct import Coins, square_of

STEPS = 120
"""Steps of the fit. More fit noise: what reports say little of should stay near where the fit started."""


def exactly(supports: Array) -> Array:
    """Cells from supports.

    >>> exactly(np.array([[10, 4], [3, 2]])).tolist()
    [[5, 2], [1, 2]]
    """
    cells = np.array(supports)
    for axis in range(cells.ndim):
        without, within = _halves(cells, axis)
        without -= within
    return cells


def at_least(cells: Array) -> Array:
    """Supports from cells.

    >>> at_least(np.array([[5, 2], [1, 2]])).tolist()
    [[10, 4], [3, 2]]
    """
    supports = np.array(cells)
    for axis in range(supports.ndim):
        without, within = _halves(supports, axis)
        without += within
    return supports


def unbiased_supports(counts: Array, coins: Coins) -> Array:
    """Shares of transactions with all items of each set, from all-ones counts: item by item, as `reconstruct`.

    >>> sure = Coins((), np.array([0.9]), np.array([0.8]))  # 100 reports, 34 with the item: (.34 - .2) / .7
    >>> unbiased_supports(np.array([100, 34]), sure).round(4).tolist()
    [1.0, 0.2]
    """
    found = counts / counts.flat[0]
    for axis, (one, zero) in enumerate(zip(coins.ones, coins.zeros, strict=True)):
        without, within = _halves(found, axis)
        within -= (1 - zero) * without
        within /= one + zero - 1
    return found


def unbiased_noise(supports: Array, coins: Coins, rows: int) -> Array:
    """Variances of `unbiased_supports` where these are true: `(mean f^2 - support^2) / N`, see `reconstruct`.

    >>> unbiased_noise(np.array([1.0, 0.2]), Coins((), np.array([1.0]), np.array([1.0])), 100).round(4).tolist()
    [0.0, 0.0016]
    """
    squares = np.array(supports)
    for axis, (slope, rest) in enumerate(zip(*square_of(coins.ones, coins.zeros), strict=True)):
        without, within = _halves(squares, axis)
        within *= slope
        within += rest * without
    return np.asarray(np.maximum(squares - supports**2, 0) / rows)


def likely_cells(counts: Sequence[Array], coins: Coins) -> list[Array]:
    """Cells that the reports make likely: steps of EM (see `likelihood`), from items independent of each other.

    Cells are never negative, which says much of long sets: most patterns of many items are in no transaction at all,
    while inversion lets them scatter around nothing. Few steps leave alone what the reports hardly tell. Several
    counts of the same items go side by side.
    """
    point = np.stack([_independent(own, coins) for own in counts], axis=1)
    seen = np.stack([exactly(own).ravel() / own.flat[0] for own in counts], axis=1)
    for _ in range(STEPS):
        point *= em_factors(coins.channel, seen, point)
    return [column.reshape(counts[0].shape) for column in np.ascontiguousarray(point.T)]


def _independent(counts: Array, coins: Coins) -> Array:
    """Cells of items that know nothing of each other."""
    unbiased, rows, cells = unbiased_supports(counts, coins), counts.flat[0], np.ones(1)
    for axis in range(counts.ndim):
        share = unbiased[tuple(int(other == axis) for other in range(counts.ndim))]
        share = np.clip(share, 1 / (rows + 1), rows / (rows + 1))
        cells = np.outer(cells, [1 - share, share]).ravel()
    return cells


def within(supports: Sequence[Array], places: Numbers) -> Array:
    """Of each set, given by its places in a window, what the supports of its subsets sum up to, by number of items.

    >>> within([np.array([[10, 4], [3, 2]])], np.array([[0, 1], [1, 0]])).tolist()
    [[[10.0, 7.0, 2.0], [10.0, 7.0, 2.0]]]
    """
    length = places.shape[1]
    chosen = np.indices((2,) * length).reshape(length, -1)
    parts = (1 << (supports[0].ndim - 1 - places)) @ chosen
    lengths = np.eye(length + 1)[chosen.sum(axis=0)]
    return np.stack([each.ravel()[parts] @ lengths for each in supports])


def drawn_counts(cells: Array, rows: int, coins: Coins, rng: np.random.Generator) -> Array:
    """All-ones counts of so many reports of transactions that are distributed as the cells."""
    law = np.maximum(coins.channel.matvec(cells.ravel()), 0)
    return at_least(rng.multinomial(rows, law / law.sum()).astype(float).reshape(cells.shape))


def _halves(array: Array, axis: int) -> tuple[Array, Array]:
    """Views of the patterns without an item, and of those with it."""
    parts = array.reshape(2**axis, 2, -1)
    return parts[:, 0], parts[:, 1]
