"""Sets of one length with their supports, and candidates of the next length.

Survivors of one length are rows in lexicographic order, of numbers of the items that survived alone. Besides its
items a set keeps the numbers, one length down, of the sets it becomes when each of its items is left out. A set and
its numbers are therefore found by one look-up of whole numbers for each item: `I` without item d is what
`I` without d and its last item is continued to by that last item (R. Agrawal & R. Srikant 1994, Proc. VLDB,
487-499, join and prune).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array

Numbers = NDArray[np.int64]

MOST_AT_ONCE = 2**21
"""Candidates that are joined, counted and judged together: memory stays bounded."""


@dataclass(frozen=True, eq=False)
class Family:
    """Sets of one length: `items[set, place]`, and `without[set, place]`, the number of the set without that item."""

    items: Numbers
    without: Numbers

    @classmethod
    def of_singles(cls, count: int) -> "Family":
        """Single items; without its item each is the empty set."""
        return cls(np.arange(count)[:, None], np.zeros((count, 1), np.int64))

    def __len__(self) -> int:
        """Number of sets."""
        return len(self.items)

    @property
    def length(self) -> int:
        """Items of each set."""
        return int(self.items.shape[1])

    def chosen(self, kept: NDArray[np.bool_]) -> "Family":
        """Sets that are kept, in the same order."""
        return Family(self.items[kept], self.without[kept])

    def joined(self) -> Iterator["Family"]:
        """Sets of one more item all of whose subsets are here, a bounded number at a time, in order.

        >>> pairs = Family.of_singles(3).chosen(np.array([True, True, True]))
        >>> [family.items.tolist() for family in pairs.joined()]
        [[[0, 1], [0, 2], [1, 2]]]
        """
        for first, last in slices(self._partners):
            family = self._joined(np.arange(first, last), self._partners[first:last])
            if len(family):
                yield family

    @property
    def most_joined(self) -> int:
        """Number of joined sets before those are left out that lack a subset."""
        return int(self._partners.sum())

    @cached_property
    def _partners(self) -> Numbers:
        """How many sets follow each one in its group: those that share all but the last item."""
        groups = self.without[:, -1]
        return np.asarray(np.searchsorted(groups, groups, side="right") - np.arange(len(self)) - 1)

    def _joined(self, rows: Numbers, partners: Numbers) -> "Family":
        """Continue each of these sets by the last items of those that follow it in its group."""
        left = np.repeat(rows, partners)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
        last = self.items[right, -1]
        keys, bound = self._keys()
        without = np.empty((len(left), self.length + 1), np.int64)
        without[:, -1], without[:, -2] = left, right
        found = np.ones(len(left), bool)
        for place in range(self.length - 1):
            wanted = self.without[left, place] * bound + last
            without[:, place] = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found &= keys[without[:, place]] == wanted
        items = np.concatenate([self.items[left], last[:, None]], axis=1)
        return Family(items[found], without[found])

    def _keys(self) -> tuple[Numbers, int]:
        """A number for each set, ascending: that of the set without its last item, and the last item."""
        bound = int(self.items[:, -1].max()) + 1
        return self.without[:, -1] * bound + self.items[:, -1], bound


def together(parts: Sequence[Family], length: int) -> Family:
    """Sets of several parts, which follow each other in order; there may be none."""
    nothing = np.zeros((0, length), np.int64)
    items = np.concatenate([nothing, *(part.items for part in parts)])
    return Family(items, np.concatenate([nothing, *(part.without for part in parts)]))


def slices(sizes: Numbers) -> Iterator[tuple[int, int]]:
    """Runs of rows whose sizes sum up to what is handled at once, or single rows that exceed it."""
    totals, first = np.cumsum(sizes), 0
    while first < len(sizes):
        before = totals[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(totals, before + MOST_AT_ONCE, side="right")))
        yield first, last
        first = last


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
