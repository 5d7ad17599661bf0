"""Patterns of a few items: their joint cells by maximum likelihood, and the supports of every set of the items.

An array has an axis of two for each item. Cells are the shares of transactions with exactly the items of a pattern;
supports, of those with these items and possibly others.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.checks import Array
from sottovoce.estimates.likelihood import em_factors
from sottovoce.mining.itemsets.reconstruct import Coins, squared_score
from sottovoce.mining.itemsets.selection import Indices
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING


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
