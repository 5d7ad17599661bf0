"""Weighted sets of one total length: sums over all of them, in whole numbers of any length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sottovoce.errors import SottovoceError

LARGEST_WEIGHT = 2**8192
LARGEST_SIZE = 2**12
MOST_ITEMS = 1024


@dataclass(frozen=True)
class Slab:
    """`m(S) = weight prod_{i in S} w_i` for the sets S of `items` whose `lengths` sum to `size`, zero for others.

    Lengths are 1 unless given: then `size` counts the members. Sums over sets are the coefficients e_r of
    `prod_i (1 + w_i z^(g_i))`; with lengths 1 they are the elementary symmetric polynomials (S. X. Chen, A. P. Dempster
    & J. S. Liu (1994), Biometrika 81, 457-469).

    >>> pairs = Slab(1, 2, (1, 2, 3))
    >>> pairs.holding(0), pairs.lacking(0), pairs.holding_both(0, 2)
    (5, 6, 3)
    >>> Slab(1, 3, (1, 2, 3), lengths=(1, 1, 2)).total
    9
    """

    weight: int
    size: int
    items: tuple[int, ...]
    lengths: tuple[int, ...]

    def __init__(self, weight: int, size: int, items: Iterable[int], lengths: Iterable[int] | None = None) -> None:
        """Check that all are whole numbers within reach, and that some sets, but not that of all, have this length."""
        weights = tuple(items)
        if not 2 <= len(weights) <= MOST_ITEMS:
            raise SottovoceError("items", f"must be from 2 to {MOST_ITEMS} weights", len(weights))
        steps = (1,) * len(weights) if lengths is None else tuple(lengths)
        if len(steps) != len(weights):
            raise SottovoceError("lengths", f"must be {len(weights)}, one for each item", len(steps))
        check_whole("weight", weight, LARGEST_WEIGHT, "must be a whole number from 1 to 2^8192")
        for item, step in zip(weights, steps, strict=True):
            check_whole("lengths", step, LARGEST_SIZE, f"must be whole numbers from 1 to {LARGEST_SIZE}")
            rule = "must be whole numbers from 1 to 2^256, for lengths g above 1 to 2^(256 g) or 2^8192"
            check_whole("items", item, largest_item_weight(step), rule)
        most = min(sum(steps) - 1, LARGEST_SIZE)
        check_whole("size", size, most, f"must be a whole number from 1 to {most}, so that a category is left out")
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "items", weights)
        object.__setattr__(self, "lengths", steps)
        if not self.total:
            raise SottovoceError("size", "must be the sum of some lengths", size)

    @property
    def has_lengths(self) -> bool:
        """Whether any length is not 1."""
        return max(self.lengths) > 1

    @cached_property
    def total(self) -> int:
        """Sum of m over all sets."""
        return self.weight * self._behind[0][self.size]

    def holding(self, item: int) -> int:
        """Sum of m over the sets that hold an item: `weight w_i e_{T-g_i}(others)`."""
        return self.weight * self.items[item] * at(self._without(item), self.size - self.lengths[item])

    def lacking(self, item: int) -> int:
        """Sum of m over the sets that do not hold an item: `weight e_T(others)`."""
        return self.weight * self._without(item)[self.size]

    def holding_both(self, one: int, other: int) -> int:
        """Sum of m over the sets that hold two items, or one if they are the same.

        `weight w_i w_j e_{T-g_i-g_j}(all but both)`, where dividing by `1 + w_j z^(g_j)` once more makes
        `e_r(all but both) = e_r(all but i) - w_j e_{r-g_j}(all but i) + w_j^2 e_{r-2g_j}(all but i) - ...`.
        """
        if one == other:
            return self.holding(one)
        others, weight, length = self._without(one), self.items[other], self.lengths[other]
        largest, rest = self.size - self.lengths[one] - length, 0
        for coefficient in others[largest % length : max(largest + 1, 0) : length]:
            rest = coefficient - weight * rest
        return self.weight * self.items[one] * weight * rest

    def holding_weighed(self, weights: Sequence[int]) -> list[int]:
        """Sum, for each item, of `m(S) h(S)` over the sets that hold it, `h(S)` the sum of its members' weights h.

        `sum_j h_j holding_both(i, j)`, from the polynomial of `m(S) h(S)` over all sets.
        """
        marked = [0] * (self.size + 1)
        for item, h in enumerate(weights):
            marked = [m + h * own for m, own in zip(marked, self._members(item), strict=True)]
        found = []
        for item, h in enumerate(weights):
            own = self._members(item)
            others = divided(
                [m - h * o for m, o in zip(marked, own, strict=True)], self.items[item], self.lengths[item]
            )
            marked_too = self.items[item] * at(others, self.size - self.lengths[item])
            found.append(self.weight * (h * own[self.size] + marked_too))
        return found

    def _members(self, item: int) -> list[int]:
        """Polynomial of the sets that hold an item."""
        length = min(self.lengths[item], self.size + 1)
        return [0] * length + [self.items[item] * e for e in self._without(item)[: self.size + 1 - length]]

    def _without(self, item: int) -> list[int]:
        """Polynomial of all items but one; items of the same weight and length share it."""
        kind = self.items[item], self.lengths[item]
        if kind not in self._divided:
            self._divided[kind] = divided(self._behind[0], *kind)
        return self._divided[kind]

    @cached_property
    def _divided(self) -> dict[tuple[int, int], list[int]]:
        """Polynomials that were asked for so far."""
        return {}

    @cached_property
    def _behind(self) -> list[list[int]]:
        """Polynomials e_0 ... e_T of the items from each position on."""
        found = [[1] + [0] * self.size]
        for item, length in zip(reversed(self.items), reversed(self.lengths), strict=True):
            found.append(multiplied(found[-1], item, length))
        return found[::-1]


def largest_item_weight(length: int = 1) -> int:
    """As much for every unit of length: on sets of one length, weights `w_i c^(g_i)` mean the same for every c."""
    return min(1 << 256 * length, LARGEST_WEIGHT)


def check_whole(parameter: str, value: Any, most: int, rule: str) -> None:
    """Refuse what is no whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SottovoceError(parameter, rule, value)


def multiplied(polynomial: Sequence[int], weight: int, length: int = 1) -> list[int]:
    """Coefficients with one more item: `e_r + w e_{r-g}`.

    >>> multiplied([1, 2, 0, 0], weight=3, length=2)
    [1, 2, 3, 6]
    """
    return [e + weight * below for e, below in zip(polynomial, [*[0] * length, *polynomial], strict=False)]


def divided(polynomial: Sequence[int], weight: int, length: int = 1) -> list[int]:
    """Coefficients with one item less: undoes `multiplied`, from the lowest up.

    >>> divided([1, 2, 3, 6], weight=3, length=2)
    [1, 2, 0, 0]
    """
    less: list[int] = []
    for r, e in enumerate(polynomial):
        less.append(e - weight * less[r - length] if r >= length else e)
    return less


def at(polynomial: Sequence[int], place: int) -> int:
    """Coefficient, or zero before the first."""
    return polynomial[place] if place >= 0 else 0
