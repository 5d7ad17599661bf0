"""Subset selection as a set design: all sets of one size alike."""

from collections.abc import Callable

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.measures import mean_squared_error
from sottovoce.design.solution import SetComponent, SetDesign


def subset_design(categories: int, size: int, odds: float) -> SetDesign:
    """Sets of one size, those with the truth `odds` times as likely (M. Ye & A. Barg (2018), IEEE IT 64, 5662)."""
    ones = np.ones(categories)
    return SetDesign((SetComponent(1.0, size, ones, ones),), odds)


def best_subset_design(prior: Array, odds: float) -> tuple[SetDesign, float]:
    """The size with the least error, and the error; for a uniform prior it is next to `n / (odds + 1)`."""
    n = len(prior)
    middle = int(n / (odds + 1))
    sizes = range(max(1, middle - 1), min(n - 1, middle + 2) + 1)
    return _best(prior, [subset_design(n, size, odds) for size in sizes])


def best_subset_within(prior: Array, odds: float, allowed: Callable[[SetDesign], bool]) -> tuple[SetDesign, float]:
    """The design with the least error among the largest odds that are allowed for each of some sizes, and the error.

    Smaller odds want larger sets, so sizes go from those of the odds to half of the categories.
    """
    n = len(prior)
    sizes = np.unique(np.geomspace(max(1, n / (odds + 1)), n / 2, 8).round().astype(int))
    return _best(prior, [_largest_allowed(n, int(size), odds, allowed) for size in sizes])


def _largest_allowed(categories: int, size: int, odds: float, allowed: Callable[[SetDesign], bool]) -> SetDesign:
    """Bisection on the logarithm of the odds; what says nothing is allowed."""
    low, high = 0.0, float(np.log(odds))
    for _ in range(40):
        middle = (low + high) / 2
        fine = allowed(subset_design(categories, size, float(np.exp(middle))))
        low, high = (middle, high) if fine else (low, middle)
    return subset_design(categories, size, float(np.exp(low)))


def _best(prior: Array, designs: list[SetDesign]) -> tuple[SetDesign, float]:
    errors = [mean_squared_error(design, prior) for design in designs]
    best = int(np.argmin(errors))
    return designs[best], errors[best]
