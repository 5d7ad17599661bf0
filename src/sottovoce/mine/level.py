"""Sets of one length, with their supports."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.candidates import Numbers


@dataclass(frozen=True, eq=False)
class Level:
    """Survivors of one length: their items by number, unbiased supports, and standard errors.

    `probability` is that of each to be frequent, where more than its own support was looked at; else None. With
    `by_model` supports are a model's, and probabilities follow from them.
    """

    items: Numbers
    support: Array
    standard_error: Array
    probability: Array | None = None
    by_model: bool = False

    @property
    def picked_by_support(self) -> bool:
        """Whether the very support that is reported decided, so that picked ones are too high on the average."""
        return self.probability is None or self.by_model

    def chosen(self, kept: NDArray[np.bool_]) -> "Level":
        """Those that are kept."""
        probability = None if self.probability is None else self.probability[kept]
        return Level(self.items[kept], self.support[kept], self.standard_error[kept], probability, self.by_model)


def highest_above(levels: Sequence[Level]) -> list[Array]:
    """Highest support of any set that has one item more, for each set; minus infinity where there is none.

    >>> single = Level(np.array([[0], [1], [2]]), np.array([0.5, 0.6, 0.3]), np.zeros(3))
    >>> highest_above([single, Level(np.array([[0, 1]]), np.array([0.4]), np.zeros(1))])
    [array([ 0.4,  0.4, -inf]), array([-inf])]
    """
    found = [np.full(len(level.items), -np.inf) for level in levels]
    for below, (short, long) in enumerate(pairwise(levels)):
        places = {row: place for place, row in enumerate(map(tuple, short.items.tolist()))}
        for items, support in zip(long.items.tolist(), long.support.tolist(), strict=True):
            for left_out in range(len(items)):
                place = places.get((*items[:left_out], *items[left_out + 1 :]))
                if place is not None:
                    found[below][place] = max(found[below][place], support)
    return found
