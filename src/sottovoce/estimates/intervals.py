"""Confidence intervals: Wald intervals around the estimate, score intervals within [0, 1], and the bootstrap's."""

from statistics import NormalDist
from typing import Literal, Protocol, TypedDict, get_args

import numpy as np

from sottovoce.checks import Array, Progress, one_of
from sottovoce.checks import level as checked_level
from sottovoce.errors import SottovoceError
from sottovoce.estimates.bootstrap import DRAWS, bootstrap_ends
from sottovoce.estimates.covariance import MOST_CELLS, Covariance, InversionCovariance
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.mechanisms.coins import Randomness

Kind = Literal["wald", "score", "bootstrap"]
Ends = tuple[Array, Array]
"""Lower and upper ends of intervals."""


class IntervalOptions(TypedDict, total=False):
    """Options of an interval; `draws`, `rng` and `progress` are for the bootstrap."""

    kind: Kind
    simultaneous: bool
    draws: int
    rng: Randomness
    progress: Progress | None


class Estimated(Protocol):
    """Estimates with standard errors."""

    @property
    def value(self) -> Array:
        """Estimates."""

    @property
    def standard_error(self) -> Array:
        """Standard error of each estimate."""


class WaldIntervals:
    """Mixin that gives a result with `value` and `standard_error` its confidence intervals."""

    def interval(self: Estimated, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Return the ends of the Wald interval of each estimate, `value +- z standard_error`.

        With `simultaneous` all of them hold at once with this probability (Bonferroni).
        """
        return wald(self.value, self.standard_error, critical_value(level, len(self.value) if simultaneous else 1))


def interval_ends(
    value: Array,
    covariances: Covariance,
    level: float,
    *,
    kind: Kind = "wald",
    simultaneous: bool = False,
    draws: int = DRAWS,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> Ends:
    """Return the ends of every cell's interval, of the kind asked for; see `Estimate.interval`."""
    one_of("kind", kind, get_args(Kind))
    deviations = critical_value(level, len(value) if simultaneous else 1)
    if kind == "wald":
        return wald(value, standard_errors(covariances), deviations)
    if not isinstance(covariances, InversionCovariance) or len(value) > MOST_CELLS:
        rule = (
            "must be wald for this method, with weights or strata, for sets of many categories, for margins of "
            f"an indivisible report, or for more than {MOST_CELLS} cells"
        )
        raise SottovoceError("kind", rule, kind)
    if kind == "bootstrap":
        return bootstrap_ends(covariances, level, simultaneous=simultaneous, draws=draws, rng=rng, progress=progress)
    return score(value, covariances, deviations)


def critical_value(level: float, statements: int = 1) -> float:
    """Return the number of standard errors on either side, with Bonferroni's correction for several statements.

    >>> round(critical_value(0.95), 2), round(critical_value(0.95, statements=10), 2)
    (1.96, 2.81)
    """
    return NormalDist().inv_cdf(1 - (1 - checked_level(level)) / (2 * statements))


def standard_errors(covariances: Covariance) -> Array:
    """Return the square roots of the variances; one that rounding left below zero counts as zero."""
    return np.asarray(np.sqrt(np.maximum(covariances.variances, 0)))


def wald(value: Array, standard_error: Array, deviations: float) -> Ends:
    """Return `p +- z se`: good where the estimate is several standard errors away from 0 and 1."""
    half = deviations * standard_error
    return value - half, value + half


def score(value: Array, covariances: InversionCovariance, deviations: float) -> Ends:
    """Return the range of proportions t with `(p - t)^2 <= z^2 V(t) / N`, cut to [0, 1].

    V(t) is the variance if the cell's proportion were t and the other cells kept their shares among
    themselves: `m_0 + (m_1 - m_0) t - t^2` for the population, `- t` for the table, with m_1 and m_0 the second
    moments of the cell's estimate from one report of a respondent in the cell, and of one outside it. Without a
    disguise this is Wilson's interval (1927), and it is as good as Wilson's near 0 and 1.
    """
    inside, outside = _second_moments(value, covariances)
    c = deviations**2 / covariances.respondents
    square, linear = (c, inside - outside) if covariances.target == "population" else (0.0, inside - outside - 1)
    middle = value + c * linear / 2
    root = np.sqrt(np.maximum(middle**2 - (1 + square) * (value**2 - c * outside), 0))
    low, high = (middle - root) / (1 + square), (middle + root) / (1 + square)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def errors_at_zero(value: Array, covariances: InversionCovariance) -> Array:
    """Return each cell's standard error if its proportion were zero and the others kept their shares, `sqrt(m_0/N)`."""
    return np.asarray(np.sqrt(_second_moments(value, covariances)[1] / covariances.respondents))


def _second_moments(value: Array, covariances: InversionCovariance) -> Ends:
    """Return the mean squared weight that a report has for a cell: from respondents in the cell, and outside it."""
    channel, order = covariances.channel, covariances.order
    distribution = np.empty_like(value)
    distribution[order] = nearest_distribution(value)
    squares = channel.solve(np.eye(channel.n_out)) ** 2
    moments = squares @ channel.matvec(np.eye(channel.n_in))
    inside = np.diag(moments)
    others = np.maximum(1 - distribution, 1e-12)
    outside = (moments @ distribution - inside * distribution) / others
    return inside[order], outside[order]
