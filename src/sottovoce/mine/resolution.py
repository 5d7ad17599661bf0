"""The smallest support that reports can tell from none."""

import warnings
from collections.abc import Sequence

import numpy as np

from sottovoce.mine.level import Level

DEVIATIONS = 2.0
"""Standard errors that a support has to be away from zero to mean anything."""


class ResolutionWarning(UserWarning):
    """Supports as small as the threshold cannot be told from noise."""


def smallest_support(level: Level, rows: int) -> float:
    """Smallest meaningful support at a length: two standard errors of its sets, and one report of all.

    The median over the lower half of the sets is taken: near the threshold, not of the few large ones.

    >>> level = Level(np.arange(4)[:, None], np.array([0.1, 0.1, 0.2, 0.3]), np.array([0.01, 0.03, 0.04, 0.05]))
    >>> smallest_support(level, rows=1000)
    0.04
    """
    lower = level.support <= np.median(level.support)
    return float(max(DEVIATIONS * np.median(level.standard_error[lower]), 1 / rows))


def warn_below(min_support: float, levels: Sequence[Level], rows: int) -> None:
    """Warn of the first length at which the threshold is below what can be resolved."""
    for length, level in enumerate(levels, start=1):
        least = smallest_support(level, rows)
        if min_support < least:
            told = (
                f"min_support {min_support:g} is below what {rows} reports can resolve at length {length}: "
                f"there, supports under {least:.2g} cannot be told from none"
            )
            warnings.warn(told, ResolutionWarning, stacklevel=3)
            return
