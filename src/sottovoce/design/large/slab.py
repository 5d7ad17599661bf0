"""Weighted sets of a fixed total length, in floating point: a complex mixture of independent draws."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array

Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Slab:
    """Law of the sets with `lengths . z = size`, in proportion to `prod_{i in S} w_i`, z being the indicator of S.

    The condition is a sum over roots of unity, `sum_r omega_r^(lengths . z - size)`, and under each root categories
    enter independently, with the complex "chances" `w_i omega^l_i / (1 + w_i omega^l_i)` (S. X. Chen & J. S. Liu
    (1997), Statistica Sinica 7, 875-892, for unit lengths). Roots come in conjugate pairs, of which one is kept.
    """

    shares: Complex
    chances: Complex
    log_total: float

    @cached_property
    def inclusion(self) -> Array:
        """`P(i in S)`."""
        return np.asarray((self.shares @ self.chances).real)

    @cached_property
    def pairs(self) -> Array:
        """`P(i in S and j in S)`."""
        found = np.asarray((self.chances.T @ (self.shares[:, None] * self.chances)).real)
        np.fill_diagonal(found, self.inclusion)
        return found

    def mean(self, values: Any) -> float:
        """Mean of what has these means under each root."""
        return float((self.shares @ values).real)


def slab(log_weights: Array, lengths: Array, size: int) -> Slab:
    """Law for these weights, which are first tilted by `exp(shift lengths)` to make the size typical.

    The law does not change, and the sum over roots loses no digits then. The number of roots is odd, so that none
    is -1, and large enough for no other total to alias with the size.

    >>> law = slab(np.log([1.0, 2.0, 3.0]), np.ones(3), 2)
    >>> law.inclusion.round(12), round(np.exp(law.log_total), 9)
    (array([0.45454545, 0.72727273, 0.81818182]), np.float64(11.0))
    """
    shift = typical_shift(log_weights, lengths, size)
    # Far beyond what counts, and short of overflow.
    weights = np.exp(np.clip(log_weights + shift * lengths, -700, 700))
    count = max(size, int(lengths.sum()) - size) // 2 * 2 + 3
    angles = 2j * np.pi * np.arange(count // 2 + 1) / count
    odds = weights * np.exp(angles[:, None] * lengths)
    logs = np.log1p(odds).sum(axis=1)
    terms = np.exp(logs - logs[0].real - angles * size) * np.where(angles == 0, 1.0, 2.0) / count
    # Where hardly any draw has the size, digits are lost; the terms times the total are as good as before even so.
    total = max(float(terms.real.sum()), 1e-200)
    log_total = float(np.log(total) + logs[0].real - shift * size)
    return Slab(terms / total, odds / (1 + odds), log_total)


def typical_shift(log_weights: Array, lengths: Array, size: int) -> float:
    """Tilt at which independent draws have the size as mean total length, by bisection."""
    reach = 50 + float(np.abs(log_weights).max())
    low, high = -reach, reach
    for _ in range(50):
        middle = (low + high) / 2
        below = lengths @ (1 + np.tanh((log_weights + middle * lengths) / 2)) < 2 * size
        low, high = (middle, high) if below else (low, middle)
    return low
