"""Which candidates survive, and how sure it is that they are frequent.

Estimates near the threshold are picked because they are high, and there are always more sets just below a support
than above it, so that picked estimates are too high on the average (Eddington's bias, 1913). The prior says how many
more: near the threshold the supports of candidates of one length follow a power law, with density in proportion to
`s^-(alpha + 1)`, alpha by Hill's estimator (1975) from the estimates of that length themselves. Locally that is an
exponential of slope `lambda = (alpha + 1) / s`, under which an estimate x with standard error e leaves

    s | x  ~  normal with mean x - lambda e^2 and standard deviation e

(Robbins 1956, Efron 2011: Tweedie's formula). `lambda e^2` is the bias that is taken off in intervals. It is that of
sets picked by their own estimates. Where subsets decide as well, what counts is the covariance of a set's noise with
what it was judged by, a half of e^2 at length 3 and little of it at 5 and 6 (`smoothing`): nothing is taken off.
Measured at .3 % on BMS-WebView-2 ten times over under p = .5051, q = .9696 (40 disguises), sets of 1 to 6 items that
survive by default are too high by .18, .12, .17, .19, .41 and .55 standard errors on the average, and 95 % intervals
cover 94.8, 94.9, 94.9, 94.8, 93.5 and 93.4 % of the supports; on synthetic baskets, 200,000 to a million of them at .3
and .5 % (16 disguises each), by -.02 to .47, and they cover 93.1 to 96.5 % at every length at which a set is frequent.
Where none is, what survives is false: of 18 such sets, 1.2 too high, they cover 11 (`benchmarks.itemsets.intervals`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.estimates.covariance import Target

FAR = 4.0
"""Standard errors below the threshold from which on a set is taken not to be frequent."""

GUESS = 1.0
"""Exponent of the power law before anything was seen, as Zipf's; it weighs as much as one set."""
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


@dataclass(frozen=True, eq=False)
class Judged:
    """Estimates of sets of one length, their standard errors, and the bias of having been picked."""

    support: Array
    standard_error: Array
    bias: Array
    min_support: float

    @cached_property
    def deviations(self) -> Array:
        """Standard errors by which the corrected estimate exceeds the threshold; infinite where nothing is hidden."""
        above = self.support - self.bias - self.min_support
        certain = np.where(above >= 0, np.inf, -np.inf)
        return np.divide(above, self.standard_error, out=certain, where=self.standard_error > 0)

    @cached_property
    def probability(self) -> Array:
        """Probability that each set is truly frequent, under the power law."""
        return chances(self.deviations)


def judged(support: Array, standard_error: Array, min_support: float) -> Judged:
    """Judge candidates of one length by the power law that they follow.

    >>> found = judged(np.array([0.01, 0.03, 0.05]), np.array([0.004] * 3), min_support=0.02)
    >>> found.probability.round(3), found.bias.round(4)
    (array([0.002, 0.986, 1.   ]), array([0.0018, 0.0012, 0.0007]))
    """
    slope = (hill_exponent(support, min_support) + 1) / np.maximum(support, min_support)
    return Judged(support, standard_error, slope * standard_error**2, min_support)


def hill_exponent(support: Array, threshold: float) -> float:
    """Exponent of the tail above a threshold: `(n + 1) / (1 / guess + sum log(s / threshold))`.

    >>> round(hill_exponent(0.02 * np.random.default_rng(1).random(10_000) ** -0.5, 0.02), 1)
    2.0
    """
    tail = support[support >= threshold]
    return float((len(tail) + 1) / (1 / GUESS + np.log(tail / threshold).sum()))


def chances(deviations: Array) -> Array:
    """Normal law at each deviation; none far below the threshold, and for what is not a number.

    >>> chances(np.array([0.0, 1.645, -9, np.nan, np.inf])).round(3)
    array([0.5 , 0.95, 0.  , 0.  , 1.  ])
    """
    found = np.zeros(len(deviations))
    (near,) = np.nonzero(deviations > -FAR)
    found[near] = [erfc(-z / sqrt(2)) / 2 for z in deviations[near].tolist()]
    return found


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
        """From the means of what reports count for, and of its square: see `estimates.supports`."""
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
