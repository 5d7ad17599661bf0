"""What every measure reads: one matrix or a stack of them, and the law of the truths."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.errors import SottovoceError
from sottovoce.plan.plan import Plan

TOLERANCE = 1e-9
"""How far a sum of probabilities may be from one."""


def as_matrices(channel: Any) -> Array:
    """Matrices `A[..., report, truth]` of a channel, of a plan's whole record, or of an array of them.

    >>> as_matrices([[0.75, 0.25], [0.25, 0.75]]).shape
    (2, 2)
    """
    if isinstance(channel, Plan):
        return channel.channel().dense()
    if isinstance(channel, Channel):
        return channel.dense()
    array = np.asarray(channel, dtype=np.float64)
    if array.ndim < 2 or not (array >= 0).all() or (np.abs(array.sum(axis=-2) - 1) > TOLERANCE).any():
        raise SottovoceError("channel", "must have columns of probabilities that sum to 1", channel)
    return array


def as_prior(prior: Any, truths: int) -> Array:
    """Law of the truths.

    >>> as_prior([0.25, 0.75], 2)
    array([0.25, 0.75])
    """
    array = np.asarray(prior, dtype=np.float64)
    if array.shape[-1:] != (truths,) or not (array >= 0).all() or (np.abs(array.sum(axis=-1) - 1) > TOLERANCE).any():
        raise SottovoceError("prior", f"must be {truths} probabilities that sum to 1", prior)
    return array
