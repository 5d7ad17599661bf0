"""A primal-dual interior-point method for the best weights of given reports, `min tr J^-1`.

The gradient is `-v^T J^-2 v`, the Hessian `2 (v_i^T J^-1 v_j) (v_i^T J^-2 v_j)`. Boyd and Vandenberghe (2004), Convex
Optimization, section 11.7.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import MissingExtraError

_MOST_HALVINGS = 8
_NEAR = 1e-6
"""How far equations may fail before steps are no longer shortened."""
_MOST_STEPS = 100
_BOLD, _CAREFUL = 1e-3, 0.3
"""How far towards the centre a step goes at least: near infeasible limits bold ones get stuck at the border."""
_FAILED = 1e-7


@dataclass(frozen=True)
class Problem:
    """Reports, and the equations `rows x = goal` of the variables: weights, and what is left of the accuracy."""

    atoms: Array
    rows: Array
    goal: Array


@dataclass(frozen=True)
class Point:
    """Variables x, multipliers y of the equations and z of `x >= 0`, `J^-1`, and by how much conditions fail there."""

    x: Array
    y: Array
    z: Array
    inverse: Array
    primal: Array
    dual: Array

    @property
    def missed(self) -> float:
        """What the failures of all conditions may amount to in the objective."""
        return float(max(self.x @ self.z, abs(self.dual).max(), abs(self.y) @ abs(self.primal)))


def _point(problem: Problem, x: Array, y: Array, z: Array) -> Point:
    inverse, gradient = _derivatives(problem.atoms, x)
    return Point(x, y, z, inverse, problem.goal - problem.rows @ x, gradient - problem.rows.T @ y - z)


def first_point(problem: Problem) -> Point:
    """Equal weights, and multipliers that fit their gradient."""
    rows = problem.rows
    x = np.full(rows.shape[1], 1 / rows.shape[1])
    gradient = _derivatives(problem.atoms, x)[1]
    y = np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    return _point(
        problem, x, np.asarray(y, dtype=np.float64), np.maximum(gradient - rows.T @ y, 1e-2 * abs(gradient).max())
    )


def _derivatives(atoms: Array, x: Array) -> tuple[Array, Array]:
    """`J^-1`, and the gradient over all variables."""
    inverse = np.asarray(np.linalg.inv(atoms.T @ (x[: len(atoms), None] * atoms)), dtype=np.float64)
    gradient = np.zeros_like(x)
    gradient[: len(atoms)] = -((atoms @ inverse) ** 2).sum(axis=1)
    return inverse, gradient


def _hessian(atoms: Array, inverse: Array) -> Array:
    turned = atoms @ inverse
    curvature: Array = 2 * (turned @ atoms.T) * (turned @ turned.T)
    return curvature


def next_point(problem: Problem, here: Point, least_share: float) -> Point:
    """One predictor and corrector, shortened until the conditions fail by less."""
    x, z, rows = here.x, here.z, problem.rows
    system = np.diag(z / x)
    reports = len(problem.atoms)
    system[:reports, :reports] += _hessian(problem.atoms, here.inverse)
    solve = _solver(system)
    spread = solve(rows.T)
    between = rows @ spread

    def move(target: Array | float) -> tuple[Array, Array, Array]:
        free = solve(target / x - z - here.dual)
        dy = np.asarray(np.linalg.solve(between, here.primal - rows @ free), dtype=np.float64)
        dx = free + spread @ dy
        return dx, dy, (target - z * dx) / x - z

    mean = float(x @ z) / x.size
    dx, _, dz = move(0.0)
    length = min(_longest(x, dx), _longest(z, dz))
    aimed = float((x + length * dx) @ (z + length * dz)) / x.size
    share = min(1.0, max(least_share, (aimed / mean) ** 3))
    dx, dy, dz = move(share * mean - np.clip(dx * dz, -mean, mean) * length)
    length = min(_longest(x, dx), _longest(z, dz))
    for _ in range(_MOST_HALVINGS):
        there = _point(problem, x + length * dx, here.y + length * dy, z + length * dz)
        if there.missed < here.missed or abs(here.primal).max() > _NEAR:
            break
        length /= 2
    return there


def _solver(system: Array) -> Callable[[Array], Array]:
    """Solutions by Cholesky, of a little more than the system: rounding may leave its least eigenvalues negative."""
    try:
        algebra = import_module("scipy.linalg")
    except ImportError:
        raise MissingExtraError("the least error", "scipy", "design") from None
    for ridge in (1e-12, 1e-10, 1e-8):
        with suppress(np.linalg.LinAlgError):
            factor = algebra.cho_factor(system + np.diag(ridge * system.diagonal()), check_finite=False)
            return partial(algebra.cho_solve, factor, check_finite=False)
    raise np.linalg.LinAlgError


def _longest(positive: Array, change: Array) -> float:
    """Step that leaves everything positive."""
    shrink = change < 0
    return min(1.0, 0.995 * float((-positive[shrink] / change[shrink]).min(initial=2.0)))


@dataclass(frozen=True)
class Weighted:
    """Weights of reports, `J^-1`, and the multipliers nu and eta of a certificate."""

    weights: Array
    root: Array
    nu: Array
    eta: float


def best_weights(atoms: Array, chances: Array, accuracy: float | None, tolerance: float) -> Weighted:
    """Weights within a relative `tolerance` of the best: a row of `atoms` and one of `chances` for each report."""
    rows, goal = atoms.T, np.ones(atoms.shape[1])
    if accuracy is not None:
        # The last variable is what is left of the adversary's chance.
        rows = np.vstack([np.column_stack([rows, np.zeros(len(rows))]), np.append(chances, 1.0)])
        goal = np.append(goal, accuracy)
    problem = Problem(atoms, rows, goal)
    here = _follow(problem, tolerance, _BOLD)
    if abs(here.primal).max() > _FAILED:
        here = _follow(problem, tolerance, _CAREFUL)
    categories = atoms.shape[1]
    eta = max(-float(here.y[categories]), 0.0) if accuracy is not None else 0.0
    return Weighted(here.x[: len(atoms)], here.inverse, -here.y[:categories], eta)


def _follow(problem: Problem, tolerance: float, least_share: float) -> Point:
    """Go on until nothing is missed, or weights have no room to move, or are as good as rounding allows."""
    here = first_point(problem)
    for _ in range(_MOST_STEPS):
        if here.missed < tolerance * np.trace(here.inverse):
            break
        try:
            here = next_point(problem, here, least_share)
        except np.linalg.LinAlgError:
            break
    return here
