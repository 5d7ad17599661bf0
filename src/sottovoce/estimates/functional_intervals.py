"""Intervals of functionals by profile likelihood, calibrated where cells or gradients vanish."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from statistics import NormalDist
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import InversionCovariance, MatrixCovariance, inverse_rows
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.estimates.likelihood_region import (
    FaceLikelihood,
    Likelihood,
    NormalLikelihood,
    ReportLikelihood,
    extreme,
    maximum,
)
from sottovoce.estimates.weights import WeightedCovariance
from sottovoce.measures.functionals import Functional

NEAR = 0.3
"""Standard errors from the null within which extremes are looked for from a point beside the maximum."""

CLOSE = 0.01
"""Relative change of a quantile below which an end is found."""

MOST_QUANTILES = 5
"""Most quantiles that are tried for an end."""

FARTHEST = 100.0
"""Likelihood ratio, in quantiles, beyond which no value is looked at."""

MOST_ENTRIES = 2**22
"""Most entries of a channel's matrix with which likelihoods are computed."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What reports say of a distribution: its likelihood, an unbiased estimate, and the covariance of that."""

    likelihood: Likelihood
    unbiased: Array
    covariance_at: Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Null:
    """Distributions where a functional has its least or greatest value, and no gradient.

    `nearest` returns the one that belongs to a distribution, `degrees` the number of directions that lead away.
    """

    nearest: Callable[[Array], Array]
    degrees: int


def report_source(estimate: Estimate) -> InversionCovariance | None:
    """Return the reports of a sample and their channel, where an estimate has them and they are not too many."""
    covariances = estimate.covariances
    source = covariances.source if isinstance(covariances, MatrixCovariance) else covariances
    if not isinstance(source, InversionCovariance) or source.target == "table":
        return None
    return source if source.channel.n_out * len(estimate.value) <= MOST_ENTRIES else None


def evidence_of(estimate: Estimate) -> tuple[Evidence, str]:
    """Return what the reports of an estimate say, and the method that this is named after.

    Reports of a sample have a multinomial likelihood. Of the table, of weighted reports and of all estimates whose
    channel is not known any more, the unbiased estimate is taken as normal; its covariance is that at
    the distribution in question where the channel is known, and the estimated one elsewhere.
    """
    covariances, value = estimate.covariances, estimate.value
    source: Any = covariances.source if isinstance(covariances, MatrixCovariance) else covariances
    shift = np.zeros(len(value))
    if isinstance(source, WeightedCovariance):
        source, shift = source.squared, source.shift
    if not isinstance(source, InversionCovariance) or source.channel.n_out * len(value) > MOST_ENTRIES:
        matrix = estimate.covariance
        return Evidence(NormalLikelihood.of(value, matrix), value, lambda p: matrix), "normal profile likelihood"
    reports, inverse = source.channel.dense()[:, source.order], inverse_rows(source.channel, source.order)
    population, respondents = source.target == "population", source.respondents

    def covariance_at(p: Array) -> Array:
        product_of_means = np.outer(p, p) if population else np.diag(p)
        here = ((inverse * (reports @ p)) @ inverse.T - product_of_means) / respondents
        return np.asarray(here + np.outer(shift, shift))

    if population and isinstance(covariances, InversionCovariance | MatrixCovariance):
        likelihood = ReportLikelihood(reports, source.reported * respondents)
        return Evidence(likelihood, source.value, covariance_at), "profile likelihood"
    unbiased = value if isinstance(covariances, WeightedCovariance) else source.value
    normal = NormalLikelihood.of(unbiased, covariance_at(nearest_distribution(unbiased)))
    return Evidence(normal, unbiased, covariance_at), "normal profile likelihood"


