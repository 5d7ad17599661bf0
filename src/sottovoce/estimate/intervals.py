"""Intervals: plain ones around the estimate, and ones that stay between 0 and 1."""

from statistics import NormalDist
from typing import Literal

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import MOST_CELLS, InversionSpread, Spread

Kind = Literal["wald", "score"]
Ends = tuple[Array, Array]


def critical_value(level: float, statements: int = 1) -> float:
    """Standard errors either way for a confidence, shared among statements that must all hold (Bonferroni).

    >>> round(critical_value(0.95), 2), round(critical_value(0.95, statements=10), 2)
    (1.96, 2.81)
    """
    if not 0 < level < 1:
        raise SottovoceError("level", "must be between 0 and 1", level)
    return NormalDist().inv_cdf(1 - (1 - level) / (2 * statements))


def wald(value: Array, spread: Spread, deviations: float) -> Ends:
    """`p +- z se`: symmetric, and good where the estimate is several standard errors from 0 and 1."""
    half = deviations * np.sqrt(np.maximum(spread.variances, 0))
    return value - half, value + half


def score(value: Array, spread: Spread, deviations: float) -> Ends:
    """All proportions t that the estimate does not contradict: `(p - t)^2 <= z^2 V(t) / N`, cut to [0, 1].

    V(t) is the variance if the cell's proportion were t and the others kept their shares among
    themselves: `m_0 + (m_1 - m_0) t - t^2` for the population, `- t` for the table, with m_1 and m_0 the second
    moments of the cell's estimate from one report of a person in the cell, and of one who is not. Without a
    disguise this is Wilson's interval (1927), of which it keeps the good manners near 0 and 1.
    """
    if not isinstance(spread, InversionSpread) or len(value) > MOST_CELLS:
        raise SottovoceError("kind", f"must be wald for this method, or for more than {MOST_CELLS} cells", "score")
    inside, outside = _second_moments(value, spread)
    c = deviations**2 / spread.respondents
    square, linear = (c, inside - outside) if spread.target == "population" else (0.0, inside - outside - 1)
    middle = value + c * linear / 2
    root = np.sqrt(np.maximum(middle**2 - (1 + square) * (value**2 - c * outside), 0))
    low, high = (middle - root) / (1 + square), (middle + root) / (1 + square)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _second_moments(value: Array, spread: InversionSpread) -> Ends:
    """Mean squared weight that one report gives a cell: of a person in it, and of others."""
    channel, order = spread.channel, spread.order
    law = np.empty_like(value)
    law[order] = nearest_distribution(value)
    squares = channel.solve(np.eye(channel.n_out)) ** 2
    moments = squares @ channel.matvec(np.eye(channel.n_in))
    inside = np.diag(moments)
    rest = np.maximum(1 - law, 1e-12)
    outside = (moments @ law - inside * law) / rest
    return inside[order], outside[order]
