"""Maximum likelihood through a channel by EM, and the likelihood of joint cells under any plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel, checked_vector
from sottovoce.channels.sampled import Sampled
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import as_matrices
from sottovoce.measures.utility import checked_counts

Progress = Callable[[int, int | None], None]

FARTHEST = 1e6
"""Steps that one jump may be worth."""
SMALLEST = 1e-100
"""What a cell is kept at: one that fell to zero could never rise again."""
Axes = tuple[int, ...]
"""Positions of attributes, increasing."""


def nearest_distribution(values: Any) -> Array:
    """Euclidean projection onto the simplex: shift all cells by one number, and cut at zero.

    The shift is found by sorting (Held, Wolfe & Crowder 1974). The result is a distribution, and no
    longer unbiased. The cells lie along the first axis; each column of a matrix is projected by itself.

    >>> nearest_distribution([0.7, 0.5, -0.2])
    array([0.6, 0.4, 0. ])
    """
    point = np.asarray(values, dtype=np.float64)
    if point.ndim not in (1, 2) or not len(point) or not np.isfinite(point).all():
        raise SottovoceError("values", "must be finite numbers, at least one", point)
    columns = point.reshape(len(point), -1)
    descending = -np.sort(-columns, axis=0)
    shifts = (np.cumsum(descending, axis=0) - 1) / np.arange(1, len(point) + 1)[:, None]
    kept = np.count_nonzero(descending > shifts, axis=0) - 1
    shift = np.take_along_axis(shifts, kept[None], axis=0)
    return np.asarray(np.maximum(columns - shift, 0)).reshape(point.shape)


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
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
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


@dataclass(frozen=True, eq=False)
class Block:
    """Counts of the reports that speak of the same attributes, and the channels they may have come through.

    Several parts of a plan can ask the same attributes, or have the same in common with those wanted; a report
    does not tell them apart, and has come through each by its `share`.
    """

    axes: Axes
    channels: tuple[tuple[float, Channel], ...]
    counts: Array

    @cached_property
    def total(self) -> float:
        """Number of reports."""
        return float(self.counts.sum())

    def law(self, truths: Array) -> Array:
        """Law of the reports from that of the attributes asked."""
        return np.asarray(sum(share * channel.matvec(truths) for share, channel in self.channels))

    def adjoint(self, reports: Array) -> Array:
        """Mean of a function of the report given each truth."""
        return np.asarray(sum(share * channel.rmatvec(reports) for share, channel in self.channels))


@dataclass(frozen=True, eq=False)
class Observed:
    """Blocks of reports about the joint cells of attributes of these sizes."""

    sizes: tuple[int, ...]
    blocks: tuple[Block, ...]

    @cached_property
    def total(self) -> float:
        """Number of reports that speak of any of the attributes."""
        return sum(block.total for block in self.blocks)

    def asked(self, block: Block, cells: Array) -> Array:
        """Sums over what a block does not ask; further axes stay."""
        table = cells.reshape(*self.sizes, *cells.shape[1:])
        others = tuple(a for a in range(len(self.sizes)) if a not in block.axes)
        return np.asarray(table.sum(axis=others)).reshape(-1, *cells.shape[1:])

    def laws(self, cells: Array) -> list[Array]:
        """Law of the reports of each block, if the joint cells have this law."""
        return [block.law(self.asked(block, cells)) for block in self.blocks]

    def log_likelihood(self, cells: Array) -> float:
        """Sum over the reports of the logarithm of their probability."""
        laws = zip(self.blocks, self.laws(cells), strict=True)
        return sum(float(b.counts[b.counts > 0] @ np.log(law[b.counts > 0])) for b, law in laws)

    def gradient(self, cells: Array) -> Array:
        """Derivative of the log-likelihood by each joint cell; its mean over the cells is the number of reports."""
        total = np.zeros(self.sizes)
        for block, law in zip(self.blocks, self.laws(cells), strict=True):
            ratio = np.divide(block.counts, law, out=np.zeros_like(law), where=law > 0)
            shape = [size if a in block.axes else 1 for a, size in enumerate(self.sizes)]
            total += block.adjoint(ratio).reshape(shape)
        return total.ravel()

    def information(self, cells: Array, directions: Array) -> Array:
        """Expected information about the coefficients of some directions: `sum_Q N_Q B^T diag(1 / l) B`.

        B is what a direction of the joint cells becomes in the reports of a block, l their law.
        """
        found = np.zeros((directions.shape[1], directions.shape[1]))
        for block, law in zip(self.blocks, self.laws(cells), strict=True):
            moved = block.law(self.asked(block, directions))
            weight = np.divide(block.total, law, out=np.zeros_like(law), where=law > 0)
            found += (moved * weight[:, None]).T @ moved
        return found

    def margin(self, kept: Sequence[int]) -> "Observed":
        """The same reports about some of the attributes: each block projected onto what it has in common with them.

        Blocks stay apart by their channels, so that those which tell more count for more.
        """
        gathered: dict[tuple[Axes, tuple[tuple[float, Channel], ...]], Array] = {}
        for block in self.blocks:
            shared = [place for place, a in enumerate(block.axes) if a in kept]
            if shared:
                axes = tuple(sorted(kept).index(block.axes[place]) for place in shared)
                channels = tuple((share, channel.marginal(shared)) for share, channel in block.channels)
                table = block.counts.reshape([self.sizes[a] for a in block.axes])
                dropped = tuple(place for place in range(len(block.axes)) if place not in shared)
                counts = table.sum(axis=dropped).ravel()
                gathered[axes, channels] = gathered.get((axes, channels), 0) + counts
        blocks = tuple(Block(axes, channels, counts) for (axes, channels), counts in gathered.items())
        return Observed(tuple(self.sizes[a] for a in sorted(kept)), blocks)


def observed(channel: Channel, counts: Any) -> Observed:
    """Reports of a channel, apart by what was asked where attributes are sampled.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.channels.sampled import Part
    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> found = observed(Sampled((2, 2), [Part((0,), coin), Part((1,), coin)]), np.array([0, 0, 5, 0, 0, 6, 7, 8, 0]))
    >>> [(block.axes, block.counts.tolist()) for block in found.blocks]
    [((0,), [5.0, 6.0]), ((1,), [7.0, 8.0])]
    """
    reports = np.asarray(counts, np.float64)
    if not isinstance(channel, Sampled):
        whole = Block(tuple(range(len(channel.shape_in))), ((1.0, channel),), reports)
        return Observed(channel.shape_in, (whole,))
    table = reports.reshape(channel.shape_out)
    asked: dict[Axes, dict[Channel, int]] = {}
    for part in channel.parts:
        if part.channel is not None:
            weights = asked.setdefault(part.axes, {})
            weights[part.channel] = weights.get(part.channel, 0) + part.weight
    blocks = (_block(axes, weights, table, channel.shape_in) for axes, weights in asked.items())
    return Observed(channel.shape_in, tuple(block for block in blocks if block.total))


def _block(axes: Axes, weights: dict[Channel, int], table: Array, sizes: Sequence[int]) -> Block:
    """Reports in which just these attributes are answered, and the shares of the channels they came through."""
    place = tuple(slice(size) if a in axes else size for a, size in enumerate(sizes))
    total = sum(weights.values())
    shares = tuple((weight / total, channel) for channel, weight in weights.items())
    return Block(axes, shares, table[place].reshape(prod(sizes[a] for a in axes)))
