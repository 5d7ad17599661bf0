"""Whole numbers near the floating-point weights of a design: slabs that draw as it would, to a millionth and better."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor, gcd
from typing import Any

import numpy as np

from sottovoce.channel.slab import Slab, largest_item_weight
from sottovoce.errors import SottovoceError

LEAST_BITS = 36
"""Bits of the smallest weight, unless others would then be larger than they may."""

MASS_BITS = 40
"""Bits of the weight of the component that has the smallest."""

FloatSlab = tuple[float, int, Sequence[float], Sequence[int] | None]
"""Share of the component, total length of its sets, and for each category a weight and a length (None: all 1)."""


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
