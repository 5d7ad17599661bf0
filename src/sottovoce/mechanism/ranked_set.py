"""A set found from one large number, which coins make digit by digit."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

import numpy as np

from sottovoce.channel.channel import checked_shape
from sottovoce.channel.ranked_set import RankedSet
from sottovoce.channel.set_moments import norm_moments
from sottovoce.channel.set_rank import SIDES
from sottovoce.channel.slab import Slab
from sottovoce.mechanism.coins import Coin, Coins
from sottovoce.mechanism.mechanism import Mechanism, integer
from sottovoce.mechanism.random_set import GRAIN, favour_from_json, integers, out_of_reach
from sottovoce.mechanism.rounding import LARGEST_LOSS, loss
from sottovoce.schema.cells import Columns, ravel
from sottovoce.schema.schema import Schema, cell_set

TRIES = 8
"""How often the favour is lowered, by more each time, until rounding no longer lifts the odds above those asked for."""


@dataclass(frozen=True)
class SetByRank(Mechanism):
    """Coins of 2^64 sides are the digits of a number, and `SetRank` says which set it draws.

    >>> SetByRank((3,), [Slab(1, 1, [1, 1, 1])], Fraction(2)).channel.odds - 2 < 1e-17
    True
    """

    kind = "ranked_set"

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
        excess = _excess(found, odds)
        for attempt in range(TRIES):
            found = cls(found.sizes, found.components, 1 + excess, found.tilt)
            achieved = found.channel.rank.odds
            if achieved <= odds and loss(odds, achieved) < LARGEST_LOSS:
                return found
            if achieved == 1:
                break
            excess = _below(excess * (odds - 1) / (achieved - 1) * (1 - Fraction(2**attempt, 2**62)))
        raise out_of_reach(odds)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Digits, the highest first."""
        return (Coin(SIDES),) * self.channel.rank.coins

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Find the set of every number; truth by truth, since each has an order of sets of its own."""
        own, digits = ravel(truth, self.sizes), np.stack(flips, axis=1).astype(">u8")
        bits = np.zeros((self.channel.n_in, len(own)), np.uint8)
        for x in np.unique(own).tolist():
            for row in np.flatnonzero(own == x).tolist():
                bits[self.channel.rank.members(int.from_bytes(digits[row].tobytes(), "big"), x), row] = 1
        return tuple(bits)

    @cached_property
    def channel(self) -> RankedSet:
        """Sets of the joint cells, drawn by rank."""
        return RankedSet(self.sizes, self.components, self.favour, self.tilt)

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


def _excess(mechanism: SetByRank, odds: Fraction) -> Fraction:
    """Root e >= 0 of `g max norm / min norm = odds`, g = 1 + e, to double precision; `SetByRank` checks the rest.

    Norms are polynomials in e whose coefficients are `norm_moments`. The left side is 1 at e = 0 and at least the
    odds at g = odds.
    """
    moments = norm_moments(mechanism.components, mechanism.tilt)
    shares = np.array([[part / row[0] for part in row] for row in zip(*moments, strict=True)])
    low, high = 0.0, float(odds - 1)
    while low < (middle := (low + high) / 2) < high:
        norms = shares @ middle ** np.arange(len(moments))
        above = (1 + middle) * norms.max() / norms.min() > odds
        low, high = (low, middle) if above else (middle, high)
    return _below(Fraction(high))


def _below(excess: Fraction) -> Fraction:
    return Fraction(floor(excess * GRAIN), GRAIN)


def _component_to_json(slab: Slab) -> dict[str, Any]:
    plain = {"weight": str(slab.weight), "size": str(slab.size), "items": [str(w) for w in slab.items]}
    return plain | ({"lengths": [str(g) for g in slab.lengths]} if slab.has_lengths else {})


def _component_from_json(json: Any) -> Slab:
    weight, size = (integer(name, json[name]) for name in ("weight", "size"))
    lengths = integers("lengths", json["lengths"]) if "lengths" in json else None
    return Slab(weight, size, integers("items", json["items"]), lengths)
