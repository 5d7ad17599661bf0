"""The nearest distribution to an estimate that noise has carried out of the simplex."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError


def nearest_distribution(values: Any) -> Array:
    """Euclidean projection onto the simplex: shift all cells by one number, and cut at zero.

    The shift is found by sorting (Held, Wolfe & Crowder 1974). The result is a distribution, and no
    longer unbiased.

    >>> nearest_distribution([0.7, 0.5, -0.2])
    array([0.6, 0.4, 0. ])
    """
    point = np.asarray(values, dtype=np.float64)
    if point.ndim != 1 or not len(point) or not np.isfinite(point).all():
        raise SottovoceError("values", "must be finite numbers, at least one", point)
    descending = np.sort(point)[::-1]
    shifts = (np.cumsum(descending) - 1) / np.arange(1, len(point) + 1)
    kept = np.flatnonzero(descending > shifts)[-1]
    return np.asarray(np.maximum(point - shifts[kept], 0))
