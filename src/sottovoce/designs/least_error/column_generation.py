"""The channel with the least error for a required privacy, with a proof: column generation over all atoms.

For any symmetric Y, any nu and `eta >= 0` with `v^T Y^2 v <= nu.v + eta a_v` on every atom v, `a_v = max_x p_x v_x`,

    `tr J^-1 >= 2 tr Y - sum(nu) - eta accuracy`

for the information matrix `J = sum_y w_y v_y v_y^T` of every channel within the limits: `tr J^-1 + tr J Y^2` is at
least `2 tr Y`, and `tr J Y^2 = sum w v^T Y^2 v <= sum(nu) + eta accuracy` since `sum w v = 1`. An atom that exceeds the
inequality by k costs k, since `p.v = 1`: no atom exceeds it with nu + k p. Floating point, not interval arithmetic.

The best weights for some reports give a certificate, which is checked on every atom. Atoms that break it are the
reports worth having; once none does, nothing better exists.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.exact_scheme import Solution
from sottovoce.designs.least_error.atoms import (
    TOLERANCE,
    Block,
    Limits,
    adversary_chance,
    allowed,
    blocks,
    distinct,
    families,
    limits,
)
from sottovoce.designs.least_error.interior_point import Weighted, best_weights
from sottovoce.designs.least_error.pruning import basic, channel_matrix, pruned, within
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress

_COLUMNS = 10
_ROWS = 64
"""Choices in one half, and sets of the other at a time: what is computed together stays in the processor's cache."""
_GAP = 3e-7
_MOST_ROUNDS = 100
_LOOSE, _TIGHT = 1e-4, 1e-9
_WORTH = 1e-3
"""Excess, relative to `tr J^-1`, of atoms so good that rarer ones need not be looked at yet."""


@dataclass(frozen=True)
class Multipliers:
    """What prices an atom v: it exceeds the certificate's inequality by `v^T squared v - nu.v - eta max_x p_x v_x`."""

    squared: Array
    nu: Array
    eta: float


@dataclass(frozen=True)
class Priced:
    """The largest excess in a block, and the sets with the largest excesses."""

    worst: float
    sets: NDArray[np.int64]
    excesses: Array


def price(block: Block, limits: Limits, multipliers: Multipliers, above: float = 0.0, most: int = 0) -> Priced:
    """Largest excess over all sets of a block, and at most `most` sets whose excess is larger than `above`.

    `v^T M v` of `v = f + s g` needs products of f and g only, and these are sums over both halves and one product of
    matrices between them: a million sets take a few hundredths of a second.
    """
    choices, split = block.choices, max(block.choices.size - _COLUMNS, 0)
    right = _half(block, limits, multipliers, np.arange(2 ** (choices.size - split)), choices[split:], choices[:0])
    worst, sets, excesses = -np.inf, [], []
    for start in range(0, 2**split, _ROWS):
        numbers = np.arange(start, min(start + _ROWS, 2**split))
        left = _half(block, limits, multipliers, numbers, choices[:split], block.constant)
        found = _excess(left, right, limits, multipliers, fixed=bool(block.fixed.any()))
        worst = max(worst, float(found.max()))
        row, column = np.nonzero(found > above) if most and worst > above else (numbers[:0], numbers[:0])
        sets.append(numbers[row] | column << split)
        excesses.append(found[row, column])
    return _largest(worst, np.concatenate(sets), np.concatenate(excesses), most)


def _largest(worst: float, sets: NDArray[np.int64], excesses: Array, most: int) -> Priced:
    best = np.argsort(-excesses, kind="stable")[:most]
    return Priced(worst, sets[best], excesses[best])


@dataclass(frozen=True)
class _Half:
    """f and g on half of the categories, 0 elsewhere, for some sets, and what they add to each sum."""

    fixed: Array
    scaled: Array
    mass: Array
    scaled_mass: Array
    score: Array
    scaled_score: Array
    mixed: Array
    scaled_square: Array


def _half(
    block: Block,
    limits: Limits,
    multipliers: Multipliers,
    sets: NDArray[np.int64],
    choices: NDArray[np.intp],
    others: NDArray[np.intp],
) -> _Half:
    fixed, scaled = block.parts(sets, choices, others)
    turned = scaled @ multipliers.squared
    return _Half(
        fixed,
        scaled,
        fixed @ limits.prior,
        scaled @ limits.prior,
        ((fixed @ multipliers.squared - multipliers.nu) * fixed).sum(axis=1),
        scaled @ multipliers.nu,
        2 * (turned * fixed).sum(axis=1),
        (turned * scaled).sum(axis=1),
    )


def _excess(left: _Half, right: _Half, limits: Limits, multipliers: Multipliers, *, fixed: bool) -> Array:
    """Excess of every pair of sets; minus infinity where it makes no atom within the limits."""
    add, across = np.add.outer, 2 * left.scaled @ multipliers.squared
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (1 - add(left.mass, right.mass)) / add(left.scaled_mass, right.scaled_mass)
        excess = add(left.scaled_square, right.scaled_square) + across @ right.scaled.T
        excess *= scale
        excess -= add(left.scaled_score, right.scaled_score)
        if fixed:
            turned = 2 * left.fixed @ multipliers.squared
            excess += add(left.mixed, right.mixed) + across @ right.fixed.T + turned @ right.scaled.T
        excess *= scale
        if fixed:
            excess += add(left.score, right.score) + turned @ right.fixed.T
        chance = _highest(left, right, scale, limits.prior)
        fine = scale >= -TOLERANCE
        if limits.delta is not None:
            fine &= chance <= limits.delta * (1 + TOLERANCE)
        if limits.odds is not None and fixed:
            highest = _highest(left, right, scale, np.ones_like(limits.prior))
            fine &= highest <= limits.odds * (1 + TOLERANCE) * _lowest(left, right, scale)
        excess -= multipliers.eta * chance
    return np.where(fine & np.isfinite(excess), excess, -np.inf)


