"""Bits that are kept or flipped by coins of their own: items of a transaction, yes/no answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sottovoce.channel.channel import Channel, checked_shape
from sottovoce.channel.dense import Dense
from sottovoce.channel.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.bit_coin import BitCoin
from sottovoce.mechanism.coins import Coin, Coins
from sottovoce.mechanism.mechanism import Mechanism
from sottovoce.schema.cells import Columns


@dataclass(frozen=True)
class Flips(Mechanism):
    """One coin a bit; `bits` holds one coin for all of them, or one for each.

    >>> Flips((2, 2), [BitCoin(one=3, zero=1, sides=4)]).channel.odds
    Fraction(9, 1)
    """

    kind = "flips"

    sizes: tuple[int, ...]
    bits: tuple[BitCoin, ...]

    def __init__(self, sizes: Iterable[int], bits: Iterable[BitCoin]) -> None:
        """Check that there are only bits, and a coin for each."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        object.__setattr__(self, "bits", tuple(bits))
        if any(size != 2 for size in self.sizes):
            raise SottovoceError("sizes", "must be those of bits: yes/no attributes or items", self.sizes)
        if len(self.bits) not in (1, len(self.sizes)):
            raise SottovoceError("bits", f"must be one coin, or one for each of {len(self.sizes)}", len(self.bits))

    @cached_property
    def bit_coins(self) -> tuple[BitCoin, ...]:
        """Coin of each bit."""
        return self.bits if len(self.bits) > 1 else self.bits * len(self.sizes)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin a bit."""
        return tuple(Coin(bit.sides) for bit in self.bit_coins)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Show each bit's coin."""
        return tuple(bit.show(t, side) for bit, t, side in zip(self.bit_coins, truth, flips, strict=True))

    @cached_property
    def channel(self) -> Channel:
        """Product of the bits' channels."""
        channels = {bit: Dense(bit.matrix, bit.sides) for bit in set(self.bits)}
        factors = [channels[bit] for bit in self.bit_coins]
        return factors[0] if len(factors) == 1 else Kronecker(factors)

    def to_json(self) -> dict[str, Any]:
        """Sides of each different coin."""
        return {"kind": self.kind, "bits": [bit.to_json() for bit in self.bits]}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Flips":
        """Read the coins."""
        return cls(sizes, [BitCoin.from_json(bit) for bit in json["bits"]])
