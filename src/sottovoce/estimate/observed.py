"""Reports by the attributes they speak of: what a likelihood over joint cells is made of, for any plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.sampled import Sampled

Axes = tuple[int, ...]
"""Positions of attributes, increasing."""


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
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.channel.sampled import Part
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
