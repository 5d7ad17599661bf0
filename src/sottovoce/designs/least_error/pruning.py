"""Channels of few reports: the least useful are dropped, merged or exchanged.

Which few reports are best is a problem with many local optima. What is found is within the limits, no worse than k-ary
randomized response, and its distance from the proven bound is known.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.least_error.atoms import Limits, adversary_chance, allowed, distinct
from sottovoce.designs.least_error.interior_point import Weighted, best_weights

_NOTHING = 1e-9
"""Probability below which a report is left out, whatever the truth."""

_REFINEMENTS = 3
_ROUNDING = 1e-9
Columns = Callable[[Weighted], Array]
"""Atoms that would improve a channel most."""

_TOLERANCE = 1e-6
_DROPS = 2
_AT_ONCE = 0.2
_MOST_EXCHANGES = 12


def basic(limits: Limits, atoms: Array, weights: Array) -> NDArray[np.intp]:
    """Reports that suffice for the same J and the same chance of the adversary, by Caratheodory's theorem.

    J has n (n + 1) / 2 entries, and the adversary's chance is one more: weights move along directions that change none
    of them until one is zero, as long as there are such directions.
    """
    kept = np.flatnonzero((weights[:, None] * atoms).max(axis=1) > _NOTHING)
    rows, columns = np.triu_indices(limits.prior.size)
    roots = atoms[kept] * np.sqrt(limits.prior)
    facts = np.column_stack([roots[:, rows] * roots[:, columns], adversary_chance(limits.prior, atoms[kept])])
    left, directions = weights[kept].copy(), _null_space(facts.T)
    while directions.shape[1]:
        lengths = np.linalg.norm(directions, axis=1)
        least = np.where(lengths > 1e-6, left / np.maximum(lengths, 1e-6), np.inf).argmin()
        change = directions @ directions[least]
        shrinking = np.flatnonzero(change > 1e-9 * change[least])
        gone = shrinking[(left[shrinking] / change[shrinking]).argmin()]
        left = np.maximum(left - left[gone] / change[gone] * change, 0.0)
        left[gone] = 0.0
        directions = _without(directions, gone)
    few: NDArray[np.intp] = kept[(left[:, None] * atoms[kept]).max(axis=1) > _NOTHING]
    return few


def _without(directions: Array, gone: int) -> Array:
    """Orthonormal directions that leave one weight alone: Householder's reflection puts its row into the first."""
    mirror = directions[gone] / np.linalg.norm(directions[gone])
    mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
    return (directions - np.outer(directions @ mirror, 2 * mirror / (mirror @ mirror)))[:, 1:]


def _null_space(matrix: Array) -> Array:
    _, values, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int((values > 1e-11 * values[0]).sum())
    return right[rank:].T


def channel_matrix(limits: Limits, atoms: Array, weights: Array) -> Array:
    """Reports by truths, without reports of no weight: columns sum to one, and the adversary's chance is kept."""
    used = (weights[:, None] * atoms).max(axis=1) > _NOTHING
    atoms, weights = atoms[used], weights[used]
    for _ in range(_REFINEMENTS):
        weights = _exact_weights(limits, atoms, weights)
    matrix = weights[:, None] * atoms
    whole: Array = matrix / matrix.sum(axis=0)
    return whole


def within(limits: Limits, matrix: Array) -> bool:
    """Whether a channel keeps its limits, but for rounding."""
    ratios = matrix / (matrix @ limits.prior)[:, None]
    accuracy = limits.accuracy if limits.accuracy is not None else 1.0
    accurate = (matrix * limits.prior).max(axis=1).sum() <= accuracy + _ROUNDING
    return bool(accurate and (matrix >= 0).all() and allowed(limits, ratios, _ROUNDING).all())


def _exact_weights(limits: Limits, atoms: Array, weights: Array) -> Array:
    """Weights nearest to the given ones, relative to their size, with `sum w v = 1` and the adversary's chance kept."""
    chances = adversary_chance(limits.prior, atoms)
    facts, goal = atoms, np.ones(limits.prior.size)
    if limits.accuracy is not None and weights @ chances > limits.accuracy - _NOTHING:
        facts, goal = np.column_stack([atoms, chances]), np.append(goal, limits.accuracy)
    scaled = weights[:, None] * facts
    missing = np.linalg.lstsq(scaled.T, goal - weights @ facts, rcond=None)[0]
    corrected: Array = weights * (1 + missing)
    return corrected


