"""The smallest distortion that given odds allow, and the channel that attains it."""

from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array


def checked_odds(odds: float | None) -> float | None:
    """Odds as a finite number of at least one, or None where they are unbounded.

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
    """Distortion that some channel has; rounding below the smallest one is forgiven."""
    number = real_array("distortion", distortion)
    if number.ndim or isnan(number) or number > 1:
        raise SottovoceError("distortion", "must be a probability", distortion)
    if number < smallest - ROUNDING:
        rule = f"must be at least {smallest:.12g}, the smallest that these odds and this prior allow"
        raise SottovoceError("distortion", rule, distortion)
    return max(float(number), smallest)


ROUNDING = 1e-12
"""How far below the smallest distortion a request may be by the rounding of its digits."""


def smallest_distortion(prior: Any, odds: float | None) -> float:
    """`1 - max_k P_k e / (k + e - 1)`: e the odds, P_k the probability of the k likeliest truths; 0 if unbounded.

    With m_y the least entry of row y, the diagonal is at most `e m_y`, and the column of x sums to one, so that
    `(e - 1) m_x + sum_y m_y <= 1`: a linear program whose vertices are randomized response among the k likeliest.

    >>> round(smallest_distortion([0.5, 0.3, 0.2], odds=3), 6)
    0.4
    """
    law, bound = checked_prior(prior), checked_odds(odds)
    return 0.0 if bound is None else float(1 - _accuracies(law, bound).max())


def least_distorting(prior: Array, odds: float) -> Array:
    """Randomized response among the k likeliest truths; others are answered by the law of those reports.

    Where several k do equally well the fewest reports tell least.
    """
    accuracies = _accuracies(prior, odds)
    kept = likeliest_first(prior)[: int(np.argmax(accuracies >= accuracies.max() - ROUNDING)) + 1]
    matrix = np.zeros((prior.size, prior.size))
    matrix[np.ix_(kept, kept)] = (1 + (odds - 1) * np.eye(kept.size)) / (kept.size + odds - 1)
    return answered_by_others(matrix, prior, kept)


def answered_by_others(matrix: Array, prior: Array, kept: NDArray[np.intp]) -> Array:
    """Give truths that are never reported the law of the reports of those that are: they then tell nothing more."""
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
    """Truths by falling probability, in their own order where equal."""
    return np.argsort(-prior, kind="stable")
