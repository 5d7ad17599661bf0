"""Report a set of fixed size; one coin decides whether it contains the truth, others draw its members."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins, shuffled
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import keep_sides
from sottovoce.schemas.attribute import Columns, check_domain, ravel
from sottovoce.schemas.schema import Schema, cell_set


@dataclass(frozen=True)
class Subset(Mechanism):
    """A coin of `sides` includes the truth on `kept` of them; w further coins draw from the other cells.

    The other cells are listed as x + 1, x + 2, ... modulo n. The i-th further coin has n - i sides (i = 1 ... w) and
    swaps the i-th cell of the list with the one that many positions after it; the first w cells of the list are the
    members, or the first w - 1 and the truth.

    >>> Subset((6,), size=2, kept=3, sides=5).channel.odds
    Fraction(3, 1)
    """

    kind = "subset"

    sizes: tuple[int, ...]
    size: int
    kept: int
    sides: int

    def __init__(self, sizes: Iterable[int], size: int, kept: int, sides: int) -> None:
        """Check the coins and the size of the set."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "sides", sides)
        if not 0 <= kept <= sides or gcd(kept, sides) != 1:
            raise SottovoceError("kept", f"must be a number of the coin's {sides} sides, in lowest terms", kept)
        self.channel, self.coins  # noqa: B018  # check the size of the set and the numbers of sides

    @classmethod
    def with_odds(cls, sizes: Iterable[int], size: int, odds: Fraction) -> "Subset":
        """Mechanism that includes the truth with probability `w odds / (w odds + n - w)`, rounded down."""
        shape = checked_shape(sizes, "sizes")
        cells = check_domain(shape)
        include = size * odds / (size * odds + cells - size)
        kept, sides = keep_sides(include, lambda share: SubsetSelection(shape, size, share).odds, odds)
        return cls(shape, size, kept, sides)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coin of the truth, and one for each member of the set."""
        cells = check_domain(self.sizes)
        return (Coin(self.sides), *(Coin(cells - 1 - member) for member in range(self.size)))

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Draw w other cells, and replace the last by the truth if the first coin says so."""
        cells = check_domain(self.sizes)
        joint = ravel(truth, self.sizes)
        rows = np.arange(len(joint))
        steps = 1 + shuffled(cells - 1, flips[1:], len(joint))[:, : self.size]
        steps[flips[0] < np.uint64(self.kept), self.size - 1] = 0
        members = joint[:, None] + steps
        bits = np.zeros((cells, len(joint)), np.uint8)
        bits[np.where(members >= cells, members - cells, members), rows[:, None]] = 1
        return tuple(bits)

    @cached_property
    def channel(self) -> SubsetSelection:
        """Subset selection channel over the joint cells."""
        return SubsetSelection(self.sizes, self.size, Fraction(self.kept, self.sides))

    def report_schema(self, truths: Schema) -> Schema:
        """A set of categories, or of joint cells if there are several attributes."""
        return Schema([cell_set(truths)])

    def to_json(self) -> dict[str, Any]:
        """Size of the set and sides of the coin."""
        return {"kind": self.kind, "size": str(self.size), "kept": str(self.kept), "sides": str(self.sides)}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Subset":
        """Read the size and the coin."""
        return cls(sizes, *(integer(name, json[name]) for name in ("size", "kept", "sides")))
