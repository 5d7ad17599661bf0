"""Candidate itemsets of one length: how they are generated, how probably they are frequent, which are reported.

Candidates are generated level by level (R. Agrawal & R. Srikant 1994, Proc. VLDB, 487-499, join and prune). The sets of
one length are rows in lexicographic order, of indices of the items that survived alone. Each row also stores the
row numbers, one length down, of its subsets without one item, so that a joined set and all of its subsets are found by
one look-up of integers for each item.

Estimates near the threshold are selected because they are high, and there are always more sets just below a support
than above it, so that selected estimates are too high on average (Eddington's bias, 1913). Near the threshold the
supports of candidates of one length are taken to follow a power law, with density proportional to `s^-(alpha + 1)`,
alpha by Hill's estimator (1975) from the estimates of that length. Locally that is an exponential of slope
`lambda = (alpha + 1) / s`, under which an estimate x with standard error e has the posterior

    s | x  ~  normal with mean x - lambda e^2 and standard deviation e

(Robbins 1956, Efron 2011: Tweedie's formula). Intervals subtract the bias `lambda e^2`. It is that of sets selected by
their own estimates. Where subsets contribute to the decision, what matters is the covariance of a set's noise with the
smoothed support, half of e^2 at length 3 and little of it at 5 and 6 (`smoothing`): nothing is subtracted.

Measured at .3 % on BMS-WebView-2 repeated ten times under p = .5051, q = .9696 (40 disguises), supports of the reported
sets of 1 to 6 items are too high by .18, .12, .17, .19, .41 and .55 standard errors on average, and 95 % intervals
cover 94.8, 94.9, 94.9, 94.8, 93.5 and 93.4 % of the true supports; on synthetic baskets, 200,000 to a million of them
at .3 and .5 % (16 disguises each), by -.02 to .47, and they cover 93.1 to 96.5 % at every length at which any set is
frequent. Where none is, all reported sets are false: intervals covered 11 of 18 such sets, which were 1.2 standard
errors too high (`benchmarks.itemsets.intervals`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import erfc, sqrt
from numbers import Real
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

LengthProgress = Callable[[int, int, int], object]
"""Called with a length, the number of its candidates estimated so far, and how many there are at most.

