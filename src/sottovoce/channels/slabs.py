"""Slabs, the weighted sets of one total length, and exact sums over all sets of a mixture of slabs.

A slab with lengths 1 is a conditional Poisson design: sets of fixed size, in proportion to the product of their items'
weights. All sums are over more sets than can be listed, and are computed as coefficients of polynomials with integers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, gcd
from typing import Any

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError

FloatSlab = tuple[float, int, Sequence[float], Sequence[int] | None]
"""Share of a component, total length of its sets, and a weight and a length for each category (None: all 1)."""

Moments = list[list[int]]
"""Coefficients of the norms, for each power and each truth."""

LARGEST_WEIGHT = 2**8192
LARGEST_SIZE = 2**12
MOST_ITEMS = 1024

LEAST_BITS = 36
"""Bits that the smallest item weight is scaled to, unless another would then exceed its limit."""

MASS_BITS = 40
"""Bits that the smallest weight of a component is scaled to."""


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
        """Check that all are integers within their limits, and that some set, but not that of all items, has `size`."""
        weights = tuple(items)
        if not 2 <= len(weights) <= MOST_ITEMS:
            raise SottovoceError("items", f"must be from 2 to {MOST_ITEMS} weights", len(weights))
        steps = (1,) * len(weights) if lengths is None else tuple(lengths)
        if len(steps) != len(weights):
            raise SottovoceError("lengths", f"must be {len(weights)}, one for each item", len(steps))
        steps = tuple(whole_number("lengths", step, most=LARGEST_SIZE) for step in steps)
        weights = tuple(
            whole_number("items", item, most=largest_item_weight(step))
            for item, step in zip(weights, steps, strict=True)
        )
        object.__setattr__(self, "weight", whole_number("weight", weight, most=LARGEST_WEIGHT))
        object.__setattr__(self, "size", whole_number("size", size, most=min(sum(steps) - 1, LARGEST_SIZE)))
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
        return self.weight * self._polynomial[self.size]

    def holding(self, item: int) -> int:
        """Sum of m over the sets that contain an item: `weight w_i e_{T-g_i}(others)`."""
        return self.weight * self.items[item] * coefficient_at(self._without(item), self.size - self.lengths[item])

    def lacking(self, item: int) -> int:
        """Sum of m over the sets that do not contain an item: `weight e_T(others)`."""
        return self.weight * self._without(item)[self.size]

    def holding_both(self, one: int, other: int) -> int:
        """Sum of m over the sets that contain two items, or one item if they are the same.

        `weight w_i w_j e_{T-g_i-g_j}(all but both)`, where dividing by `1 + w_j z^(g_j)` once more gives
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
        """Sum of `m(S) h(S)` over the sets with each item, `h(S)` being the sum of the members' weights h.

        This is `sum_j h_j holding_both(i, j)`, from the polynomial of `m(S) h(S)` over all sets.
        """
        weighted = [0] * (self.size + 1)
        for item, h in enumerate(weights):
            weighted = [w + h * e for w, e in zip(weighted, self._members(item), strict=True)]
        sums = []
        for item, h in enumerate(weights):
            members = self._members(item)
            others = divided(
                [w - h * e for w, e in zip(weighted, members, strict=True)], self.items[item], self.lengths[item]
            )
            with_others = self.items[item] * coefficient_at(others, self.size - self.lengths[item])
            sums.append(self.weight * (h * members[self.size] + with_others))
        return sums

    def _members(self, item: int) -> list[int]:
        """Polynomial of the sets that contain an item."""
        length = min(self.lengths[item], self.size + 1)
        return [0] * length + [self.items[item] * e for e in self._without(item)[: self.size + 1 - length]]

    def _without(self, item: int) -> list[int]:
        """Polynomial of all items but one; items of the same weight and length share it."""
        kind = self.items[item], self.lengths[item]
        if kind not in self._divided:
            self._divided[kind] = divided(self._polynomial, *kind)
        return self._divided[kind]

    @cached_property
    def _divided(self) -> dict[tuple[int, int], list[int]]:
        """Cache of `_without`."""
        return {}

    @cached_property
    def _polynomial(self) -> list[int]:
        """Coefficients e_0 ... e_T of all items."""
        polynomial = [1] + [0] * self.size
        for item, length in zip(reversed(self.items), reversed(self.lengths), strict=True):
            polynomial = multiplied(polynomial, item, length)
        return polynomial


def largest_item_weight(length: int = 1) -> int:
    """Limit of an item's weight: 2^256 for every unit of its length, at most `LARGEST_WEIGHT`.

    It grows with the length because weights `w_i c^(g_i)` define the same design for every c.
    """
    return min(1 << 256 * length, LARGEST_WEIGHT)


def multiplied(polynomial: Sequence[int], weight: int, length: int = 1) -> list[int]:
    """Coefficients with one item added: `e_r + w e_{r-g}`.

    >>> multiplied([1, 2, 0, 0], weight=3, length=2)
    [1, 2, 3, 6]
    """
    return [e + weight * below for e, below in zip(polynomial, [*[0] * length, *polynomial], strict=False)]


def divided(polynomial: Sequence[int], weight: int, length: int = 1) -> list[int]:
    """Coefficients with one item removed: the inverse of `multiplied`.

    >>> divided([1, 2, 3, 6], weight=3, length=2)
    [1, 2, 0, 0]
    """
    removed: list[int] = []
    for r, e in enumerate(polynomial):
        removed.append(e - weight * removed[r - length] if r >= length else e)
    return removed


