"""Confidence regions of distributions by their likelihood, and the extremes of functionals over them.

The values t of f that a likelihood ratio does not reject, `2 (max l - max {l(p) : f(p) = t}) <= q`, are those that f
takes on the convex region `{p in the simplex : l(p) >= max l - q / 2}`, so their hull has the least and the greatest
value of f there as its ends. Both are found by Newton steps on Lagrange's conditions; where these fail, by an
interior-point method: `k f(p) + log(l(p) - c) + sum log p` is maximised for growing k (Boyd & Vandenberghe 2004, 11.3).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.measures.functionals import Functional

GAP = 1e-4
"""Distance from an end, in standard errors, at which it counts as reached."""

GROWTH = 100.0
"""Factor by which the weight of the functional grows."""

MOST_LAGRANGE_STEPS = 12
"""Most Newton steps on Lagrange's conditions."""

NEARLY_ZERO = 1e-12
"""Value of cells at zero where gradients are computed."""

MOST_FACES = 4
"""Most faces of the simplex, one within the other, on which extremes are looked for."""

LARGEST_SHIFT = 1e6
"""Shift of a Hessian, relative to its largest entry, that makes any finite one definite."""

LEAST_GAIN = 1e-5
"""Expected gain of a Newton step below which the maximum counts as reached."""

SHORTEST = 1e-10
"""Share of a Newton step at which the line search gives up."""

MOST_NEWTON_STEPS = 40
"""Most Newton steps for one weight."""

FINEST_LIKELIHOOD = 1e-6
"""Accuracy of the maximal log-likelihood."""

AT_ZERO = 1e-7
"""Cells below this are zero for the purpose of deciding whether an end is infinite."""

Terms = tuple[float, Array, Array]
"""Value, gradient, and the Hessian with its sign changed."""


class Likelihood(Protocol):
    """A concave log-likelihood of distributions."""

    @property
    def cells(self) -> int:
        """Number of cells of a distribution."""

    def value(self, p: Array) -> float:
        """Return the log-likelihood, up to a constant."""

    def terms(self, p: Array) -> Terms:
        """Return the log-likelihood with its derivatives."""

    def distance(self, p: Array, q: Array) -> float:
        """Return the mean of `2 (l(p) - l(q))` if p is the truth."""


@dataclass(frozen=True, eq=False)
class ReportLikelihood:
    """Multinomial log-likelihood `sum n_y log (A p)_y` of the counts n of reports."""

    matrix: Array
    counts: Array

    @property
    def cells(self) -> int:
        """Number of cells of a distribution."""
        return int(self.matrix.shape[1])

    def value(self, p: Array) -> float:
        """Return the log-likelihood; minus infinity where an observed report is impossible."""
        seen = self.counts > 0
        expected = self.matrix[seen] @ p
        return float(self.counts[seen] @ np.log(expected)) if (expected > 0).all() else -np.inf

    def terms(self, p: Array) -> Terms:
        """Return the log-likelihood with its derivatives."""
        seen = self.counts > 0
        rows, counts = self.matrix[seen], self.counts[seen]
        expected = rows @ p
        ratio = counts / expected
        return float(counts @ np.log(expected)), rows.T @ ratio, (rows.T * (ratio / expected)) @ rows

    def distance(self, p: Array, q: Array) -> float:
        """Return `2 N` times the divergence of the reports' distributions."""
        here, there = self.matrix @ p, self.matrix @ q
        kept = (here > 0) & (there > 0)
        return 2 * float(self.counts.sum()) * float(here[kept] @ np.log(here[kept] / there[kept]))


@dataclass(frozen=True, eq=False)
class NormalLikelihood:
    """Log-likelihood `-(p - m)^T W (p - m) / 2` of an estimate m with precision W."""

    mean: Array
    precision: Array

    @classmethod
    def of(cls, mean: Array, covariance: Array) -> "NormalLikelihood":
        """Invert a covariance along the directions that sum to zero, with no variance far below the largest."""
        centre = np.eye(len(mean)) - 1 / len(mean)
        sizes, directions = np.linalg.eigh(centre @ covariance @ centre)
        along = np.abs(directions.sum(axis=0)) < 1e-6 * np.sqrt(len(mean))
        kept = directions[:, along]
        return cls(mean, (kept / np.maximum(sizes[along], max(1e-8 * sizes[-1], 1e-14))) @ kept.T)

    @property
    def cells(self) -> int:
        """Number of cells of a distribution."""
        return len(self.mean)

    def value(self, p: Array) -> float:
        """Return the log-likelihood."""
        return -float((p - self.mean) @ self.precision @ (p - self.mean)) / 2

    def terms(self, p: Array) -> Terms:
        """Return the log-likelihood with its derivatives."""
        return self.value(p), self.precision @ (self.mean - p), self.precision

    def distance(self, p: Array, q: Array) -> float:
        """Return the squared distance in standard errors."""
        return float((p - q) @ self.precision @ (p - q))


