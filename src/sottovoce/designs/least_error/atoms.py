"""Atoms: the finitely many reports that an optimal channel is made of, and the limits they keep.

A report is its vector of likelihood ratios `v = P(x | y) / P(x)`, with `p.v = 1`. What limits of privacy allow is a
polytope of such v, on which the adversary's chance `max_x p_x v_x` is convex and piecewise linear. Splitting a report
into vertices of its pieces keeps both and lowers the error, so vertices suffice. All of them have the form

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

from sottovoce.channels.channel import Array
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError, Words

MOST_CATEGORIES = 20
"""Atoms are subsets of the categories, and all of them are looked at."""

LEAST_ODDS, MOST_ODDS = 1.0001, 1e8
"""Odds nearer to even leave no digits of what reports tell, and larger ones none of what they leave in doubt."""
TOLERANCE = 1e-12
"""How far, relatively, an atom may exceed a limit by rounding: proofs look at more atoms rather than fewer."""


@dataclass(frozen=True)
class Limits:
    """A prior and what is required under it; None where nothing is, or where it would not bind.

    `accuracy` bounds the chance of the adversary's best guess, `delta` every posterior probability, `odds` the ratio
    of two truths' probabilities of the same report.
    """

    prior: Array
    accuracy: float | None = None
    delta: float | None = None
    odds: float | None = None

    @property
    def free(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None


def limits(
    prior: Any,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    *,
    most_categories: int = MOST_CATEGORIES,
) -> Limits:
    """Checked limits, or a message that says which two contradict and what the nearest feasible value is.

    The adversary who sees no report is right with the chance of the likeliest category, and no channel lowers that.
    A report whose worst posterior is no more than it says nothing about that category, and no estimator exists.

    >>> limits([0.5, 0.3, 0.2], delta=0.4)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: delta must be above 0.5, the largest probability of the prior. Got 0.4 instead.
    """
    checked = _prior(prior, most_categories)
    likeliest = np.sort(checked)[::-1]
    top = f"{likeliest[0]:.6g}, the largest probability of the prior"
    if odds is not None and not odds > 1:
        raise SottovoceError(
            "odds", "must be above 1: with even odds reports say nothing, and the error is infinite", odds
        )
    if odds is not None and odds != inf and not LEAST_ODDS <= odds <= MOST_ODDS:
        rule = f"must be between {LEAST_ODDS} and {MOST_ODDS:.0e} for errors to be compared in floating point"
        raise SottovoceError("odds", f"{rule}: epsilon from {log(LEAST_ODDS):.4f} to {log(MOST_ODDS):.1f}", odds)
    if delta is not None and not delta > likeliest[0] + _LEAST:
        raise SottovoceError("delta", f"must be above {top}", delta)
    if accuracy is not None and not accuracy >= likeliest[0] - _LEAST:
        raise SottovoceError("accuracy", f"must be at least {top}", accuracy)
    if accuracy is not None and accuracy <= likeliest[0] + _LEAST and likeliest[1] > likeliest[0] - _LEAST:
        rule = (
            f"must be above {top}, which two categories share: no report may tell them apart, and the error is infinite"
        )
        raise SottovoceError("accuracy", rule, accuracy)
    delta = None if delta is None or delta >= 1 else float(delta)
    accuracy = None if accuracy is None or accuracy >= (delta or 1) else float(accuracy)
    return Limits(checked, accuracy, delta, None if odds is None or odds == inf else float(odds))


_LEAST = 1e-9


def _prior(prior: Any, most: int) -> Array:
    checked = checked_prior(prior)
    if len(checked) > most:
        other = "; large_least_error takes more" if most == MOST_CATEGORIES else ""
        rule = f"must have at most {most} categories for this method{other}"
        raise SottovoceError("prior", rule, Words(f"{len(checked)} categories"))
    return checked


@dataclass(frozen=True)
class Block:
    """Atoms `f + s g` for every set S: row 0 of `fixed` (f) and `scaled` (g) holds outside S, row 1 inside."""

    fixed: Array
    scaled: Array

    @property
    def choices(self) -> NDArray[np.intp]:
        """Categories for which being in S makes a difference."""
        return np.flatnonzero((self.fixed[0] != self.fixed[1]) | (self.scaled[0] != self.scaled[1]))

    @property
    def constant(self) -> NDArray[np.intp]:
        """Categories for which it makes none."""
        return np.setdiff1d(np.arange(self.fixed.shape[1]), self.choices)

    def parts(
        self, sets: NDArray[np.int64], choices: NDArray[np.intp], others: NDArray[np.intp]
    ) -> tuple[Array, Array]:
        """Parts f and g for sets numbered by their bits over some choices; outside S on the others, 0 elsewhere."""
        inside = (sets[:, None] >> np.arange(choices.size)) & 1
        fixed, scaled = np.zeros((2, sets.size, self.fixed.shape[1]))
        for part, rows in ((fixed, self.fixed), (scaled, self.scaled)):
            part[:, others] = rows[0, others]
            part[:, choices] = np.where(inside, rows[1, choices], rows[0, choices])
        return fixed, scaled

    def atoms(self, prior: Array, sets: NDArray[np.int64]) -> Array:
        """Likelihood ratios for these sets, a row each; not finite where S leaves nothing to scale."""
        fixed, scaled = self.parts(sets, self.choices, self.constant)
        with np.errstate(divide="ignore", invalid="ignore"):
            return fixed + ((1 - fixed @ prior) / (scaled @ prior))[:, None] * scaled


def adversary_chance(prior: Array, atoms: Array) -> Array:
    """The adversary's chance of a right guess from each report."""
    chance: Array = (atoms * prior).max(axis=1)
    return chance


def allowed(limits: Limits, atoms: Array, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
    """Which rows keep the limits on posteriors and odds, and are no less than 0."""
    with np.errstate(invalid="ignore"):
        fine: NDArray[np.bool_] = np.isfinite(atoms.sum(axis=1))
        fine &= atoms.min(axis=1) >= -tolerance
        if limits.delta is not None:
            fine &= adversary_chance(limits.prior, atoms) <= limits.delta * (1 + tolerance)
        if limits.odds is not None:
            fine &= atoms.max(axis=1) <= limits.odds * atoms.min(axis=1) * (1 + tolerance)
    return fine


def families(limits: Limits) -> list[list[Block]]:
    """Blocks that together hold every atom under these limits; the families with fewest blocks first."""
    if limits.odds is None:
        return [list(_sets(limits)), list(_remainders(limits))]
    found = [list(_staircases(limits, limits.odds))]
    if limits.delta is not None:
        found.append(list(_at_delta(limits.prior, limits.odds, limits.delta)))
        found.append(list(_one_between(limits.prior, limits.odds, limits.delta)))
    return found


def blocks(limits: Limits) -> Iterator[Block]:
    """All of them."""
    return chain.from_iterable(families(limits))


def listed(limits: Limits) -> Array:
    """Every atom, a row each: for few categories."""
    found = []
    for block in blocks(limits):
        atoms = block.atoms(limits.prior, np.arange(2**block.choices.size))
        found.append(atoms[allowed(limits, atoms)])
    return distinct(np.vstack(found))


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
    """The likeliest categories of S are at delta, since a posterior meets delta before its ratio meets the odds."""
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