def coefficient_at(polynomial: Sequence[int], power: int) -> int:
    """Coefficient of a power, zero if the power is negative."""
    return polynomial[power] if power >= 0 else 0


def norm_moments(components: Sequence[Slab], tilt: Sequence[int] | None) -> Moments:
    """Coefficients of `norm_x = sum_S m(S) t_S u_S(x)` as a polynomial in the favour, from which `norms` computes it.

    With `u_S(x) = b + (a - b) [x in S]` and `t_S = sum_i h_i u_S(i)`, H the sum of h and h(S) that of the members,
    `norm_x = b^2 H m + b (a - b) (H m_x + sum_i h_i m_i) + (a - b)^2 sum_{S with x} m(S) h(S)`, m_x being the sum of m
    over the sets with x. Without a tilt it is `b m + (a - b) m_x`.
    """
    categories = range(len(components[0].items))
    total = sum(c.total for c in components)
    holding = [sum(c.holding(x) for c in components) for x in categories]
    if tilt is None:
        return [[total for _ in categories], holding]
    weight, mean = sum(tilt), sum(h * with_item for h, with_item in zip(tilt, holding, strict=True))
    both = [sum(parts) for parts in zip(*(c.holding_weighed(tilt) for c in components), strict=True)]
    return [[weight * total for _ in categories], [weight * with_item + mean for with_item in holding], both]


def norms(moments: Moments, inside: int, outside: int) -> list[int]:
    """`norm_x = sum_k b^(d-k) (a - b)^k A_kx` for a = `inside`, b = `outside` and the largest power d.

    >>> norms(norm_moments([Slab(1, 1, (1, 1, 2))], None), inside=2, outside=1)
    [5, 5, 6]
    """
    powers = [outside ** (len(moments) - 1 - k) * (inside - outside) ** k for k in range(len(moments))]
    return [sum(p * m for p, m in zip(powers, column, strict=True)) for column in zip(*moments, strict=True)]


def second_moments(slab: Slab, inside: int, outside: int, norms: Sequence[int]) -> Array:
    """`sum_S m(S) u_S(i) u_S(x) / norm_x` for all i and x: sums of integers, divided once.

    >>> second_moments(Slab(1, 1, (1, 1, 2)), inside=2, outside=1, norms=[1, 1, 1])
    array([[ 7.,  6.,  7.],
           [ 6.,  7.,  7.],
           [ 7.,  7., 10.]])
    """
    categories = range(len(slab.items))
    plus, holding = inside - outside, [slab.holding(x) for x in categories]
    moments = np.empty((len(categories), len(categories)))
    for i in categories:
        for x in range(i + 1):
            both = plus * plus * slab.holding_both(i, x) + plus * outside * (holding[i] + holding[x])
            total = both + outside * outside * slab.total
            moments[i, x], moments[x, i] = total / norms[x], total / norms[i]
    return moments


def nearest_slabs(components: Iterable[FloatSlab]) -> list[Slab]:
    """Slabs with integer weights near a mixture in floating point; each has its share of the sum of m.

    >>> slab, _ = nearest_slabs([(0.25, 2, [1.0, 0.5, 0.25], None), (0.75, 1, [1, 1, 1], None)])
    >>> slab.items[0] == 4 * slab.items[2], slab.total / (slab.total + _.total)
    (True, 0.25)
    """
    given = [(_exact_share(share), _slab(size, weights, lengths)) for share, size, weights, lengths in components]
    whole = max((2**MASS_BITS * slab.total / share for share, slab in given), default=Fraction(0))
    return [Slab(round(share * whole / slab.total), slab.size, slab.items, slab.lengths) for share, slab in given]


def whole_weights(parameter: str, values: Any, lengths: Sequence[int] | None = None) -> list[int]:
    """Integers near `w_i c^(g_i)`, with c so large that all are 2^36 or more; c does not change the design.

    So each is off by less than one part in 2^36. But none may exceed `2^(256 g_i)`: if, all lengths being 1, the
    largest weight is more than 2^220 = 1.7e66 times the smallest, c is smaller, and weights are off by one part in
    `2^256 / ratio`. A weight that would be less than 1 becomes 1: a category that should never be in a set then is, at
    1e-77 times the weight of another, and the odds still hold.

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
    integers = [
        min(max(_power(log), 1), 2**bits)
        for log, bits in zip((logs + scale * steps).tolist(), most.tolist(), strict=True)
    ]
    divisor = gcd(*integers) if lengths is None else 1
    return [weight // divisor for weight in integers]


def _power(log: float) -> int:
    """Integer nearest to 2^log, to double precision.

    >>> _power(1.5), _power(100.0) == 2**100
    (3, True)
    """
    digits = floor(log) - 52
    mantissa = round(2.0 ** (log - digits))
    return mantissa << digits if digits >= 0 else round(Fraction(mantissa, 1 << -digits))


def _exact_share(share: float) -> Fraction:
    if not share > 0 or not np.isfinite(share):
        raise SottovoceError("mass", "must be a positive number", share)
    return Fraction(share)


def _slab(size: int, weights: Sequence[float], lengths: Sequence[int] | None) -> Slab:
    whole = None if lengths is None else [int(length) for length in lengths]
    if lengths is not None and whole != list(lengths):
        raise SottovoceError("lengths", "must be whole numbers", lengths)
    shape = Slab(1, int(size), [1] * np.size(weights), whole)
    return Slab(1, shape.size, whole_weights("weights", weights, whole), whole)
