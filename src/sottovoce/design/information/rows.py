"""The row of each report that is best against given multipliers, by clipping; all reports at once.

With `L_yx = worth_x - slope [x != y]`, row y minimises `sum_x p_x v_x (log v_x - L_yx)` over likelihood ratios v with
`p.v = 1` and `max v <= e min v`. The answer is `v_x = c min(e, max(1, exp(L_yx + r)))`, where r balances what is lost
by clipping: `sum_x p_x max(0, -L_yx - r) = e sum_x p_x max(0, L_yx + r - log e)`, decreasing in r and linear in pieces.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array

MOST_ROUNDS = 100


@dataclass(frozen=True)
class Rows:
    """Best rows: `losses` are the minima, `posteriors` p_x v_x; which entries are `clipped`, and the `levels` r."""

    losses: Array
    posteriors: Array
    clipped: Array
    levels: Array


def targets(worth: Array, slope: float) -> Array:
    """`L_yx = worth_x - slope [x != y]`."""
    spread: Array = worth - slope * (1 - np.eye(worth.size))
    return spread


def best_rows(prior: Array, odds: float, worth: Array, slope: float, near: Array | None = None) -> Rows:
    """Minimise every row; `near` has levels to start from."""
    wanted = targets(worth, slope)
    levels = _levels(prior, odds, wanted, near)
    raised = wanted + levels[:, None]
    logarithms = np.clip(raised, 0, np.log(odds))
    posteriors = prior * np.exp(logarithms)
    sums = posteriors.sum(axis=1)
    posteriors /= sums[:, None]
    losses = (posteriors * (logarithms - wanted)).sum(axis=1) - np.log(sums)
    return Rows(losses, posteriors, (raised <= 0) | (raised >= np.log(odds)), levels)


def _levels(prior: Array, odds: float, wanted: Array, near: Array | None) -> Array:
    """Newton's method within brackets: exact as soon as it meets one linear piece, known by its steepness, twice.

    Where a row need not be clipped at all, a whole interval of levels balances nothing against nothing; its middle
    is taken.
    """
    ceiling = np.log(odds)
    low, high = -wanted.max(axis=1), ceiling - wanted.min(axis=1)
    middle = (low + high) / 2
    unclipped = np.ptp(wanted, axis=1) <= ceiling
    levels = middle if near is None else np.clip(near, low, high)
    piece = np.full(prior.size, np.nan)
    for _ in range(MOST_ROUNDS):
        raised = wanted + levels[:, None]
        below, above = np.minimum(raised, 0), np.maximum(raised - ceiling, 0)
        balance = -(below @ prior) - odds * (above @ prior)
        steepness = (below < 0) @ prior + odds * ((above > 0) @ prior)
        settled = (steepness == piece) | unclipped
        low, high = np.where(balance > 0, levels, low), np.where(balance < 0, levels, high)
        moved = levels + np.divide(balance, steepness, out=np.zeros_like(balance), where=steepness > 0)
        if settled.all():
            levels = moved
            break
        # From a kink to another and back is a cycle: the ends of the bracket themselves have been tried.
        outside = ~settled & ((moved <= low) | (moved >= high))
        levels = np.where(outside, (low + high) / 2, moved)
        piece = np.where(outside, np.nan, steepness)
    chosen: Array = np.where(unclipped, middle, levels)
    return chosen
