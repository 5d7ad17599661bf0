"""The channel with the least error for a required privacy, with a proof: column generation over all atoms.

For any symmetric Y, any nu and `eta >= 0` with `v^T Y^2 v <= nu.v + eta a_v` on every atom v, `a_v = max_x p_x v_x`,

    `tr J^-1 >= 2 tr Y - sum(nu) - eta accuracy`

for the information matrix `J = sum_y w_y v_y v_y^T` of every channel within the limits: `tr J^-1 + tr J Y^2` is at
least `2 tr Y`, and `tr J Y^2 = sum w v^T Y^2 v <= sum(nu) + eta accuracy` since `sum w v = 1`. An atom that exceeds the
inequality by k costs k, since `p.v = 1`: no atom exceeds it with nu + k p. Floating point, not interval arithmetic.

The master problem finds the best weights of some reports, `min tr J^-1`, by a primal-dual interior-point method; the
gradient is `-v^T J^-2 v`, the Hessian `2 (v_i^T J^-1 v_j) (v_i^T J^-2 v_j)` (Boyd and Vandenberghe 2004, Convex
Optimization, section 11.7). Its multipliers are a certificate, which is checked on every atom. Atoms that violate it
are added as reports; if none does, the channel is optimal.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress
from sottovoce.designs.exact_scheme import Solution
from sottovoce.designs.least_error.atoms import (
    Limits,
    Multipliers,
    adversary_chance,
    allowed,
    blocks,
    checked_limits,
    distinct,
    families,
    price,
    seeds,
)
from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.measures.matrices import basic_weights

_GAP = 3e-7
"""Relative gap at which column generation ends."""
_MOST_ROUNDS = 100
_LOOSE, TIGHT = 1e-4, 1e-9
"""Tolerances of the master problem: at first, and at last."""
_WORTH = 1e-3
"""Excess relative to `tr J^-1`: beyond it, atoms of later families are not priced in this round."""
_MOST_STEPS, _MOST_HALVINGS = 100, 8
_NEAR = 1e-6
"""Residual of the equations below which a step must reduce the residuals."""
_BOLD, _CAREFUL = 1e-3, 0.3
"""Least centring of a step; the second is for limits that are nearly infeasible, where the first gets stuck."""
_FAILED = 1e-7
"""Residual of the equations above which the bold steps have failed."""
_NEGLIGIBLE = 1e-9
"""Reports whose probability is below this, whatever the truth, are dropped."""
_REFINEMENTS = 3
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Problem:
    """Reports, and the equations `rows x = goal` of the variables: the weights, and the slack of the accuracy."""

    atoms: Array
    rows: Array
    goal: Array


@dataclass(frozen=True)
class _Iterate:
    """Variables x, multipliers y of the equations and z of `x >= 0`, `J^-1`, and the residuals of the conditions."""

    x: Array
    y: Array
    z: Array
    inverse: Array
    primal: Array
    dual: Array

    @property
    def residual(self) -> float:
        """Bound on what the residuals of all conditions amount to in the objective."""
        return float(max(self.x @ self.z, abs(self.dual).max(), abs(self.y) @ abs(self.primal)))


def _iterate(problem: Problem, x: Array, y: Array, z: Array) -> _Iterate:
    inverse, gradient = _derivatives(problem.atoms, x)
    return _Iterate(x, y, z, inverse, problem.goal - problem.rows @ x, gradient - problem.rows.T @ y - z)


def first_iterate(problem: Problem) -> _Iterate:
    """Equal weights, and multipliers that fit their gradient."""
    rows = problem.rows
    x = np.full(rows.shape[1], 1 / rows.shape[1])
    gradient = _derivatives(problem.atoms, x)[1]
    y = np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    return _iterate(
        problem, x, np.asarray(y, dtype=np.float64), np.maximum(gradient - rows.T @ y, 1e-2 * abs(gradient).max())
    )


def _derivatives(atoms: Array, x: Array) -> tuple[Array, Array]:
    """`J^-1`, and the gradient with respect to all variables."""
    inverse = np.asarray(np.linalg.inv(atoms.T @ (x[: len(atoms), None] * atoms)), dtype=np.float64)
    gradient = np.zeros_like(x)
    gradient[: len(atoms)] = -((atoms @ inverse) ** 2).sum(axis=1)
    return inverse, gradient


def _hessian(atoms: Array, inverse: Array) -> Array:
    scaled = atoms @ inverse
    curvature: Array = 2 * (scaled @ atoms.T) * (scaled @ scaled.T)
    return curvature


def next_iterate(problem: Problem, current: _Iterate, least_share: float) -> _Iterate:
    """One predictor-corrector step, halved until the residual falls."""
    x, z, rows = current.x, current.z, problem.rows
    system = np.diag(z / x)
    reports = len(problem.atoms)
    system[:reports, :reports] += _hessian(problem.atoms, current.inverse)
    solve = _solver(system)
    response = solve(rows.T)
    schur = rows @ response

    def move(target: Array | float) -> tuple[Array, Array, Array]:
        free = solve(target / x - z - current.dual)
        dy = np.asarray(np.linalg.solve(schur, current.primal - rows @ free), dtype=np.float64)
        dx = free + response @ dy
        return dx, dy, (target - z * dx) / x - z

    mean = float(x @ z) / x.size
    dx, _, dz = move(0.0)
    length = min(_longest(x, dx), _longest(z, dz))
    aimed = float((x + length * dx) @ (z + length * dz)) / x.size
    share = min(1.0, max(least_share, (aimed / mean) ** 3))
    dx, dy, dz = move(share * mean - np.clip(dx * dz, -mean, mean) * length)
    length = min(_longest(x, dx), _longest(z, dz))
    for _ in range(_MOST_HALVINGS):
        new = _iterate(problem, x + length * dx, current.y + length * dy, z + length * dz)
        if new.residual < current.residual or abs(current.primal).max() > _NEAR:
            break
        length /= 2
    return new


def _solver(system: Array) -> Callable[[Array], Array]:
    """Cholesky solver of the system plus a small ridge, as rounding may make its least eigenvalues negative."""
    check_installed("the least error", "design", "scipy.linalg")
    algebra = import_module("scipy.linalg")
    for ridge in (1e-12, 1e-10, 1e-8):
        with suppress(np.linalg.LinAlgError):
            factor = algebra.cho_factor(system + np.diag(ridge * system.diagonal()), check_finite=False)
            return partial(algebra.cho_solve, factor, check_finite=False)
    raise np.linalg.LinAlgError


def _longest(positive: Array, change: Array) -> float:
    """Longest step that leaves everything positive, at most 1."""
    shrink = change < 0
    return min(1.0, 0.995 * float((-positive[shrink] / change[shrink]).min(initial=2.0)))


@dataclass(frozen=True)
class MasterSolution:
    """Weights of reports, `J^-1`, and the multipliers nu and eta of a certificate."""

    weights: Array
    inverse: Array
    nu: Array
    eta: float


def best_weights(atoms: Array, chances: Array, accuracy: float | None, tolerance: float) -> MasterSolution:
    """Return weights of reports within a relative `tolerance` of the best.

    `atoms` has a row of likelihood ratios for each report, `chances` the adversary's chance of a right guess from it.
    """
    rows, goal = atoms.T, np.ones(atoms.shape[1])
    if accuracy is not None:
        # The last variable is the slack of the adversary's chance.
        rows = np.vstack([np.column_stack([rows, np.zeros(len(rows))]), np.append(chances, 1.0)])
        goal = np.append(goal, accuracy)
    problem = Problem(atoms, rows, goal)
    current = _follow(problem, tolerance, _BOLD)
    if abs(current.primal).max() > _FAILED:
        current = _follow(problem, tolerance, _CAREFUL)
    categories = atoms.shape[1]
    eta = max(-float(current.y[categories]), 0.0) if accuracy is not None else 0.0
    return MasterSolution(current.x[: len(atoms)], current.inverse, -current.y[:categories], eta)


def _follow(problem: Problem, tolerance: float, least_share: float) -> _Iterate:
    """Iterate until the residual is within the tolerance or rounding makes the system singular."""
    current = first_iterate(problem)
    for _ in range(_MOST_STEPS):
        if current.residual < tolerance * np.trace(current.inverse):
            break
        try:
            current = next_iterate(problem, current, least_share)
        except np.linalg.LinAlgError:
            break
    return current


def lower_bound(limits: Limits, dual: Array, nu: Array, eta: float, excess: float = 0.0) -> float:
    """Lower bound of the error times respondents, if no atom exceeds the inequality by more than `excess`.

    `dual` is the symmetric matrix Y.
    """
    cost = nu.sum() + excess + (eta * limits.accuracy if limits.accuracy is not None else 0.0)
    return float(2 * np.trace(dual) - cost - limits.prior @ limits.prior) / limits.prior.size


def proven_bound(limits: Limits, dual: Array, nu: Array, eta: float) -> float:
    """Lower bound of the error times respondents of every channel within the limits, from any multipliers.

    For two equally likely truths and odds of 3 : 1, J of Warner's coin has eigenvalues 2 and 1/2, and its inverse
    proves that it is optimal.

    >>> inverse = np.array([[1.25, -0.75], [-0.75, 1.25]])
    >>> proven_bound(checked_limits([0.5, 0.5], odds=3), inverse, np.full(2, 1.25), 0.0)
    1.0
    """
    if eta < 0:
        raise SottovoceError("eta", "must not be negative", eta)
    multipliers = Multipliers(dual @ dual, nu, eta)
    worst = max(price(block, limits, multipliers).worst for block in blocks(limits))
    return lower_bound(limits, dual, nu, eta, worst)


def least_error(
    prior: Any,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Return the channel with the least mean squared error within the limits, for up to 20 categories.

    `accuracy` bounds the adversary's chance of a right guess, `delta` every posterior probability, `odds` (e^epsilon)
    the likelihood ratio of any two truths for any report. The error is that of the best linear unbiased estimator,
    `(tr J^-1 - |p|^2) / n` times one over the respondents, `J = A^T diag(A p)^-1 A`; no unbiased estimator has less.
    Without odds a report may rule truths out: such a channel is not deniable.

    `start` is a solution for similar limits. The gap is below 1e-6 unless the limits are nearly infeasible.

    >>> best = least_error([0.25, 0.25, 0.25, 0.25], odds=3)
    >>> round(best.value, 6), best.gap < 1e-6
    (1.6875, True)
    """
    limits = checked_limits(prior, accuracy, delta, odds)
    if limits.unbounded:
        return truth_itself(limits)
    _, atoms, lower = optimal_reports(limits, start, progress)
    weights = best_weights(atoms, adversary_chance(limits.prior, atoms), limits.accuracy, TIGHT).weights
    return solution_of(limits, atoms, weights, lower)


