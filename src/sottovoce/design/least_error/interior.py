"""A primal-dual interior-point method, with Mehrotra's predictor and corrector, for `min tr J^-1` over `rows x = goal`.

The gradient is `-v^T J^-2 v`, the Hessian `2 (v_i^T J^-1 v_j) (v_i^T J^-2 v_j)`. Boyd and Vandenberghe (2004), Convex
Optimization, section 11.7.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import MissingExtraError

_MOST_HALVINGS = 8
_NEAR = 1e-6
"""How far equations may fail before steps are no longer shortened."""


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
