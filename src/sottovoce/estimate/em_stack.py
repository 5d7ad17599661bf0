"""The iterative approach for many channels at once: one distribution for each, all steps in step."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.covariance import checked_counts
from sottovoce.measure.matrices import as_matrices

SMALLEST = 1e-100
"""What a cell is kept at: one that fell to zero could never rise again."""


def em_of_all(matrices: object, counts: object, *, tolerance: float = 1e-9, most_steps: int = 20_000) -> Array:
    """Most likely distribution for each matrix of a stack and its counts of reports, as `em` finds it for one channel.

    The steps are those of `em`, extrapolated in pairs (Varadhan & Roland 2008). A member of the stack rests once its
    likelihood is proven to be within `tolerance` of its maximum, a report, or after so many steps.

    >>> em_of_all([[[0.75, 0.25], [0.25, 0.75]], [[1, 0], [0, 1]]], [[60, 40], [60, 40]]).round(6)
    array([[0.7, 0.3],
           [0.6, 0.4]])
    """
    stack = as_matrices(matrices)
    reports = checked_counts("counts", counts, stack.shape[-2])
    if stack.ndim != 3 or reports.shape != stack.shape[:2] or not (reports.sum(axis=1) > 0).all():
        raise SottovoceError("counts", f"must be some reports for each of {len(stack)} matrices", reports.shape)
    seen = reports / reports.sum(axis=1, keepdims=True)
    points = np.full((len(stack), stack.shape[2]), 1 / stack.shape[2])
    busy = np.arange(len(stack))
    for _ in range(most_steps):
        channels, shares, start = stack[busy], seen[busy], points[busy]
        factors = _factors(channels, shares, start)
        first = start * factors
        points[busy] = _leap(channels, shares, start, first)
        busy = busy[np.log(factors.max(axis=1)) > tolerance]
        if not len(busy):
            break
    return points


def _leap(channels: Array, seen: Array, start: Array, first: Array) -> Array:
    """Two steps and as far again as they suggest, where that does not lower the likelihood; else just the two steps."""
    second = first * _factors(channels, seen, first)
    change, bend = first - start, second - 2 * first + start
    length = np.linalg.norm(change, axis=1) / np.maximum(np.linalg.norm(bend, axis=1), 1e-300)
    stride = np.clip(length, 1, 1e6)[:, None]
    bold = np.maximum(start + 2 * stride * change + stride**2 * bend, second / 100)
    bold /= bold.sum(axis=1, keepdims=True)
    settled = np.maximum(bold * _factors(channels, seen, bold), SMALLEST)
    better = _likelihood(channels, seen, settled) >= _likelihood(channels, seen, second)
    return np.where(better[:, None], settled, np.maximum(second, SMALLEST))


def _factors(channels: Array, seen: Array, points: Array) -> Array:
    expected = _expected(channels, points)
    ratios = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
    return np.asarray((ratios[:, None, :] @ channels)[:, 0])


def _likelihood(channels: Array, seen: Array, points: Array) -> Array:
    logarithms = np.log(np.maximum(_expected(channels, points), 1e-300))
    return np.asarray((seen * logarithms).sum(axis=1))


def _expected(channels: Array, points: Array) -> Array:
    return np.asarray((channels @ points[:, :, None])[:, :, 0])