def truth_itself(limits: Limits) -> Solution:
    """Return the channel that reports the truth, optimal without limits."""
    value = _error(limits.prior, np.eye(limits.prior.size) / limits.prior)
    return Solution(value, value, np.eye(limits.prior.size))


def optimal_reports(limits: Limits, start: Solution | None, progress: Progress | None) -> tuple[Array, Array, float]:
    """Return all reports that column generation kept, the few of them that suffice, and the proven bound."""
    pool, master, lower = _generate(limits, seeds(limits, start.matrix if start is not None else None), progress)
    return pool, pool[basic_reports(limits, pool, master.weights)], lower


def solution_of(limits: Limits, atoms: Array, weights: Array, lower: float) -> Solution:
    """Return the channel of weighted reports with its error and a lower bound; raise if it exceeds its limits."""
    matrix = channel_matrix(limits, atoms, weights)
    if not within(limits, matrix):
        given = {name: getattr(limits, name) for name in ("accuracy", "delta", "odds")}
        bounds = {name: level for name, level in given.items() if level is not None}
        rule = "must be further from infeasible for floating-point numbers to meet them"
        raise SottovoceError(" and ".join(bounds), rule, Words(", ".join(f"{level:.9g}" for level in bounds.values())))
    information = matrix.T @ (matrix / (matrix @ limits.prior)[:, None])
    return Solution(_error(limits.prior, information), lower, matrix)


