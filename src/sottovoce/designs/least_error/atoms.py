"""Atoms: the finitely many reports that optimal channels consist of, their limits, and their prices.

A report is its vector of likelihood ratios `v = P(x | y) / P(x)`, with `p.v = 1`. Limits on privacy allow a polytope
of such v, on which the adversary's chance `max_x p_x v_x` is convex and piecewise linear. Splitting a report into
vertices of the pieces keeps both and lowers the error, so vertices suffice. All of them have the form

    `v = f + s g`,  `s = (1 - p.f) / p.g`,

where each coordinate of f and of g takes one of two values as the category is in a set S or not:

- posteriors bounded: uniform on S; and floor(1/delta) categories at delta with one that has the remainder;
- odds bounded: staircases, `v` proportional to {1, odds}^n;
- odds and the adversary bounded: `v` proportional to 1 or `min(odds, rho / p_x)`, rho one of `max p`, `odds p_y`;
- odds and posteriors bounded: moreover some categories at delta and a staircase on the rest; and, at
  `m = delta / max p` or `delta / (odds p_y)`, categories at m or `min(odds m, delta / p_x)` and one in between.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.designs.least_error.symmetry import random_reports
from sottovoce.designs.requirement import LEAST_DIFFERENCE, checked_prior, rounded_up
from sottovoce.errors import SottovoceError, Words

MOST_CATEGORIES = 20
"""Most categories; atoms are subsets of them, and all are enumerated."""

FEW = 8
"""Most categories for which column generation is fast from any start."""

LEAST_ODDS, MOST_ODDS = 1.0001, 1e8
"""Range of odds within which floating point compares errors."""
TOLERANCE = 1e-12
"""Relative excess over a limit that is allowed for rounding: proofs include more atoms rather than fewer."""
_COLUMNS, _ROWS = 10, 64
"""Choices in one half, and sets of the other half at a time: blocks that fit the processor's cache."""


