"""One attribute seen through the whole report of its group, which may tell more than its own column."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.measure.matrices import as_matrices, as_prior

LARGEST_GROUP = 2**24
"""Entries of a group's matrix that are written out to measure one attribute: 128 MiB."""


def column_matrix(channel: Channel, axis: int, priors: Sequence[Any]) -> Array:
    """`B[y, a] = sum_(x: x_axis = a) A[y, x] prod_(i != axis) p_i(x_i)`: P(whole report | one attribute).

    Attributes are taken as independent, with one prior each, in the order of `channel.shape_in`. Of a
    product of channels only the factor that holds the attribute is looked at: the others have coins of
    their own and tell nothing of it.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> record = KeepOrUniform((2, 2), Fraction(1, 2))
    >>> column_matrix(record, 0, [[0.5, 0.5], [1, 0]])  # reports 00, 01, 10, 11
    array([[0.625, 0.125],
           [0.125, 0.125],
           [0.125, 0.625],
           [0.125, 0.125]])
    """
    if not 0 <= axis < len(channel.shape_in) or len(priors) != len(channel.shape_in):
        raise SottovoceError("axis", f"must be one of {len(channel.shape_in)}, with a prior for each", axis)
    if isinstance(channel, Kronecker):
        start, factor = _factor_of(channel, axis)
        return column_matrix(factor, axis - start, priors[start : start + len(factor.shape_in)])
    if channel.n_in * channel.n_out > LARGEST_GROUP:
        raise SottovoceError("channel", f"must have at most {LARGEST_GROUP} entries", channel.shape_in)
    table = as_matrices(channel).reshape(channel.n_out, *channel.shape_in)
    for other in reversed(range(len(channel.shape_in))):
        if other != axis:
            table = np.tensordot(table, as_prior(priors[other], channel.shape_in[other]), axes=(1 + other, 0))
    return table


def _factor_of(channel: Kronecker, axis: int) -> tuple[int, Channel]:
    """Factor that holds an attribute, and the position of its first one."""
    starts = list(accumulate((len(factor.shape_in) for factor in channel.factors), initial=0))
    place = max(i for i, start in enumerate(starts[:-1]) if start <= axis)
    return starts[place], channel.factors[place]
