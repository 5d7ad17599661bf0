"""Functionals of a two-by-two table: two groups in its rows, and in its second column those with the outcome.

p has the cells `(p00, p01, p10, p11)`, or is the table.
"""

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.functional import cells, positive

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])


@dataclass(frozen=True)
class LogOddsRatio:
    """`ln(p00 p11 / (p01 p10))`, gradient `1 / p00, -1 / p01, -1 / p10, 1 / p11`.

    Not defined for an estimate with a cell that is zero or negative.

    >>> round(LogOddsRatio().value([0.4, 0.1, 0.1, 0.4]), 6)
    2.772589
    """

    name = "log odds ratio"

    def value(self, p: Any) -> float:
        """Natural logarithm of the odds ratio."""
        return float(_SIGNS @ np.log(positive(cells(p, (2, 2)), "odds ratio")))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return _SIGNS / positive(cells(p, (2, 2)), "odds ratio")


@dataclass(frozen=True)
class OddsRatio:
    """`p00 p11 / (p01 p10)`, gradient the ratio times that of its logarithm.

    Skewed, and never negative: intervals are better made for `LogOddsRatio` and turned back.

    >>> round(OddsRatio().value([0.4, 0.1, 0.1, 0.4]), 6)
    16.0
    """

    name = "odds ratio"

    def value(self, p: Any) -> float:
        """Odds of the outcome in the second group over those in the first."""
        return exp(LogOddsRatio().value(p))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return self.value(p) * LogOddsRatio().gradient(p)


@dataclass(frozen=True)
class RiskDifference:
    """`p11 / (p10 + p11) - p01 / (p00 + p01)`: the outcome's share in the second group less that in the first.

    With the sums g of a group, a cell with the outcome has the derivative `p_i0 / g_i^2` and one
    without it `-p_i1 / g_i^2`, with the sign of the group. Negative cells are welcome as long as both
    groups have a positive sum.

    >>> round(RiskDifference().value([0.4, 0.1, 0.1, 0.4]), 6)
    0.6
    """

    name = "risk difference"

    def value(self, p: Any) -> float:
        """Difference of two shares."""
        table, groups = _groups(p)
        first, second = table[:, 1] / groups
        return float(second - first)

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        table, groups = _groups(p)
        derivative = np.stack([-table[:, 1], table[:, 0]], axis=1) / groups[:, None] ** 2
        return (derivative * [[-1.0], [1.0]]).ravel()


def _groups(p: Any) -> tuple[Array, Array]:
    table = cells(p, (2, 2)).reshape(2, 2)
    groups = table.sum(axis=1)
    if groups.min() <= 0:
        raise SottovoceError("p", "must have a positive sum in both rows", float(groups.min()))
    return table, groups
