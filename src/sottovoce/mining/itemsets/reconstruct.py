"""Supports and their covariances from all-ones counts, without the 2^n subsets of a set.

A report counts for `f_I(y)` towards the support of I, a product over its items: `(y_i - (1-q_i)) / d_i`,
`d_i = p_i + q_i - 1`. Written in products of bits, the sum of f over the reports is made of the numbers n_J of
reports with all of J. With

    S_j(I) = sum over J in I of j items:  n_J prod_{i in J} b_i prod_{i in I, not J} a_i,

every subset of j < n items of I is in n - j of the sets that I becomes by losing an item, so that

    S_j(I) = 1 / (n - j) sum_i a_i S_j(I without i),    S_n(I) = n_I prod_{i in I} b_i:

O(n^2) for a set of n. Where all items have the same coin a = b = 1 and these are whole numbers, exact; the estimate is
`sum_j S_j (-(1-q))^(n-j) / d^n` (Agrawal 2004, 3.3.4), and the mean square of f, of which variances are made,
`sum_j S_j (1-q)^(2(n-j)) (2q-1)^j / d^2n`. Nothing is clipped: what is below zero is needed further up.

The covariance of the supports of I and of a part A is `(mean f_I f_A - u) / N` over the reports, u being the
support of I for the table and `support(I) support(A)` for the population (see `estimates.supports`). Where f is a
product over items, each a function of one bit, `f_i^2 = slope_i f_i + rest_i`, so that

    mean f_I f_A = sum over J in A of  prod_{i in J} slope_i prod_{i in A, not J} rest_i  support(J and I without A):

no report is looked at again, for mining has found the supports of all subsets. In tables the joint cells of the
attributes of I are estimated together, and their covariance matrix is summed up over the cells of a part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.supports import subsets
from sottovoce.mining.itemsets.candidates import Family, Numbers
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

Sums = NDArray[np.int64] | Array
"""`S_j` by part, set and j."""
Items = tuple[int, ...]

Known = Mapping[Items, tuple[float, float]]
"""Support and standard error of each set that was found, by the numbers of its items."""

OfParts = Callable[[Items, Items], Array]
"""Covariance matrix of the supports of a set and of the two parts it is cut into."""


@dataclass(frozen=True, eq=False)
class Coins:
    """Channel of each item, and the probabilities that a one and a zero are reported as they are."""

    factors: tuple[Channel, ...]
    ones: Array
    zeros: Array

    @cached_property
    def channel(self) -> Channel:
        """All items side by side."""
        return Kronecker(self.factors)

    def chosen(self, items: Numbers) -> "Coins":
        """Coins of some items."""
        return Coins(tuple(self.factors[item] for item in items), self.ones[items], self.zeros[items])


def coins_of(plan: Plan, variable: ItemSet, more: str = "") -> Coins:
    """Coins of all items; refused where reports do not split into items, with `more` on what would do."""
    channel = plan.channel([variable.name])
    factors = channel.factors if isinstance(channel, Kronecker) else (channel,)
    if any(factor.shape_in != (2,) or factor.n_out != 2 for factor in factors):
        scheme = Words(plan.group_of(variable.name).scheme)
        raise SottovoceError(variable.name, f"must be disguised item by item{more}", scheme)
    ones, zeros = (np.array([float(factor.entry(bit, bit)) for factor in factors]) for bit in (1, 0))
    return Coins(factors, ones, zeros)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """How sums become estimates: `weights(n)[moment, part, j]`, the first moment f, the second its square.

    A part is a source of counts (one, or one for each size of transactions); where items have coins of their own, a
    moment. `absent[part, item]` and `present[part, item]` are a and b, None where they are all one. `held_square` is
    the mean of f^2 for an item that is there, None where nothing is hidden or it depends on other items. `square` is
    (slope, rest) of `f^2 = slope f + rest` for single items, None where sets are no products of items. `coin` is the
    (p, q) that all items share and that hides something, None where there is no such.
    """

    weights: Callable[[int], Array]
    longest: int
    absent: Array | None = None
    present: Array | None = None
    held_square: float | Array | None = None
    square: tuple[Any, Any] | None = None
    coin: tuple[float, float] | None = None

    def of_singles(self, counts: NDArray[np.int64], rows: NDArray[np.int64]) -> Sums:
        """Sums of single items, from `counts[part, item]` and the reports of each part."""
        if self.absent is None or self.present is None:
            return np.stack([np.broadcast_to(rows[:, None], counts.shape), counts], axis=-1)
        return np.stack([self.absent * rows[:, None], self.present * counts], axis=-1)

    def chosen(self, items: NDArray[np.int64]) -> "Reconstruction":
        """The same for some of the items, numbered anew."""
        if self.absent is None or self.present is None:
            return self
        held = None if self.held_square is None else np.asarray(self.held_square)[items]
        return Reconstruction(self.weights, self.longest, self.absent[:, items], self.present[:, items], held)

    @property
    def line(self) -> tuple[Array, Array]:
        """The a and b of `f = a + b y` for single items: numbers, or one for each item."""
        if self.absent is None or self.present is None:
            absent, present = self.weights(1)[0, 0]
            return absent, present
        return self.absent[0], self.present[0]

    def grown(self, sums: Sums, family: Family, counts: NDArray[np.int64]) -> Sums:
        """Sums of sets of one more item, from those of the sets without each item and their own counts."""
        length = family.length
        total = sum(self._scaled(sums, family, place) for place in range(length))
        own = counts if self.present is None else counts * self.present[:, family.items].prod(axis=-1)
        shared = length - np.arange(length)
        below = total // shared if sums.dtype.kind == "i" else total / shared
        return np.concatenate([below, own[..., None]], axis=-1)

    def moments(self, sums: Sums) -> tuple[Array, Array]:
        """Sum over the reports of f, and of its square, for each set."""
        weights = self.weights(sums.shape[-1] - 1)
        first, second = (np.einsum("pj,psj->s", own, sums) for own in weights)
        return first, second

    def _scaled(self, sums: Sums, family: Family, place: int) -> Sums:
        found = sums[:, family.without[:, place]]
        return found if self.absent is None else found * self.absent[:, family.items[:, place], None]


def equal_coins(ones: float, zeros: float, longest: int) -> Reconstruction:
    """Items that share a coin: kept with `ones` if present, with `zeros` if absent.

    >>> equal_coins(0.9, 0.8, 9).weights(2)[0]
    array([[ 0.08163265, -0.40816327,  2.04081633]])
    """
    gap, noise = ones + zeros - 1, 1 - zeros

    def weights(length: int) -> Array:
        j = np.arange(length + 1)
        first = (-noise) ** (length - j) / gap**length
        second = noise ** (2.0 * (length - j)) * (2 * zeros - 1) ** j / gap ** (2 * length)
        return np.stack([first, second])[:, None]

    square = square_of(ones, zeros)
    if ones == zeros == 1:
        return Reconstruction(weights, longest, square=square)
    return Reconstruction(weights, longest, held_square=sum(square), square=square, coin=(ones, zeros))


def own_coins(ones: Array, zeros: Array, longest: int) -> Reconstruction:
    """Items with coins of their own: the factors of f, and of its square, go into the sums."""
    gap, noise = ones + zeros - 1, 1 - zeros
    absent = np.stack([-noise / gap, (noise / gap) ** 2])
    present = np.stack([1 / gap, (2 * zeros - 1) / gap**2])
    square = square_of(ones, zeros)
    kept = np.eye(2)[:, :, None]
    return Reconstruction(lambda n: kept * np.ones(n + 1), longest, absent, present, sum(square), square)


def by_number(functions: Callable[[int], Sequence[Array]], longest: int) -> Reconstruction:
    """Any f of the number of a set's items in a report: `functions(n)[part][number]`.

    A function g of the number is `sum_j C(number, j) D_j` with the differences
    `D_j = sum_{a <= j} (-1)^(j-a) C(j, a) g(a)`, and the sum of `C(number, j)` over the reports is `S_j`.
    """

    def weights(length: int) -> Array:
        j = range(length + 1)
        differences = np.array([[(-1) ** (m - a) * comb(m, a) if a <= m else 0 for a in j] for m in j], float)
        found = np.stack([np.asarray(function, float) for function in functions(length)])
        return np.stack([found @ differences.T, found**2 @ differences.T])

    return Reconstruction(weights, longest)


def square_of(ones: Any, zeros: Any) -> tuple[Any, Any]:
    """Slope and rest of the square of what a report counts for, q / d or -(1-q) / d, as a line in itself."""
    gap = ones + zeros - 1
    return (2 * zeros - 1) / gap, zeros * (1 - zeros) / gap**2


class Covariances(Protocol):
    """Whoever knows how supports scatter together."""

    def of_set(self, items: Items, known: Known, /) -> OfParts:
        """Covariances of a set and any two parts of it."""


@dataclass(frozen=True, eq=False)
class CoinCovariances:
    """Items with a coin each: `square` is the (slope, rest) of `f_i^2 = slope_i f_i + rest_i`, by item or for all."""

    square: tuple[Any, Any]
    rows: int
    target: Target

    def of_set(self, items: Items, known: Known, /) -> OfParts:
        """From the supports of all subsets; for a set with itself that is its standard error."""
        means, whole = self.means(items, known), known[items][0]

        def of_parts(first: Items, second: Items) -> Array:
            support, error = np.array([known[items], known[first], known[second]]).T
            crossed = [means[_place(items, first)], means[_place(items, second)], whole]
            centre = np.full(3, whole) if self.target == "table" else support[[0, 0, 1]] * support[[1, 2, 2]]
            return _matrix(error, (crossed - centre) / self.rows)

        return of_parts

    def means(self, items: Items, known: Known) -> Array:
        """Mean of `f_I f_A` for each subset A, with an axis of two for each item: whether it is in A.

        >>> known = {(0,): (0.4, 0), (1,): (0.3, 0), (0, 1): (0.2, 0)}
        >>> CoinCovariances((2.0, 0.5), 100, "table").means((0, 1), known)  # .6 is 2 * .2 + .5 * .4
        array([[0.2 , 0.6 ],
               [0.55, 1.75]])
        """
        slope, rest = (np.broadcast_to(part, max(items) + 1) if np.ndim(part) == 0 else part for part in self.square)
        found = np.array([known[subset][0] if subset else 1.0 for subset in subsets(items)]).reshape([2] * len(items))
        for axis, item in enumerate(items):
            without, within = np.moveaxis(found, axis, 0)
            found = np.stack([within, rest[item] * without + slope[item] * within], axis=axis)
        return found


@dataclass(frozen=True, eq=False)
class ModelCovariances:
    """Sets of items of which long ones are a model's.

    The supports of a set I and of a part of it scatter together by what they share, the transactions that hold I:
    their covariance is `shared[n, k]` times the support of I, n and k being their numbers of items, which
    `parametric_bootstrap` learns. Parts without a common item share no coin, so that hardly anything but sampling
    makes them scatter together: `(support(I) - support(A) support(C)) / N`. Sets of lengths that no model judged
    are as `coins` has them.
    """

    coins: CoinCovariances
    shared: Mapping[tuple[int, int], float]

    def of_set(self, items: Items, known: Known, /) -> OfParts:
        """From the support of the set, and the standard errors that were found."""
        if (len(items), 1) not in self.shared:
            return self.coins.of_set(items, known)

        def of_parts(first: Items, second: Items) -> Array:
            (whole, *parts), error = np.array([known[items], known[first], known[second]]).T
            common = [self.shared[len(items), len(part)] * whole for part in (first, second)]
            return _matrix(error, [*common, (whole - np.prod(parts)) / self.coins.rows])

        return of_parts


def _matrix(error: Array, crossed: Array | list[float]) -> Array:
    """From standard errors of a set and its two parts, and covariances of set and parts, and of the parts."""
    matrix = np.diag(error**2)
    matrix[[0, 0, 1], [1, 2, 2]] = crossed
    return matrix + np.triu(matrix, 1).T


def _place(items: Items, part: Items) -> tuple[int, ...]:
    return tuple(int(item in part) for item in items)
