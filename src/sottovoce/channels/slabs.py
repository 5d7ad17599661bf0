"""Slabs: weighted sets of one total length, and exact sums over all sets of a mixture of slabs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, gcd
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError

LARGEST_WEIGHT = 2**8192
LARGEST_SIZE = 2**12
MOST_ITEMS = 1024
Moments = list[list[int]]
LEAST_BITS = 36
"""Bits of the smallest weight, unless others would then be larger than they may."""

MASS_BITS = 40
"""Bits of the weight of the component that has the smallest."""

FloatSlab = tuple[float, int, Sequence[float], Sequence[int] | None]
"""Share of the component, total length of its sets, and for each category a weight and a length (None: all 1)."""


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


def norm_moments(components: Sequence[Slab], tilt: Sequence[int] | None) -> Moments:
    """Coefficients A of `norm_x = sum_S m(S) t_S u_S(x)`, a row for each power; `norms` puts the factors in.

    With `u_S(x) = b + (a - b) [x in S]` and `t_S = sum_i h_i u_S(i)`, H the sum of h and h(S) that of the members,
    `norm_x = b^2 H m + b (a - b) (H m_x + sum_i h_i m_i) + (a - b)^2 sum_{S with x} m(S) h(S)`, m_x being the sum of m
    over the sets with x. Without a tilt it is `b m + (a - b) m_x`.
    """
    categories = range(len(components[0].items))
    total = sum(c.total for c in components)
    holding = [sum(c.holding(x) for c in components) for x in categories]
    if tilt is None:
        return [[total for _ in categories], holding]
    weight, mean = sum(tilt), sum(h * own for h, own in zip(tilt, holding, strict=True))
    both = [sum(parts) for parts in zip(*(c.holding_weighed(tilt) for c in components), strict=True)]
    return [[weight * total for _ in categories], [weight * own + mean for own in holding], both]


def norms(moments: Moments, inside: int, outside: int) -> list[int]:
    """`norm_x = sum_k b^(d-k) (a - b)^k A_kx` for a = `inside`, b = `outside` and the largest power d.

    >>> norms(norm_moments([Slab(1, 1, (1, 1, 2))], None), inside=2, outside=1)
    [5, 5, 6]
    """
    powers = [outside ** (len(moments) - 1 - k) * (inside - outside) ** k for k in range(len(moments))]
    return [sum(p * m for p, m in zip(powers, column, strict=True)) for column in zip(*moments, strict=True)]


def second_moments(slab: Slab, inside: int, outside: int, norms: Sequence[int]) -> Array:
    """`sum_S m(S) u_S(i) u_S(x) / norm_x`, by i and x: whole numbers, divided once.

    >>> second_moments(Slab(1, 1, (1, 1, 2)), inside=2, outside=1, norms=[1, 1, 1])
    array([[ 7.,  6.,  7.],
           [ 6.,  7.,  7.],
           [ 7.,  7., 10.]])
    """
    categories = range(len(slab.items))
    plus, holding = inside - outside, [slab.holding(x) for x in categories]
    found = np.empty((len(categories), len(categories)))
    for i in categories:
        for x in range(i + 1):
            both = plus * plus * slab.holding_both(i, x) + plus * outside * (holding[i] + holding[x])
            own = both + outside * outside * slab.total
            found[i, x], found[x, i] = own / norms[x], own / norms[i]
    return found


def nearest_slabs(components: Iterable[FloatSlab]) -> list[Slab]:
    """Slabs of which each has its share of the sum of m, with weights in whole numbers.

    >>> slab, _ = nearest_slabs([(0.25, 2, [1.0, 0.5, 0.25], None), (0.75, 1, [1, 1, 1], None)])
    >>> slab.items[0] == 4 * slab.items[2], slab.total / (slab.total + _.total)
    (True, 0.25)
    """
    given = [(_share(share), _slab(size, weights, lengths)) for share, size, weights, lengths in components]
    whole = max((2**MASS_BITS * slab.total / share for share, slab in given), default=Fraction(0))
    return [Slab(round(share * whole / slab.total), slab.size, slab.items, slab.lengths) for share, slab in given]


def whole_weights(parameter: str, values: Any, lengths: Sequence[int] | None = None) -> list[int]:
    """Whole numbers near `w_i c^(g_i)`, c so large that all are 2^36 or more: on sets of one length, c changes nothing.

    So each is off by less than one part in 2^36. But none may exceed `2^(256 g_i)`: where, all lengths being 1, the
    largest weight is more than 2^220 = 1.7e66 times the smallest, c is smaller, and weights are off by one part in
    `2^256 / ratio`. One that would be less than 1 becomes 1: a category that should never be in a set then is, once in
    1e77 times as often as another, and the odds still hold.

    >>> whole_weights("tilt", [0.5, 0.25]), whole_weights("weights", [4.0, 0.5], [2, 1]) == [2**76, 2**36]
    ([2, 1], True)
    """
    weights = np.asarray(values, np.float64)
    if weights.ndim != 1 or not weights.size or not (np.isfinite(weights) & (weights > 0)).all():
        raise SottovoceError(parameter, "must be a list of positive numbers", values)
    logs = np.log2(weights)
    steps = np.ones(len(logs)) if lengths is None else np.asarray(lengths, np.float64)
    most = np.array([largest_item_weight(int(step)).bit_length() - 1 for step in steps])
    scale = min(((LEAST_BITS - logs) / steps).max(), ((most - logs) / steps).min())
    found = [
        min(max(_power(log), 1), 2**bits)
        for log, bits in zip((logs + scale * steps).tolist(), most.tolist(), strict=True)
    ]
    shared = gcd(*found) if lengths is None else 1
    return [weight // shared for weight in found]


def _power(log: float) -> int:
    """Whole number nearest to a power of two, to double precision.

    >>> _power(1.5), _power(100.0) == 2**100
    (3, True)
    """
    digits = floor(log) - 52
    mantissa = round(2.0 ** (log - digits))
    return mantissa << digits if digits >= 0 else round(Fraction(mantissa, 1 << -digits))


def _share(share: float) -> Fraction:
    if not share > 0 or not np.isfinite(share):
        raise SottovoceError("mass", "must be a positive number", share)
    return Fraction(share)


def _slab(size: int, weights: Sequence[float], lengths: Sequence[int] | None) -> Slab:
    whole = None if lengths is None else [int(length) for length in lengths]
    if lengths is not None and whole != list(lengths):
        raise SottovoceError("lengths", "must be whole numbers", lengths)
    shape = Slab(1, int(size), [1] * np.size(weights), whole)
    return Slab(1, shape.size, whole_weights("weights", weights, whole), whole)
