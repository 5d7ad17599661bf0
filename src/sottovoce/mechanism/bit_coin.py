"""The coin of one bit: how many of its sides report a one, if the truth is a one and if it is a zero."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Coin
from sottovoce.mechanism.mechanism import integer
from sottovoce.mechanism.rounding import matrix_odds, matrix_sides
from sottovoce.schema.cells import Codes


@dataclass(frozen=True)
class BitCoin:
    """`P(1 | 1) = one / sides`, `P(1 | 0) = zero / sides`; the low sides report a one.

    >>> BitCoin.near(Fraction(1, 2), Fraction(1, 4))
    BitCoin(one=2, zero=1, sides=4)
    """

    one: int
    zero: int
    sides: int

    def __post_init__(self) -> None:
        """Check that both are numbers of sides, in lowest terms."""
        Coin(self.sides)
        for parameter in ("one", "zero"):
            value = getattr(self, parameter)
            if not 0 <= value <= self.sides:
                raise SottovoceError(parameter, f"must be a number of the coin's {self.sides} sides", value)
        if gcd(self.one, self.zero, self.sides) != 1:
            raise SottovoceError("sides", "must be in lowest terms with one and zero", self.sides)

    @classmethod
    def near(cls, one: Fraction, zero: Fraction) -> "BitCoin":
        """Integers nearest to both probabilities, whose odds do not exceed theirs."""
        rows = [[1 - zero, 1 - one], [zero, one]]
        (quiet_zero, _), (zeros, ones) = matrix_sides(rows, matrix_odds(rows))
        return cls(ones, zeros, quiet_zero + zeros)

    @property
    def matrix(self) -> list[list[int]]:
        """Sides that report zero and one, by truth."""
        return [[self.sides - self.zero, self.sides - self.one], [self.zero, self.one]]

    def show(self, truth: Codes, side: Any) -> Codes:
        """Bit reported, for each row; a coin that always says the same needs no look at its side."""
        bits = np.where(truth == 1, self._says_one(self.one, side), self._says_one(self.zero, side))
        return np.asarray(bits, dtype=np.uint8)

    def to_json(self) -> list[str]:
        """Three numbers of sides."""
        return [str(self.one), str(self.zero), str(self.sides)]

    @classmethod
    def from_json(cls, json: Any) -> "BitCoin":
        """Read three numbers of sides."""
        if not isinstance(json, list) or len(json) != 3:
            raise SottovoceError("bits", "must be lists of one, zero and sides", json)
        return cls(*(integer("bits", number) for number in json))

    def _says_one(self, sides: int, side: Any) -> Any:
        return np.ones(len(side), bool) if sides == self.sides else side < np.uint64(sides)
