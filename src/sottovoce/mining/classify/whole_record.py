"""Plans that keep or replace whole records."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.schemas.attribute import Columns, unravel

Outcomes = Callable[[Columns], NDArray[np.intp]]
"""Index of the outcome of each coded record, such as the pair of class and prediction."""

MOST_CELLS = 2**20
"""Joint records that are enumerated; of more, as many are drawn at random."""


@dataclass(frozen=True)
class WholeRecord:
    """With probability `keep` the record, else one drawn from `known`: distributions by attribute, or a joint one."""

    sizes: tuple[int, ...]
    keep: float
    known: tuple[Array, ...]

    @classmethod
    def of(cls, channel: Channel) -> "WholeRecord | None":
        """Return the whole record of a channel, or None if the channel is of another kind."""
        keep, known = channel.replacement or (0.0, ())
        return cls(channel.shape_in, keep, known) if keep > 0 else None

    @property
    def by_attribute(self) -> bool:
        """Whether the values of a drawn record are independent."""
        return len(self.known) == len(self.sizes)

    @cached_property
    def enumerated(self) -> tuple[Columns, Array] | None:
        """All joint records and the probability of drawing each, or None if there are too many."""
        if prod(self.sizes) > MOST_CELLS:
            return None
        columns = unravel(np.arange(prod(self.sizes)), self.sizes)
        if not self.by_attribute:
            return columns, self.known[0]
        shares = [distribution[codes] for distribution, codes in zip(self.known, columns, strict=True)]
        return columns, np.prod(shares, axis=0)

    def outcomes(self, outcomes: Outcomes, count: int, rng: np.random.Generator) -> tuple[Array, int | None]:
        """Return the probability of each outcome of a drawn record, and the number of draws if it was simulated.

        It is computed from the known distribution, never asked of respondents: one who says whether the classifier is
        right about her innocuous record reveals, if that does not fit the record she sent, that she sent the true one.
        """
        if self.enumerated is not None:
            columns, shares = self.enumerated
            return np.asarray(np.bincount(outcomes(columns), weights=shares, minlength=count), np.float64), None
        return np.bincount(outcomes(self.draw(MOST_CELLS, rng)), minlength=count) / MOST_CELLS, MOST_CELLS

    def draw(self, rows: int, rng: np.random.Generator) -> Columns:
        """Draw records by attribute; a joint distribution was enumerated instead."""
        return tuple(rng.choice(len(shares), rows, p=shares) for shares in self.known)
