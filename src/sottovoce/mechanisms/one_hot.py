"""Keep or flip every bit of the one-hot code of each attribute; the report is a set of categories."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, checked_shape
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.unary import Unary
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.schemas.attribute import Columns
from sottovoce.schemas.item_set import category_set
from sottovoce.schemas.schema import Schema


@dataclass(frozen=True)
class OneHot(Mechanism):
    """One coin for each category of each attribute; the true bit is 1 for the truth and 0 for other categories.

    >>> OneHot((3,), BitCoin(one=2, zero=1, sides=4)).channel.odds
    Fraction(3, 1)
    """

    kind = "one_hot"

    sizes: tuple[int, ...]
    bit: BitCoin

    def __init__(self, sizes: Iterable[int], bit: BitCoin) -> None:
        """Check that every attribute has at least two categories."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "bit", bit)
        self.channel  # noqa: B018  # checks the numbers of categories

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin for each category of each attribute."""
        return (Coin(self.bit.sides),) * sum(self.sizes)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Reported bit of every category of every attribute."""
        categories = [
            (column, category) for column, size in zip(truth, self.sizes, strict=True) for category in range(size)
        ]
        return tuple(
            self.bit.show(np.equal(column, category).astype(np.uint8), side)
            for (column, category), side in zip(categories, flips, strict=True)
        )

    @cached_property
    def channel(self) -> Channel:
        """Product of the attributes' unary channels."""
        one, zero = Fraction(self.bit.one, self.bit.sides), Fraction(self.bit.zero, self.bit.sides)
        factors = [Unary(size, one, zero) for size in self.sizes]
        return factors[0] if len(factors) == 1 else Kronecker(factors)

    def report_schema(self, truths: Schema) -> Schema:
        """For each attribute, a set of its categories."""
        return Schema(category_set(variable) for variable in truths)

    def to_json(self) -> dict[str, Any]:
        """Sides of the coin."""
        return {"kind": self.kind, "bit": self.bit.to_json()}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "OneHot":
        """Read the coin."""
        return cls(sizes, BitCoin.from_json(json["bit"]))
