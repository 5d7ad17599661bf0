"""Supports and their covariances from all-ones counts, without counting the 2^n subsets of every set.

The support of a set I is the mean over the reports of a score `f_I(y)`, a product over its items of
`(y_i - (1-q_i)) / d_i`, `d_i = p_i + q_i - 1`. Multiplied out, the sum of the scores is made of the all-ones
counts n_J, the numbers of reports with all items of J. With

    S_j(I) = sum over J in I of j items:  n_J prod_{i in J} b_i prod_{i in I, not J} a_i,

every subset of j < n items of I is in n - j of the subsets of I with n - 1 items, so that

    S_j(I) = 1 / (n - j) sum_i a_i S_j(I without i),    S_n(I) = n_I prod_{i in I} b_i:

O(n^2) for a set of n. If all items have the same coin, a = b = 1 and these sums are exact whole numbers; the support is
`sum_j S_j (-(1-q))^(n-j) / d^n` (Agrawal 2004, 3.3.4), and the mean squared score, which variances are made of,
`sum_j S_j (1-q)^(2(n-j)) (2q-1)^j / d^2n`. Nothing is clipped: longer sets need negative values, too.

The covariance of the supports of I and of a part A is `(mean f_I f_A - u) / N` over the N reports, u being the
support of I for the table and `support(I) support(A)` for the population (see `estimates.supports`). A score of one
item is a function of one bit, so that `f_i^2 = slope_i f_i + rest_i` and

    mean f_I f_A = sum over J in A of  prod_{i in J} slope_i prod_{i in A, not J} rest_i  support(J and I without A):

the supports of all subsets, which mining has found, suffice. In tables of categories the joint cells of the attributes
of I are estimated together, and supports and their covariance matrix are summed over the cells of a part: where
respondents are asked some of the attributes only, the support of a part alone comes from others as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array, Target
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.supports import subsets
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.mining.itemsets.selection import Candidates, Indices
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

Sums = NDArray[np.int64] | Array
"""`S_j` by part, set and j."""
Items = tuple[int, ...]

SupportTable = Mapping[Items, tuple[float, float]]
"""Support and standard error of each set, by the indices of its items."""

PartSupports = Callable[[Items, Items], tuple[Array, Array]]
"""Supports of a set and of the two parts it is split into, from the same reports, and their covariance matrix."""


@dataclass(frozen=True, eq=False)
class Coins:
    """Coin of each item; `ones` and `zeros` are the probabilities that a present and an absent item stay so."""

    bits: tuple[BitCoin, ...]

    @cached_property
    def ones(self) -> Array:
        """`P(1 | 1)` of each item."""
        return np.array([bit.one / bit.sides for bit in self.bits])

    @cached_property
    def zeros(self) -> Array:
        """`P(0 | 0)` of each item."""
        return np.array([(bit.sides - bit.zero) / bit.sides for bit in self.bits])

    @cached_property
    def channel(self) -> Channel:
        """Joint channel of all items."""
        return Flips((2,) * len(self.bits), self.bits).channel

    def select(self, items: Indices) -> "Coins":
        """Return the coins of some items."""
        return Coins(tuple(self.bits[item] for item in items))


def item_coins(plan: Plan, variable: ItemSet, alternatives: str = "") -> Coins:
    """Return the coins of all items; raise if they are not disguised one by one, with `alternatives` in the error."""
    group = plan.group_of(variable.name)
    if isinstance(group.mechanism, Flips):
        columns = plan.schema.project(group.attributes).columns_of(variable.name)
        return Coins(group.mechanism.bit_coins[columns])
    channel = plan.channel([variable.name])
    if channel.shape_in != (2,) or channel.n_out != 2:  # any mechanism disguises a single item by a coin
        rule = f"must be disguised item by item{alternatives}"
        raise SottovoceError(variable.name, rule, Words(group.scheme))
    one, zero = channel.entry(1, 1), channel.entry(1, 0)
    sides = lcm(one.denominator, zero.denominator)
    return Coins((BitCoin(int(one * sides), int(zero * sides), sides),))


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """How sums become estimates: `weights(n)[moment, part, j]`, of the scores f (moment 0) and of their squares (1).

    A part is a source of counts (one, or one for each size of transactions); if items have coins of their own, a
    moment. `absent[part, item]` and `present[part, item]` are a and b, None if they are all one. `held_square` is
    the mean of f^2 for an item that is present, None if nothing is disguised or if it depends on other items. `square`
    is (slope, rest) of `f^2 = slope f + rest` for single items, None if scores are not products over items. `coin` is
    the (p, q) that all items share, None if there is no such coin or if it is never flipped.
    """

    weights: Callable[[int], Array]
    longest: int
    absent: Array | None = None
    present: Array | None = None
    held_square: float | Array | None = None
    square: tuple[Any, Any] | None = None
    coin: tuple[float, float] | None = None

    def single_item_sums(self, counts: NDArray[np.int64], rows: NDArray[np.int64]) -> Sums:
        """Return the sums of single items, from `counts[part, item]` and the number of reports of each part."""
        if self.absent is None or self.present is None:
            return np.stack([np.broadcast_to(rows[:, None], counts.shape), counts], axis=-1)
        return np.stack([self.absent * rows[:, None], self.present * counts], axis=-1)

    def select(self, items: Indices) -> "Reconstruction":
        """Return the reconstruction for some of the items, numbered from 0."""
        if self.absent is None or self.present is None:
            return self
        held = None if self.held_square is None else np.asarray(self.held_square)[items]
        return Reconstruction(self.weights, self.longest, self.absent[:, items], self.present[:, items], held)

    @property
    def single_item_scores(self) -> tuple[Array, Array]:
        """The a and b of `f = a + b y` for single items: numbers, or arrays with one for each item."""
        if self.absent is None or self.present is None:
            absent, present = self.weights(1)[0, 0]
            return absent, present
        return self.absent[0], self.present[0]

    def extend_sums(self, sums: Sums, candidates: Candidates, counts: NDArray[np.int64]) -> Sums:
        """Return the sums of sets of one more item, from those of their subsets and their own all-ones counts."""
        length = candidates.length
        total = sum(self._scaled(sums, candidates, position) for position in range(length))
        highest = counts if self.present is None else counts * self.present[:, candidates.items].prod(axis=-1)
        shared = length - np.arange(length)
        lower = total // shared if sums.dtype.kind == "i" else total / shared
        return np.concatenate([lower, highest[..., None]], axis=-1)

    def moments(self, sums: Sums) -> tuple[Array, Array]:
        """Return the sums over the reports of the scores of each set, and of their squares."""
        weights = self.weights(sums.shape[-1] - 1)
        first, second = (np.einsum("pj,psj->s", moment, sums) for moment in weights)
        return first, second

    def _scaled(self, sums: Sums, candidates: Candidates, position: int) -> Sums:
        subset = sums[:, candidates.subsets[:, position]]
        return subset if self.absent is None else subset * self.absent[:, candidates.items[:, position], None]


def shared_coin(ones: float, zeros: float, longest: int) -> Reconstruction:
    """Return the reconstruction for items that share a coin, with `P(1 | 1) = ones` and `P(0 | 0) = zeros`.

    >>> shared_coin(0.9, 0.8, 9).weights(2)[0]
    array([[ 0.08163265, -0.40816327,  2.04081633]])
    """
    gap, noise = ones + zeros - 1, 1 - zeros

    def weights(length: int) -> Array:
        j = np.arange(length + 1)
        first = (-noise) ** (length - j) / gap**length
        second = noise ** (2.0 * (length - j)) * (2 * zeros - 1) ** j / gap ** (2 * length)
        return np.stack([first, second])[:, None]

    square = squared_score(ones, zeros)
    if ones == zeros == 1:
        return Reconstruction(weights, longest, square=square)
    return Reconstruction(weights, longest, held_square=sum(square), square=square, coin=(ones, zeros))


def coin_per_item(ones: Array, zeros: Array, longest: int) -> Reconstruction:
    """Return the reconstruction for items with different coins, whose scores are multiplied into the sums."""
    gap, noise = ones + zeros - 1, 1 - zeros
    absent = np.stack([-noise / gap, (noise / gap) ** 2])
    present = np.stack([1 / gap, (2 * zeros - 1) / gap**2])
    square = squared_score(ones, zeros)
    moment_of_part = np.eye(2)[:, :, None]
    return Reconstruction(lambda n: moment_of_part * np.ones(n + 1), longest, absent, present, sum(square), square)


def by_item_count(scores: Callable[[int], Sequence[Array]], longest: int) -> Reconstruction:
    """Return the reconstruction for scores that depend on the number of a set's items in a report.

    `scores(n)[part][number]` are those of sets of n items. A function g of the number is `sum_j C(number, j) D_j` with
    `D_j = sum_{a <= j} (-1)^(j-a) C(j, a) g(a)`, and the sum of `C(number, j)` over the reports is `S_j`.
    """

    def weights(length: int) -> Array:
        j = range(length + 1)
        differences = np.array([[(-1) ** (m - a) * comb(m, a) if a <= m else 0 for a in j] for m in j], float)
        values = np.stack([np.asarray(score, float) for score in scores(length)])
        return np.stack([values @ differences.T, values**2 @ differences.T])

    return Reconstruction(weights, longest)


def squared_score(ones: Any, zeros: Any) -> tuple[Any, Any]:
    """Return the slope and rest of `f^2 = slope f + rest` for a score f, which is q / d or -(1-q) / d."""
    gap = ones + zeros - 1
    return (2 * zeros - 1) / gap, zeros * (1 - zeros) / gap**2


class Covariances(Protocol):
    """Protocol for covariances of supports."""

    def of_set(self, items: Items, known: SupportTable, /) -> PartSupports:
        """Return a function for the supports of a set and any two parts of it, and their covariance matrix."""


@dataclass(frozen=True, eq=False)
class CoinCovariances:
    """Covariances of items with a coin each: `square` is (slope, rest) of `f_i^2 = slope_i f_i + rest_i`."""

    square: tuple[Any, Any]
    rows: int
    target: Target

    def of_set(self, items: Items, known: SupportTable, /) -> PartSupports:
        """Compute covariances from the supports of all subsets; variances from the standard errors."""
        means, whole = self.mean_products(items, known), known[items][0]

        def of_parts(first: Items, second: Items) -> tuple[Array, Array]:
            support, error = np.array([known[items], known[first], known[second]]).T
            crossed = [means[_membership(items, first)], means[_membership(items, second)], whole]
            centre = np.full(3, whole) if self.target == "table" else support[[0, 0, 1]] * support[[1, 2, 2]]
            return support, _matrix(error, (crossed - centre) / self.rows)

        return of_parts

    def mean_products(self, items: Items, known: SupportTable) -> Array:
        """Return the mean of `f_I f_A` for each subset A, with an axis of two for each item: whether it is in A.

        >>> known = {(0,): (0.4, 0), (1,): (0.3, 0), (0, 1): (0.2, 0)}
        >>> CoinCovariances((2.0, 0.5), 100, "table").mean_products((0, 1), known)  # .6 is 2 * .2 + .5 * .4
        array([[0.2 , 0.6 ],
               [0.55, 1.75]])
        """
        slope, rest = (np.broadcast_to(part, max(items) + 1) if np.ndim(part) == 0 else part for part in self.square)
        means = np.array([known[subset][0] if subset else 1.0 for subset in subsets(items)]).reshape([2] * len(items))
        for axis, item in enumerate(items):
            without, within = np.moveaxis(means, axis, 0)
            means = np.stack([within, rest[item] * without + slope[item] * within], axis=axis)
        return means


@dataclass(frozen=True, eq=False)
class ModelCovariances:
    """Covariances of sets of items whose longer sets were estimated by a model.

    The covariance of a set I of n items and a part of k is proportional to the support of I: the factor `ratios[n, k]`
    comes from `parametric_bootstrap`. Parts without a common item share no coin, so that little but sampling makes them
    covary: `(support(I) - support(A) support(C)) / N`. Lengths that were not modelled have the covariances of `coins`.
    """

    coins: CoinCovariances
    ratios: Mapping[tuple[int, int], float]

    def of_set(self, items: Items, known: SupportTable, /) -> PartSupports:
        """Compute covariances from the support of the set, and variances from the standard errors."""
        if (len(items), 1) not in self.ratios:
            return self.coins.of_set(items, known)

        def of_parts(first: Items, second: Items) -> tuple[Array, Array]:
            support, error = np.array([known[items], known[first], known[second]]).T
            whole, *parts = support
            common = [self.ratios[len(items), len(part)] * whole for part in (first, second)]
            return support, _matrix(error, [*common, (whole - np.prod(parts)) / self.coins.rows])

        return of_parts


def _matrix(error: Array, crossed: Array | list[float]) -> Array:
    """Build a matrix from three standard errors and the covariances (0, 1), (0, 2) and (1, 2)."""
    matrix = np.diag(error**2)
    matrix[[0, 0, 1], [1, 2, 2]] = crossed
    return matrix + np.triu(matrix, 1).T


def _membership(items: Items, part: Items) -> tuple[int, ...]:
    return tuple(int(item in part) for item in items)
