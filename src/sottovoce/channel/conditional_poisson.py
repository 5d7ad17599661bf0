"""Sets of fixed size drawn with weights: a conditional Poisson design, step by step with coins of 2^64 sides."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.slab import Slab, check_whole, multiplied

SIDES = 2**64
"""Sides of every coin that draws such sets."""

LARGEST_STEP_WEIGHT = 2**32
"""Weights of items up to which a coin of 2^64 sides tells every step."""


@dataclass(frozen=True)
class ConditionalPoisson(Slab):
    """`m(S) = weight prod_{i in S} w_i` for the sets S of T = `size` of the n `items`, zero for others.

    >>> ConditionalPoisson(1, 1, (1, 1, 2)).last_sides(truth=0)[:, 1] + np.uint64(1) == [SIDES // 3, 0]
    array([ True,  True])
    """

    def __init__(self, weight: int, size: int, items: Iterable[int]) -> None:
        """Check that the weights are within reach of the coins."""
        super().__init__(weight, size, items)
        for item in self.items:
            check_whole("items", item, LARGEST_STEP_WEIGHT, "must be whole numbers from 1 to 2^32")

    def last_sides(self, truth: int) -> NDArray[np.uint64]:
        """Last of a coin's sides that takes an item in: a row for each other item, a column for each r.

        With r places left, item i is in with `w_i e_{r-1}(rest) / e_r(i and rest)`, the rest being the items
        behind it without the truth; 2^64 times that, rounded down, sides take it in. Column 0 and states that
        cannot be reached hold zeros nobody looks at.
        """
        rows, rest = [], self._behind[truth + 1]
        for item in reversed(self.items[:truth]):
            rows.append(_last_sides(item, rest))
            rest = multiplied(rest, item)
        before = np.array(rows[::-1], np.uint64).reshape(truth, self.size + 1)
        return np.concatenate([before, self._last_behind[truth + 1 :]])

    @property
    def step_error(self) -> Fraction:
        """Largest relative error of a step's probability: `(1 + n max w / min w) / 2^64`.

        For m items behind, `e_r / e_{r-1}` lies between `min w` and `max w` times `(m - r + 1) / r`. So with
        both outcomes possible neither is rarer than `1 / (1 + n max w / min w)`, and rounding moves it by
        less than one side; it never loses its last one.
        """
        return (1 + Fraction(len(self.items) * max(self.items), min(self.items))) / SIDES

    @cached_property
    def _last_behind(self) -> NDArray[np.uint64]:
        """Steps behind the truth, which are the same for every truth before them."""
        rows = [_last_sides(item, rest) for item, rest in zip(self.items, self._behind[1:], strict=True)]
        return np.array(rows, np.uint64)


def _last_sides(weight: int, rest: list[int]) -> list[int]:
    whole = multiplied(rest, weight)
    taken = (weight * below * SIDES // e if e else 1 for below, e in zip(rest, whole[1:], strict=False))
    return [0, *(sides - 1 for sides in taken)]