def _generate(limits: Limits, pool: Array, progress: Progress | None) -> tuple[Array, MasterSolution, float]:
    """Return reports, their best weights, and the bound that these prove."""
    lower, tolerance, larger, last = 0.0, _LOOSE, pool, np.inf
    for step in range(_MOST_ROUNDS):
        pool = larger
        master = best_weights(pool, adversary_chance(limits.prior, pool), limits.accuracy, tolerance)
        value = (np.trace(master.inverse) - limits.prior @ limits.prior) / limits.prior.size
        columns, worst = improving_atoms(limits, master, 4 * limits.prior.size)
        lower = max(lower, lower_bound(limits, master.inverse, master.nu, master.eta, worst))
        gap = abs(value / lower - 1) if lower > 0 else np.inf
        if progress is not None:
            progress(step + 1, _MOST_ROUNDS)
        if gap < _GAP:
            break
        tolerance = min(max(1e-2 * gap, TIGHT), _LOOSE)
        # Reports without weight still shape the certificate: drop them only after progress.
        useless = (master.weights < 1e-7 * master.weights.max()) & (value < (1 - _WORTH) * last)
        larger, last = distinct(np.vstack([pool[~useless], columns])), value
    return pool, master, lower


def improving_atoms(limits: Limits, master: MasterSolution, most: int) -> tuple[Array, float]:
    """Return the atoms with the largest excess over the certificate, and that excess.

    The excess is infinite if some families of atoms were not priced.
    """
    multipliers = Multipliers(master.inverse @ master.inverse, master.nu, master.eta)
    size = float(np.trace(master.inverse))
    atoms, excesses, worst = [], [], -np.inf
    all_families = families(limits)
    for number, family in enumerate(all_families, start=1):
        for block in family:
            priced = price(block, limits, multipliers, 1e-9 * size, most)
            worst = max(worst, priced.worst)
            atoms.append(block.atoms(limits.prior, priced.sets))
            excesses.append(priced.excesses)
        if worst > _WORTH * size and number < len(all_families):
            worst = np.inf
            break
    best = np.argsort(-np.concatenate(excesses), kind="stable")
    return distinct(np.vstack(atoms)[best])[:most], worst


