"""Report the whole record or its complement, with every yes and no exchanged, by one coin."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.complement import Complement
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.schemas.attribute import Columns


@dataclass(frozen=True)
class Turning(Mechanism):
    """A coin of `sides` keeps the record on `kept` of them, and reports its complement on the others.

    >>> Turning((2,), kept=3, sides=4).channel.odds
    Fraction(3, 1)
    """

    kind = "turning"

    sizes: tuple[int, ...]
    kept: int
    sides: int

    def __init__(self, sizes: Iterable[int], kept: int, sides: int) -> None:
        """Check the coin, and that all attributes are yes/no."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "sides", sides)
        if not 0 <= kept <= sides or gcd(kept, sides) != 1:
            raise SottovoceError("kept", f"must be a number of the coin's {sides} sides, in lowest terms", kept)
        self.channel, self.coins  # noqa: B018  # check the attributes and the number of sides

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin for the record."""
        return (Coin(self.sides),)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """All columns, or the complements of all columns."""
        complement = flips[0] >= np.uint64(self.kept)
        return tuple(np.where(complement, 1 - column.astype(np.int64), column).astype(np.uint8) for column in truth)

    @cached_property
    def channel(self) -> Complement:
        """Mixture of the identity and the complement."""
        return Complement(self.sizes, Fraction(self.kept, self.sides))

    def to_json(self) -> dict[str, Any]:
        """Sides of the coin."""
        return {"kind": self.kind, "kept": str(self.kept), "sides": str(self.sides)}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Turning":
        """Read the coin."""
        return cls(sizes, integer("kept", json["kept"]), integer("sides", json["sides"]))