@dataclass(frozen=True, eq=False)
class FaceLikelihood:
    """The likelihood of distributions in which only some cells are not zero, as a function of these."""

    whole: Likelihood
    kept: NDArray[np.bool_]

    @property
    def cells(self) -> int:
        """Number of the cells that are not zero."""
        return int(self.kept.sum())

    def full(self, p: Array) -> Array:
        """Return all cells."""
        cells = np.zeros(len(self.kept))
        cells[self.kept] = p
        return cells

    def value(self, p: Array) -> float:
        """Return the log-likelihood."""
        return self.whole.value(self.full(p))

    def terms(self, p: Array) -> Terms:
        """Return the log-likelihood with its derivatives."""
        value, gradient, information = self.whole.terms(self.full(p))
        return value, gradient[self.kept], information[np.ix_(self.kept, self.kept)]

    def distance(self, p: Array, q: Array) -> float:
        """Return the mean of `2 (l(p) - l(q))` if p is the truth."""
        return self.whole.distance(self.full(p), self.full(q))


def maximum(likelihood: Likelihood, start: Array | None = None) -> tuple[Array, float]:
    """Return a distribution of nearly maximal likelihood, all of its cells positive, and its log-likelihood.

    Newton steps begin at `start` if all of its cells are positive.
    """
    k = likelihood.cells
    p, weight = np.full(k, 1 / k), 1.0
    if start is not None and start.min() > AT_ZERO:
        p, weight = start, FINEST_LIKELIHOOD / k
    if not np.isfinite(likelihood.value(p)):  # a report was seen that no such distribution gives
        return p, -inf

    while True:
        barrier = weight

        def value(p: Array, barrier: float = barrier) -> float:
            return likelihood.value(p) + barrier * float(np.log(p).sum())

        def terms(p: Array, barrier: float = barrier) -> Terms:
            reached, gradient, information = likelihood.terms(p)
            here = reached + barrier * float(np.log(p).sum())
            return here, gradient + barrier / p, information + np.diag(barrier / p**2)

        p = climb(terms, value, p)
        if weight * k <= 1.001 * FINEST_LIKELIHOOD:  # rounding may leave it a little above
            return p, likelihood.value(p)
        weight = max(weight / GROWTH, FINEST_LIKELIHOOD / k)


def climb(terms: Callable[[Array], Terms], value: Callable[[Array], float], p: Array) -> Array:
    """Maximise a function over positive distributions by Newton steps in the logarithms' scale, with line search.

    Steps end where they gain nothing, and where the function has no derivatives.
    """
    length, steps, slope = 1.0, 0, inf
    while slope > LEAST_GAIN and length > SHORTEST and steps < MOST_NEWTON_STEPS:
        try:
            here, gradient, curvature = terms(p)
        except SottovoceError:
            return p
        step, steps = _newton_step(p, gradient, curvature), steps + 1
        slope = float(step @ gradient)
        length = min(1.0, 0.95 / max(float((-step / p).max()), 1e-300))
        while length > SHORTEST and value(_moved(p, length * step)) < here + 0.1 * length * slope:
            length /= 2
        p = _moved(p, length * step)
    return p


def _moved(p: Array, step: Array) -> Array:
    return np.asarray((p + step) / (p + step).sum())


def _newton_step(p: Array, gradient: Array, curvature: Array) -> Array:
    """Return the ascent direction of cells that sum to zero; a Hessian that is not definite is shifted until it is."""
    scaled = p[:, None] * curvature * p
    scale, shift = max(float(np.abs(np.diag(scaled)).max()), 1e-300), 0.0
    root = _root(scaled)
    while root is None and shift < LARGEST_SHIFT * scale:
        shift = max(10 * shift, 1e-6 * scale)
        root = _root(scaled + shift * np.eye(len(p)))
    if root is None or not np.isfinite(root).all():  # derivatives that are not finite lead nowhere
        return np.zeros_like(p)
    both = np.linalg.solve(root.T, np.linalg.solve(root, np.stack([p * gradient, p], axis=1)))
    multiplier = float(p @ both[:, 0]) / float(p @ both[:, 1])
    return np.asarray(p * (both[:, 0] - multiplier * both[:, 1]))