@dataclass(frozen=True)
class _Few:
    """Reports and their best weights."""

    atoms: Array
    weighted: Weighted

    @property
    def trace(self) -> float:
        """`tr J^-1`, what there is to make small."""
        return float(np.trace(self.weighted.root))


def pruned(limits: Limits, atoms: Array, most: int, columns: Columns) -> tuple[Array, Array]:
    """At most `most` reports, among the given and the best other atoms or between them, and weights of low error."""
    starts = [few for few in (_few(limits, atoms), _few(limits, _randomized_response(limits))) if few is not None]
    best = min((_exchanged(limits, few, most, columns) for few in starts), key=lambda few: few.trace)
    return best.atoms, best.weighted.weights


def _few(limits: Limits, atoms: Array) -> _Few | None:
    """Reports with their best weights, or None where no weights make them a channel within the limits."""
    chances = adversary_chance(limits.prior, atoms)
    try:
        with np.errstate(all="ignore"):
            weighted = best_weights(atoms, chances, limits.accuracy, _TOLERANCE)
    except np.linalg.LinAlgError:
        return None
    fine = abs(weighted.weights @ atoms - 1).max() < _TOLERANCE and np.isfinite(weighted.root).all()
    if limits.accuracy is not None:
        fine &= weighted.weights @ chances < limits.accuracy + _TOLERANCE * 1e-2
    return _Few(atoms, weighted) if fine else None


def _exchanged(limits: Limits, few: _Few, most: int, columns: Columns) -> _Few:
    """Add the atoms that improve most, prune again, and go on while that helps."""
    best = _fewer(limits, few, most)
    for _ in range(_MOST_EXCHANGES):
        more = _few(limits, distinct(np.vstack([best.atoms, columns(best.weighted)])))
        other = best if more is None else _fewer(limits, more, most)
        if other.trace >= best.trace * (1 - 1e-5):
            break
        best = other
    return best


def _fewer(limits: Limits, few: _Few, most: int) -> _Few:
    """Leave out or merge reports until few are left; many at a time while there are many too many."""
    while len(few.atoms) > most:
        worst = np.argsort(_losses(few))
        many = int(_AT_ONCE * (len(few.atoms) - most))
        next_ones = [_few(limits, np.delete(few.atoms, worst[:many], axis=0))] if many > 1 else []
        if not any(next_ones):
            next_ones = [_few(limits, np.delete(few.atoms, gone, axis=0)) for gone in worst[:_DROPS]]
            next_ones.append(_few(limits, _merged(few)))
        few = min((found for found in next_ones if found is not None), key=lambda found: found.trace)
    return few


def _losses(few: _Few) -> Array:
    """What `tr J^-1` grows by without each report, before weights adjust: a downdate of rank one."""
    turned = few.atoms @ few.weighted.root
    left = 1 - few.weighted.weights * (turned * few.atoms).sum(axis=1)
    losses: Array = few.weighted.weights * (turned * turned).sum(axis=1) / np.maximum(left, 1e-9)
    return losses


def _merged(few: _Few) -> Array:
    """Reports with two of them made one: always a channel within the limits, since these are convex."""
    weights, turned = few.weighted.weights, few.atoms @ few.weighted.root
    shared = weights[:, None] * weights / (weights[:, None] + weights)
    near, far = _squared_distances(turned @ few.atoms.T), _squared_distances(turned @ turned.T)
    loss = shared * far / np.maximum(1 - shared * near, 1e-9)
    loss[np.tril_indices(len(weights))] = np.inf
    one, other = np.unravel_index(loss.argmin(), loss.shape)
    both = weights[[one, other]] @ few.atoms[[one, other]] / weights[[one, other]].sum()
    return np.vstack([np.delete(few.atoms, [one, other], axis=0), both])


def _squared_distances(products: Array) -> Array:
    return products.diagonal()[:, None] + products.diagonal() - 2 * products


def _randomized_response(limits: Limits) -> Array:
    """K-ary randomized response that keeps the truth as often as the limits allow, by bisection."""
    size, keep, too_much = limits.prior.size, 0.0, 1.0
    for _ in range(60):
        middle = (keep + too_much) / 2
        rows = middle * np.eye(size) + (1 - middle) / size
        ratios = rows / (rows @ limits.prior)[:, None]
        accurate = limits.accuracy is None or (rows * limits.prior).max(axis=1).sum() <= limits.accuracy
        keep, too_much = (middle, too_much) if accurate and allowed(limits, ratios).all() else (keep, middle)
    rows = keep * np.eye(size) + (1 - keep) / size
    return rows / (rows @ limits.prior)[:, None]
