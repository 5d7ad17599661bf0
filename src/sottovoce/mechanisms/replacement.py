"""Report the whole record, or a record drawn from a known distribution."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import gcd, prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.mixture import Distribution, Mixture
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import distribution_sides, keep_sides
from sottovoce.schemas.attribute import Columns, narrow, unravel


@dataclass(frozen=True)
class Replacement(Mechanism):
    """A first coin of `sides` keeps the truth on `kept` of them; further coins draw the record that replaces it.

    `known` holds the numbers of sides of each category, for a coin for each attribute or one over the joint cells.

    >>> Replacement((2,), kept=1, sides=2, known=[[1, 1]]).channel.odds
    Fraction(3, 1)
    """

    kind = "replacement"

    sizes: tuple[int, ...]
    kept: int
    sides: int
    known: tuple[tuple[int, ...], ...]

    def __init__(self, sizes: Iterable[int], kept: int, sides: int, known: Iterable[Iterable[int]]) -> None:
        """Check the coins, which must be in lowest terms."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "known", tuple(tuple(weights) for weights in known))
        if not 0 <= kept <= sides:
            raise SottovoceError("kept", f"must be a number of the coin's {sides} sides", kept)
        if gcd(kept, sides) != 1 or any(gcd(*weights) != 1 for weights in self.known):
            raise SottovoceError("kept", "must be in lowest terms with sides, and so must known", (kept, sides))
        if any(weight < 0 for weights in self.known for weight in weights):
            raise SottovoceError("known", "must not be negative", self.known)
        self.coins, self.channel  # noqa: B018  # check the numbers of sides and the lengths

    @classmethod
    def with_keep(cls, sizes: Iterable[int], keep: Fraction, known: tuple[Distribution, ...]) -> "Replacement":
        """Mechanism that keeps with probability `keep`, or slightly less if rounding `known` would raise the odds."""
        shape = checked_shape(sizes, "sizes")
        asked = Mixture(shape, keep, known).odds
        weights = tuple(map(distribution_sides, known))
        rounded = [[Fraction(w, sum(sides_of)) for w in sides_of] for sides_of in weights]
        allowed = keep if asked is None else min(keep, keep_within(asked, rounded))
        kept, sides = keep_sides(allowed, lambda k: Mixture(shape, k, rounded).odds, asked)
        return cls(shape, kept, sides, weights)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coin that keeps or replaces, then those of the known distribution."""
        return (Coin(self.sides), *(Coin(sum(weights)) for weights in self.known))

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Draw a record, and report it or the truth."""
        keep = flips[0] < np.uint64(self.kept)
        drawn: Columns = tuple(
            np.searchsorted(np.array(list(accumulate(weights)), np.uint64), side, side="right")
            for weights, side in zip(self.known, flips[1:], strict=True)
        )
        if len(drawn) < len(self.sizes):
            drawn = unravel(drawn[0], self.sizes)
        return tuple(narrow(np.where(keep, t, d), size) for t, d, size in zip(truth, drawn, self.sizes, strict=True))

    @cached_property
    def channel(self) -> Mixture:
        """Mixture of the identity and the known distribution."""
        known = [[Fraction(weight, sum(weights)) for weight in weights] for weights in self.known]
        return Mixture(self.sizes, Fraction(self.kept, self.sides), known)

    def to_json(self) -> dict[str, Any]:
        """Sides of all coins."""
        known = [[str(weight) for weight in weights] for weights in self.known]
        return {"kind": self.kind, "kept": str(self.kept), "sides": str(self.sides), "known": known}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Replacement":
        """Read the sides of all coins."""
        known = [[integer("known", weight) for weight in weights] for weights in json["known"]]
        return cls(sizes, integer("kept", json["kept"]), integer("sides", json["sides"]), known)


def keep_within(asked: Fraction, known: Iterable[Iterable[Fraction]]) -> Fraction:
    """Probability of keeping whose odds, `1 + keep / ((1 - keep) min known)`, are those asked for."""
    rarest = prod(map(min, known), start=Fraction(1))
    excess = (asked - 1) * rarest
    return excess / (1 + excess)
