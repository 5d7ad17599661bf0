"""Subset selection as a set design: all sets of one size alike."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.measures import mean_squared_error
from sottovoce.design.solution import SetComponent, SetDesign


def subset_design(categories: int, size: int, odds: float) -> SetDesign:
    """Sets of one size, those with the truth `odds` times as likely (M. Ye & A. Barg (2018), IEEE IT 64, 5662)."""
    ones = np.ones(categories)
    return SetDesign((SetComponent(1.0, size, ones, ones),), odds)


def best_subset_design(prior: Array, odds: float) -> tuple[SetDesign, float]:
    """The size with the least error, and the error; the best size is next to `n / (odds + 1)` for a uniform prior."""
    n = len(prior)
    middle = int(n / (odds + 1))
    sizes = range(max(1, middle - 1), min(n - 1, middle + 2) + 1)
    found = [
        (mean_squared_error(design, prior), size, design) for size in sizes for design in [subset_design(n, size, odds)]
    ]
    error, _, design = min(found)
    return design, error
