"""A set found from one large number, which coins make digit by digit."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import checked_shape
from sottovoce.channel.drawn_sets import LARGEST_EXHAUSTED
from sottovoce.channel.random_set import RandomSet
from sottovoce.channel.set_moments import norm_moments
from sottovoce.channel.set_rank import SIDES
from sottovoce.channel.slab import Slab
from sottovoce.mechanism.coins import Coin, Coins
from sottovoce.mechanism.favour import below, excess, favour_from_json, integers, out_of_reach
from sottovoce.mechanism.mechanism import Mechanism, integer
from sottovoce.mechanism.rounding import LARGEST_LOSS, loss
from sottovoce.schema.cells import Columns, ravel
from sottovoce.schema.schema import Schema, cell_set

Listing = tuple[NDArray[np.uint64], NDArray[np.uint8]]

TRIES = 8
"""How often the favour is lowered, by more each time, until rounding no longer lifts the odds above those asked for."""


@dataclass(frozen=True)
class SetByRank(Mechanism):
    """Coins of 2^64 sides are the digits of a number, and `SetRank` says which set it draws.

    >>> SetByRank((3,), [Slab(1, 1, [1, 1, 1])], Fraction(2)).channel.odds - 2 < 1e-17
    True
    """

    kind = "random_set"

    sizes: tuple[int, ...]
    components: tuple[Slab, ...]
    favour: Fraction | None
    tilt: tuple[int, ...] | None

    def __init__(
        self,
        sizes: Iterable[int],
        components: Iterable[Slab],
        favour: Fraction | None,
        tilt: Iterable[int] | None = None,
    ) -> None:
        """Check that the channel exists."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", favour)
        object.__setattr__(self, "tilt", None if tilt is None else tuple(tilt))
        self.channel  # noqa: B018  # refuses weights of other categories, and a favour below 1

    @classmethod
    def with_odds(
        cls, sizes: Iterable[int], components: Iterable[Slab], odds: Fraction | None, tilt: Iterable[int] | None = None
    ) -> "SetByRank":
        """Favour the truth as far as the odds allow, or put it in always where they are unbounded (None)."""
        if odds is None:
            return cls(sizes, components, None, tilt)
        found = cls(sizes, components, Fraction(1), tilt)
        plus = excess(norm_moments(found.components, found.tilt), odds)
        for attempt in range(TRIES):
            found = cls(found.sizes, found.components, 1 + plus, found.tilt)
            achieved = found.channel.rank.odds
            if achieved <= odds and loss(odds, achieved) < LARGEST_LOSS:
                return found
            if achieved == 1:
                break
            plus = below(plus * (odds - 1) / (achieved - 1) * (1 - Fraction(2**attempt, 2**62)))
        raise out_of_reach(odds)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Digits, the highest first."""
        return (Coin(SIDES),) * self.channel.rank.coins

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Find the set of every number; truth by truth, since each has an order of sets of its own."""
        own, digits = ravel(truth, self.sizes), np.stack(flips, axis=1)
        bits = np.zeros((self.channel.n_in, len(own)), np.uint8)
        for x in np.unique(own).tolist():
            rows = np.flatnonzero(own == x)
            bits[:, rows] = self._drawn(digits[rows], x)
        return tuple(bits)

    def _drawn(self, digits: NDArray[np.uint64], truth: int) -> NDArray[np.uint8]:
        """Sets of one truth, by columns: the first digit tells, unless a run begins within it, or there is no list."""
        if self.channel.n_in <= LARGEST_EXHAUSTED:
            firsts, sets = self._listed(truth)
            bits = sets[:, np.searchsorted(firsts, digits[:, 0], side="right") - 1]
            unsure = np.flatnonzero(np.isin(digits[:, 0], firsts))
        else:
            bits, unsure = np.zeros((self.channel.n_in, len(digits)), np.uint8), np.arange(len(digits))
        for row, number in zip(unsure.tolist(), digits[unsure].astype(">u8"), strict=True):
            bits[:, row] = 0
            bits[self.channel.rank.members(int.from_bytes(number.tobytes(), "big"), truth), row] = 1
        return bits

    def _listed(self, truth: int) -> Listing:
        """First digit of the first number of every set, in order, and the sets by columns."""
        if truth not in self._lists:
            found = list(self.channel.rank.sets(truth))
            sets = np.array([[j in members for _, members in found] for j in range(self.channel.n_in)], np.uint8)
            firsts = [first >> 64 * (len(self.coins) - 1) for first, _ in found]
            self._lists[truth] = np.array(firsts, np.uint64), sets
        return self._lists[truth]

    @cached_property
    def _lists(self) -> dict[int, Listing]:
        """Sets of the truths that were asked for so far."""
        return {}

    @cached_property
    def channel(self) -> RandomSet:
        """Sets of the joint cells, drawn by rank."""
        return RandomSet(self.sizes, self.components, self.favour, self.tilt)

    def report_schema(self, truths: Schema) -> Schema:
        """Set of categories, or of joint cells where there are several attributes."""
        return Schema([cell_set(truths)])

    def to_json(self) -> dict[str, Any]:
        """Components, the two integers of the favour (1 and 0 where the truth is always in), and the tilt if any."""
        a, b = self.channel.rank.inside, self.channel.rank.outside
        components = [_component_to_json(c) for c in self.components]
        tilt = {} if self.tilt is None else {"tilt": [str(h) for h in self.tilt]}
        return {"kind": self.kind, "components": components, "favour": [str(a), str(b)], **tilt}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "SetByRank":
        """Read every component, the favour in lowest terms, and the tilt if there is one."""
        favour = None if json["favour"] == ["1", "0"] else favour_from_json(json["favour"])
        tilt = integers("tilt", json["tilt"]) if "tilt" in json else None
        return cls(sizes, [_component_from_json(entry) for entry in json["components"]], favour, tilt)


def _component_to_json(slab: Slab) -> dict[str, Any]:
    plain = {"weight": str(slab.weight), "size": str(slab.size), "items": [str(w) for w in slab.items]}
    return plain | ({"lengths": [str(g) for g in slab.lengths]} if slab.has_lengths else {})


def _component_from_json(json: Any) -> Slab:
    weight, size = (integer(name, json[name]) for name in ("weight", "size"))
    lengths = integers("lengths", json["lengths"]) if "lengths" in json else None
    return Slab(weight, size, integers("items", json["items"]), lengths)
