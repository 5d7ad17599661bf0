"""Stacks of square matrices, reports by truths: their two losses, and the bound on posteriors that they must meet."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.written_out import LARGEST_CONDITION
from sottovoce.estimate.em_stack import em_of_all

STEPS = 50
"""Of the iterative approach, for each matrix that is judged by it: further ones hardly move its error."""

SWEEPS = 50
"""Times that a repair goes over all columns before it mixes."""


def assessed(matrices: Array, prior: Array, respondents: float) -> Array:
    """Losses of each matrix: `sum_y max_x p_x A_yx`, and the mean of `diag(A^-1 (diag(l) - l l^T) A^-T) / N`.

    As `measure.adversary_accuracy` and `measure.average_mean_squared_error`, without their checks; a singular matrix
    has an infinite error.

    >>> assessed(np.array([[[0.75, 0.25], [0.25, 0.75]]]), np.array([0.8, 0.2]), 1000).round(6)
    array([[0.8    , 0.00091]])
    """
    joint = matrices * prior
    singular = np.linalg.slogdet(matrices)[0] == 0
    inverses = np.linalg.inv(np.where(singular[:, None, None], np.eye(len(prior)), matrices))
    singular |= np.abs(inverses).sum(axis=1).max(axis=1) > LARGEST_CONDITION  # their own columns have norm 1
    squares = np.einsum("kiy,kiy,ky->k", inverses, inverses, joint.sum(axis=2))
    errors = np.where(singular, np.inf, (squares - prior @ prior) / (len(prior) * respondents))
    return np.stack([joint.max(axis=2).sum(axis=1), errors], axis=1)


def iterative_errors(matrices: Array, prior: Array, respondents: float, noise: Array) -> Array:
    """Mean squared error of the distribution that EM finds, over samples of reports with given noise.

    Shares of reports are `l + (sqrt(l) z - l sum(sqrt(l) z)) / sqrt(N)`, l their law and z a row of standard normal
    noise: what a sample of N gives, to the second moment.

    >>> iterative_errors(np.eye(2)[None], np.array([0.5, 0.5]), 100, np.array([[1.0, -1.0]])).round(6)
    array([0.005])
    """
    law = (matrices @ prior)[:, None, :]
    shock = np.sqrt(law) * noise
    shares = np.maximum(law + (shock - law * shock.sum(axis=-1, keepdims=True)) / np.sqrt(respondents), 0)
    stack = np.repeat(np.maximum(matrices, 0), len(noise), axis=0)  # children may be off by the last bit
    found = em_of_all(stack, shares.reshape(len(stack), -1), tolerance=1e-4, most_steps=STEPS)
    return np.asarray(((found - prior) ** 2).mean(axis=1).reshape(len(matrices), len(noise)).mean(axis=1))


def repair(loops: Any, matrices: Array, prior: Array, delta: float, sweeps: int = SWEEPS) -> None:
    """Make every matrix meet `max P(x | y) <= delta` in place, for any delta above the largest prior.

    First as the paper does (Huang & Du 2008, section V.G), column by column. Where that does not come to rest, the
    matrix is mixed with reports of the same law that ignore the truth, `(1 - t) A + t l 1^T`, as little as the worst
    posterior needs: it takes each from P to `(1 - t) P + t p_x`.
    """
    met = np.zeros(len(matrices), bool)
    loops.repair(matrices, prior, delta, sweeps, met)
    left = matrices[~met]
    joint = left * prior
    law = joint.sum(axis=2, keepdims=True)
    excess = np.maximum(joint - delta * law, 0)
    needed = np.divide(excess, excess + (delta - prior) * law, out=np.zeros_like(excess), where=excess > 0)
    matrices[~met] = left + needed.max(axis=(1, 2), keepdims=True) * (law - left)
