"""Supports from all-ones counts, one length after the other, without the 2^n subsets of a set.

A report counts for `f_I(y)` towards the support of I, a product over its items: `(y_i - (1-q_i)) / d_i`,
`d_i = p_i + q_i - 1`. Written in products of bits, the sum of f over the reports is made of the numbers n_J of
reports with all of J. With

    S_j(I) = sum over J in I of j items:  n_J prod_{i in J} b_i prod_{i in I, not J} a_i,

every subset of j < n items of I is in n - j of the sets that I becomes by losing an item, so that

    S_j(I) = 1 / (n - j) sum_i a_i S_j(I without i),    S_n(I) = n_I prod_{i in I} b_i:

O(n^2) for a set of n. Where all items have the same coin a = b = 1 and these are whole numbers, exact; the estimate is
`sum_j S_j (-(1-q))^(n-j) / d^n` (Agrawal 2004, 3.3.4), and the mean square of f, of which variances are made,
`sum_j S_j (1-q)^(2(n-j)) (2q-1)^j / d^2n`. Nothing is clipped: what is below zero is needed further up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.candidates import Family

Sums = NDArray[np.int64] | Array
"""`S_j` by part, set and j."""


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
