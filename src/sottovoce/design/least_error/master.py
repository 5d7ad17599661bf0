"""Best weights for given reports: `min tr J^-1`, `J = sum w v v^T`; `w >= 0`, `sum w v = 1`, `sum w a <= accuracy`."""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.interior import Point, Problem, first_point, next_point

_MOST_STEPS = 100
_BOLD, _CAREFUL = 1e-3, 0.3
"""How far towards the centre a step goes at least: near infeasible limits bold ones get stuck at the border."""
_FAILED = 1e-7


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