class Profile:
    """Profile likelihood of a functional, from the distribution of maximal likelihood on.

    A value of the functional is accepted by the likelihood ratio T, or by the score R of the functional. Both are
    chi-square of one degree, and nearly equal, where the distribution p that attains the value is inside the simplex.
    Where cells of p are zero, T sums the noise of all of them, and rejects too often; then R,
    `(g^T (m - p))^2 / g^T S(p) g` with the unbiased estimate m, has still one degree. Gradients that
    are infinite there are taken one standard error inside.
    """

    def __init__(
        self,
        evidence: Evidence,
        functional: Functional,
        level: float,
        *,
        null: Null | None = None,
        steep: int = 0,
        scored: bool = True,
    ) -> None:
        """Find the distribution of maximal likelihood; `steep` is the sign of the end that zero cells pin."""
        self.evidence, self.functional, self.level, self.null = evidence, functional, level, null
        self.steep, self.scored = steep, scored
        self.one_degree = NormalDist().inv_cdf((1 + level) / 2) ** 2
        self.start, self.top = maximum(evidence.likelihood, evidence.unbiased)
        slope = self.gradient(self.start)
        variance = float(slope @ evidence.covariance_at(self.start) @ slope)
        self.scale = max(np.sqrt(max(variance, 0.0)), 1e-3 * float(np.abs(slope - slope.mean()).max()), 1e-9)

    def gradient(self, p: Array) -> Array:
        """Return the gradient, with cells below a standard error from zero raised to it."""
        return self.functional.gradient(self.raised(p))

    def raised(self, p: Array) -> Array:
        """Return a distribution with cells of at least a standard error, or as much as all can have."""
        errors = np.sqrt(np.maximum(np.diag(self.evidence.covariance_at(p)), 1e-12))
        raised = np.maximum(p, np.minimum(errors, 1 / len(p)))
        return np.asarray(raised / raised.sum())

    def score(self, p: Array) -> float:
        """Return R, the squared distance of the linearised functional from its estimate, in standard errors."""
        slope = self.gradient(p)
        slope = slope - slope.mean()
        variance = float(slope @ self.evidence.covariance_at(p) @ slope)
        distance = float(slope @ (self.evidence.unbiased - p)) ** 2
        return distance / variance if variance > 1e-20 else np.inf

    def quantile(self, p: Array, sign: int = 0) -> float:
        """Return the quantile of T if p is the truth."""
        bound = self.one_degree
        if self.null is not None:
            bound = sphere_quantile(self.level, self.null.degrees, self._radius(p))
        if self.steep and sign == self.steep:
            errors = np.sqrt(np.maximum(np.diag(self.evidence.covariance_at(p)), 1e-24))
            pinned = sum(2 * NormalDist().cdf(-ratio) for ratio in (p / errors).tolist())
            bound += pinned_quantile(self.level, min(pinned, len(p) - 2)) - self.one_degree
        return bound

    @property
    def standard_error(self) -> float:
        """Standard error of the functional, `sqrt(g^T S g)`; where the gradient may vanish, plus `tr((H S)^2) / 2`."""
        slope = self.gradient(self.start)
        variance = float(slope @ self.evidence.covariance_at(self.start) @ slope)
        if self.null is not None:
            variance += float((self._bends**2).sum()) / 2
        return float(np.sqrt(max(variance, 0.0)))

    @property
    def bias(self) -> float:
        """Half the trace of Hessian times covariance."""
        return float(self._bends.sum()) / 2

    @cached_property
    def _bends(self) -> Array:
        """Second differences of the functional along the principal directions of the covariance, in the simplex."""
        sizes, directions = np.linalg.eigh(self.evidence.covariance_at(self.start))
        here, bends = self.functional.value(self.start), []
        for size, direction in zip(sizes, directions.T, strict=True):
            if size > 1e-12 * sizes[-1]:
                step = np.sqrt(size) * (direction - direction.mean())
                both = (nearest_distribution(self.start + way * step) for way in (1, -1))
                bends.append(sum(self._value(p) - here for p in both))
        return np.array(bends)

    def _value(self, p: Array) -> float:
        """Return the functional, a little inside the simplex where it is not defined on its boundary."""
        try:
            return self.functional.value(p)
        except SottovoceError:
            return self.functional.value(self.raised(p))

    def accepts(self, p: Array) -> bool:
        """Return whether a distribution that is the only one with its value is accepted."""
        ratio = 2 * (self.top - self.evidence.likelihood.value(p))
        return ratio <= self.quantile(p, self.steep * int(p.min() <= 0)) or self.score(p) <= self.one_degree

    def reaches(self, cell: int) -> bool:
        """Return whether a distribution without this cell is in the region."""
        kept = np.arange(len(self.start)) != cell
        _, top = maximum(FaceLikelihood(self.evidence.likelihood, kept))
        return 2 * (self.top - top) <= self.one_degree

    def end(self, sign: int) -> float:
        """Return the greatest value (sign 1) that is accepted, or the least."""
        p = self._extreme(self.one_degree, sign)
        bound, wanted, steps = self.one_degree, self.quantile(p, sign), 0
        while abs(wanted - bound) > CLOSE * bound and steps < MOST_QUANTILES:
            p, bound, steps = self._extreme(wanted, sign), wanted, steps + 1
            wanted = self.quantile(p, sign)
        if self.scored:
            p = self._further(p, bound, sign)
        return self.functional.value(p)

    def _extreme(self, bound: float, sign: int) -> Array:
        floor = self.top - bound / 2
        return extreme(self.evidence.likelihood, self.functional, self._away(sign), floor, sign, self.scale)

    def _away(self, sign: int) -> Array:
        """Return where to start: the maximum, or beside it where it is so near to the null that no slope leads away."""
        if self.null is None or self._radius(self.start) > NEAR:
            return self.start
        sizes, directions = np.linalg.eigh(self.evidence.covariance_at(self.start))
        steps = [NEAR * np.sqrt(max(size, 0.0)) * each for size, each in zip(sizes, directions.T, strict=True)]
        near = [nearest_distribution(self.start + way * (step - step.mean())) for step in steps for way in (-1, 1)]
        inside = [(1 - 1e-6) * p + 1e-6 / len(p) for p in near]
        return max(inside, key=lambda p: sign * self.functional.value(p))

    def _radius(self, p: Array) -> float:
        """Return the distance of a distribution from the null, in standard errors."""
        distance = 0.0 if self.null is None else self.evidence.likelihood.distance(p, self.null.nearest(p))
        return float(np.sqrt(max(distance, 0.0)))

    def _further(self, p: Array, bound: float, sign: int) -> Array:
        """Return the last distribution beyond p that the score accepts; p if it accepts none."""
        inner, outer, moved, gain = bound, bound, p, inf
        while self.score(moved) < bound and gain > CLOSE * self.scale / 10 and outer < FARTHEST * bound:
            inner, outer, p = outer, 1.5 * outer, moved
            moved = self._extreme(outer, sign)
            gain = abs(self.functional.value(moved) - self.functional.value(p))
        for _ in range(4 * (outer > bound)):
            middle = (inner + outer) / 2
            moved = self._extreme(middle, sign)
            inner, outer, p = (middle, outer, moved) if self.score(moved) < bound else (inner, middle, p)
        return p