def _error(prior: Array, information: Array) -> float:
    """Mean squared error times respondents, `(tr J^-1 - |p|^2) / n`."""
    return float(np.trace(np.linalg.inv(information)) - prior @ prior) / prior.size


def basic_reports(limits: Limits, atoms: Array, weights: Array) -> NDArray[np.intp]:
    """Return indices of reports that suffice for the same J and adversary's chance, by Caratheodory's theorem.

    J has n (n + 1) / 2 entries, and the adversary's chance is one more: weights move along directions that change none
    of them until one weight is zero, as long as there are such directions.
    """
    kept = np.flatnonzero((weights[:, None] * atoms).max(axis=1) > _NEGLIGIBLE)
    rows, columns = np.triu_indices(limits.prior.size)
    roots = atoms[kept] * np.sqrt(limits.prior)
    moments = np.column_stack([roots[:, rows] * roots[:, columns], adversary_chance(limits.prior, atoms[kept])])
    left = basic_weights(moments, weights[kept])
    sufficient: NDArray[np.intp] = kept[(left[:, None] * atoms[kept]).max(axis=1) > _NEGLIGIBLE]
    return sufficient


def channel_matrix(limits: Limits, atoms: Array, weights: Array) -> Array:
    """Matrix of reports by truths without negligible reports; columns sum to one, the adversary's chance is kept."""
    used = (weights[:, None] * atoms).max(axis=1) > _NEGLIGIBLE
    atoms, weights = atoms[used], weights[used]
    for _ in range(_REFINEMENTS):
        weights = _exact_weights(limits, atoms, weights)
    matrix = weights[:, None] * atoms
    normalised: Array = matrix / matrix.sum(axis=0)
    return normalised


def within(limits: Limits, matrix: Array) -> bool:
    """Whether a channel keeps its limits up to rounding."""
    ratios = matrix / (matrix @ limits.prior)[:, None]
    accuracy = limits.accuracy if limits.accuracy is not None else 1.0
    accurate = (matrix * limits.prior).max(axis=1).sum() <= accuracy + _ROUNDING
    return bool(accurate and (matrix >= 0).all() and allowed(limits, ratios, _ROUNDING).all())


def _exact_weights(limits: Limits, atoms: Array, weights: Array) -> Array:
    """Nearest weights, relative to their size, with `sum w v = 1` and the adversary's chance kept."""
    chances = adversary_chance(limits.prior, atoms)
    constraints, goal = atoms, np.ones(limits.prior.size)
    if limits.accuracy is not None and weights @ chances > limits.accuracy - _NEGLIGIBLE:
        constraints, goal = np.column_stack([atoms, chances]), np.append(goal, limits.accuracy)
    scaled = weights[:, None] * constraints
    missing = np.linalg.lstsq(scaled.T, goal - weights @ constraints, rcond=None)[0]
    corrected: Array = weights * (1 + missing)
    return corrected
