"""Pearson's correlation of two attributes whose categories have scores, from their two-way table."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.functional import cells, checked_scores


@dataclass(frozen=True)
class PearsonCorrelation:
    """`C / sqrt(V W)` of two attributes with a score for each category: covariance C, variances V and W.

    With means m and w of the scores s and t, C has gradient `s_i t_j - w s_i - m t_j` and V has
    `s_i^2 - 2 m s_i`; the correlation follows by the quotient rule. Negative cells are welcome as long as
    both variances are positive.

    >>> PearsonCorrelation([0, 1], [0, 1]).value([0.5, 0, 0, 0.5])
    1.0
    """

    name = "correlation"

    rows: tuple[float, ...]
    columns: tuple[float, ...]

    def __init__(self, rows: Iterable[float], columns: Iterable[float]) -> None:
        """Read finite scores."""
        object.__setattr__(self, "rows", checked_scores("rows", rows))
        object.__setattr__(self, "columns", checked_scores("columns", columns))

    def value(self, p: Any) -> float:
        """Correlation of the scores."""
        (covariance, first, second), _ = self._moments(p)
        return float(covariance / np.sqrt(first * second))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        (covariance, first, second), (by_covariance, by_first, by_second) = self._moments(p)
        scale = np.sqrt(first * second)
        drop = covariance / (2 * scale) * (by_first / first + by_second / second)
        return np.asarray(by_covariance / scale - drop).ravel()

    def _moments(self, p: Any) -> tuple[tuple[float, float, float], tuple[Array, Array, Array]]:
        """Covariance and both variances, and their derivatives by every cell."""
        s, t = _centred(self.rows)[:, None], _centred(self.columns)[None, :]
        table = cells(p, (s.size, t.size)).reshape(s.size, t.size)
        m, w = float((table * s).sum()), float((table * t).sum())
        first, second = float((table * s**2).sum() - m**2), float((table * t**2).sum() - w**2)
        for parameter, variance, scores in (("rows", first, s), ("columns", second, t)):
            # A constant's variance is zero up to rounding, which would make a correlation of it.
            if variance <= 1e-12 * float((scores**2).max()):
                raise SottovoceError("p", f"must give the scores of the {parameter} a positive variance", variance)
        gradients = (s * t - w * s - m * t, (s**2 - 2 * m * s) + 0 * t, (t**2 - 2 * w * t) + 0 * s)
        return (float((table * s * t).sum() - m * w), first, second), gradients


def _centred(scores: tuple[float, ...]) -> Array:
    """Scores around zero: no correlation changes, and large ones, such as years, lose no digits."""
    array = np.array(scores)
    return np.asarray(array - array.mean())
