"""The nearest distribution to an estimate that noise has carried out of the simplex."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError


def nearest_distribution(values: Any) -> Array:
    """Euclidean projection onto the simplex: shift all cells by one number, and cut at zero.

    The shift is found by sorting (Held, Wolfe & Crowder 1974). The result is a distribution, and no
    longer unbiased. The cells lie along the first axis; each column of a matrix is projected by itself.

    >>> nearest_distribution([0.7, 0.5, -0.2])
    array([0.6, 0.4, 0. ])
    """
    point = np.asarray(values, dtype=np.float64)
    if point.ndim not in (1, 2) or not len(point) or not np.isfinite(point).all():
        raise SottovoceError("values", "must be finite numbers, at least one", point)
    columns = point.reshape(len(point), -1)
    descending = -np.sort(-columns, axis=0)
    shifts = (np.cumsum(descending, axis=0) - 1) / np.arange(1, len(point) + 1)[:, None]
    kept = np.count_nonzero(descending > shifts, axis=0) - 1
    shift = np.take_along_axis(shifts, kept[None], axis=0)
    return np.asarray(np.maximum(columns - shift, 0)).reshape(point.shape)
