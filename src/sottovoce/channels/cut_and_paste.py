"""Keep a few items of a transaction and add random others: the cut-and-paste operator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from sottovoce.channels.channel import MatrixChannel, checked_axes, checked_vector
from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import probability

MOST_ITEMS = 12
"""Items up to which the matrix of all sets by all sets is built."""


@dataclass(frozen=True)
class CutAndPaste(MatrixChannel):
    """Of a set of m items, j are kept, j uniform on 0 ... `cutoff` (all if m < j); others are added with `rho`.

    With s items in the report, z of them true, out of n:
    `A[y, x] = rho^s (1 - rho)^(n - s) sum_j P_j(m) C(z, j) / C(m, j) rho^-j`. The odds are
    `sum_{j = 0}^{cutoff} rho^-j` if the cutoff is below n. The reports of a few items depend on the size of the whole
    set, so there are no marginals: estimate for each size with `counts_matrix`.

    >>> round(float(CutAndPaste(8, 3, Fraction(494, 1000)).odds), 1)
    15.4
    """

    shape_in: tuple[int, ...]
    cutoff: int
    rho: Fraction

    def __init__(self, items: int, cutoff: int, rho: Any) -> None:
        """Check that the cutoff is at most the number of items, and `rho` neither 0 nor 1."""
        object.__setattr__(self, "shape_in", (2,) * items)
        object.__setattr__(self, "cutoff", whole_number("cutoff", cutoff, least=0, most=items))
        object.__setattr__(self, "rho", probability("rho", rho))
        if not 0 < self.rho < 1:
            raise SottovoceError("rho", "must be between 0 and 1, both excluded", rho)

    @property
    def items(self) -> int:
        """Number of items in the universe."""
        return len(self.shape_in)

    @property
    def odds(self) -> Fraction | None:
        """Odds of a report whose items are all true against one that shares no item with the truth."""
        if self.cutoff == 0:
            return Fraction(1)
        whole, all_but_one = self._weight(self.items, self.items), self._weight(self.items - 1, self.items - 1)
        return max(all_but_one * (self.cutoff + 1), whole)

    def worst_case(self) -> tuple[int, int, int]:
        """Report of all items but the last, for that truth and for the last item alone; or all items against none."""
        everything = self.n_in - 1
        if self.odds == self._weight(self.items, self.items):
            return everything, everything, 0
        return everything - 1, everything - 1, 1

    def entry(self, report: int, truth: int) -> Fraction:
        """Depends on the sizes of both sets and of their intersection."""
        size, shared = report.bit_count(), (report & truth).bit_count()
        noise = self.rho**size * (1 - self.rho) ** (self.items - size)
        return noise * self._weight(truth.bit_count(), shared)

    def matvec(self, truths: Any) -> Array:
        """Distribution of the reported sets, for at most `MOST_ITEMS` items."""
        return np.asarray(np.tensordot(self.dense(), checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Expected value of a function of the reported set, for each true set."""
        return np.asarray(np.tensordot(self.dense().T, checked_vector("reports", self.n_out, reports), axes=1))

    def dense(self) -> Array:
        """Matrix of all sets by all sets."""
        if self.items > MOST_ITEMS:
            rule = f"must have at most {MOST_ITEMS} items for all sets to be listed"
            raise SottovoceError("channel", rule, self.items)
        return self._table

    def marginal(self, axes: Sequence[int]) -> "CutAndPaste":
        """Channel of all items, or of any items if the cutoff is 0; others have no marginal."""
        kept = checked_axes(axes, self.items)
        if self.cutoff == 0:
            return CutAndPaste(len(kept), 0, self.rho)
        if len(kept) < self.items:
            raise SottovoceError("axes", "must keep all items; estimate for each size with counts_matrix", kept)
        return self

    def counts_matrix(self, size: int, length: int) -> list[list[Fraction]]:
        """`M[a, b]`: probability that a of `length` items are reported if b of them are in a true set of this size.

        Its rank is at most cutoff + 1 (Agrawal 2004, 4.12), so supports of longer item sets cannot be estimated.
        """
        return [[self._reported(a, b, size, length) for b in range(length + 1)] for a in range(length + 1)]

    @classmethod
    def cases(cls) -> Iterator["CutAndPaste"]:
        """No item kept, some, and up to all of them."""
        yield cls(3, 0, Fraction(1, 4))
        yield cls(4, 2, Fraction(1, 3))
        yield cls(3, 3, Fraction(1, 2))
        yield cls(1, 1, Fraction(1, 5))

    @cached_property
    def _table(self) -> Array:
        sets = range(self.n_in)
        return np.array([[float(self.entry(y, x)) for x in sets] for y in sets])

    def _kept(self, size: int, kept: int) -> Fraction:
        """Probability that `kept` items of a set of this size are kept."""
        chances = self.cutoff + 1 - kept if kept == size else 1
        return Fraction(chances, self.cutoff + 1)

    def _weight(self, size: int, shared: int) -> Fraction:
        terms = range(min(self.cutoff, size, shared) + 1)
        return sum(
            (self._kept(size, j) * Fraction(comb(shared, j), comb(size, j)) / self.rho**j for j in terms), Fraction(0)
        )

    def _reported(self, reported: int, true: int, size: int, length: int) -> Fraction:
        """Sum over the number of kept items, and over how many of those are among the `length` items."""
        if true > size:
            return Fraction(int(reported == true))  # there is no such set: any column will do
        total = Fraction(0)
        for kept in range(min(self.cutoff, size) + 1):
            for inside in range(min(kept, true, reported) + 1):
                if kept - inside <= size - true:
                    chosen = Fraction(comb(true, inside) * comb(size - true, kept - inside), comb(size, kept))
                    added = reported - inside
                    noise = comb(length - inside, added) * self.rho**added * (1 - self.rho) ** (length - reported)
                    total += self._kept(size, kept) * chosen * noise
        return total
