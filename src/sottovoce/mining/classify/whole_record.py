"""Plans that keep or replace whole records: what the class of a report is worth, exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.mixture import Mixture
from sottovoce.schemas.attribute import Columns, unravel

Outcomes = Callable[[Columns], NDArray[np.intp]]
"""Number of what happens to each of some coded records, such as class and prediction together."""

MOST_CELLS = 2**20
"""Joint records of which all are tried; of more, as many are drawn."""


@dataclass(frozen=True)
class WholeRecord:
    """With probability `keep` the record itself, else one drawn from `known`: a law an attribute, or one for all."""

    sizes: tuple[int, ...]
    keep: float
    known: tuple[Array, ...]

    @classmethod
    def of(cls, channel: Channel) -> "WholeRecord | None":
        """Read a channel of one group, if it is of this kind."""
        if isinstance(channel, Mixture) and channel.keep > 0:
            laws = tuple(np.array([float(share) for share in law]) for law in channel.known)
            return cls(channel.shape_in, float(channel.keep), laws)
        if isinstance(channel, KeepOrUniform) and channel.keep > 0:
            return cls(channel.shape_in, float(channel.keep), tuple(np.full(k, 1 / k) for k in channel.shape_in))
        return None

    @property
    def by_attribute(self) -> bool:
        """Whether the values of a drawn record are independent of each other."""
        return len(self.known) == len(self.sizes)

    @cached_property
    def listed(self) -> tuple[Columns, Array] | None:
        """All joint records and the probability of drawing each, where they are few enough."""
        if prod(self.sizes) > MOST_CELLS:
            return None
        columns = unravel(np.arange(prod(self.sizes)), self.sizes)
        if not self.by_attribute:
            return columns, self.known[0]
        return columns, np.prod([law[codes] for law, codes in zip(self.known, columns, strict=True)], axis=0)

    def outcomes(self, outcomes: Outcomes, count: int, rng: np.random.Generator) -> tuple[Array, int | None]:
        """Probability of each outcome of a drawn record: from the known law, or by so many draws from it.

        It is never taken from respondents: one who says whether the classifier is right about her personal record
        shows, where that does not fit the record she sent, that it was the private one.
        """
        if self.listed is not None:
            columns, law = self.listed
            return np.asarray(np.bincount(outcomes(columns), weights=law, minlength=count), np.float64), None
        return np.bincount(outcomes(self.draw(MOST_CELLS, rng)), minlength=count) / MOST_CELLS, MOST_CELLS

    def draw(self, rows: int, rng: np.random.Generator) -> Columns:
        """Records from the known law; one over joint cells was listed, and is not drawn from."""
        return tuple(rng.choice(len(law), rows, p=law) for law in self.known)
