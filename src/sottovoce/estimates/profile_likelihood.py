"""Intervals by profile likelihood: of maximum-likelihood cells, of two samples, and of weighted or stratified reports.

A proportion is in the interval unless the best distribution with this proportion is too unlikely,
`2 (l_max - l_max(t)) > z^2`, with all distributions in the simplex (Wilks 1938, Ann. Math. Stat. 9, 60-62).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import lgamma, pi, tan

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.estimates.cell_tests import (
    CellTests,
    Ends,
    IndicatorTests,
    Mask,
    QuadraticVariance,
    ScoreTests,
    score_ends,
)
from sottovoce.estimates.covariance import InversionCovariance
from sottovoce.estimates.exact_intervals import normal_level
from sottovoce.estimates.likelihood import em, em_factors, extrapolate, mean_log_likelihood
from sottovoce.estimates.linear_tests import inversion_tests

BISECTIONS = 40
"""Halvings by which the end of an interval is found."""

ROUGH_BISECTIONS = 16
"""Halvings where each takes a maximisation."""

MOST_PROFILED = 256
"""Most cells whose likelihood is profiled; beyond, intervals are those of the unbiased estimate."""

MOST_STEPS = 300
"""Most steps towards the largest likelihood with one cell held."""

LEAST_GAIN = 1e-3
"""Possible gain of the log-likelihood below which it counts as largest."""

MOST_OUTCOMES = 20_000
"""Most counts of two samples whose probabilities are summed."""

PROPORTIONS, OTHER_PROPORTIONS, REFINEMENTS = 65, 33, 8
"""Proportions of two samples that are tested, those of the other question, and halvings between two of them."""

NEWTON_STEPS = 30
"""Steps towards the best proportion of the other question."""

LEAST_CELL = 1e-14
"""Share of a cell at which a maximisation starts: one at zero could never rise."""


def bisect_ends(best: Array, accepted: Callable[[Array], Mask], steps: int = BISECTIONS) -> Ends:
    """Return the ends of the accepted proportions on either side of the best ones, all of which are in [0, 1]."""
    ends = []
    for bound in (np.zeros_like(best), np.ones_like(best)):
        inner, outer, kept = best.copy(), bound, accepted(bound)
        for _ in range(steps):
            middle = (inner + outer) / 2
            inside = accepted(middle)
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(np.where(kept, bound, outer))
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class ProfileTests:
    """Likelihood-ratio tests of each cell, all others maximised within the simplex, from counts of reports."""

    channel: Channel
    counts: Array
    order: NDArray[np.intp]
    method: str = "profile"

    def ends(self, deviations: float) -> Ends:
        """Return the proportions whose profile likelihood is within `z^2 / 2` of the largest."""
        total = float(self.counts.sum())
        reported = self.counts / total
        fit = em(self.channel, self.counts)
        largest = fit.log_likelihood / total
        allowed = deviations**2 / (2 * total)

        points = np.repeat(fit.value[:, None], len(fit.value), axis=1)

        def accepted(held: Array) -> Mask:
            nonlocal points  # the last maximum is close to the next
            points = self._maximum(reported, points, held, total)
            return np.asarray(largest - self._likelihood(reported, points) <= allowed)

        low, high = bisect_ends(fit.value, accepted, ROUGH_BISECTIONS)
        return low[self.order], high[self.order]

    def _maximum(self, reported: Array, start: Array, held: Array, total: float) -> Array:
        """Return the most likely distributions with cell i held at `held[i]`, a column for every cell i.

        EM steps for the other cells, extrapolated in pairs; column i has cell i fixed. The mean log-likelihood is
        concave: it can still gain at most `(1 - t) max g - sum g p` over the other cells, g the factors of a step.
        """
        fixed = np.eye(len(held), dtype=bool)
        points = np.where(fixed, 0.0, np.maximum(start, LEAST_CELL))
        points = np.where(fixed, held, points * ((1 - held) / points.sum(axis=0)))

        def step(current: Array) -> tuple[Array, Array]:
            factors = em_factors(self.channel, reported[:, None], current)
            others = np.where(fixed, 0.0, current * factors)
            sums = others.sum(axis=0)
            gains = (1 - held) * np.where(fixed, 0.0, factors).max(axis=0) - sums
            scale = np.divide(1 - held, sums, out=np.zeros_like(sums), where=sums > 0)
            return np.where(fixed, held, others * scale), gains

        for _ in range(MOST_STEPS):
            first, gains = step(points)
            if (gains * total <= LEAST_GAIN).all():
                break
            second, _ = step(first)
            far = np.where(fixed, 0.0, extrapolate(points, first, second))
            far = np.where(fixed, held, far * ((1 - held) / np.maximum(far.sum(axis=0), 1e-300)))
            better = self._likelihood(reported, far) > self._likelihood(reported, second)
            points = np.where(better, far, second)
        return points

    def _likelihood(self, reported: Array, points: Array) -> Array:
        return mean_log_likelihood(
            self.channel, np.broadcast_to(reported[:, None], (len(reported), points.shape[1])), points
        )


@dataclass(frozen=True, eq=False)
class EitherTests:
    """Tests that reject a proportion only where both the profile likelihood and the unbiased estimate reject it.

    The likelihood ratio is chi-square only where no proportion is zero and reports are many. Elsewhere it sums the
    noise of all cells at zero, and rejects too often: of six categories all but one of which nobody has, in 17 % of
    samples of eight. The unbiased estimate alone could leave out the most likely proportion.
    """

    profile: ProfileTests
    unbiased: CellTests
    method: str = "profile"

    def ends(self, deviations: float) -> Ends:
        """Return the hull of both intervals."""
        (low, high), (lower, higher) = self.profile.ends(deviations), self.unbiased.ends(deviations)
        return np.minimum(low, lower), np.maximum(high, higher)


def maximum_likelihood_tests(channel: Channel, counts: NDArray[np.int64], order: NDArray[np.intp]) -> CellTests:
    """Return tests of maximum-likelihood cells by profile likelihood.

    Two cells have an exact test by the same ratio; of too many to profile, the unbiased estimate is tested.
    """
    reported, total = counts / counts.sum(), float(counts.sum())
    unbiased = inversion_tests(
        InversionCovariance(channel, reported, channel.solve(reported)[order], total, order, "population")
    )
    if 2 < channel.n_in <= MOST_PROFILED:
        return EitherTests(ProfileTests(channel, np.asarray(counts, dtype=np.float64), order), unbiased)
    return unbiased


def bernoulli_log_likelihood(share: Array, chance: Array) -> Array:
    """Return `s ln c + (1 - s) ln(1 - c)`, the mean log-likelihood of a share s of successes of chance c."""
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(share > 0, share * np.log(chance), 0.0)
        no = np.where(share < 1, (1 - share) * np.log1p(-chance), 0.0)
    return np.asarray(yes + no)


@dataclass(frozen=True, eq=False)
class EffectiveTests:
    """Likelihood-ratio tests of cells estimated from weighted or stratified shares of reports with one property.

    A share counts as one of an effective number of reports, `n* = l (1 - l) / var(l)`, and critical values are those of
    Student's t (E. L. Korn & B. I. Graubard 1998, Survey Methodology 24, 193-201).
    """

    shares: Array
    effective: Array
    inside: Array
    outside: Array
    degrees: float
    method: str = "profile"

    def ends(self, deviations: float) -> Ends:
        """Return the proportions whose likelihood is within `t^2 / 2` of the largest."""
        least, most = np.minimum(self.inside, self.outside), np.maximum(self.inside, self.outside)
        largest = bernoulli_log_likelihood(self.shares, np.clip(self.shares, least, most))
        allowed = students_t(deviations, self.degrees) ** 2 / (2 * self.effective)
        best = np.clip((self.shares - self.outside) / (self.inside - self.outside), 0, 1)

        def accepted(proportions: Array) -> Mask:
            chances = self.outside + (self.inside - self.outside) * proportions
            return np.asarray(largest - bernoulli_log_likelihood(self.shares, chances) <= allowed)

        return bisect_ends(best, accepted)


@dataclass(frozen=True, eq=False)
class EffectiveScoreTests:
    """Score tests of weighted or stratified estimates, with critical values of Student's t."""

    value: Array
    variance: QuadraticVariance
    degrees: float
    method: str = "constrained score"

    def ends(self, deviations: float) -> Ends:
        """Return intervals within [0, 1]."""
        return score_ends(self.value, self.variance, students_t(deviations, self.degrees))


