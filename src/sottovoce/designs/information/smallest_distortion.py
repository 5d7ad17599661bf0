"""The smallest distortion that given odds allow, and the channel that attains it."""

from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array

ROUNDING = 1e-12
"""Distance below the smallest distortion that is attributed to rounding."""


def checked_odds(odds: float | None) -> float | None:
    """Return odds as a finite number of at least one, or None if they are unbounded.

    >>> checked_odds(0.5)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: odds must be a finite number of at least 1, or None if unbounded. Got 0.5 instead.
    """
    if odds is None:
        return None
    number = real_array("odds", odds)
    if number.ndim or not 1 <= number < float("inf"):
        raise SottovoceError("odds", "must be a finite number of at least 1, or None if unbounded", odds)
    return float(number)


def checked_distortion(distortion: float, smallest: float) -> float:
    """Return a feasible distortion; one below the smallest by rounding is raised to it."""
    number = real_array("distortion", distortion)
    if number.ndim or isnan(number) or number > 1:
        raise SottovoceError("distortion", "must be a probability", distortion)
    if number < smallest - ROUNDING:
        rule = f"must be at least {smallest:.12g}, the smallest that these odds and this prior allow"
        raise SottovoceError("distortion", rule, distortion)
    return max(float(number), smallest)


def smallest_distortion(prior: Any, odds: float | None) -> float:
    """Return `1 - max_k P_k e / (k + e - 1)`, e the odds and P_k the mass of the k likeliest truths; 0 if unbounded.

    With m_y the least entry of row y, the diagonal is at most `e m_y`, and the column of x sums to one, so that
    `(e - 1) m_x + sum_y m_y <= 1`: a linear program whose vertices are randomized response among the k likeliest.

    >>> round(smallest_distortion([0.5, 0.3, 0.2], odds=3), 6)
    0.4
    """
    shares, bound = checked_prior(prior), checked_odds(odds)
    return 0.0 if bound is None else float(1 - _accuracies(shares, bound).max())


def least_distorting(prior: Array, odds: float) -> Array:
    """Return randomized response among the k likeliest truths; other truths get the distribution of those reports.

    If several k do equally well, the smallest has the least mutual information.
    """
    accuracies = _accuracies(prior, odds)
    kept = likeliest_first(prior)[: int(np.argmax(accuracies >= accuracies.max() - ROUNDING)) + 1]
    matrix = np.zeros((prior.size, prior.size))
    matrix[np.ix_(kept, kept)] = (1 + (odds - 1) * np.eye(kept.size)) / (kept.size + odds - 1)
    return with_average_columns(matrix, prior, kept)


def with_average_columns(matrix: Array, prior: Array, kept: NDArray[np.intp]) -> Array:
    """Give the truths that are never reported the average column of the others, which adds no information."""
    filled = matrix.copy()
    others = np.delete(np.arange(prior.size), kept)
    filled[:, others] = (matrix[:, kept] @ prior[kept] / prior[kept].sum())[:, None]
    return filled


def _accuracies(prior: Array, odds: float) -> Array:
    """`P(X = Y)` of randomized response among the k likeliest truths, for each k from one."""
    reports = np.arange(1, prior.size + 1)
    accuracies: Array = prior[likeliest_first(prior)].cumsum() * odds / (reports + odds - 1)
    return accuracies


def likeliest_first(prior: Array) -> NDArray[np.intp]:
    """Return the truths in order of falling probability, stable for equal ones."""
    return np.argsort(-prior, kind="stable")