Length 0 stands for the fits of a model."""


@dataclass(frozen=True)
class Recall:
    """Report every set whose estimate is above `min_support - z se`, z the normal quantile of `probability`.

    A frequent set then passes its own test with at least this probability; .5 is the threshold itself.

    >>> Recall(0.9).deviations
    1.2815515655446008
    """

    probability: float

    def __post_init__(self) -> None:
        """Check the probability."""
        value: Any = self.probability
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.5 <= float(value) < 1:
            raise SottovoceError("recall", "must be at least .5, which is the threshold itself, and below 1", value)

    @property
    def deviations(self) -> float:
        """Normal quantile of the probability."""
        return NormalDist().inv_cdf(float(self.probability))


Selection = Literal["smoothed", "threshold"] | Recall
"""How sets are selected; see `frequent_itemsets`."""


def checked_selection(value: Any) -> Selection:
    """Return "smoothed", "threshold" or a `Recall`."""
    if isinstance(value, Recall):
        return value
    if value not in ("smoothed", "threshold"):
        raise SottovoceError("selection", "must be 'smoothed', 'threshold' or a Recall such as Recall(.9)", value)
    return "smoothed" if value == "smoothed" else "threshold"


@dataclass(frozen=True)
class Search:
    """Settings of a search for frequent itemsets."""

    min_support: float
    selection: Selection
    target: Target
    longest: int
    progress: LengthProgress | None = None
    tuning: Tuning = DEFAULT_TUNING
    searched: dict[int, int] = field(default_factory=dict)
    """Candidates of each length that were estimated, filled in by the search."""

    @cached_property
    def deviations(self) -> float:
        """Standard errors below the threshold down to which sets are kept, to be reported or extended."""
        if isinstance(self.selection, Recall):
            return self.selection.deviations
        return self.tuning.extend_within if self.selection == "smoothed" else 0.0

    def report_progress(self, length: int, done: int, total: int) -> None:
        """Call the progress function, if there is one."""
        if self.progress is not None:
            self.progress(length, done, total)

    def standard_error(self, first: Array, second: Array, rows: int) -> Array:
        """Standard errors from the means of the reports' scores and of their squares: see `estimates.supports`."""
        centre = first if self.target == "table" else first**2
        return np.asarray(np.sqrt(np.maximum(second - centre, 0) / rows))

    def near_threshold(self, support: Array, error: Array) -> Mask:
        """Mask of the sets above the threshold less the allowed deviation."""
        # With no allowance, estimates without standard errors (nan) can be mined, too.
        allowed = self.deviations * error if self.deviations else 0.0
        return np.asarray(support + allowed >= self.min_support)

    def select(self, support: Array, error: Array) -> Mask:
        """Mask of the sets to report, judged by their own estimates."""
        if self.selection != "smoothed":
            return self.near_threshold(support, error)
        return select_probable(posterior(support, error, self.min_support, self.tuning).deviations, self.tuning)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Sets of one length: `items[c, i]`, and `subsets[c, i]`, the row of c without its i-th item, one length down."""

    items: Indices
    subsets: Indices

    @classmethod
    def single_items(cls, count: int) -> "Candidates":
        """Return sets of one item; without it each is the empty set."""
        return cls(np.arange(count)[:, None], np.zeros((count, 1), np.int64))

    @classmethod
    def concatenate(cls, parts: Sequence["Candidates"], length: int) -> "Candidates":
        """Return the sets of all parts, which follow each other in order; there may be none."""
        nothing = np.zeros((0, length), np.int64)
        items = np.concatenate([nothing, *(part.items for part in parts)])
        return cls(items, np.concatenate([nothing, *(part.subsets for part in parts)]))

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self.items)

    @property
    def length(self) -> int:
        """Number of items of each set."""
        return int(self.items.shape[1])

    def select(self, kept: Mask) -> "Candidates":
        """Return the sets of a mask, in the same order."""
        return Candidates(self.items[kept], self.subsets[kept])

    def extend(self, at_once: int = DEFAULT_TUNING.candidates_at_once) -> Iterator["Candidates"]:
        """Yield the sets of one more item all of whose subsets are here, in order, about `at_once` at a time.

        >>> [longer.items.tolist() for longer in Candidates.single_items(3).extend()]
        [[[0, 1], [0, 2], [1, 2]]]
        """
        for first, last in batches(self._partners, at_once):
            longer = self._extend_rows(np.arange(first, last), self._partners[first:last])
            if len(longer):
                yield longer

    @property
    def most_extensions(self) -> int:
        """Number of extended sets before those that lack a subset are pruned."""
        return int(self._partners.sum())

    @cached_property
    def _partners(self) -> Indices:
        """Number of later sets that share all but the last item with each set."""
        prefixes = self.subsets[:, -1]
        return np.asarray(np.searchsorted(prefixes, prefixes, side="right") - np.arange(len(self)) - 1)

    def _extend_rows(self, rows: Indices, partners: Indices) -> "Candidates":
        """Join each of these sets with the later ones that share its prefix; prune those that lack a subset."""
        left = np.repeat(rows, partners)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
        last = self.items[right, -1]
        keys, bound = self._keys()
        subsets = np.empty((len(left), self.length + 1), np.int64)
        subsets[:, -1], subsets[:, -2] = left, right
        complete = np.ones(len(left), bool)
        for position in range(self.length - 1):
            wanted = self.subsets[left, position] * bound + last
            subsets[:, position] = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            complete &= keys[subsets[:, position]] == wanted
        items = np.concatenate([self.items[left], last[:, None]], axis=1)
        return Candidates(items[complete], subsets[complete])

    def _keys(self) -> tuple[Indices, int]:
        """Ascending integer key of each set, from the row of its prefix and its last item."""
        bound = int(self.items[:, -1].max()) + 1
        return self.subsets[:, -1] * bound + self.items[:, -1], bound


def batches(sizes: Indices, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows whose sizes sum to at most `most`; a single row may exceed it.

    >>> list(batches(np.array([2, 2, 2, 9]), most=4))
    [(0, 2), (2, 3), (3, 4)]
    """
    totals, first = np.cumsum(sizes), 0
    while first < len(sizes):
        before = totals[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(totals, before + most, side="right")))
        yield first, last
        first = last


@dataclass(frozen=True, eq=False)
class Level:
    """Reported sets of one length: indices of their items, supports and standard errors.

    `probability` is that of being frequent where more than a set's own support decided, else None. With `by_model`
    supports come from a model, and probabilities follow from them. `shown` are shrunken supports (`shrinkage`), None
    until they are needed.
    """

    items: Indices
    support: Array
    standard_error: Array
    probability: Array | None = None
    by_model: bool = False
    shown: Array | None = None

    @property
    def selected_by_support(self) -> bool:
        """Whether the reported support itself decided, so that reported supports are too high on average."""
        return self.probability is None or self.by_model

    def select(self, kept: Mask) -> "Level":
        """Return the sets of a mask."""
        probability, shown = (None if each is None else each[kept] for each in (self.probability, self.shown))
        return Level(self.items[kept], self.support[kept], self.standard_error[kept], probability, self.by_model, shown)


