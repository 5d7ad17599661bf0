"""Contrasts of joint cells: which differences belong to one attribute, to a pair, to more."""

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.estimate.observed import Axes


def helmert(size: int) -> Array:
    """Columns orthogonal to each other and to the constant, of mean square 1: `size - 1` contrasts.

    >>> helmert(2)
    array([[ 1.],
           [-1.]])
    """
    columns = np.zeros((size, size - 1))
    for k in range(1, size):
        columns[:k, k - 1] = np.sqrt(size / (k + k * k))
        columns[k, k - 1] = -k * np.sqrt(size / (k + k * k))
    return columns


def contrasts(sizes: Sequence[int], sets: Sequence[Axes]) -> tuple[Array, NDArray[np.intp]]:
    """Contrasts of some sets of attributes as columns over the joint cells, and the number of each one's set.

    Those of a set are the products of its attributes' own, so all columns have mean square 1 and are
    orthogonal: the Kronecker basis of the analysis of variance.

    >>> columns, owner = contrasts((2, 2), [(0,), (1,), (0, 1)])
    >>> columns[:, owner == 2].T
    array([[ 1., -1., -1.,  1.]])
    """
    cells = prod(sizes)
    found = [_contrasts_of(sizes, axes).reshape(cells, -1) for axes in sets]
    owner = np.repeat(np.arange(len(sets), dtype=np.intp), [columns.shape[1] for columns in found])
    return np.concatenate(found, axis=1), owner


def sets_up_to(attributes: int, order: int) -> list[Axes]:
    """Sets of at most so many attributes, shorter ones first."""
    return [axes for size in range(1, order + 1) for axes in combinations(range(attributes), size)]


def _contrasts_of(sizes: Sequence[int], axes: Axes) -> Array:
    table = np.ones((*sizes, 1))
    for a in axes:
        shape = [sizes[a] if b == a else 1 for b in range(len(sizes))]
        own = helmert(sizes[a]).reshape(*shape, 1, sizes[a] - 1)
        table = (table[..., None] * own).reshape(*sizes, -1)
    return table