def effective_tests(
    plain: InversionCovariance, variances: Array, effective: float, degrees: float
) -> "EffectiveTests | EffectiveScoreTests":
    """Return tests of weighted or stratified estimates.

    `plain` has the estimate as if from `effective` reports of equal weight; `variances` are those estimated.
    """
    tests = inversion_tests(replace(plain, respondents=1))
    if isinstance(tests, IndicatorTests) and plain.target == "population":
        shares, gain = tests.counts, tests.inside - tests.outside
        spread = shares * (1 - shares)
        known = (variances > 0) & (spread > 0)
        numbers = np.divide(spread, gain**2 * variances, out=np.full_like(spread, effective), where=known)
        return EffectiveTests(shares, numbers, tests.inside, tests.outside, degrees)
    score = tests if isinstance(tests, ScoreTests) else tests.score
    expected = score.variance.at(np.clip(score.value, 0, 1))
    known = (expected > 0) & (variances > 0)
    scale = np.divide(variances, expected, out=np.full_like(expected, 1 / effective), where=known)
    return EffectiveScoreTests(score.value, score.variance.scaled(scale), degrees)


def students_t(deviations: float, degrees: float) -> float:
    """Return the quantile of Student's t at which a normal variable has this one (G. W. Hill 1970, CACM 13, 619-620).

    >>> [round(students_t(1.959964, degrees), 3) for degrees in (1, 2, 10, 1e9)]
    [12.706, 4.303, 2.228, 1.96]
    """
    tail = 1 - normal_level(deviations)
    if degrees < 1.5:
        return 1 / tan(tail * pi / 2)
    if degrees < 2.5:
        return float(np.sqrt(2 / (tail * (2 - tail)) - 2))
    z, n = deviations, degrees
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / n**power for power, term in enumerate(terms, 1))