def pinned_quantile(level: float, pinned: float) -> float:
    """Return the quantile of chi-square of one degree plus that of a normal variable's positive part for each cell.

    Where a functional is infinitely steep at zero cells, a likelihood ratio sums what noise adds to each of them, which
    is nothing half of the time. Mean and variance are those of a scaled chi-square variable (Satterthwaite),
    of which the quantile is Wilson & Hilferty's (1931).

    >>> round(pinned_quantile(0.95, 0), 2), round(pinned_quantile(0.95, 3), 1)
    (3.84, 7.4)
    """
    normal = NormalDist()

    def wilson_hilferty(degrees: float) -> float:
        return degrees * float(1 - 2 / (9 * degrees) + normal.inv_cdf(level) * np.sqrt(2 / (9 * degrees))) ** 3

    mean, variance = 1 + pinned / 2, 2 + 1.25 * pinned
    exact = normal.inv_cdf((1 + level) / 2) ** 2 / wilson_hilferty(1.0)
    return float(exact * variance / (2 * mean) * wilson_hilferty(2 * mean**2 / variance))


def sphere_quantile(level: float, degrees: int, radius: float) -> float:
    """Return the quantile of `(|Z| - r)^2`, Z normal around a point at distance r from the origin.

    A functional that is least at a point or on a surface, and rises with the square of the distance from there, has
    spheres as level sets. Its likelihood ratio is chi-square of as many degrees as there are directions at the least
    value (r = 0), and of one degree far away from it. `|Z|^2` is noncentral chi-square; its distribution is that of
    Sankaran (1963, Biometrika 50, 199-204).

    >>> round(sphere_quantile(0.95, 1, 50.0), 2), round(sphere_quantile(0.95, 6, 0.0), 1)
    (3.84, 12.6)
    """
    low, high = 0.0, radius + 10 * np.sqrt(degrees + 10.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = _noncentral((radius + middle) ** 2, degrees, radius**2)
        below = _noncentral(max(radius - middle, 0.0) ** 2, degrees, radius**2)
        low, high = (middle, high) if above - below < level else (low, middle)
    return float(high**2)


def _noncentral(x: float, degrees: int, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-square variable is at most x, by Sankaran's approximation."""
    k, centre = degrees, noncentrality
    if x <= 0:
        return 0.0
    h = 1 - 2 * (k + centre) * (k + 3 * centre) / (3 * (k + 2 * centre) ** 2)
    p = (k + 2 * centre) / (k + centre) ** 2
    m = (h - 1) * (1 - 3 * h)
    mean = 1 + h * p * (h - 1 - 0.5 * (2 - h) * m * p)
    return NormalDist().cdf(((x / (k + centre)) ** h - mean) / (h * np.sqrt(2 * p) * (1 + 0.5 * m * p)))