def _root(matrix: Array) -> Array | None:
    """Return the Cholesky factor, or None of a matrix that is not positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(matrix), np.float64)
    except np.linalg.LinAlgError:
        return None


def extreme(
    likelihood: Likelihood, functional: Functional, start: Array, floor: float, sign: int, scale: float
) -> Array:
    """Return the distribution with a likelihood of at least `floor` where the functional is greatest (sign 1) or least.

    `start` has a higher likelihood; `scale` is about a standard error of the functional.
    """
    inside = _extreme_on_faces(likelihood, functional, start, floor, sign)
    if inside is not None:
        return inside
    p, weight = _inside(likelihood, start, floor), 1 / scale
    last = (len(p) + 1) / (GAP * scale)

    def value(p: Array) -> float:
        slack = likelihood.value(p) - floor
        try:
            here = functional.value(p)
        except SottovoceError:
            return -np.inf
        if not (slack > 0 and np.isfinite(here)):
            return -np.inf
        return weight * sign * here + float(np.log(slack)) + float(np.log(p).sum())

    def terms(p: Array) -> Terms:
        reached, by_cell, information = likelihood.terms(p)
        slack = reached - floor
        slope = functional.gradient(p)
        gradient = weight * sign * slope + by_cell / slack + 1 / p
        curvature = information / slack + np.outer(by_cell, by_cell) / slack**2 + np.diag(1 / p**2)
        here = weight * sign * functional.value(p) + float(np.log(slack)) + float(np.log(p).sum())
        return here, gradient, curvature - weight * sign * hessian(functional, p, slope)

    while True:
        p = climb(terms, value, p)
        if weight >= last:
            return p
        weight = min(weight * GROWTH, last)


def _extreme_on_faces(
    likelihood: Likelihood, functional: Functional, start: Array, floor: float, sign: int
) -> Array | None:
    """Return the extreme by Newton steps on Lagrange's conditions, or None where they do not lead to one.

    Cells that would become negative are set to zero, and must want to stay there.
    """
    kept, inside, top, rounds = np.ones(len(start), bool), start, inf, 0
    while kept.any() and top > floor and rounds < MOST_FACES:
        rounds += 1
        try:
            found, leaving = _lagrange(FaceLikelihood(likelihood, kept), functional, inside, floor, sign)
        except SottovoceError:  # the functional is not defined there
            return None
        if found is not None:
            return found
        kept[np.flatnonzero(kept)[leaving]] = False
        if kept.any():
            inside, top = maximum(FaceLikelihood(likelihood, kept), start[kept] / start[kept].sum())
    return None


def _lagrange(
    face: FaceLikelihood, functional: Functional, p: Array, floor: float, sign: int
) -> tuple[Array | None, NDArray[np.bool_]]:
    """Return the extreme, or the cells that the steps made negative; all of them where the steps do not converge.

    `s g + v l' = w 1`, `l = floor` and `sum p = 1` are solved for p, v and w, from the extreme of the linearised
    functional on the ellipsoid of the quadratic likelihood on. Most regions lie inside the simplex, and take five
    steps.
    """
    k, multiplier, steps = len(p), 0.0, 0
    while True:
        steps += 1
        reached, by_cell, information = face.terms(p)
        whole = np.maximum(face.full(p), NEARLY_ZERO)
        every = sign * functional.gradient(whole)
        slope = every[face.kept]
        if multiplier == 0:
            along = _newton_step(p, slope, information + 1e-9 * np.diag(1 / p**2))
            length = np.sqrt(2 * (reached - floor) / max(float(slope @ along), 1e-300))
            moved, multiplier = p + length * along, 1 / length
        else:
            bend = hessian(functional, whole, sign * every)[np.ix_(face.kept, face.kept)]
            sides = np.stack([by_cell, np.ones(k)], axis=1)
            system = np.block([[sign * bend - multiplier * information, sides], [sides.T, np.zeros((2, 2))]])
            level = float((slope + multiplier * by_cell).mean())
            residual = np.array([*(slope + multiplier * by_cell - level), reached - floor, 0.0])
            step = np.linalg.lstsq(system, -residual, rcond=1e-14)[0]
            moved, multiplier = p + step[:k], multiplier + float(step[k])
            if np.abs(step[:k] / p).max() < 1e-6 and multiplier > 0 and moved.min() > 0:
                stays = every + multiplier * face.whole.terms(whole)[1] <= level + 1e-6 * abs(level) + 1e-9
                return (face.full(moved) if stays[~face.kept].all() else None), np.ones(k, bool)
        leaving = ~(moved > 0) | (steps == MOST_LAGRANGE_STEPS)
        if leaving.any():
            return None, leaving
        p = moved / moved.sum()


def _inside(likelihood: Likelihood, start: Array, floor: float) -> Array:
    """Return a distribution well inside the region, mixed from the start and the uniform distribution."""
    share, half = 0.5, (likelihood.value(start) + floor) / 2
    while share > 1e-12 and likelihood.value((1 - share) * start + share / len(start)) < half:
        share /= 2
    return (1 - share) * start + share / len(start)


def hessian(functional: Functional, p: Array, slope: Array) -> Array:
    """Return the second derivatives by every pair of cells, by differences of the gradient."""
    given = getattr(functional, "hessian", None)
    if given is not None:
        return np.asarray(given(p))
    rows = []
    for cell in range(len(p)):
        moved = p.copy()
        moved[cell] += 1e-5 * p[cell]
        rows.append((functional.gradient(moved) - slope) / (1e-5 * p[cell]))
    matrix = np.array(rows)
    return np.asarray((matrix + matrix.T) / 2)
