"""Sets of fixed size drawn with weights: a conditional Poisson design, in whole numbers of any length."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

SIDES = 2**64
"""Sides of every coin that draws such sets."""

LARGEST_ITEM_WEIGHT = 2**32
LARGEST_WEIGHT = 2**8192
MOST_ITEMS = 1024


@dataclass(frozen=True)
class ConditionalPoisson:
    """`m(S) = weight prod_{i in S} w_i` for the sets S of T = `size` of the n `items`, zero for others.

    Sums over sets are elementary symmetric polynomials: e_r is the sum, over the sets of r items, of
    the products of their weights (S. X. Chen, A. P. Dempster & J. S. Liu (1994), Biometrika 81, 457-469).

    >>> pairs = ConditionalPoisson(1, 2, (1, 2, 3))
    >>> pairs.holding(0), pairs.lacking(0), pairs.holding_both(0, 2)
    (5, 6, 3)
    """

    weight: int
    size: int
    items: tuple[int, ...]

    def __init__(self, weight: int, size: int, items: Iterable[int]) -> None:
        """Check that all are whole numbers within reach, and that sets leave something out."""
        _check("weight", weight, LARGEST_WEIGHT, "must be a whole number from 1 to 2^8192")
        weights = tuple(items)
        if not 2 <= len(weights) <= MOST_ITEMS:
            raise SottovoceError("items", f"must be from 2 to {MOST_ITEMS} weights", len(weights))
        for item in weights:
            _check("items", item, LARGEST_ITEM_WEIGHT, "must be whole numbers from 1 to 2^32")
        most = len(weights) - 1
        _check("size", size, most, f"must be a whole number from 1 to {most}, so that a category is left out")
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "items", weights)

    def holding(self, item: int) -> int:
        """Sum of m over the sets that hold an item, `weight w_i e_{T-1}(others)`."""
        return self.weight * self.items[item] * self._without[self.items[item]][self.size - 1]

    def lacking(self, item: int) -> int:
        """Sum of m over the sets that do not hold an item, `weight e_T(others)`."""
        return self.weight * self._without[self.items[item]][self.size]

    def holding_both(self, one: int, other: int) -> int:
        """Sum of m over the sets that hold two items, `weight w_i w_j e_{T-2}(others)`, or one if they are the same.

        Where the weights differ, `e_{T-1}(all but i) - e_{T-1}(all but j) = (w_j - w_i) e_{T-2}(others)`.
        """
        if one == other:
            return self.holding(one)
        v, w = self.items[one], self.items[other]
        if v == w:
            rest = self._without_two[v][self.size - 2] if self.size > 1 else 0
        else:
            rest = (self._without[v][self.size - 1] - self._without[w][self.size - 1]) // (w - v)
        return self.weight * v * w * rest

    def last_sides(self, truth: int) -> NDArray[np.uint64]:
        """Last of a coin's sides that takes an item in: a row for each other item, a column for each r.

        With r places left, item i is in with `w_i e_{r-1}(rest) / e_r(i and rest)`, the rest being the items
        behind it without the truth; 2^64 times that, rounded down, sides take it in. Column 0 and states that
        cannot be reached hold zeros nobody looks at.
        """
        rows, rest = [], self._behind[truth + 1]
        for item in reversed(self.items[:truth]):
            rows.append(_last_sides(item, rest))
            rest = _multiplied(rest, item)
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
    def _without(self) -> dict[int, list[int]]:
        """Polynomials of all items but one of this weight."""
        return {w: _divided(self._behind[0], w) for w in set(self.items)}

    @cached_property
    def _without_two(self) -> dict[int, list[int]]:
        """Polynomials of all items but two of this weight, for weights that occur twice."""
        return {w: _divided(less, w) for w, less in self._without.items()}

    @cached_property
    def _behind(self) -> list[list[int]]:
        """Polynomials e_0 ... e_T of the items from each position on."""
        found = [[1] + [0] * self.size]
        for item in reversed(self.items):
            found.append(_multiplied(found[-1], item))
        return found[::-1]

    @cached_property
    def _last_behind(self) -> NDArray[np.uint64]:
        """Steps behind the truth, which are the same for every truth before them."""
        rows = [_last_sides(item, rest) for item, rest in zip(self.items, self._behind[1:], strict=True)]
        return np.array(rows, np.uint64)


def _check(parameter: str, value: Any, most: int, rule: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SottovoceError(parameter, rule, value)


def _multiplied(polynomials: list[int], weight: int) -> list[int]:
    """Polynomials with one more item: `e_r + w e_{r-1}`."""
    return [1, *(e + weight * below for below, e in pairwise(polynomials))]


def _divided(polynomials: list[int], weight: int) -> list[int]:
    """Polynomials with one item less: undoes `_multiplied`, from the lowest up."""
    less = [1]
    for e in polynomials[1:]:
        less.append(e - weight * less[-1])
    return less


def _last_sides(weight: int, rest: list[int]) -> list[int]:
    whole = _multiplied(rest, weight)
    taken = (weight * below * SIDES // e if e else 1 for below, e in zip(rest, whole[1:], strict=False))
    return [0, *(sides - 1 for sides in taken)]
