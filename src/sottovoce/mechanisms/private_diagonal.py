"""Diagonal mechanism whose probability of the truth is drawn by each device and kept secret."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.schemas.attribute import Columns, check_domain, ravel, unravel

MOST_SIDES = 2**62
"""Limit of the coin's sides: shifted sides are signed 64-bit integers."""


@dataclass(frozen=True)
class PrivateDiagonal(Mechanism):
    """A first coin of `2 spread + 1` sides shows s, and the second coin is shifted by `r = s - spread`.

    Of the second coin's `truth + (n - 1) other` sides, `truth + (n - 1) r` report the truth and `other - r` each other
    answer. On average over r this is the diagonal mechanism of `truth` and `other`, and so is the channel; the odds
    against someone who knows the device's r are `leaked_odds`.

    >>> mechanism = PrivateDiagonal((2,), truth=6, other=2, spread=1)
    >>> mechanism.channel.odds, mechanism.leaked_odds
    (Fraction(3, 1), Fraction(7, 1))
    """

    kind = "private_diagonal"

    sizes: tuple[int, ...]
    truth: int
    other: int
    spread: int

    def __init__(self, sizes: Iterable[int], truth: int, other: int, spread: int) -> None:
        """Check that no shift makes a number of sides negative."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "spread", spread)
        if not 0 <= spread <= min(other, truth // max(self._others, 1)):
            rule = "must not exceed other, nor truth divided by the number of other answers"
            raise SottovoceError("spread", rule, spread)
        if self.coins[1].sides > MOST_SIDES:
            raise SottovoceError("truth", "must make a coin of at most 2^62 sides", truth)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coin of the private parameter, and coin of the answer."""
        return (Coin(2 * self.spread + 1), Coin(self.truth + self._others * self.other))

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Move from the truth by as many cells as the shifted coin shows, modulo their number."""
        shift = flips[0].astype(np.int64) - self.spread
        side = flips[1].astype(np.int64)
        truth_sides, other_sides = self.truth + self._others * shift, self.other - shift
        turn = np.where(side < truth_sides, 0, (side - truth_sides) // np.maximum(other_sides, 1) + 1)
        cells = self._others + 1
        joint = ravel(truth, self.sizes) + turn
        joint -= np.where(joint >= cells, cells, 0)
        return unravel(joint, self.sizes)

    @cached_property
    def channel(self) -> KeepOrUniform:
        """Channel averaged over the private parameter."""
        return KeepOrUniform(self.sizes, Fraction(self.truth - self.other, self.coins[1].sides))

    @property
    def leaked_odds(self) -> Fraction | None:
        """Odds against someone who knows the private parameter, in the worst case."""
        most = Fraction(self.truth + self._others * self.spread)
        return None if self.other == self.spread else most / (self.other - self.spread)

    def to_json(self) -> dict[str, Any]:
        """The three numbers of sides."""
        numbers = {"truth": self.truth, "other": self.other, "spread": self.spread}
        return {"kind": self.kind} | {name: str(number) for name, number in numbers.items()}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "PrivateDiagonal":
        """Read the three numbers of sides."""
        return cls(sizes, *(integer(name, json[name]) for name in ("truth", "other", "spread")))

    @cached_property
    def _others(self) -> int:
        return check_domain(self.sizes) - 1
