"""Reports to begin with, from which every feasible requirement can be met."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import allowed
from sottovoce.design.least_error.limits import Limits


def seeds(limits: Limits, start: Array | None = None) -> Array:
    """Reports that meet the limits, a row of likelihood ratios each, with weights that make them a channel.

    Saying nothing is the vector of ones. For each category two reports lie on a line through it, one that makes the
    category likelier and one that makes it less likely, as far as the limits go; and two nearer ones for which the
    adversary still guesses the likeliest category. Mixtures of these meet every feasible accuracy. A channel for other
    limits adds those of its reports that meet these.

    >>> from sottovoce.design.least_error.limits import limits
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
