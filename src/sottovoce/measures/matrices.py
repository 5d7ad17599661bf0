"""Matrices `A[report, truth]`, priors and posteriors, which every measure is computed from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import LARGEST_DENSE, Channel
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.plan import Plan

TOLERANCE = 1e-9
"""Tolerance on a sum of probabilities, as in `exact.distribution`."""


def real_array(parameter: str, value: Any) -> Array:
    """Return real numbers as a floating-point array.

    >>> real_array("scores", ["low", "high"])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: scores must be real numbers. Got ['low', 'high'] instead.
    """
    # A cast would drop the imaginary part, and with it a complex-step derivative, with only a warning.
    if not np.iscomplexobj(value):
        try:
            return np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            pass
    raise SottovoceError(parameter, "must be real numbers", value)


def as_matrices(channel: Any) -> NDArray[np.float64]:
    """Return the matrix of a channel or of a plan's whole record, or a checked stack of matrices.

    The last two axes are reports and truths; any axes before them are those of a stack.
    Columns must be distributions: not negative, with sums within 1e-9 of one.

    >>> from sottovoce.channels.dense import Dense
    >>> as_matrices(Dense([[3, 1], [1, 3]], 4))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> as_matrices([[0.75, 0.5], [0.25, 0.75]])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: channel must have columns that sum to 1. Got 1.25 instead.
    """
    if isinstance(channel, Plan | Channel):
        return _dense(channel.channel() if isinstance(channel, Plan) else channel)
    array = real_array("channel", channel)
    if array.ndim < 2 or 0 in array.shape:
        raise SottovoceError("channel", "must be a channel, a plan, or matrices of reports by truths", array.shape)
    if not (array >= 0).all():
        raise SottovoceError("channel", "must not be negative anywhere", array.min())
    sums = array.sum(axis=-2)
    worst = sums.flat[np.abs(sums - 1).argmax()]
    if not abs(worst - 1) <= TOLERANCE:
        raise SottovoceError("channel", "must have columns that sum to 1", worst)
    return array


def as_prior(prior: Any, truths: int) -> NDArray[np.float64]:
    """Return a distribution of the truth along the last axis, or a stack of them, normalised within 1e-9.

    >>> as_prior([0.7, 0.2, 0.1], 3)
    array([0.7, 0.2, 0.1])
    >>> as_prior([0.7, 0.2], 2)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: prior must sum to 1; the sum is 0.9. Got [0.7, 0.2] instead.
    """
    array = real_array("prior", prior)
    if array.ndim == 0 or array.shape[-1] != truths:
        raise SottovoceError("prior", f"must have a probability for each of {truths} truths", array.shape)
    if not ((array >= 0) & (array <= 1 + TOLERANCE)).all():
        raise SottovoceError("prior", "must be between 0 and 1", array.tolist())
    sums = array.sum(axis=-1, keepdims=True)
    if (np.abs(sums - 1) > TOLERANCE).any():
        worst = sums.flat[np.abs(sums - 1).argmax()]
        raise SottovoceError("prior", f"must sum to 1; the sum is {worst:.12g}", array.tolist())
    scaled: Array = array / sums
    return scaled


def joint(channel: Any, prior: Any) -> Array:
    """Return `P(y, x) = A[y, x] p(x)`, of shape (..., reports, truths): leading axes of both are broadcast.

    >>> joint([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2])
    array([[0.6 , 0.05],
           [0.2 , 0.15]])
    """
    matrices = as_matrices(channel)
    truths = as_prior(prior, matrices.shape[-1])
    try:
        np.broadcast_shapes(matrices.shape[:-2], truths.shape[:-1])
    except ValueError:
        rule = f"must come in a stack that fits the one of the matrices, {matrices.shape[:-2]}"
        raise SottovoceError("prior", rule, truths.shape[:-1]) from None
    probabilities: Array = matrices * truths[..., np.newaxis, :]
    return probabilities


def posteriors(matrices: Any, prior: Any) -> Array:
    """Return `P(x | y) = A[y, x] p(x) / sum_z A[y, z] p(z)`, of shape (..., reports, truths).

    A report of probability zero has no posterior; its row is zero, so that it adds nothing to a sum.

    >>> posteriors([[0.75, 0.25], [0.25, 0.75], [0, 0]], [0.75, 0.25])
    array([[0.9, 0.1],
           [0.5, 0.5],
           [0. , 0. ]])
    """
    return conditional(joint(matrices, prior))


def conditional(probabilities: Array) -> Array:
    """Return `P(x | y)`: each row of P(y, x) divided by its sum; rows of zeros stay zero."""
    reported = probabilities.sum(axis=-1, keepdims=True)
    shares: Array = np.divide(probabilities, reported, out=np.zeros_like(probabilities), where=reported > 0)
    return shares


def _dense(channel: Channel) -> Array:
    entries = channel.n_in * channel.n_out
    if entries > LARGEST_DENSE:
        rule = "must be small enough to be written out; measure attributes or groups of them"
        raise SottovoceError("channel", rule, Words(f"more than 2^{entries.bit_length() - 1} entries"))
    return channel.dense()


def basic_weights(moments: Array, weights: Array) -> Array:
    """Return weights with the same sums `weights @ moments`, of which no more are positive than there are moments."""
    left, directions = weights.copy(), _null_space(moments.T)
    while directions.shape[1]:
        lengths = np.linalg.norm(directions, axis=1)
        least = np.where(lengths > 1e-6, left / np.maximum(lengths, 1e-6), np.inf).argmin()
        change = directions @ directions[least]
        shrinking = np.flatnonzero(change > 1e-9 * change[least])
        gone = shrinking[(left[shrinking] / change[shrinking]).argmin()]
        left = np.maximum(left - left[gone] / change[gone] * change, 0.0)
        left[gone] = 0.0
        directions = _fixing(directions, gone)
    return left


def _fixing(directions: Array, index: int) -> Array:
    """Restrict orthonormal directions to those that leave one weight unchanged, by a Householder reflection."""
    mirror = directions[index] / np.linalg.norm(directions[index])
    mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
    return (directions - np.outer(directions @ mirror, 2 * mirror / (mirror @ mirror)))[:, 1:]


def _null_space(matrix: Array) -> Array:
    _, values, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int((values > 1e-11 * values[0]).sum())
    return right[rank:].T