@dataclass(frozen=True, eq=False)
class TwoSampleTests:
    """Likelihood-ratio tests of the sensitive (or the unrelated) proportions, from two samples of different theta.

    In sample i a cell has the chance `a_i t + b_i u` in a report, u the other question's proportion of the same cell,
    over which the likelihood is maximised; u may leave [0, 1] as long as the chances do not, or t would be biased
    where u is 0 or 1. The p-value is the largest over u in [0, 1] of the exact probability of such a ratio; where
    there are too many outcomes to sum, estimates are taken as normal, with the variance at t and its best u.
    """

    counts: tuple[Array, Array]
    sizes: tuple[int, int]
    factors: tuple[tuple[float, float], tuple[float, float]]
    method: str = "profile"

    def ends(self, deviations: float) -> Ends:
        """Return the hull of the proportions that are not rejected."""
        if (self.sizes[0] + 1) * (self.sizes[1] + 1) > MOST_OUTCOMES:
            shares = [counts / size for counts, size in zip(self.counts, self.sizes, strict=True)]
            value = np.linalg.solve(np.array(self.factors), np.array(shares))[0]
            return score_ends(value, _TwoSampleVariance(shares, self.sizes, self.factors), deviations)
        outcomes = _outcomes(self.sizes, self.factors)
        level = normal_level(deviations)
        pairs = zip(*(counts.round().astype(int).tolist() for counts in self.counts), strict=True)
        ends = [outcomes.interval(pair, 1 - level) for pair in pairs]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def _chances(
    factors: tuple[tuple[float, float], tuple[float, float]], held: Array | float, other: Array | float
) -> list[Array]:
    """Return the chance of a cell's report in both samples."""
    return [np.clip(a * np.asarray(held) + b * np.asarray(other), 0, 1) for a, b in factors]


def _best_other(
    shares: Sequence[Array],
    sizes: tuple[int, int],
    factors: tuple[tuple[float, float], tuple[float, float]],
    held: Array,
) -> tuple[Array, Array]:
    """Return the other proportion with the largest likelihood, and the log-likelihood, for each held proportion.

    The derivative by it, `sum_i n_i b_i (s_i - c_i) / (c_i (1 - c_i))`, decreases: Newton's steps within a bracket.
    """
    low = np.max([-a * held / b for a, b in factors if b > 0], axis=0)
    high = np.min([(1 - a * held) / b for a, b in factors if b > 0], axis=0)
    other = (low + high) / 2
    for _ in range(NEWTON_STEPS):
        slope, curvature = np.zeros_like(other), np.zeros_like(other)
        for share, size, (_, b), chance in zip(shares, sizes, factors, _chances(factors, held, other), strict=True):
            variance = np.maximum(chance * (1 - chance), 1e-300)
            score = (share - chance) / variance
            slope += size * b * score
            with np.errstate(over="ignore"):
                curvature += size * b**2 * (1 + score * (1 - 2 * chance)) / variance
        low, high = np.where(slope > 0, other, low), np.where(slope < 0, other, high)
        step = other + slope / np.maximum(curvature, 1e-300)
        other = np.where((step > low) & (step < high), step, (low + high) / 2)
    parts = zip(shares, sizes, _chances(factors, held, other), strict=True)
    return other, np.asarray(sum(size * bernoulli_log_likelihood(share, chance) for share, size, chance in parts))