def highest_superset_support(levels: Sequence[Level]) -> list[Array]:
    """Return, for each set, the highest support of a set with one item more; minus infinity where there is none.

    >>> single = Level(np.array([[0], [1], [2]]), np.array([0.5, 0.6, 0.3]), np.zeros(3))
    >>> highest_superset_support([single, Level(np.array([[0, 1]]), np.array([0.4]), np.zeros(1))])
    [array([ 0.4,  0.4, -inf]), array([-inf])]
    """
    highest = [np.full(len(level.items), -np.inf) for level in levels]
    for index, (short, long) in enumerate(pairwise(levels)):
        rows = {items: row for row, items in enumerate(map(tuple, short.items.tolist()))}
        for items, support in zip(long.items.tolist(), long.support.tolist(), strict=True):
            for left_out in range(len(items)):
                row = rows.get((*items[:left_out], *items[left_out + 1 :]))
                if row is not None:
                    highest[index][row] = max(highest[index][row], support)
    return highest


@dataclass(frozen=True, eq=False)
class Posterior:
    """Estimates of sets of one length, with the bias of having been selected, under the power law."""

    support: Array
    standard_error: Array
    bias: Array
    min_support: float
    tuning: Tuning = DEFAULT_TUNING

    @cached_property
    def deviations(self) -> Array:
        """Distance of the corrected estimate above the threshold in standard errors; infinite where those are zero."""
        above = self.support - self.bias - self.min_support
        certain = np.where(above >= 0, np.inf, -np.inf)
        return np.divide(above, self.standard_error, out=certain, where=self.standard_error > 0)

    @cached_property
    def probability(self) -> Array:
        """Probability that each set is frequent."""
        return probability_frequent(self.deviations, self.tuning)


def posterior(support: Array, standard_error: Array, min_support: float, tuning: Tuning = DEFAULT_TUNING) -> Posterior:
    """Return the posterior of candidates of one length under the power law that their estimates suggest.

    >>> sets = posterior(np.array([0.01, 0.03, 0.05]), np.array([0.004] * 3), min_support=0.02)
    >>> sets.probability.round(3), sets.bias.round(4)
    (array([0.002, 0.986, 1.   ]), array([0.0018, 0.0012, 0.0007]))
    """
    slope = (hill_exponent(support, min_support, tuning) + 1) / np.maximum(support, min_support)
    return Posterior(support, standard_error, slope * standard_error**2, min_support, tuning)


def hill_exponent(support: Array, threshold: float, tuning: Tuning = DEFAULT_TUNING) -> float:
    """Return the exponent of the tail above a threshold: `(n + 1) / (1 / prior + sum log(s / threshold))`.

    >>> round(hill_exponent(0.02 * np.random.default_rng(1).random(10_000) ** -0.5, 0.02), 1)
    2.0
    """
    tail = support[support >= threshold]
    return float((len(tail) + 1) / (1 / tuning.prior_exponent + np.log(tail / threshold).sum()))


def probability_frequent(deviations: Array, tuning: Tuning = DEFAULT_TUNING) -> Array:
    """Return the normal distribution function at each deviation; zero far below the threshold, and for nan.

    >>> probability_frequent(np.array([0.0, 1.645, -9, np.nan, np.inf])).round(3)
    array([0.5 , 0.95, 0.  , 0.  , 1.  ])
    """
    probability = np.zeros(len(deviations))
    (near,) = np.nonzero(deviations > tuning.negligible_deviation)
    probability[near] = [erfc(-z / sqrt(2)) / 2 for z in deviations[near].tolist()]
    return probability


def select_probable(deviations: Array, tuning: Tuning = DEFAULT_TUNING) -> Mask:
    """Return a mask of the sets that are probably frequent, and of others while few false ones are expected.

    With P the probability of each set to be frequent, the most probable are taken while the sum of 1 - P over them is
    at most `tuning.false_positives` times the sum of P over all, the expected number of frequent sets; but none whose
    deviation is below `tuning.lowest_deviation`.

    >>> deviations = np.array([3, 0.5, -0.1, 2, -3, 2.5])
    >>> select_probable(deviations, Tuning(false_positives=0.3))
    array([ True,  True,  True,  True, False,  True])
    >>> select_probable(deviations, Tuning(false_positives=0.01))
    array([ True,  True, False,  True, False,  True])
    """
    probability = probability_frequent(deviations, tuning)
    order = np.argsort(-deviations, kind="stable")
    few_false = np.zeros(len(order), bool)
    few_false[order] = np.cumsum(1 - probability[order]) <= tuning.false_positives * probability.sum()
    return np.asarray((deviations >= 0) | few_false & (deviations >= tuning.lowest_deviation))