@dataclass(frozen=True)
class Limits:
    """A prior and limits on privacy; None where there is no limit, or it would not bind.

    `accuracy` bounds the adversary's chance of a right guess, `delta` every posterior probability, `odds` the
    likelihood ratio of any two truths for any report.
    """

    prior: Array
    accuracy: float | None = None
    delta: float | None = None
    odds: float | None = None

    @property
    def unbounded(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None


def checked_limits(
    prior: Any,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    *,
    most_categories: int = MOST_CATEGORIES,
) -> Limits:
    """Return checked limits; raise if two contradict each other, naming the nearest feasible value.

    An adversary who sees no report is right with the probability of the likeliest category, and no channel lowers that.
    If no posterior exceeds it, reports say nothing about that category, and it cannot be estimated.

    >>> checked_limits([0.5, 0.3, 0.2], delta=0.4)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: delta must be above 0.5, the largest probability of the prior. Got 0.4 instead.
    """
    checked = _prior(prior, most_categories)
    likeliest = np.sort(checked)[::-1]
    top = f"{rounded_up(likeliest[0])}, the largest probability of the prior"
    if odds is not None and not odds > 1:
        rule = "must be above 1: with even odds reports say nothing, and the error is infinite"
        raise SottovoceError("odds", rule, odds)
    if odds is not None and odds != inf and not LEAST_ODDS <= odds <= MOST_ODDS:
        rule = f"must be between {LEAST_ODDS} and {MOST_ODDS:.0e} for errors to be compared in floating point"
        raise SottovoceError("odds", f"{rule}: epsilon from {log(LEAST_ODDS):.4f} to {log(MOST_ODDS):.1f}", odds)
    if delta is not None and not delta > likeliest[0] + LEAST_DIFFERENCE:
        raise SottovoceError("delta", f"must be above {top}", delta)
    if accuracy is not None and not accuracy >= likeliest[0] - LEAST_DIFFERENCE:
        raise SottovoceError("accuracy", f"must be at least {top}", accuracy)
    shared = likeliest[1] > likeliest[0] - LEAST_DIFFERENCE
    if accuracy is not None and accuracy <= likeliest[0] + LEAST_DIFFERENCE and shared:
        rule = (
            f"must be above {top}, which two categories share: no report may tell them apart, and the error is infinite"
        )
        raise SottovoceError("accuracy", rule, accuracy)
    delta = None if delta is None or delta >= 1 else float(delta)
    accuracy = None if accuracy is None or accuracy >= (delta or 1) else float(accuracy)
    return Limits(checked, accuracy, delta, None if odds is None or odds == inf else float(odds))


def _prior(prior: Any, most: int) -> Array:
    checked = checked_prior(prior)
    if len(checked) > most:
        other = "; large_least_error takes more" if most == MOST_CATEGORIES else ""
        rule = f"must have at most {most} categories for this method{other}"
        raise SottovoceError("prior", rule, Words(f"{len(checked)} categories"))
    return checked


@dataclass(frozen=True)
class Block:
    """Atoms `f + s g` for every set S: row 0 of `fixed` (f) and `scaled` (g) applies outside S, row 1 inside."""

    fixed: Array
    scaled: Array

    @property
    def choices(self) -> NDArray[np.intp]:
        """Categories whose ratio depends on being in S."""
        return np.flatnonzero((self.fixed[0] != self.fixed[1]) | (self.scaled[0] != self.scaled[1]))

    @property
    def constant(self) -> NDArray[np.intp]:
        """Categories whose ratio does not."""
        return np.setdiff1d(np.arange(self.fixed.shape[1]), self.choices)

    def parts(
        self, sets: NDArray[np.int64], choices: NDArray[np.intp], others: NDArray[np.intp]
    ) -> tuple[Array, Array]:
        """Return f and g of sets given as bit masks over some choices; the others are outside S, the rest 0."""
        inside = (sets[:, None] >> np.arange(choices.size)) & 1
        fixed, scaled = np.zeros((2, sets.size, self.fixed.shape[1]))
        for part, rows in ((fixed, self.fixed), (scaled, self.scaled)):
            part[:, others] = rows[0, others]
            part[:, choices] = np.where(inside, rows[1, choices], rows[0, choices])
        return fixed, scaled

    def atoms(self, prior: Array, sets: NDArray[np.int64]) -> Array:
        """Likelihood ratios for these sets, a row each; not finite if S leaves nothing to scale."""
        fixed, scaled = self.parts(sets, self.choices, self.constant)
        with np.errstate(divide="ignore", invalid="ignore"):
            return fixed + ((1 - fixed @ prior) / (scaled @ prior))[:, None] * scaled


def adversary_chance(prior: Array, atoms: Array) -> Array:
    """Return the adversary's chance of a right guess from each report."""
    chance: Array = (atoms * prior).max(axis=1)
    return chance


def allowed(limits: Limits, atoms: Array, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
    """Return a mask of the rows that keep the limits on posteriors and odds and are not negative."""
    with np.errstate(invalid="ignore"):
        valid: NDArray[np.bool_] = np.isfinite(atoms.sum(axis=1))
        valid &= atoms.min(axis=1) >= -tolerance
        if limits.delta is not None:
            valid &= adversary_chance(limits.prior, atoms) <= limits.delta * (1 + tolerance)
        if limits.odds is not None:
            valid &= atoms.max(axis=1) <= limits.odds * atoms.min(axis=1) * (1 + tolerance)
    return valid


def families(limits: Limits) -> list[list[Block]]:
    """Return blocks that together contain every atom within these limits, families of fewer blocks first."""
    if limits.odds is None:
        return [list(_sets(limits)), list(_remainders(limits))]
    lists = [list(_staircases(limits, limits.odds))]
    if limits.delta is not None:
        lists.append(list(_at_delta(limits.prior, limits.odds, limits.delta)))
        lists.append(list(_one_between(limits.prior, limits.odds, limits.delta)))
    return lists


def blocks(limits: Limits) -> Iterator[Block]:
    """All blocks of all families."""
    return chain.from_iterable(families(limits))


def all_atoms(limits: Limits) -> Array:
    """Every atom, a row each, for few categories."""
    rows = []
    for block in blocks(limits):
        atoms = block.atoms(limits.prior, np.arange(2**block.choices.size))
        rows.append(atoms[allowed(limits, atoms)])
    return distinct(np.vstack(rows))


def distinct(atoms: Array) -> Array:
    """Rows that differ by more than rounding, in their order."""
    return atoms[np.sort(np.unique(atoms.round(10), axis=0, return_index=True)[1])]


def _sets(limits: Limits) -> Iterator[Block]:
    inverse, nothing = 1 / limits.prior, np.zeros((2, limits.prior.size))
    yield Block(nothing, np.stack([nothing[0], inverse]))


def _remainders(limits: Limits) -> Iterator[Block]:
    if limits.delta is not None:
        for between in np.eye(limits.prior.size):
            at_delta = np.where(between, 0.0, limits.delta / limits.prior)
            yield Block(np.stack([np.zeros_like(at_delta), at_delta]), np.tile(between / limits.prior, (2, 1)))


def _staircases(limits: Limits, odds: float) -> Iterator[Block]:
    prior, nothing = limits.prior, np.zeros((2, limits.prior.size))
    heights = [odds * prior.max()]
    if limits.accuracy is not None:
        heights = [h for h in np.unique([prior.max(), *(odds * prior)]) if h >= prior.max()]
    for height in heights:
        yield Block(nothing, np.stack([np.ones_like(prior), np.minimum(odds, height / prior)]))


def _at_delta(prior: Array, odds: float, delta: float) -> Iterator[Block]:
    """The likeliest categories of S are at delta: their posteriors reach delta before their ratios reach the odds."""
    order = np.argsort(-prior)
    for likeliest in range(1, prior.size + 1):
        top = np.isin(np.arange(prior.size), order[:likeliest])
        fixed = np.stack([np.zeros_like(prior), np.where(top, delta / prior, 0.0)])
        yield Block(fixed, np.stack([np.ones_like(prior), np.where(top, 0.0, odds)]))


def _one_between(prior: Array, odds: float, delta: float) -> Iterator[Block]:
    for least in np.unique(delta / np.append(odds * prior, prior.max())):
        if least <= min(1.0, delta / prior.max()):
            rows = np.stack([np.full_like(prior, least), np.minimum(odds * least, delta / prior)])
            for between in np.eye(prior.size):
                yield Block(np.where(between, 0.0, rows), np.tile(between, (2, 1)))


def seeds(limits: Limits, start: Array | None = None) -> Array:
    """Return reports within the limits, a row of likelihood ratios each, from which channels can be made.

    The vector of ones says nothing. For each category two reports lie on a line through it, one that makes the category
    likelier and one that makes it less likely, as far as the limits allow; and two nearer ones for which the adversary
    still guesses the likeliest category. Mixtures of these attain every feasible accuracy. `start`, a channel for other
    limits, adds those of its reports that meet these.

    >>> seeds(checked_limits([0.5, 0.5], odds=3))
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
    elif limits.odds is not None and prior.size > FEW:
        ratios = random_reports(prior, limits.odds)
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


@dataclass(frozen=True)
class Multipliers:
    """Multipliers of a certificate, whose inequality v exceeds by `v^T squared v - nu.v - eta max_x p_x v_x`."""

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
    """Return the largest excess over all sets of a block, and at most `most` sets whose excess is above `above`.

    `v^T M v` of `v = f + s g` needs products of f and g only, which are sums over two halves of the categories and one
    matrix product between them: a million sets take a few hundredths of a second.
    """
    choices, split = block.choices, max(block.choices.size - _COLUMNS, 0)
    right = _half(block, limits, multipliers, np.arange(2 ** (choices.size - split)), choices[split:], choices[:0])
    worst, sets, excesses = -np.inf, [], []
    for start in range(0, 2**split, _ROWS):
        numbers = np.arange(start, min(start + _ROWS, 2**split))
        left = _half(block, limits, multipliers, numbers, choices[:split], block.constant)
        excess = _excess(left, right, limits, multipliers, fixed=bool(block.fixed.any()))
        worst = max(worst, float(excess.max()))
        row, column = np.nonzero(excess > above) if most and worst > above else (numbers[:0], numbers[:0])
        sets.append(numbers[row] | column << split)
        excesses.append(excess[row, column])
    return _largest(worst, np.concatenate(sets), np.concatenate(excesses), most)


def _largest(worst: float, sets: NDArray[np.int64], excesses: Array, most: int) -> Priced:
    best = np.argsort(-excesses, kind="stable")[:most]
    return Priced(worst, sets[best], excesses[best])


@dataclass(frozen=True)
class _Half:
    """f and g on half of the categories, 0 elsewhere, for some sets, and their contributions to each sum."""

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
    product = scaled @ multipliers.squared
    return _Half(
        fixed,
        scaled,
        fixed @ limits.prior,
        scaled @ limits.prior,
        ((fixed @ multipliers.squared - multipliers.nu) * fixed).sum(axis=1),
        scaled @ multipliers.nu,
        2 * (product * fixed).sum(axis=1),
        (product * scaled).sum(axis=1),
    )


def _excess(left: _Half, right: _Half, limits: Limits, multipliers: Multipliers, *, fixed: bool) -> Array:
    """Excess of every pair of half sets; minus infinity if it is no atom within the limits."""
    add, across = np.add.outer, 2 * left.scaled @ multipliers.squared
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (1 - add(left.mass, right.mass)) / add(left.scaled_mass, right.scaled_mass)
        excess = add(left.scaled_square, right.scaled_square) + across @ right.scaled.T
        excess *= scale
        excess -= add(left.scaled_score, right.scaled_score)
        if fixed:
            product = 2 * left.fixed @ multipliers.squared
            excess += add(left.mixed, right.mixed) + across @ right.fixed.T + product @ right.scaled.T
        excess *= scale
        if fixed:
            excess += add(left.score, right.score) + product @ right.fixed.T
        chance = _highest(left, right, scale, limits.prior)
        valid = scale >= -TOLERANCE
        if limits.delta is not None:
            valid &= chance <= limits.delta * (1 + TOLERANCE)
        if limits.odds is not None and fixed:
            highest = _highest(left, right, scale, np.ones_like(limits.prior))
            valid &= highest <= limits.odds * (1 + TOLERANCE) * _lowest(left, right, scale)
        excess -= multipliers.eta * chance
    return np.where(valid & np.isfinite(excess), excess, -np.inf)


def _highest(left: _Half, right: _Half, scale: Array, weights: Array) -> Array:
    """`max_x weight_x v_x`: each coordinate is either f's or g's."""
    fixed = np.maximum.outer((left.fixed * weights).max(axis=1), (right.fixed * weights).max(axis=1))
    scaled = np.maximum.outer((left.scaled * weights).max(axis=1), (right.scaled * weights).max(axis=1))
    highest: Array = np.maximum(fixed, scale * scaled)
    return highest


def _lowest(left: _Half, right: _Half, scale: Array) -> Array:
    """`min_x v_x`, likewise; zeros of a half are coordinates that belong to the other half."""
    fixed = np.minimum.outer(_least_positive(left.fixed), _least_positive(right.fixed))
    scaled = np.minimum.outer(_least_positive(left.scaled), _least_positive(right.scaled))
    lowest: Array = np.minimum(fixed, scale * scaled)
    return lowest


def _least_positive(rows: Array) -> Array:
    least: Array = np.where(rows > 0, rows, np.inf).min(axis=1)
    return least
