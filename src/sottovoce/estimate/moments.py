"""Means of products of what reports count for, from all-ones counts alone.

An unbiased estimate of the support of an item set I is a mean over the reports: each counts for `f_I(y)`, a function
of the bits y that it has for the items of I. Written in products of bits,
`f(y) = sum_J w_J prod_{j in J} y_j` over the subsets J of the items, its sum over the reports needs the number of
reports with all of J, for each J, and nothing else. The covariance of two estimates needs the same for `f_I f_J`.
"""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.count.protocol import Counter, padded
from sottovoce.schema.schema import Schema

Items = tuple[int, ...]
"""A set of items by number, in ascending order."""

Pair = tuple[Items, Items]

Weigh = Callable[[Items], Array]
"""`f_I` as an array with an axis of two for each item of I; that of the empty set is one."""


def sums_of_products(counter: Counter, schema: Schema, weigh: Weigh, pairs: Sequence[Pair]) -> tuple[Array, int]:
    """Sum of `f_I f_J` over the reports, for each pair (I, J); and the number of reports."""
    unions = [union(*pair) for pair in pairs]
    family = sorted({subset for items in unions for subset in subsets(items) if subset})
    counts = dict(zip(family, counter.all_ones(schema, padded(family)).tolist(), strict=True))
    counts[()] = counter.rows()
    functions = {items: weigh(items) for items in set(chain.from_iterable(pairs))}
    sums = []
    for (left, right), items in zip(pairs, unions, strict=True):
        product = _spread_out(functions[left], left, items) * _spread_out(functions[right], right, items)
        held = np.array([counts[subset] for subset in subsets(items)], dtype=np.float64)
        sums.append(in_products_of_bits(product).ravel() @ held)
    return np.array(sums), counts[()]


def in_products_of_bits(function: Array) -> Array:
    """Weight of each product of bits in a function of bits: along each axis, `f(0)` and `f(1) - f(0)`.

    >>> in_products_of_bits(np.array([[1.0, 2.0], [4.0, 8.0]]))  # 1 + 3 a + b + 3 a b
    array([[1., 1.],
           [3., 3.]])
    """
    weights = np.array(function, dtype=np.float64)
    for axis in range(weights.ndim):
        along = np.moveaxis(weights, axis, 0)
        along[1] -= along[0]
    return weights


def union(left: Items, right: Items) -> Items:
    """Items of either set, in ascending order."""
    return tuple(sorted({*left, *right}))


def subsets(items: Items) -> list[Items]:
    """All subsets, in the order of the cells of as many bits.

    >>> subsets((3, 5))
    [(), (5,), (3,), (3, 5)]
    """
    found: list[Items] = [()]
    for item in reversed(items):
        found += [(item, *subset) for subset in found]
    return found


def _spread_out(function: Array, own: Items, items: Items) -> Array:
    """The same function of more bits, on which it does not depend."""
    return function.reshape([2 if item in own else 1 for item in items])
