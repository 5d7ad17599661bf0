"""Channels with a capped number of reports: the least useful reports are dropped, merged or exchanged.

Choosing the best few reports is a problem with many local optima. The result is within the limits, no worse than k-ary
randomized response, and its gap to the bound without a cap is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.checks import Array, Progress, whole_number
from sottovoce.designs.exact_scheme import Solution
from sottovoce.designs.least_error.atoms import Limits, adversary_chance, allowed, checked_limits, distinct
from sottovoce.designs.least_error.column_generation import (
    TIGHT,
    MasterSolution,
    best_weights,
    improving_atoms,
    optimal_reports,
    solution_of,
    truth_itself,
)

Improve = Callable[[MasterSolution], Array]
"""Returns the atoms that would improve a channel most."""

_TOLERANCE = 1e-6
_DROPS = 2
"""Reports whose removal is tried one at a time."""
_AT_ONCE = 0.2
"""Share of the excess reports that are removed at once while there are many."""
_MOST_EXCHANGES = 12


def least_error_of_few(
    prior: Any,
    max_reports: int,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Return a channel of low error with at most `max_reports` reports; otherwise as `least_error`.

    The lower bound is that without a cap, so the gap includes the cost of the cap.
    """
    limits = checked_limits(prior, accuracy, delta, odds)
    max_reports = whole_number("max_reports", max_reports, least=limits.prior.size)
    if limits.unbounded:
        return truth_itself(limits)
    pool, atoms, lower = optimal_reports(limits, start, progress)
    if len(atoms) <= max_reports:
        weights = best_weights(atoms, adversary_chance(limits.prior, atoms), limits.accuracy, TIGHT).weights
    else:
        atoms, weights = pruned(
            limits, pool, max_reports, lambda master: improving_atoms(limits, master, limits.prior.size)[0]
        )
    return solution_of(limits, atoms, weights, lower)


@dataclass(frozen=True)
class _Few:
    """Reports and their best weights."""

    atoms: Array
    master: MasterSolution

    @property
    def trace(self) -> float:
        """The objective, `tr J^-1`."""
        return float(np.trace(self.master.inverse))


def pruned(limits: Limits, atoms: Array, most: int, improve: Improve) -> tuple[Array, Array]:
    """Return at most `most` reports and their weights, starting from these atoms and from randomized response."""
    starts = [few for few in (_few(limits, atoms), _few(limits, _randomized_response(limits))) if few is not None]
    best = min((_exchanged(limits, few, most, improve) for few in starts), key=lambda few: few.trace)
    return best.atoms, best.master.weights


def _few(limits: Limits, atoms: Array) -> _Few | None:
    """Reports with their best weights, or None if no weights make them a channel within the limits."""
    chances = adversary_chance(limits.prior, atoms)
    try:
        with np.errstate(all="ignore"):
            master = best_weights(atoms, chances, limits.accuracy, _TOLERANCE)
    except np.linalg.LinAlgError:
        return None
    feasible = abs(master.weights @ atoms - 1).max() < _TOLERANCE and np.isfinite(master.inverse).all()
    if limits.accuracy is not None:
        feasible &= master.weights @ chances < limits.accuracy + _TOLERANCE * 1e-2
    return _Few(atoms, master) if feasible else None


def _exchanged(limits: Limits, few: _Few, most: int, improve: Improve) -> _Few:
    """Add the atoms that improve most and prune again, while that reduces the error."""
    best = _fewer(limits, few, most)
    for _ in range(_MOST_EXCHANGES):
        more = _few(limits, distinct(np.vstack([best.atoms, improve(best.master)])))
        other = best if more is None else _fewer(limits, more, most)
        if other.trace >= best.trace * (1 - 1e-5):
            break
        best = other
    return best


def _fewer(limits: Limits, few: _Few, most: int) -> _Few:
    """Drop or merge reports until at most `most` are left, many at a time at first."""
    while len(few.atoms) > most:
        worst = np.argsort(_losses(few))
        many = int(_AT_ONCE * (len(few.atoms) - most))
        candidates = [_few(limits, np.delete(few.atoms, worst[:many], axis=0))] if many > 1 else []
        if not any(candidates):
            candidates = [_few(limits, np.delete(few.atoms, gone, axis=0)) for gone in worst[:_DROPS]]
            candidates.append(_few(limits, _merged(few)))
        few = min((other for other in candidates if other is not None), key=lambda other: other.trace)
    return few


def _losses(few: _Few) -> Array:
    """Increase of `tr J^-1` without each report, weights unchanged: a downdate of rank one."""
    scaled = few.atoms @ few.master.inverse
    left = 1 - few.master.weights * (scaled * few.atoms).sum(axis=1)
    losses: Array = few.master.weights * (scaled * scaled).sum(axis=1) / np.maximum(left, 1e-9)
    return losses


def _merged(few: _Few) -> Array:
    """Merge two reports; the channel stays within the limits, which are convex."""
    weights, scaled = few.master.weights, few.atoms @ few.master.inverse
    shared = weights[:, None] * weights / (weights[:, None] + weights)
    near, far = _squared_distances(scaled @ few.atoms.T), _squared_distances(scaled @ scaled.T)
    loss = shared * far / np.maximum(1 - shared * near, 1e-9)
    loss[np.tril_indices(len(weights))] = np.inf
    one, other = np.unravel_index(loss.argmin(), loss.shape)
    both = weights[[one, other]] @ few.atoms[[one, other]] / weights[[one, other]].sum()
    return np.vstack([np.delete(few.atoms, [one, other], axis=0), both])


def _squared_distances(products: Array) -> Array:
    return products.diagonal()[:, None] + products.diagonal() - 2 * products


def _randomized_response(limits: Limits) -> Array:
    """Reports of k-ary randomized response with the largest chance of the truth within the limits, by bisection."""
    size, keep, too_much = limits.prior.size, 0.0, 1.0
    for _ in range(60):
        middle = (keep + too_much) / 2
        rows = middle * np.eye(size) + (1 - middle) / size
        ratios = rows / (rows @ limits.prior)[:, None]
        accurate = limits.accuracy is None or (rows * limits.prior).max(axis=1).sum() <= limits.accuracy
        keep, too_much = (middle, too_much) if accurate and allowed(limits, ratios).all() else (keep, middle)
    rows = keep * np.eye(size) + (1 - keep) / size
    return rows / (rows @ limits.prior)[:, None]
