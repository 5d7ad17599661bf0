"""From an optimiser's floating point to the exact integers of a scheme, towards privacy."""

from fractions import Fraction
from math import floor

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.requirement import Requirement
from sottovoce.design.sets import settled_sets
from sottovoce.design.settled import Settled
from sottovoce.design.solution import Solution
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.mechanism.coins import MOST_SIDES
from sottovoce.mechanism.listed import Listed
from sottovoce.mechanism.rounding import Rows, in_lowest_terms, matrix_odds

MARGINS = (Fraction(0), *(Fraction(1, 10**digits) for digits in (15, 13, 11, 9)))
"""Relative distances from the odds asked for, the first of which that integers can keep is taken."""

SLIVER = 1e-8
"""Largest probability of a report that is not worth having alone."""


def settled(found: Solution, asked: Requirement) -> Settled:
    """Scheme `matrix` where the reports are listed, `random_set` where they are drawn."""
    if found.sets is not None:
        return settled_sets(found.sets, asked.odds)
    if found.matrix is None:
        raise SottovoceError("solution", "must have a matrix or sets", found)
    return settled_matrix(told_truly(without_slivers(found.matrix), asked.law), asked.odds)


def settled_matrix(matrix: Array, odds: Fraction | None) -> Settled:
    """Scheme `matrix` of a coin with 2^64 sides, near a matrix of reports by truths, with odds at most these.

    Without odds, zeros stay zeros: what rules a truth out goes on doing so, and is not deniable. A square matrix has
    its rows in the order in which reports are most often true.

    >>> near = settled_matrix(np.array([[0.750000001, 0.25], [0.249999999, 0.75]]), Fraction(3))
    >>> 0 <= 3 - near.settled.channel.odds < 1e-8
    True
    """
    shares = matrix / matrix.sum(axis=0)
    return Settled("matrix", Listed((matrix.shape[1],), _sides(shares, odds)))


def without_slivers(matrix: Array) -> Array:
    """Add reports that hardly ever come to those most like them, if there are more reports than truths.

    The sum of two reports keeps every bound that both keep: odds, posteriors and right guesses. Alone, a report with
    entries of a few sides would be rounded coarsely.

    >>> without_slivers(np.array([[0.8, 0.2], [0.2 - 2e-9, 0.8 - 1e-9], [2e-9, 1e-9]])).round(8)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    thin = matrix.max(axis=1) < SLIVER
    if len(matrix) <= matrix.shape[1] or not thin.any():
        return matrix
    kept, slivers = matrix[~thin].copy(), matrix[thin & matrix.any(axis=1)]
    likeness = _directions(slivers) @ _directions(kept).T
    for sliver, place in zip(slivers, likeness.argmax(axis=1), strict=True):
        kept[place] += sliver
    return np.asarray(kept)


def told_truly(matrix: Array, prior: Array) -> Array:
    """Rows of a square matrix in the order that makes reports the truth most often; others as they are.

    >>> told_truly(np.array([[0.2, 0.7], [0.8, 0.3]]), np.array([0.5, 0.5]))
    array([[0.8, 0.3],
           [0.2, 0.7]])
    """
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise MissingExtraError("design", "scipy", "design") from None
    rows, truths = linear_sum_assignment(matrix * prior, maximize=True)
    return np.asarray(matrix[rows[np.argsort(truths)]])


def _sides(matrix: Array, odds: Fraction | None) -> Rows:
    if odds is None:
        return in_lowest_terms(_dealt_out(_floored(matrix)))
    for margin in MARGINS:
        kept = odds * (1 - margin)
        rows = [_capped(row, kept) for row in _floored(_drawn_together(matrix, float(kept)))]
        sides = _dealt_out(rows)
        achieved = matrix_odds(sides)
        if achieved is not None and achieved <= odds:
            return in_lowest_terms(sides)
    raise SottovoceError("odds", "must be within reach of coins of 2^64 sides for this design", odds)


def _directions(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _drawn_together(matrix: Array, odds: float) -> Array:
    """`(1 - t) A + t m 1^T`, m the means of the rows, with the least t that keeps the odds in every row."""
    high, low, mean = matrix.max(axis=1), matrix.min(axis=1), matrix.mean(axis=1)
    excess = np.maximum(high - odds * low, 0)
    pull = np.divide(excess, excess + (odds - 1) * mean, out=np.zeros_like(mean), where=excess > 0).max()
    return np.asarray((1 - pull) * matrix + pull * mean[:, None])


def _floored(matrix: Array) -> Rows:
    """Sides of a coin, at least one for what is possible."""
    return [[max(int(share * MOST_SIDES), int(share > 0)) for share in row] for row in matrix.tolist()]


def _capped(row: list[int], odds: Fraction) -> list[int]:
    """Lower what exceeds the odds in a row whose entries are so small that whole sides are coarse."""
    most = floor(odds * min(row))
    return [min(sides, most) for sides in row]


def _dealt_out(rows: Rows) -> Rows:
    """Give the sides that a column lacks, or has too many, to its largest entry."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        column[column.index(max(column))] += MOST_SIDES - sum(column)
    return [list(row) for row in zip(*columns, strict=True)]
