"""Keep or flip every bit by its own coin: items of a transaction, or yes/no answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, checked_shape
from sottovoce.channels.dense import Dense
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import matrix_odds, matrix_sides
from sottovoce.schemas.attribute import Codes, Columns


@dataclass(frozen=True)
class BitCoin:
    """Coin of one bit: `P(1 | 1) = one / sides`, `P(1 | 0) = zero / sides`; the low sides report a 1.

    >>> BitCoin.near(Fraction(1, 2), Fraction(1, 4))
    BitCoin(one=2, zero=1, sides=4)
    """

    one: int
    zero: int
    sides: int

    def __post_init__(self) -> None:
        """Check that all are numbers of sides, in lowest terms."""
        Coin(self.sides)
        for parameter in ("one", "zero"):
            value = getattr(self, parameter)
            if not 0 <= value <= self.sides:
                raise SottovoceError(parameter, f"must be a number of the coin's {self.sides} sides", value)
        if gcd(self.one, self.zero, self.sides) != 1:
            raise SottovoceError("sides", "must be in lowest terms with one and zero", self.sides)

    @classmethod
    def near(cls, one: Fraction, zero: Fraction) -> "BitCoin":
        """Coin nearest to both probabilities whose odds do not exceed theirs."""
        rows = [[1 - zero, 1 - one], [zero, one]]
        (zero_kept, _), (zero_flipped, one_kept) = matrix_sides(rows, matrix_odds(rows))
        return cls(one_kept, zero_flipped, zero_kept + zero_flipped)

    @property
    def matrix(self) -> list[list[int]]:
        """Numbers of sides that report 0 and 1 (rows), for the truths 0 and 1 (columns)."""
        return [[self.sides - self.zero, self.sides - self.one], [self.zero, self.one]]

    def show(self, truth: Codes, side: Any) -> Codes:
        """Reported bit of each row, from the true bit and the side that the coin shows."""
        bits = np.where(truth == 1, self._reports_one(self.one, side), self._reports_one(self.zero, side))
        return np.asarray(bits, dtype=np.uint8)

    def to_json(self) -> list[str]:
        """The three numbers of sides, as text."""
        return [str(self.one), str(self.zero), str(self.sides)]

    @classmethod
    def from_json(cls, json: Any) -> "BitCoin":
        """Read the three numbers of sides."""
        if not isinstance(json, list) or len(json) != 3:
            raise SottovoceError("bits", "must be lists of one, zero and sides", json)
        return cls(*(integer("bits", number) for number in json))

    def _reports_one(self, sides: int, side: Any) -> Any:
        # 2^64 sides do not fit a 64-bit integer, so that a certain 1 cannot be a comparison.
        return np.ones(len(side), bool) if sides == self.sides else side < np.uint64(sides)


@dataclass(frozen=True)
class Flips(Mechanism):
    """One coin for each bit; `bits` holds one coin for all of them, or one for each.

    >>> Flips((2, 2), [BitCoin(one=3, zero=1, sides=4)]).channel.odds
    Fraction(9, 1)
    """

    kind = "flips"

    sizes: tuple[int, ...]
    bits: tuple[BitCoin, ...]

    def __init__(self, sizes: Iterable[int], bits: Iterable[BitCoin]) -> None:
        """Check that all sizes are 2, and that there is a coin for each bit."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
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
        """One coin for each bit."""
        return tuple(Coin(bit.sides) for bit in self.bit_coins)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Reported bits, each from its own coin."""
        return tuple(bit.show(t, side) for bit, t, side in zip(self.bit_coins, truth, flips, strict=True))

    @cached_property
    def channel(self) -> Channel:
        """Product of the bits' channels."""
        channels = {bit: Dense(bit.matrix, bit.sides) for bit in set(self.bits)}
        factors = [channels[bit] for bit in self.bit_coins]
        return factors[0] if len(factors) == 1 else Kronecker(factors)

    def to_json(self) -> dict[str, Any]:
        """Sides of the coins."""
        return {"kind": self.kind, "bits": [bit.to_json() for bit in self.bits]}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Flips":
        """Read the coins."""
        return cls(sizes, [BitCoin.from_json(bit) for bit in json["bits"]])
