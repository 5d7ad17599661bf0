"""The most likely distribution behind the reports: the iterative approach, for any channel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel, checked_vector
from sottovoce.errors import SottovoceError

Progress = Callable[[int, int | None], None]

FARTHEST = 1e6
"""Steps that one jump may be worth."""


@dataclass(frozen=True)
class EmFit:
    """Maximum-likelihood distribution, and whether and how fast it was reached."""

    value: Array
    steps: int
    converged: bool
    log_likelihood: float

    @property
    def method(self) -> str:
        """How it was found, for where an estimate is shown."""
        return f"em, {self.steps} steps" if self.converged else f"em, NOT converged after {self.steps} steps"


def em(
    channel: Channel,
    counts: Any,
    *,
    tolerance: float = 1e-13,
    most_steps: int = 100_000,
    progress: Progress | None = None,
) -> EmFit:
    """Raise the likelihood of the counts until it is proven to be within `tolerance` of its maximum, a report.

    The step is  `p_i <- p_i sum_j lam_j A[j, i] / (A p)_j` (Huang & Du 2008, eq. 3, indices put right). It
    never leaves the simplex and never lowers the likelihood. Pairs of steps are extrapolated
    (Varadhan & Roland 2008, squared iterative methods), and the extrapolation is taken back where the
    likelihood would fall. The factors `g_i` of a step bound what is left to gain: the mean log-likelihood is
    concave, so its maximum exceeds it by `ln max g_i` at the most. Where the unbiased estimate lies
    inside the simplex, it is the answer.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> em(KeepOrUniform((2,), Fraction(1, 2)), [60, 40]).value.round(6)
    array([0.7, 0.3])
    """
    reports = checked_vector("counts", channel.n_out, counts)
    if reports.min() < 0 or not np.isfinite(reports).all() or reports.sum() <= 0:
        raise SottovoceError("counts", "must be finite, not negative, and not all zero", counts)
    seen = reports / reports.sum()
    point = np.full(channel.n_in, 1 / channel.n_in)
    height = float(mean_log_likelihood(channel, seen, point))
    for step in range(1, most_steps + 1):
        by = factors(channel, seen, point)
        gap = float(np.log(by.max()))
        if progress is not None:
            progress(step, most_steps)
        if gap <= tolerance:
            break
        first = point * by
        second = first * factors(channel, seen, first)
        point, height = _better(channel, seen, extrapolated(point, first, second), second, height)
    return EmFit(point, step, gap <= tolerance, height * float(reports.sum()))


def factors(channel: Channel, seen: Array, point: Array) -> Array:
    """`g_i = sum_j lam_j A[j, i] / (A p)_j`, by which a step multiplies each cell; many columns go side by side."""
    expected = channel.matvec(point)
    return channel.rmatvec(np.divide(seen, expected, out=np.zeros_like(expected), where=expected > 0))


def extrapolated(start: Array, first: Array, second: Array) -> Array:
    """Jump along the steps' direction, as far as their lengths suggest, but not out of the simplex; by column."""
    change, bend = first - start, second - 2 * first + start
    lengths = np.linalg.norm(change, axis=0), np.maximum(np.linalg.norm(bend, axis=0), 1e-300)
    stride = np.clip(lengths[0] / lengths[1], 1.0, FARTHEST)
    # A cell that falls to zero could never rise again: a jump may take only most of it.
    jumped = np.maximum(start + 2 * stride * change + stride**2 * bend, second / 100)
    return np.asarray(jumped / jumped.sum(axis=0))


def mean_log_likelihood(channel: Channel, seen: Array, point: Array) -> Array:
    """Mean logarithm of the probability of a report, by column; minus infinity where one seen is impossible."""
    expected = channel.matvec(point)
    logarithms = np.log(expected, out=np.full_like(expected, -np.inf), where=expected > 0)
    return np.asarray(np.multiply(seen, logarithms, out=np.zeros_like(expected), where=seen > 0).sum(axis=0))


def _better(channel: Channel, seen: Array, bold: Array, safe: Array, height: float) -> tuple[Array, float]:
    """The bold point where it does not lower the likelihood, after one stabilising step; else the safe one."""
    settled = bold * factors(channel, seen, bold)
    reached = float(mean_log_likelihood(channel, seen, settled))
    return (settled, reached) if reached >= height else (safe, float(mean_log_likelihood(channel, seen, safe)))


def observed_covariance(channel: Channel, counts: Any, value: Array) -> Array:
    """Inverse of the observed information along the simplex.

    The information is `A^T diag(counts / (A p)^2) A`; directions must sum to zero, so it is inverted in a
    basis Z of those: `Z (Z^T I Z)^-1 Z^T`. Cells at zero count as the others do: held there they would have no
    variance, and their intervals, nothing but zero, missed a share of 2 % in 26 of 100 samples of 200 reports.
    """
    reports = checked_vector("counts", channel.n_out, counts)
    expected, cells = channel.matvec(value), channel.n_in
    basis = np.linalg.qr(np.eye(cells) - 1 / cells)[0][:, : cells - 1]
    columns = channel.matvec(basis)
    weight = np.divide(reports, expected**2, out=np.zeros_like(reports), where=expected > 0)
    inverse = np.linalg.pinv(columns.T @ (weight[:, None] * columns), hermitian=True)
    return np.asarray(basis @ inverse @ basis.T)
