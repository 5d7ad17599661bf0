"""How far every atom of a block is from a proof: all sets at once, from two halves of the categories."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import TOLERANCE, Block
from sottovoce.design.least_error.limits import Limits

_COLUMNS = 10
_ROWS = 64
"""Choices in one half, and sets of the other at a time: what is computed together stays in the processor's cache."""


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
