"""Tell the truth, or any other answer alike, by one coin."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channel.channel import checked_shape
from sottovoce.channel.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Coin, Coins
from sottovoce.mechanism.mechanism import Mechanism, integer
from sottovoce.mechanism.rounding import diagonal_sides
from sottovoce.schema.cells import Columns, check_domain, ravel, unravel


@dataclass(frozen=True)
class Diagonal(Mechanism):
    """Of the coin's `truth + (n - 1) other` sides, `truth` tell the truth, `other` each other answer.

    A side s below `truth` reports the truth x; the others report `x + 1 + floor((s - truth) /
    other)`, counted round the n joint cells.

    >>> Diagonal((2,), truth=3, other=1).channel.odds
    Fraction(3, 1)
    """

    kind = "diagonal"

    sizes: tuple[int, ...]
    truth: int
    other: int

    def __init__(self, sizes: Iterable[int], truth: int, other: int) -> None:
        """Check that there is a coin."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        for parameter, sides in (("truth", truth), ("other", other)):
            if isinstance(sides, bool) or not isinstance(sides, int) or sides < 0:
                raise SottovoceError(parameter, "must be a whole number that is not negative", sides)
            object.__setattr__(self, parameter, sides)
        if gcd(truth, other) != 1:
            raise SottovoceError("truth", f"must be in lowest terms with other, {other}", truth)
        self.coins  # noqa: B018  # refuses a coin with too many sides

    @classmethod
    def with_ratio(cls, sizes: Iterable[int], ratio: Fraction) -> "Diagonal":
        """Diagonal over rest as near to `ratio` as integers allow, on the side of privacy."""
        shape = checked_shape(sizes)
        return cls(shape, *diagonal_sides(check_domain(shape), ratio))

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin."""
        return (Coin(self.truth + (check_domain(self.sizes) - 1) * self.other),)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Go round from the truth by as many cells as the coin says."""
        side, cells = flips[0], check_domain(self.sizes)
        beyond = (side - np.uint64(self.truth)) // np.uint64(max(self.other, 1))
        turn = np.where(side < np.uint64(self.truth), 0, beyond.astype(np.int64) + 1)
        joint = ravel(truth, self.sizes) + turn
        joint -= np.where(joint >= cells, cells, 0)
        return unravel(joint, self.sizes)

    @cached_property
    def channel(self) -> KeepOrUniform:
        """Keep with probability `(truth - other) / sides`, else uniform."""
        return KeepOrUniform(self.sizes, Fraction(self.truth - self.other, self.coins[0].sides))

    def to_json(self) -> dict[str, Any]:
        """Both numbers of sides."""
        return {"kind": self.kind, "truth": str(self.truth), "other": str(self.other)}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Diagonal":
        """Read both numbers of sides."""
        return cls(sizes, integer("truth", json["truth"]), integer("other", json["other"]))
