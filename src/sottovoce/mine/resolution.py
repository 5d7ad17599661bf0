"""The smallest support that reports can tell from none."""

import warnings
from collections.abc import Sequence

import numpy as np

from sottovoce.mine.level import Level

DEVIATIONS = 2.0
"""Standard errors that a support has to be away from zero to mean anything."""


SHOWN = 3
"""Sets of attributes that a warning names."""


class ResolutionWarning(UserWarning):
    """Reports do not tell what was asked: supports so small, sets so long, attributes that were not asked together."""


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


def warn_of_length(levels: Sequence[Level], most: int, wanted: int) -> None:
    """Warn where longer sets were wanted, and could be there, than the disguise lets anyone recover."""
    if len(levels) == most < wanted and len(levels[-1].items) > most:
        told = f"of sets of more than {most} items such reports tell nothing: longer ones are not looked for"
        warnings.warn(told, ResolutionWarning, stacklevel=3)


def warn_of_unasked(sets: Sequence[Sequence[str]]) -> None:
    """Warn where nothing is known of sets that could be frequent because nobody was asked about all of their items."""
    if sets:
        shown = "; ".join([*(", ".join(names) for names in sets[:SHOWN]), *(["..."] if len(sets) > SHOWN else [])])
        told = (
            f"of attributes not asked together nothing is known without a model (modelled_itemsets, --model): {shown}"
        )
        warnings.warn(told, ResolutionWarning, stacklevel=3)
