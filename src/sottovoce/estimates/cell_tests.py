"""Tests of the proportions of an estimate's cells, which confidence intervals invert.

A test orders estimates by their likelihood ratio against the best proportion in [0, 1] (Feldman & Cousins 1998), so
that intervals stay within [0, 1] and are never empty. Counts of reports with one property have exact probabilities;
other estimates are taken as normal, with the variance that the proportion tested would give them.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import erf, pi, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target
from sottovoce.estimates.exact_intervals import MOST_VARIANCE, MOST_VARIANCE_OF_TABLE, exact_interval, tail_probability

Ends = tuple[Array, Array]
"""Lower and upper ends of intervals."""

Mask = NDArray[np.bool_]

BISECTIONS = 50
"""Halvings by which the end of an interval is found."""

MOST_EXACT = 1000
"""Most cells whose intervals are exact by default; of more they are score intervals."""

CONTRADICTION = 0.0005
"""Probability below which reports contradict the plan, for all cells together."""

ONE_BOUND = 0.02
"""Standard error up to which intervals near 0 do not feel the bound at 1, nor those near 1 that at 0."""

FARTHEST = 20.0

_DISTANCES = np.linspace(-FARTHEST, FARTHEST, 2001)
"""Distances from a bound in standard errors, for which intervals are tabulated."""

_erf = np.vectorize(erf, otypes=[np.float64])


class CellTests(Protocol):
    """Tests of the proportions of an estimate's cells, which intervals invert."""

    @property
    def method(self) -> str:
        """Name of the method, as shown with the intervals."""

    def ends(self, deviations: float) -> Ends:
        """Return the ends of every cell's interval, for a critical value such as 1.96."""


@dataclass(frozen=True, eq=False)
class NormalTests:
    """Tests by a normal distribution with the estimated standard errors."""

    value: Array
    standard_error: Array
    method: str = "normal"

    def ends(self, deviations: float) -> Ends:
        """Return intervals within [0, 1].

        Where only one of the bounds is within reach, they depend on the distance to it in standard errors alone, and
        are looked up: there may be millions of cells.
        """
        low, high = np.empty_like(self.value), np.empty_like(self.value)
        near = (self.standard_error <= ONE_BOUND) & (self.standard_error > 0)
        upper = near & (self.value > 0.5)
        for cells, mirrored in ((near & ~upper, False), (upper, True)):
            value, error = self.value[cells], self.standard_error[cells]
            ends = _ends_near_zero((1 - value if mirrored else value) / error, deviations) * error
            low[cells], high[cells] = (1 - ends[1], 1 - ends[0]) if mirrored else ends
        zero = np.zeros(np.count_nonzero(~near))
        variance = QuadraticVariance(self.standard_error[~near] ** 2, zero, zero)
        low[~near], high[~near] = score_ends(self.value[~near], variance, deviations)
        return low, high


def _ends_near_zero(distance: Array, deviations: float) -> Array:
    """Return the ends of intervals in standard errors, for estimates at these distances from zero."""
    low, high = _tabulated_ends(deviations)
    nearest = np.clip(distance, -FARTHEST, FARTHEST)
    beyond = np.maximum(distance - FARTHEST, 0)
    return np.stack([np.interp(nearest, _DISTANCES, low) + beyond, np.interp(nearest, _DISTANCES, high) + beyond])


@lru_cache(maxsize=64)
def _tabulated_ends(deviations: float) -> Ends:
    scale = 1e-3
    none = np.zeros_like(_DISTANCES)
    ends = score_ends(_DISTANCES * scale, QuadraticVariance(none + scale**2, none, none), deviations)
    return ends[0] / scale, ends[1] / scale


class VarianceAt(Protocol):
    """Variance of each cell's estimate as a function of its proportion."""

    def at(self, proportions: Array) -> Array:
        """Return the variances at these proportions, one for each cell."""


@dataclass(frozen=True, eq=False)
class QuadraticVariance:
    """Variance of each cell's estimate if its proportion were t, `constant + linear t + square t^2`."""

    constant: Array
    linear: Array
    square: Array

    def at(self, proportions: Array) -> Array:
        """Return the variances at these proportions, one for each cell."""
        variances = self.constant + self.linear * proportions + self.square * proportions**2
        return np.asarray(np.maximum(variances, 0))

    def scaled(self, factor: Array) -> "QuadraticVariance":
        """Return the variances times a factor for each cell."""
        return QuadraticVariance(self.constant * factor, self.linear * factor, self.square * factor)


