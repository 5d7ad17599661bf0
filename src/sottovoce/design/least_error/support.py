"""Few reports that do what many do: the same information matrix from a basis, and weights that sum up exactly."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import adversary_chance, allowed
from sottovoce.design.least_error.limits import Limits

_NOTHING = 1e-9
"""Probability below which a report is left out, whatever the truth."""

_REFINEMENTS = 3
_ROUNDING = 1e-9


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
