r"""Best weights for given reports: `min tr J^-1`, `J = sum w v v^T`, over `w >= 0`, `sum w v = 1`, `sum w a <= accuracy`.

A primal-dual interior-point method with Mehrotra's predictor and corrector. The gradient is `-v^T J^-2 v`, the Hessian
`2 (v_i^T J^-1 v_j) (v_i^T J^-2 v_j)`; the multipliers of the constraints are those of the certificate.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import MissingExtraError

_MOST_STEPS = 100


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
    state = _start(atoms, rows)
    for _ in range(_MOST_STEPS):
        inverse, gradient = _derivatives(atoms, state.x)
        primal, dual = goal - rows @ state.x, gradient - rows.T @ state.y - state.z
        small = abs(primal).max() < 1e-9 and abs(dual).max() < tolerance * abs(gradient).max()
        if small and state.x @ state.z < tolerance * np.trace(inverse):
            break
        state = _step(state, rows, _hessian(atoms, inverse), primal, dual)
    inverse = _derivatives(atoms, state.x)[0]
    categories = atoms.shape[1]
    eta = max(-float(state.y[categories]), 0.0) if accuracy is not None else 0.0
    return Weighted(state.x[: len(atoms)], inverse, -state.y[:categories], eta)


@dataclass(frozen=True)
class _State:
    """Variables x, multipliers y of the equations and z of `x >= 0`."""

    x: Array
    y: Array
    z: Array


def _start(atoms: Array, rows: Array) -> _State:
    x = np.full(rows.shape[1], 1 / rows.shape[1])
    gradient = _derivatives(atoms, x)[1]
    y = np.linalg.lstsq(rows.T, gradient, rcond=None)[0]
    return _State(x, y, np.maximum(gradient - rows.T @ y, 1e-2 * abs(gradient).max()))


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


def _step(state: _State, rows: Array, hessian: Array, primal: Array, dual: Array) -> _State:
    """One predictor and corrector."""
    try:
        from scipy.linalg import cho_factor, cho_solve
    except ImportError:
        raise MissingExtraError("least_error", "scipy", "design") from None
    x, z = state.x, state.z
    system = np.diag(z / x)
    system[: len(hessian), : len(hessian)] += hessian
    factor = cho_factor(system, overwrite_a=True, check_finite=False)
    spread = cho_solve(factor, rows.T, check_finite=False)
    between = rows @ spread

    def move(target: Array | float) -> tuple[Array, Array, Array]:
        free = cho_solve(factor, target / x - z - dual, check_finite=False)
        dy = np.linalg.solve(between, primal - rows @ free)
        dx = free + spread @ dy
        return dx, dy, (target - z * dx) / x - z

    mean = x @ z / x.size
    dx, _, dz = move(0.0)
    length = min(_longest(x, dx), _longest(z, dz))
    aimed = (x + length * dx) @ (z + length * dz) / x.size
    share = min(1.0, max(1e-3, (aimed / mean) ** 3))
    dx, dy, dz = move(share * mean - np.clip(dx * dz, -mean, mean) * length)
    length = min(_longest(x, dx), _longest(z, dz))
    return _State(x + length * dx, state.y + length * dy, z + length * dz)


def _longest(positive: Array, change: Array) -> float:
    """Step that leaves everything positive."""
    shrink = change < 0
    return min(1.0, 0.995 * float((-positive[shrink] / change[shrink]).min(initial=2.0)))
