"""Cut-and-paste: keep a random choice of a set's items, and add every other item by a coin."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.cut_and_paste import CutAndPaste
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins, shuffled
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.schemas.attribute import Columns


@dataclass(frozen=True)
class CutPaste(Mechanism):
    """Coins: one of cutoff + 1 sides; n - 1 that shuffle the n items; n of `sides`, `added` of which add an item.

    The shuffle starts from the items in order; its i-th coin has n + 1 - i sides (i = 1 ... n - 1) and swaps the i-th
    item with the one that many positions after it. The first j true items in shuffled order are kept, where j is what
    the first coin shows. All coins are flipped whatever the set is.
    """

    kind = "cut_paste"

    sizes: tuple[int, ...]
    cutoff: int
    added: int
    sides: int

    def __init__(self, sizes: Iterable[int], cutoff: int, added: int, sides: int) -> None:
        """Check that all sizes are 2, and the coins."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "cutoff", cutoff)
        object.__setattr__(self, "added", added)
        object.__setattr__(self, "sides", sides)
        if any(size != 2 for size in self.sizes):
            raise SottovoceError("sizes", "must be those of items of a set", self.sizes)
        if not 0 < added < sides or gcd(added, sides) != 1:
            raise SottovoceError("added", f"must be some of the coin's {sides} sides, in lowest terms", added)
        self.channel, self.coins  # noqa: B018  # check the cutoff and the numbers of sides

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coins for the number of kept items, the shuffle and the noise."""
        items = len(self.sizes)
        shuffle = (Coin(items - index) for index in range(items - 1))
        return (Coin(self.cutoff + 1), *shuffle, *(Coin(self.sides),) * items)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Keep the first true items in shuffled order, and add items by their coins."""
        items = len(self.sizes)
        bits = np.stack([column.astype(bool) for column in truth], axis=1)
        order = shuffled(items, flips[1:items], len(bits))
        rows = np.arange(len(bits))[:, None]
        true = bits[rows, order]
        first = true & (np.cumsum(true, axis=1) <= flips[0].astype(np.int64)[:, None])
        kept = np.zeros_like(bits)
        kept[rows, order] = first
        return tuple(
            (kept[:, item] | (side < np.uint64(self.added))).astype(np.uint8) for item, side in enumerate(flips[items:])
        )

    @cached_property
    def channel(self) -> CutAndPaste:
        """Cut-and-paste channel over all sets of the items."""
        return CutAndPaste(len(self.sizes), self.cutoff, Fraction(self.added, self.sides))

    def to_json(self) -> dict[str, Any]:
        """Cutoff and sides of the noise."""
        numbers = {"cutoff": self.cutoff, "added": self.added, "sides": self.sides}
        return {"kind": self.kind} | {name: str(number) for name, number in numbers.items()}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "CutPaste":
        """Read the cutoff and the sides."""
        return cls(sizes, *(integer(name, json[name]) for name in ("cutoff", "added", "sides")))
