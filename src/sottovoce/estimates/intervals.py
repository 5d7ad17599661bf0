"""Intervals: plain ones around the estimate, ones that stay between 0 and 1, and bootstrapped ones."""

from statistics import NormalDist
from typing import Literal, TypedDict, get_args

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.bootstrap import DRAWS, bootstrap_ends
from sottovoce.estimates.covariance import MOST_CELLS, InversionSpread, Spread
from sottovoce.estimates.likelihood import Progress, nearest_distribution
from sottovoce.mechanisms.coins import Randomness

Kind = Literal["wald", "score", "bootstrap"]
Ends = tuple[Array, Array]


class IntervalOptions(TypedDict, total=False):
    """How intervals are made: `draws`, `rng` and `progress` are the bootstrap's."""

    kind: Kind
    simultaneous: bool
    draws: int
    rng: Randomness
    progress: Progress | None


def interval_ends(
    value: Array,
    spread: Spread,
    level: float,
    *,
    kind: Kind = "wald",
    simultaneous: bool = False,
    draws: int = DRAWS,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> Ends:
    """Ends of every cell's interval, of the kind asked for; see `Estimate.interval`."""
    if kind not in get_args(Kind):
        raise SottovoceError("kind", f"must be one of {', '.join(get_args(Kind))}", kind)
    deviations = critical_value(level, len(value) if simultaneous else 1)
    if kind == "wald":
        return wald(value, spread, deviations)
    if not isinstance(spread, InversionSpread) or len(value) > MOST_CELLS:
        rule = (
            "must be wald for this method, with weights or strata, for sets of many categories, for margins of "
            f"an indivisible report, or for more than {MOST_CELLS} cells"
        )
        raise SottovoceError("kind", rule, kind)
    if kind == "bootstrap":
        return bootstrap_ends(spread, level, simultaneous=simultaneous, draws=draws, rng=rng, progress=progress)
    return score(value, spread, deviations)


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


def score(value: Array, spread: InversionSpread, deviations: float) -> Ends:
    """All proportions t that the estimate does not contradict: `(p - t)^2 <= z^2 V(t) / N`, cut to [0, 1].

    V(t) is the variance if the cell's proportion were t and the others kept their shares among
    themselves: `m_0 + (m_1 - m_0) t - t^2` for the population, `- t` for the table, with m_1 and m_0 the second
    moments of the cell's estimate from one report of a person in the cell, and of one who is not. Without a
    disguise this is Wilson's interval (1927), of which it keeps the good manners near 0 and 1.
    """
    inside, outside = _second_moments(value, spread)
    c = deviations**2 / spread.respondents
    square, linear = (c, inside - outside) if spread.target == "population" else (0.0, inside - outside - 1)
    middle = value + c * linear / 2
    root = np.sqrt(np.maximum(middle**2 - (1 + square) * (value**2 - c * outside), 0))
    low, high = (middle - root) / (1 + square), (middle + root) / (1 + square)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def errors_at_zero(value: Array, spread: InversionSpread) -> Array:
    """Standard error of each cell if its proportion were zero and the others kept their shares: `sqrt(m_0 / N)`."""
    return np.asarray(np.sqrt(_second_moments(value, spread)[1] / spread.respondents))


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
