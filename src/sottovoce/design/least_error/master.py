r"""Best weights for given reports: `min tr J^-1`, `J = sum w v v^T`, over `w >= 0`, `sum w v = 1`, `sum w a <= accuracy`.

A primal-dual interior-point method with Mehrotra's predictor and corrector. The gradient is `-v^T J^-2 v`, the Hessian
`2 (v_i^T J^-1 v_j) (v_i^T J^-2 v_j)`; the multipliers of the constraints are those of the certificate.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import MissingExtraError

_MOST_STEPS = 100
_MOST_HALVINGS = 8
_NEAR = 1e-6


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
    problem = _Problem(atoms, rows, goal)
    here = _start(problem)
    for _ in range(_MOST_STEPS):
        if here.missed < tolerance * np.trace(here.inverse):
            break
        try:
            here = _step(problem, here)
        except np.linalg.LinAlgError:
            # Weights without any room to move, or as near to the best as rounding allows.
            break
    categories = atoms.shape[1]
    eta = max(-float(here.y[categories]), 0.0) if accuracy is not None else 0.0
    return Weighted(here.x[: len(atoms)], here.inverse, -here.y[:categories], eta)


@dataclass(frozen=True)
class _Problem:
    """Reports, and the equations `rows x = goal` of the variables: weights, and what is left of the accuracy."""

    atoms: Array
    rows: Array
    goal: Array


@dataclass(frozen=True)
class _Point:
    """Variables x, multipliers y of the equations and z of `x >= 0`; `J^-1` there, and by how much each condition fails."""

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


def _point(problem: _Problem, x: Array, y: Array, z: Array) -> _Point:
    inverse, gradient = _derivatives(problem.atoms, x)
    return _Point(x, y, z, inverse, problem.goal - problem.rows @ x, gradient - problem.rows.T @ y - z)


def _start(problem: _Problem) -> _Point:
    rows = problem.rows
    x = np.full(rows.shape[1], 1 / rows.shape[1])
    gradient = _derivatives(problem.atoms, x)[1]
    y = np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    return _point(problem, x, y, np.maximum(gradient - rows.T @ y, 1e-2 * abs(gradient).max()))


def _derivatives(atoms: Array, x: Array) -> tuple[Array, Array]:
    """`J^-1`, and the gradient over all variables."""
    inverse = np.linalg.inv(atoms.T @ (x[: len(atoms), None] * atoms))
    gradient = np.zeros_like(x)
    gradient[: len(atoms)] = -((atoms @ inverse) ** 2).sum(axis=1)
    return inverse, gradient


def _hessian(atoms: Array, inverse: Array) -> Array:
    turned = atoms @ inverse
    curvature: Array = 2 * (turned @ atoms.T) * (turned @ turned.T)
    return curvature


def _step(problem: _Problem, here: _Point) -> _Point:
    """One predictor and corrector, shortened until the conditions fail by less."""
    from scipy.linalg import cho_solve

    x, z, rows = here.x, here.z, problem.rows
    system = np.diag(z / x)
    reports = len(problem.atoms)
    system[:reports, :reports] += _hessian(problem.atoms, here.inverse)
    factor = _factor(system)
    spread = cho_solve(factor, rows.T, check_finite=False)
    between = rows @ spread

    def move(target: Array | float) -> tuple[Array, Array, Array]:
        free = cho_solve(factor, target / x - z - here.dual, check_finite=False)
        dy = np.linalg.solve(between, here.primal - rows @ free)
        dx = free + spread @ dy
        return dx, dy, (target - z * dx) / x - z

    mean = float(x @ z) / x.size
    dx, _, dz = move(0.0)
    length = min(_longest(x, dx), _longest(z, dz))
    aimed = float((x + length * dx) @ (z + length * dz)) / x.size
    share = min(1.0, max(1e-3, (aimed / mean) ** 3))
    dx, dy, dz = move(share * mean - np.clip(dx * dz, -mean, mean) * length)
    length = min(_longest(x, dx), _longest(z, dz))
    for _ in range(_MOST_HALVINGS):
        there = _point(problem, x + length * dx, here.y + length * dy, z + length * dz)
        if there.missed < here.missed or abs(here.primal).max() > _NEAR:
            break
        length /= 2
    return there


def _factor(system: Array) -> tuple[Array, bool]:
    """Cholesky's factor, of a little more than the system where rounding has left its least eigenvalues negative."""
    from scipy.linalg import LinAlgError, cho_factor

    for ridge in (1e-12, 1e-10, 1e-8):
        with suppress(LinAlgError):
            factor: tuple[Array, bool] = cho_factor(system + np.diag(ridge * system.diagonal()), check_finite=False)
            return factor
    raise LinAlgError("no direction to go")


def _longest(positive: Array, change: Array) -> float:
    """Step that leaves everything positive."""
    shrink = change < 0
    return min(1.0, 0.995 * float((-positive[shrink] / change[shrink]).min(initial=2.0)))
