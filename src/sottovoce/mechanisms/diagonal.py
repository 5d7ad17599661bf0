"""Report the truth, or each other answer with equal probability, by one coin."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import join, kernels, read_only, reciprocal, split
from sottovoce.mechanisms.coins import WORD, Blocks, Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemas.attribute import Columns, check_domain, ravel, unravel


@dataclass(frozen=True)
class Diagonal(Mechanism):
    """Of the coin's `truth + (n - 1) other` sides, `truth` report the truth and `other` each other answer.

    A side s below `truth` reports the truth x; other sides report `x + 1 + floor((s - truth) / other)`, modulo the
    number n of joint cells.

    >>> Diagonal((2,), truth=3, other=1).channel.odds
    Fraction(3, 1)
    """

    kind = "diagonal"

    sizes: tuple[int, ...]
    truth: int
    other: int

    def __init__(self, sizes: Iterable[int], truth: int, other: int) -> None:
        """Check the numbers of sides, which must be in lowest terms."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "truth", whole_number("truth", truth, least=0))
        object.__setattr__(self, "other", whole_number("other", other, least=0))
        if gcd(self.truth, self.other) != 1:
            raise SottovoceError("truth", f"must be in lowest terms with other, {other}", truth)
        self.coins  # noqa: B018  # check the number of sides

    @classmethod
    def with_ratio(cls, sizes: Iterable[int], ratio: Fraction) -> "Diagonal":
        """Mechanism whose ratio of truth to other is `ratio`, or the nearest that integers allow towards privacy."""
        shape = checked_shape(sizes, "sizes")
        return cls(shape, *diagonal_sides(check_domain(shape), ratio))

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin."""
        return (Coin(self.truth + (check_domain(self.sizes) - 1) * self.other),)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Move from the truth by as many cells as the coin shows, modulo their number."""
        side, cells = flips[0], check_domain(self.sizes)
        turn = (side - np.uint64(self.truth)) // np.uint64(max(self.other, 1)) + np.uint64(1)
        turn *= side >= np.uint64(self.truth)
        joint = ravel(truth, self.sizes) + turn.astype(np.int64)
        joint -= cells * (joint >= cells)
        return unravel(joint, self.sizes)

    def respond_in_bulk(self, truth: Columns, blocks: Blocks) -> Columns:
        """The same in one compiled loop over the words, if all numbers have at most 32 bits."""
        loops = kernels() if self._fits_words else None
        if loops is None:
            return super().respond_in_bulk(truth, blocks)
        joint = join(loops, truth, self.sizes)
        loops.diagonal_reports(read_only(blocks[:, 0]), self._kernel_arguments, joint)
        return split(loops, joint, self.sizes)

    @cached_property
    def channel(self) -> KeepOrUniform:
        """Keep the truth with probability `(truth - other) / sides`, else report a uniform value."""
        return KeepOrUniform(self.sizes, Fraction(self.truth - self.other, self.coins[0].sides))

    def to_json(self) -> dict[str, Any]:
        """Both numbers of sides."""
        return {"kind": self.kind, "truth": str(self.truth), "other": str(self.other)}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Diagonal":
        """Read both numbers of sides."""
        return cls(sizes, integer("truth", json["truth"]), integer("other", json["other"]))

    @cached_property
    def _fits_words(self) -> bool:
        return self.coins[0].width == 1 and max(self.truth, check_domain(self.sizes)) < WORD

    @cached_property
    def _kernel_arguments(self) -> tuple[np.uint64, ...]:
        """Division by the coin's step, sides of the truth, division by the sides of another answer, cells."""
        turn = reciprocal(max(self.other, 1))
        return (*reciprocal(self.coins[0].step), np.uint64(self.truth), *turn, np.uint64(check_domain(self.sizes)))
