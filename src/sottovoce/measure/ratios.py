"""Odds and epsilon: exact for channels and plans, in floating point for stacks of matrices."""

from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.exact import epsilon_of_odds
from sottovoce.measure.matrices import as_matrices
from sottovoce.plan.plan import Plan


def exact_odds(channel: Channel | Plan) -> Fraction | None:
    """`max_y max_x A[y, x] / min_x A[y, x]` as a rational, None where it is unbounded.

    >>> from sottovoce.channel.dense import Dense
    >>> exact_odds(Dense([[3, 1], [1, 3]], 4))
    Fraction(3, 1)
    """
    return channel.guarantee.odds if isinstance(channel, Plan) else channel.odds


def odds_of(channel: Any) -> Array:
    """Amplification gamma: the largest ratio in a row, infinite over a zero (Agrawal 2004, eq. 4.2).

    Rows are compared, one report against all truths; Gao et al. (2018) first write the bound by column,
    which promises nothing, and by row in 5.2. A row of zeros is a report that never comes. Channels and
    plans are read exactly and rounded once; beyond double precision their odds are infinite here.

    >>> round(float(odds_of([[0.75, 0.25], [0.25, 0.75]])), 12)
    3.0
    """
    if isinstance(channel, Plan | Channel):
        exact: Array = np.asarray(_rounded(exact_odds(channel)))[()]
        return exact
    matrices = as_matrices(channel)
    high, low = matrices.max(axis=-1), matrices.min(axis=-1)
    ratios = np.divide(high, low, out=np.where(high > 0, np.inf, 1.0), where=low > 0)
    worst: Array = ratios.max(axis=-1)
    return worst


def epsilon_of(channel: Any) -> Array:
    """Local differential privacy: the natural logarithm of the odds (Wang, Wu & Hu 2016, eq. 1).

    >>> round(float(epsilon_of([[0.75, 0.25], [0.25, 0.75]])), 6)
    1.098612
    """
    if isinstance(channel, Plan | Channel):
        exact: Array = np.asarray(epsilon_of_odds(exact_odds(channel)))[()]
        return exact
    return np.log(odds_of(channel))


def _rounded(odds: Fraction | None) -> float:
    try:
        return np.inf if odds is None else float(odds)
    except OverflowError:
        return np.inf