@dataclass(frozen=True, eq=False)
class _TwoSampleVariance:
    """Variance of the estimate from two samples at a proportion and the best one of the other question."""

    shares: Sequence[Array]
    sizes: tuple[int, int]
    factors: tuple[tuple[float, float], tuple[float, float]]

    def at(self, proportions: Array) -> Array:
        other, _ = _best_other(self.shares, self.sizes, self.factors, proportions)
        weights = np.linalg.inv(np.array(self.factors))[0]
        chances = _chances(self.factors, proportions, other)
        parts = zip(weights, chances, self.sizes, strict=True)
        return np.asarray(sum(weight**2 * chance * (1 - chance) / size for weight, chance, size in parts))


class _Outcomes:
    """All counts that two samples can have, and the p-values of a proportion at each."""

    def __init__(self, sizes: tuple[int, int], factors: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """List the outcomes."""
        self.sizes, self.factors = sizes, factors
        self.counts = [grid.ravel() for grid in np.indices([size + 1 for size in sizes])]
        self.shares = [counts / size for counts, size in zip(self.counts, sizes, strict=True)]
        self.logs = [
            np.array([lgamma(size + 1) - lgamma(t + 1) - lgamma(size - t + 1) for t in range(size + 1)])
            for size in sizes
        ]
        estimates = np.linalg.solve(np.array(factors), np.array(self.shares))[0]
        saturated = sum(n * bernoulli_log_likelihood(share, share) for n, share in zip(sizes, self.shares, strict=True))
        at_ends = [_best_other(self.shares, sizes, factors, np.full(len(estimates), end))[1] for end in (0.0, 1.0)]
        self.best = np.where(estimates < 0, at_ends[0], np.where(estimates > 1, at_ends[1], saturated))
        self.values: dict[float, Array] = {}

    def p_values(self, held: float) -> Array:
        """Return the p-value of a proportion at every outcome, the largest over the other question's proportions."""
        if held not in self.values:
            _, profile = _best_other(self.shares, self.sizes, self.factors, np.full(len(self.best), held))
            ratios = (self.best - profile).round(7)
            order = np.argsort(-ratios, kind="stable")
            last = np.searchsorted(-ratios[order], -ratios[order], side="right") - 1
            largest = np.zeros(len(order))
            for other in np.linspace(0, 1, OTHER_PROPORTIONS):
                probabilities = self._probabilities(held, float(other))[order]
                largest = np.maximum(largest, np.cumsum(probabilities)[last])
            self.values[held] = np.empty(len(order))
            self.values[held][order] = largest
        return self.values[held]

    def _probabilities(self, held: float, other: float) -> Array:
        """Return the probability of every outcome."""
        chances = _chances(self.factors, held, other)
        one, two = (
            np.exp(logs + size * bernoulli_log_likelihood(np.arange(size + 1) / size, chance))
            for logs, size, chance in zip(self.logs, self.sizes, chances, strict=True)
        )
        return np.outer(one, two).ravel()

    def interval(self, outcome: tuple[int, int], tail: float) -> tuple[float, float]:
        """Return the hull of the proportions whose p-value at an outcome is larger than `tail`."""
        index = outcome[0] * (self.sizes[1] + 1) + outcome[1]
        points = np.linspace(0, 1, PROPORTIONS)
        accepted = np.array([self.p_values(float(point))[index] > tail for point in points])
        kept = np.flatnonzero(accepted)  # with so few outcomes no interval is shorter than the distance of points
        ends = []
        for inner, step in ((int(kept[0]), -1), (int(kept[-1]), 1)):
            low, high = float(points[inner]), float(points[min(max(inner + step, 0), PROPORTIONS - 1)])
            for _ in range(REFINEMENTS if low != high else 0):
                middle = (low + high) / 2
                low, high = (middle, high) if self.p_values(middle)[index] > tail else (low, middle)
            ends.append(high)
        return ends[0], ends[1]


@lru_cache(maxsize=4)
def _outcomes(sizes: tuple[int, int], factors: tuple[tuple[float, float], tuple[float, float]]) -> _Outcomes:
    return _Outcomes(sizes, factors)
