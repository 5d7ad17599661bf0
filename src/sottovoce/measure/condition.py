"""Conditioning: whether truths can be told from reports at all, and how shakily."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.written_out import LARGEST_CONDITION
from sottovoce.errors import SingularChannelError, Words
from sottovoce.measure.matrices import as_matrices


def condition_number(channel: Any) -> Array:
    """Largest over smallest singular value, infinite for a singular channel (Agrawal 2004, eq. 4.9).

    It bounds how much the relative error of the reports' counts can grow when they are inverted.

    >>> print(condition_number([[0.75, 0.25], [0.25, 0.75]]).round(12))
    2.0
    """
    matrices = as_matrices(channel)
    values = np.linalg.svd(matrices, compute_uv=False)
    largest, smallest = values[..., 0], values[..., -1]
    enough = (matrices.shape[-2] >= matrices.shape[-1]) & (smallest * LARGEST_CONDITION > largest)
    return np.asarray(np.where(enough, largest / np.where(enough, smallest, 1), np.inf))


def refuse_singular(matrices: Array) -> None:
    """Refuse a stack with a singular matrix among them."""
    singular = int(np.isinf(condition_number(matrices)).sum())
    if singular:
        rule = "must tell every truth from every other for truths to be estimated"
        raise SingularChannelError("channel", rule, Words(f"{singular} singular out of {matrices[..., 0, 0].size}"))
