"""The channel with the least error for a required privacy, and a proof: column generation over all atoms.

The best weights for some reports give a certificate, which is checked on every atom. Atoms that break it are the
reports worth having; once none does, nothing better exists.
"""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import adversary_chance, distinct, families
from sottovoce.design.least_error.certificate import bound_without_excess
from sottovoce.design.least_error.limits import Limits, limits
from sottovoce.design.least_error.master import Weighted, best_weights
from sottovoce.design.least_error.pricing import Multipliers, price
from sottovoce.design.least_error.pruning import pruned
from sottovoce.design.least_error.seeds import seeds
from sottovoce.design.least_error.support import basic, channel_matrix, within
from sottovoce.design.solution import Solution
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress

_GAP = 3e-7
_MOST_ROUNDS = 100
_LOOSE, _TIGHT = 1e-4, 1e-9
_WORTH = 1e-3
"""Excess, relative to `tr J^-1`, of atoms so good that rarer ones need not be looked at yet."""


def least_error(
    prior: Any,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    max_reports: int | None = None,
    start: Solution | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Channel with the least mean squared error within the limits, for up to 20 categories.

    `accuracy` bounds the chance of an adversary's best guess, `delta` every posterior probability, `odds` (e^epsilon)
    the ratio of two truths' probabilities of the same report. The error is that of the best linear unbiased estimator,
    `(tr J^-1 - |p|^2) / n` times one over the respondents, `J = A^T diag(A p)^-1 A`; no unbiased estimator has less.
    Without odds a report may rule truths out: such a channel is not deniable.

    `max_reports` caps the number of reports; the gap to the bound, which has no cap, is then the price. `start` is a
    solution for similar limits. The gap is below 1e-6 unless limits are so near to infeasible that rounding prevails.

    >>> best = least_error([0.25, 0.25, 0.25, 0.25], odds=3)
    >>> round(best.value, 6), best.gap < 1e-6
    (1.6875, True)
    """
    agreed = limits(prior, accuracy, delta, odds)
    if max_reports is not None and (not isinstance(max_reports, int) or max_reports < agreed.prior.size):
        rule = f"must be at least {agreed.prior.size}, the number of categories: fewer cannot tell them apart"
        raise SottovoceError("max_reports", rule, max_reports)
    if agreed.free:
        value = _error(agreed.prior, np.eye(agreed.prior.size) / agreed.prior)
        return Solution(value, value, np.eye(agreed.prior.size))
    pool, found, lower = _generate(agreed, seeds(agreed, start.matrix if start is not None else None), progress)
    atoms = pool[basic(agreed, pool, found.weights)]
    if max_reports is None or len(atoms) <= max_reports:
        weights = best_weights(atoms, adversary_chance(agreed.prior, atoms), agreed.accuracy, _TIGHT).weights
    else:
        atoms, weights = pruned(agreed, pool, max_reports, lambda few: _columns(agreed, few, agreed.prior.size)[0])
    matrix = channel_matrix(agreed, atoms, weights)
    if not within(agreed, matrix):
        rule = "must be further from infeasible for floating-point numbers to meet them"
        raise SottovoceError("accuracy, delta and odds", rule, (accuracy, delta, odds))
    information = matrix.T @ (matrix / (matrix @ agreed.prior)[:, None])
    return Solution(_error(agreed.prior, information), lower, matrix)


def _generate(agreed: Limits, pool: Array, progress: Progress | None) -> tuple[Array, Weighted, float]:
    """Reports, their best weights, and the bound that these prove."""
    lower, tolerance, larger, last = 0.0, _LOOSE, pool, np.inf
    for step in range(_MOST_ROUNDS):
        pool = larger
        found = best_weights(pool, adversary_chance(agreed.prior, pool), agreed.accuracy, tolerance)
        value = (np.trace(found.root) - agreed.prior @ agreed.prior) / agreed.prior.size
        columns, worst = _columns(agreed, found, 4 * agreed.prior.size)
        lower = max(lower, bound_without_excess(agreed, found.root, found.nu, found.eta, worst))
        gap = abs(value / lower - 1) if lower > 0 else np.inf
        if progress is not None:
            progress(step + 1, _MOST_ROUNDS)
        if gap < _GAP:
            break
        tolerance = min(max(1e-2 * gap, _TIGHT), _LOOSE)
        # Reports without weight still hold the certificate in place: only progress makes them useless.
        useless = (found.weights < 1e-7 * found.weights.max()) & (value < (1 - _WORTH) * last)
        larger, last = distinct(np.vstack([pool[~useless], columns])), value
    return pool, found, lower


def _columns(agreed: Limits, found: Weighted, most: int) -> tuple[Array, float]:
    """Atoms that exceed the certificate most, and the largest excess; infinite if other families were not looked at."""
    multipliers = Multipliers(found.root @ found.root, found.nu, found.eta)
    size = float(np.trace(found.root))
    atoms, excesses, worst = [], [], -np.inf
    kinds = families(agreed)
    for number, family in enumerate(kinds, start=1):
        for block in family:
            priced = price(block, agreed, multipliers, 1e-9 * size, most)
            worst = max(worst, priced.worst)
            atoms.append(block.atoms(agreed.prior, priced.sets))
            excesses.append(priced.excesses)
        if worst > _WORTH * size and number < len(kinds):
            worst = np.inf
            break
    best = np.argsort(-np.concatenate(excesses), kind="stable")
    return distinct(np.vstack(atoms)[best])[:most], worst


def _error(prior: Array, information: Array) -> float:
    """Mean squared error times respondents, `(tr J^-1 - |p|^2) / n`."""
    return float(np.trace(np.linalg.inv(information)) - prior @ prior) / prior.size