def linear_variance(inside: Array, outside: Array, respondents: float, target: Target) -> QuadraticVariance:
    """Return the variance of a linear estimate by the proportion t of a cell.

    `inside` and `outside` are the mean squares m_1 and m_0 of a report's weight for the cell, from respondents in the
    cell and outside it: `(m_0 + (m_1 - m_0) t - t^2) / N` for the population, `(m_0 + (m_1 - m_0 - 1) t) / N` for the
    table.
    """
    steepness = inside - outside if target == "population" else inside - outside - 1
    square = np.full_like(outside, -1.0 if target == "population" else 0.0)
    return QuadraticVariance(outside, steepness, square).scaled(np.full_like(outside, 1 / respondents))


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """Score tests of linear estimates: normal, with the variance at the hypothesised proportion."""

    value: Array
    variance: QuadraticVariance
    method: str = "constrained score"

    def ends(self, deviations: float) -> Ends:
        """Return intervals within [0, 1]."""
        return score_ends(self.value, self.variance, deviations)


@dataclass(frozen=True, eq=False)
class PlainScoreTests:
    """Score tests without regard to the bounds of proportions; the interval is cut to [0, 1]."""

    value: Array
    variance: QuadraticVariance
    method: str = "score"

    def ends(self, deviations: float) -> Ends:
        """Return the proportions t with `(x - t)^2 <= z^2 V(t)`; without a disguise, Wilson's interval (1927)."""
        z = deviations**2
        leading, middle = 1 - z * self.variance.square, self.value + z * self.variance.linear / 2
        constant = self.value**2 - z * self.variance.constant
        root = np.sqrt(np.maximum(middle**2 - leading * constant, 0))
        return np.clip((middle - root) / leading, 0, 1), np.clip((middle + root) / leading, 0, 1)


@dataclass(frozen=True, eq=False)
class IndicatorTests:
    """Exact tests of cells that are each estimated from the number of reports with one property.

    `inside` and `outside` are the probabilities of the property for respondents in the cell and for others.
    """

    counts: Array
    respondents: int
    inside: Array
    outside: Array
    target: Target

    @property
    def value(self) -> Array:
        """Unbiased estimates of the proportions."""
        return np.asarray((self.counts / self.respondents - self.outside) / (self.inside - self.outside))

    @property
    def score(self) -> ScoreTests:
        """Score tests of the same counts."""
        gain = self.inside - self.outside
        inner, outer = self.inside * (1 - self.inside), self.outside * (1 - self.outside)
        if self.target == "table":
            variance = QuadraticVariance(outer, inner - outer, np.zeros_like(gain))
        else:
            variance = QuadraticVariance(outer, gain * (1 - 2 * self.outside), -(gain**2))
        return ScoreTests(self.value, variance.scaled(1 / (gain**2 * self.respondents)))

    @cached_property
    def _summed(self) -> Mask:
        """Cells with counts of so small a variance that their probabilities are summed."""
        most = MOST_VARIANCE if self.target == "population" else MOST_VARIANCE_OF_TABLE
        least, greatest = np.minimum(self.inside, self.outside), np.maximum(self.inside, self.outside)
        chances = np.clip(self.counts / self.respondents, least, greatest)
        variances = self.respondents * np.maximum(chances * (1 - chances), least * (1 - greatest))
        return np.asarray((variances <= most) & (len(self.counts) <= MOST_EXACT))

    @property
    def method(self) -> str:
        """`exact`, unless there are so many reports that the normal approximation takes its place."""
        return "exact" if self._summed.all() else "constrained score"

    def ends(self, deviations: float) -> Ends:
        """Return the hull of the proportions that are not rejected."""
        low, high = self.score.ends(deviations)
        for cell in np.flatnonzero(self._summed):
            count, chances = round(float(self.counts[cell])), (float(self.inside[cell]), float(self.outside[cell]))
            low[cell], high[cell] = exact_interval(count, self.respondents, *chances, deviations, self.target)
        return low, high

    @cached_property
    def contradiction(self) -> tuple[int, float] | None:
        """Cell whose count is the least probable under every proportion, and the probability of such a count."""
        least, greatest = np.minimum(self.inside, self.outside), np.maximum(self.inside, self.outside)
        shares = self.counts / self.respondents
        outliers = [
            (tail_probability(float(self.counts[cell]), self.respondents, float(chance)), int(cell))
            for cell in np.flatnonzero((shares < least) | (shares > greatest))
            for chance in [least[cell] if shares[cell] < least[cell] else greatest[cell]]
        ]
        chance, cell = min(outliers, default=(1.0, 0))
        return (cell, chance) if chance < CONTRADICTION / len(self.counts) else None