def _highest(left: _Half, right: _Half, scale: Array, weights: Array) -> Array:
    """`max_x weight_x v_x`: each coordinate is either f's or g's."""
    fixed = np.maximum.outer((left.fixed * weights).max(axis=1), (right.fixed * weights).max(axis=1))
    scaled = np.maximum.outer((left.scaled * weights).max(axis=1), (right.scaled * weights).max(axis=1))
    highest: Array = np.maximum(fixed, scale * scaled)
    return highest


def _lowest(left: _Half, right: _Half, scale: Array) -> Array:
    """`min_x v_x`, likewise; a half's zeros stand for coordinates it does not have."""
    fixed = np.minimum.outer(_least_positive(left.fixed), _least_positive(right.fixed))
    scaled = np.minimum.outer(_least_positive(left.scaled), _least_positive(right.scaled))
    lowest: Array = np.minimum(fixed, scale * scaled)
    return lowest


def _least_positive(rows: Array) -> Array:
    least: Array = np.where(rows > 0, rows, np.inf).min(axis=1)
    return least


def bound_without_excess(limits: Limits, root: Array, nu: Array, eta: float, excess: float = 0.0) -> float:
    """Error times respondents that nothing is below, if no atom exceeds the inequality by more than `excess`."""
    cost = nu.sum() + excess + (eta * limits.accuracy if limits.accuracy is not None else 0.0)
    return float(2 * np.trace(root) - cost - limits.prior @ limits.prior) / limits.prior.size


def proven_bound(limits: Limits, root: Array, nu: Array, eta: float) -> float:
    """Error times respondents that no channel within the limits is below; every atom is looked at.

    Two equally likely truths and odds of 3 : 1 leave Warner's coin: J has eigenvalues 2 and 1/2, and its inverse
    proves that nothing is better.

    >>> from sottovoce.designs.least_error.atoms import limits
    >>> inverse = np.array([[1.25, -0.75], [-0.75, 1.25]])
    >>> proven_bound(limits([0.5, 0.5], odds=3), inverse, np.full(2, 1.25), 0.0)
    1.0
    """
    if eta < 0:
        raise SottovoceError("eta", "must not be negative", eta)
    multipliers = Multipliers(root @ root, nu, eta)
    worst = max(price(block, limits, multipliers).worst for block in blocks(limits))
    return bound_without_excess(limits, root, nu, eta, worst)


def seeds(limits: Limits, start: Array | None = None) -> Array:
    """Reports that meet the limits, a row of likelihood ratios each, with weights that make them a channel.

    Saying nothing is the vector of ones. For each category two reports lie on a line through it, one that makes the
    category likelier and one that makes it less likely, as far as the limits go; and two nearer ones for which the
    adversary still guesses the likeliest category. Mixtures of these meet every feasible accuracy. A channel for other
    limits adds those of its reports that meet these.

    >>> from sottovoce.designs.least_error.atoms import limits
    >>> seeds(limits([0.5, 0.5], odds=3))
    array([[1. , 1. ],
           [1.5, 0.5],
           [0.5, 1.5],
           [0.5, 1.5],
           [1.5, 0.5]])
    """
    prior = limits.prior
    towards = np.eye(prior.size) / prior - 1
    lines = np.vstack([towards, -towards])
    rows = [np.ones((1, prior.size)), 1 + _furthest(limits, lines)[:, None] * lines]
    guessed = prior == prior.max()
    if guessed.sum() == 1:
        nearer = np.minimum(_furthest(limits, lines), _until_tie(prior, lines, guessed))
        rows.append(1 + nearer[:, None] * lines)
    if start is not None and start.shape[1:] == prior.shape:
        ratios = start / (start @ prior)[:, None]
        rows.append(ratios[allowed(limits, ratios)])
    return np.vstack(rows)


def _furthest(limits: Limits, lines: Array) -> Array:
    """Largest t with `1 + t line` within the limits on posteriors and odds, and not negative."""
    steps = _room(np.ones_like(lines), -lines)
    if limits.delta is not None:
        steps = np.minimum(steps, _room(limits.delta / limits.prior - 1, lines))
    if limits.odds is not None:
        highest, lowest = lines.max(axis=1), lines.min(axis=1)
        steps = np.minimum(steps, (limits.odds - 1) / (highest - limits.odds * lowest))
    return steps


def _until_tie(prior: Array, lines: Array, guessed: Array) -> Array:
    """Largest t for which `1 + t line` leaves the likeliest category the likeliest."""
    lead = (prior[guessed] - prior) + np.where(guessed, np.inf, 0.0)
    return _room(lead, prior * lines - prior[guessed] * lines[:, guessed])


def _room(left: Array, used: Array) -> Array:
    """Largest t with `t used <= left` everywhere."""
    with np.errstate(divide="ignore"):
        room: Array = np.where(used > 0, left / np.where(used > 0, used, 1.0), np.inf).min(axis=1)
    return room


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
