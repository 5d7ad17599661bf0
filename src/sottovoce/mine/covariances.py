"""How the supports of a set and of its two parts scatter together: what the error of a rule is made of.

The covariance of the supports of I and of a part A is `(mean f_I f_A - u) / N` over the reports, u being the
support of I for the table and `support(I) support(A)` for the population (see `estimate.pooled`). Where f is a
product over items, each a function of one bit, `f_i^2 = slope_i f_i + rest_i`, so that

    mean f_I f_A = sum over J in A of  prod_{i in J} slope_i prod_{i in A, not J} rest_i  support(J and I without A):

no report is looked at again, for mining has found the supports of all subsets. In tables the joint cells of the
attributes of I are estimated together, and their covariance matrix is summed up over the cells of a part.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.moments import subsets
from sottovoce.estimate.spread import Target

Items = tuple[int, ...]

Known = Mapping[Items, tuple[float, float]]
"""Support and standard error of each set that was found, by the numbers of its items."""

OfParts = Callable[[Items, Items], Array]
"""Covariance matrix of the supports of a set and of the two parts it is cut into."""


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
    their covariance is `shared[n, k]` times the support of I, n and k being their numbers of items, which `mine.refits`
    learns. Parts without a common item share no coin, so that hardly anything but sampling makes them scatter together:
    `(support(I) - support(A) support(C)) / N`. Sets of lengths that no model judged are as `coins` has them.
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