@dataclass(frozen=True, eq=False)
class JoinedTests:
    """Tests of some cells by one method and of others by another; `parts` are their indices and tests."""

    parts: tuple[tuple[NDArray[np.intp], CellTests], ...]

    @property
    def method(self) -> str:
        """Names of the methods."""
        return " or ".join(dict.fromkeys(tests.method for _, tests in self.parts))

    def ends(self, deviations: float) -> Ends:
        """Return the ends of all cells, in their order."""
        low, high = (np.empty(sum(len(cells) for cells, _ in self.parts)) for _ in range(2))
        for cells, tests in self.parts:
            low[cells], high[cells] = tests.ends(deviations)
        return low, high


def score_ends(value: Array, variance: VarianceAt, deviations: float) -> Ends:
    """Return the proportions t in [0, 1] that are not rejected at an estimate x, normal with variance V(t).

    Away from 0 and 1 these are `(x - t)^2 <= z^2 V(t)`. Near them the
    test orders estimates by their likelihood ratio against the best proportion in [0, 1], so that an estimate below
    zero still has an interval (Feldman & Cousins 1998, section IV).
    """
    best = np.clip(value, 0, 1)
    level = 1 - erf(deviations / sqrt(2))
    bounds = np.stack([np.zeros_like(best), np.ones_like(best)])
    inner, outer = np.stack([best, best]), bounds
    kept = normal_p_values(value, outer, variance.at(outer)) > level
    for _ in range(BISECTIONS):
        middle = (inner + outer) / 2
        accepted = normal_p_values(value, middle, variance.at(middle)) > level
        inner, outer = np.where(accepted, middle, inner), np.where(accepted, outer, middle)
    low, high = np.where(kept, bounds, outer)
    return low, high


def normal_p_values(value: Array, proportions: Array, variances: Array, skewness: Array | None = None) -> Array:
    """Return the p-values of proportions t in [0, 1] for normal estimates, ordered by their likelihood ratio.

    The log ratio of x is `-(x - t)^2 / 2 V` for x in [0, 1], `(2 x t - t^2) / 2 V` below and
    `(2 x (t - 1) + 1 - t^2) / 2 V` above: both tails begin where it is that of the observed estimate. With a skewness g
    the distribution is Edgeworth's, `Phi(z) - phi(z) g (z^2 - 1) / 6`.
    """
    t, v = proportions, np.maximum(variances, 1e-300)
    below, above = np.minimum(value, 0), np.maximum(value - 1, 0)
    squared = np.maximum((value - t) ** 2 - below**2 - above**2, 0)  # -2 V times the log ratio
    distance = np.sqrt(squared)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(t - distance >= 0, t - distance, (t**2 - squared) / (2 * t))
        high = np.where(t + distance <= 1, t + distance, (1 - t**2 + squared) / (2 * (1 - t)))
    low = np.where(t > 0, low, np.where(squared > 0, -np.inf, 0.0))
    high = np.where(t < 1, high, np.where(squared > 0, np.inf, 1.0))
    ends = [np.clip((end - t) / np.sqrt(v), -FARTHEST, FARTHEST) for end in (low, high)]
    below, above = (_distribution(end, skewness) for end in ends)
    return np.asarray(np.where(squared > 0, 1 + below - above, 1.0))


def _distribution(z: Array, skewness: Array | None) -> Array:
    """Return the distribution function of a standardised variable, normal or of this skewness."""
    normal = 0.5 * (1 + _erf(z / sqrt(2)))
    if skewness is None:
        return np.asarray(normal)
    density = np.exp(-(z**2) / 2) / sqrt(2 * pi)
    return np.asarray(np.clip(normal - density * skewness * (z**2 - 1) / 6, 0, 1))
