"""Keep a few items of a transaction and add noise: the cut-and-paste operator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, WrittenOut, checked_axes, checked_vector
from sottovoce.errors import SottovoceError
from sottovoce.exact import probability


@dataclass(frozen=True)
class CutAndPaste(WrittenOut):
    """Of a set of m items, j are kept, j uniform on 0 ... `cutoff` (all if m < j); others come with `rho`.

    With s items in the report, z of them true, out of n:
    `A[y, x] = rho^s (1 - rho)^(n - s) sum_j P_j(m) C(z, j) / C(m, j) rho^-j`. The odds are
    `sum_{j = 0}^{cutoff} rho^-j` while the cutoff is below n. What a few items tell depends on the size of the
    whole set, so there are no marginals: estimate for each size by `counts_matrix`.

    >>> round(float(CutAndPaste(8, 3, Fraction(494, 1000)).odds), 1)
    15.4
    """

    shape_in: tuple[int, ...]
    cutoff: int
    rho: Fraction

    def __init__(self, items: int, cutoff: int, rho: Any) -> None:
        """Check that the cutoff fits the items, and that noise leaves a doubt."""
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or not 0 <= cutoff <= items:
            raise SottovoceError("cutoff", f"must be a whole number from 0 to the {items} items", cutoff)
        object.__setattr__(self, "shape_in", (2,) * items)
        object.__setattr__(self, "cutoff", cutoff)
        object.__setattr__(self, "rho", probability("rho", rho))
        if not 0 < self.rho < 1:
            raise SottovoceError("rho", "must be between 0 and 1, and neither", rho)

    @property
    def items(self) -> int:
        """Number of items in the universe."""
        return len(self.shape_in)

    @property
    def odds(self) -> Fraction | None:
        """A report whose items are all true, against one that holds none of another set's items."""
        if self.cutoff == 0:
            return Fraction(1)
        whole, all_but_one = self._weight(self.items, self.items), self._weight(self.items - 1, self.items - 1)
        return max(all_but_one * (self.cutoff + 1), whole)

    def worst_case(self) -> tuple[int, int, int]:
        """All items but the last, reported of themselves and of the last; or all items, of all and of none."""
        everything = self.n_in - 1
        if self.odds == self._weight(self.items, self.items):
            return everything, everything, 0
        return everything - 1, everything - 1, 1

    def entry(self, report: int, truth: int) -> Fraction:
        """By the sizes of both sets and of what they share."""
        size, shared = report.bit_count(), (report & truth).bit_count()
        noise = self.rho**size * (1 - self.rho) ** (self.items - size)
        return noise * self._weight(truth.bit_count(), shared)

    def matvec(self, truths: Any) -> Array:
        """Law of the reported sets, for few enough items to list them."""
        return np.asarray(np.tensordot(self.dense(), checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Mean of a function of the reported set, for each true set."""
        return np.asarray(np.tensordot(self.dense().T, checked_vector("reports", self.n_out, reports), axes=1))

    def dense(self) -> Array:
        """Matrix of all sets by all sets."""
        if self.items > 12:
            raise SottovoceError("channel", "must have at most 12 items for all sets to be listed", self.items)
        return self._table

    def marginal(self, axes: Sequence[int]) -> "CutAndPaste":
        """All items, unless none are kept: fewer of them do not tell how many were."""
        kept = checked_axes(axes, self.items)
        if self.cutoff == 0:
            return CutAndPaste(len(kept), 0, self.rho)
        if len(kept) < self.items:
            raise SottovoceError("axes", "must keep all items; estimate for each size by counts_matrix", kept)
        return self

    def counts_matrix(self, size: int, length: int) -> list[list[Fraction]]:
        """`M[a, b]`: probability that a of `length` items are reported, b of them true, in a set of this size.

        Its rank is cutoff + 1 at the most (Agrawal 2004, 4.12): supports of longer item sets are lost.
        """
        return [[self._reported(a, b, size, length) for b in range(length + 1)] for a in range(length + 1)]

    @classmethod
    def cases(cls) -> Iterator["CutAndPaste"]:
        """Nothing kept, some, and as many as there are."""
        yield cls(3, 0, Fraction(1, 4))
        yield cls(4, 2, Fraction(1, 3))
        yield cls(3, 3, Fraction(1, 2))
        yield cls(1, 1, Fraction(1, 5))

    @cached_property
    def _table(self) -> Array:
        sets = range(self.n_in)
        return np.array([[float(self.entry(y, x)) for x in sets] for y in sets])

    def _kept(self, size: int, kept: int) -> Fraction:
        """Probability that so many of a set's items are kept."""
        chances = self.cutoff + 1 - kept if kept == size else 1
        return Fraction(chances, self.cutoff + 1)

    def _weight(self, size: int, shared: int) -> Fraction:
        terms = range(min(self.cutoff, size, shared) + 1)
        return sum(
            (self._kept(size, j) * Fraction(comb(shared, j), comb(size, j)) / self.rho**j for j in terms), Fraction(0)
        )

    def _reported(self, reported: int, true: int, size: int, length: int) -> Fraction:
        """Sum over how many are kept of the set, and how many of those are among the items looked at."""
        if true > size:
            return Fraction(int(reported == true))  # no such set: any column will do
        total = Fraction(0)
        for kept in range(min(self.cutoff, size) + 1):
            for own in range(min(kept, true, reported) + 1):
                if kept - own <= size - true:
                    chosen = Fraction(comb(true, own) * comb(size - true, kept - own), comb(size, kept))
                    added = reported - own
                    noise = comb(length - own, added) * self.rho**added * (1 - self.rho) ** (length - reported)
                    total += self._kept(size, kept) * chosen * noise
        return total
