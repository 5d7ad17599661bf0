"""Which candidates survive: by a fixed chance of frequent ones to pass, or as many as few false ones allow."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.estimate.spread import Target
from sottovoce.mine.significance import chances, judged

Mask = NDArray[np.bool_]

Progress = Callable[[int, int, int], None]
"""Is told a length, how many of its candidates were judged so far, and how many there are at the most.

Length 0 stands for the fits of a model."""

GROWING = 1.3
"""Standard errors below the threshold down to which sets are grown into longer ones, reported or not."""

GROWING_SMOOTHED = 2.0
"""The same for smoothed supports, in their spreads, which are less."""

LOWEST = 0.84
"""Standard errors below the threshold down to which a set may be reported: a frequent one is by 80 % at least."""

FALSE_POSITIVES = 0.08
"""False sets expected at a length, in parts of the frequent ones, beyond those that are likelier frequent than not.

Chosen among .05, .08 and .1 on ten disguises each of BMS-WebView-1 and -2, T10I4D100K and two synthetic data sets, for
false ones to be less than a tenth at lengths 4 to 6; docs/mining.md has what others gave."""


@dataclass(frozen=True)
class Search:
    """What survives: sets within so many standard errors of the threshold, or those that few false ones come with.

    `false_positives` is the number of sets wrongly reported, in parts of the frequent ones, that a length may have in
    expectation; where it is given it decides, and `deviations` only how far below the threshold sets are grown.
    """

    min_support: float
    deviations: float
    target: Target
    longest: int
    progress: Progress | None = None
    false_positives: float | None = None

    def told(self, length: int, done: int, total: int) -> None:
        """Report progress where somebody listens."""
        if self.progress is not None:
            self.progress(length, done, total)

    def standard_error(self, first: Array, second: Array, rows: int) -> Array:
        """From the means of what reports count for, and of its square: see `estimate.pooled`."""
        own = first if self.target == "table" else first**2
        return np.asarray(np.sqrt(np.maximum(second - own, 0) / rows))

    def near(self, support: Array, error: Array) -> Mask:
        """Sets near enough to the threshold, or above it."""
        # Where the bare threshold decides, estimates without standard errors can be mined, too.
        allowed = self.deviations * error if self.deviations else 0.0
        return np.asarray(support + allowed >= self.min_support)

    def reported(self, support: Array, error: Array) -> Mask:
        """Sets that are reported, by their own estimates."""
        if self.false_positives is None:
            return self.near(support, error)
        return surest(judged(support, error, self.min_support).deviations, self.false_positives)


def surest(deviations: Array, false_positives: float) -> Mask:
    """Sets that are likelier frequent than not, and as many others as bring few false ones.

    With P the probability of each to be frequent, the normal law of its deviations, the surest are taken while the sum
    of 1 - P over them is at most `false_positives` times the sum of P over all, so that false ones are expected to be
    so few in parts of the frequent ones; but none that deviates by less than -.84, which a frequent one does with
    probability .2.

    >>> surest(np.array([3, 0.5, -0.1, 2, -3, 2.5]), 0.3)
    array([ True,  True,  True,  True, False,  True])
    >>> surest(np.array([3, 0.5, -0.1, 2, -3, 2.5]), 0.01)
    array([ True,  True, False,  True, False,  True])
    """
    probability = chances(deviations)
    order = np.argsort(-deviations, kind="stable")
    few = np.zeros(len(order), bool)
    few[order] = np.cumsum(1 - probability[order]) <= false_positives * probability.sum()
    return np.asarray((deviations >= 0) | few & (deviations >= -LOWEST))
