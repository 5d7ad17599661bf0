"""Stacks of matrices, reports by truths, whose rows keep odds: any made to, random ones, and some near FRAPP's."""

import numpy as np

from sottovoce.channel.channel import Array

ROUNDS = 3
"""Times that small entries are raised before what still exceeds the odds is mixed away."""

RARE = 1e-9
"""Weight of a report that is left out, for the matrix to stay invertible."""


def bounded(matrices: Array, prior: Array, odds: float) -> Array:
    """Matrices whose rows keep the odds: small entries are raised to the largest over the odds, columns normalised.

    That may need many rounds. What is left is mixed with reports of the same law that ignore the truth, as much as the
    worst row needs.

    >>> bounded(np.eye(2)[None], np.array([0.5, 0.5]), 3.0)[0]
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    for _ in range(ROUNDS):
        raised = np.maximum(matrices, matrices.max(-1, keepdims=True) / odds)
        matrices = raised / raised.sum(-2, keepdims=True)
    law = (matrices @ prior)[..., None]
    excess = np.maximum(matrices.max(-1, keepdims=True) - odds * matrices.min(-1, keepdims=True), 0)
    needed = np.divide(excess, excess + (odds - 1) * law, out=np.zeros_like(excess), where=excess > 0)
    share = needed.max(axis=-2, keepdims=True)
    return np.asarray((1 - share) * matrices + share * law)


def random_matrices(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Random columns, more or less alike and more or less often true, a random share of the reports left out."""
    n = len(prior)
    true, alike, used = rng.random((3, count, 1, 1))
    shared = rng.dirichlet(np.ones(n), count)[:, :, None]
    noise = alike * shared + (1 - alike) * rng.dirichlet(np.ones(n), (count, n)).transpose(0, 2, 1)
    ticket = rng.random((count, n, 1))
    kept = ticket <= np.maximum(used, ticket.min(axis=1, keepdims=True))  # one at the least
    matrices = (true * np.eye(n) + (1 - true) * noise) * kept + RARE
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)


def near_frapp(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Gamma-diagonal matrices of random odds, every entry disturbed by a random factor."""
    n = len(prior)
    gamma = odds ** rng.random((count, 1, 1))
    disturbed = np.exp(0.3 * rng.random((count, 1, 1)) * rng.standard_normal((count, n, n)))
    matrices = (1 + (gamma - 1) * np.eye(n)) * disturbed
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)
