"""Functions of the report that are right on average for a function of the truth."""

from functools import singledispatch

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.complement import Complement
from sottovoce.channel.keep_or_uniform import KeepOrUniform
from sottovoce.channel.kronecker import Kronecker
from sottovoce.channel.mixture import Mixture
from sottovoce.errors import SottovoceError

MOST_ENTRIES = 2**24
"""Entries of a left inverse that is written out."""


@singledispatch
def report_functions(channel: Channel, functions: Array) -> Array:
    """`h = B^T f`, B the channel's left inverse, column by column: `E[h(report) | truth x] = f(x)` for every x.

    The mean of h over reports estimates the mean of f over truths without bias, and how h scatters says how well.

    >>> from fractions import Fraction
    >>> report_functions(KeepOrUniform((2,), Fraction(1, 2)), np.array([[0.0], [1.0]])).ravel()
    array([-0.5,  1.5])
    """
    if channel.n_in * channel.n_out > MOST_ENTRIES:
        rule = f"must have at most {MOST_ENTRIES} entries for its inverse to be written out"
        raise SottovoceError("channel", rule, (channel.n_out, channel.n_in))
    return np.asarray(channel.solve(np.eye(channel.n_out)).T @ functions)


@report_functions.register
def _(channel: Mixture, functions: Array) -> Array:
    """`(f - (1 - keep) E_Y f) / keep`: the paper's equation 1, for a function."""
    keep = float(channel.keep)
    return np.asarray(((1 + keep) * functions - channel.rmatvec(functions)) / keep)


@report_functions.register(KeepOrUniform)
@report_functions.register(Complement)
def _(channel: KeepOrUniform | Complement, functions: Array) -> Array:
    """The inverse is symmetric."""
    return channel.solve(functions)


@report_functions.register
def _(channel: Kronecker, functions: Array) -> Array:
    """Along the axes of each factor."""
    table = functions.reshape(*(factor.n_in for factor in channel.factors), functions.shape[1])
    for axis, factor in enumerate(channel.factors):
        first = np.moveaxis(table, axis, 0)
        done = report_functions(factor, first.reshape(factor.n_in, -1))
        table = np.moveaxis(done.reshape(factor.n_out, *first.shape[1:]), 0, axis)
    return np.asarray(table.reshape(channel.n_out, -1))
