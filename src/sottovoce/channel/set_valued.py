"""Channels whose report is a set of categories: what they share is told by which categories are in it."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.channel.channel import LARGEST_DENSE, Array, Channel, checked_axes, checked_vector, ratio
from sottovoce.errors import SingularChannelError, SottovoceError


class SetValued(Channel):
    """One attribute of n categories in, a subset of them out, coded as n bits.

    A category is in the report with probability `inside` if it is the truth, with `outside` if not,
    the same for all categories. So the share of reports that hold category j is
    `outside + (inside - outside) p_j`, and `p_j` follows from it without bias, whatever n.
    """

    @property
    @abstractmethod
    def inside(self) -> Fraction:
        """Probability that the truth is in the report."""

    @property
    @abstractmethod
    def outside(self) -> Fraction:
        """Probability that a given other category is in the report."""

    @abstractmethod
    def columns(self) -> Array:
        """Law of the report for each truth: 2^n by n, for small n."""

    @abstractmethod
    def overlap(self) -> tuple[float, float]:
        """Inner products of a column with itself and with another."""

    @property
    def shape_out(self) -> tuple[int, ...]:
        """One bit for each category."""
        return (2,) * self.n_in

    def matvec(self, truths: Any) -> Array:
        """Law of the reported sets, for few enough categories to list them."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Mean of a function of the set, for each truth."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def solve(self, reports: Any) -> Array:
        """Estimate from the shares of reports that hold each category."""
        vector = checked_vector("reports", self.n_out, reports)
        return self.solve_inclusions(np.tensordot(self._membership, vector, axes=1), vector.sum(axis=0))

    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """`p_j = (f_j - outside total) / (inside - outside)` from shares or counts f: O(n), any n."""
        shares = checked_vector("inclusions", self.n_in, inclusions)
        if self.inside == self.outside:
            rule = "must differ from that of other categories for truths to be estimated from reports"
            raise SingularChannelError("the truth's share", rule, float(self.inside))
        return np.asarray((shares - float(self.outside) * total) / float(self.inside - self.outside))

    def marginal(self, axes: Sequence[int]) -> "SetValued":
        """Whole truth only: a set of joint cells does not split."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) < len(self.shape_in):
            raise SottovoceError("axes", "must keep all attributes, for the report does not split", kept)
        return self

    @property
    def condition_number(self) -> float:
        """From the two different inner products of columns: `A^T A` has two eigenvalues."""
        own, other = self.overlap()
        values = (own + (self.n_in - 1) * other, own - other)
        return sqrt(ratio(max(values), min(values) if min(values) > 1e-14 * max(values) else 0))

    @cached_property
    def _matrix(self) -> Array:
        if self.n_in * 2**self.n_in > LARGEST_DENSE:
            rule = "must have few enough categories to list all sets; estimate from inclusions instead"
            raise SottovoceError("channel", rule, self.n_in)
        return self.columns()

    @cached_property
    def _membership(self) -> Array:
        """Which categories each report holds, n by 2^n; the first category is the highest bit."""
        return membership(self.n_in)


def membership(categories: int) -> Array:
    """Bits of all numbers below 2^n, the first row the highest bit.

    >>> membership(2)
    array([[0., 0., 1., 1.],
           [0., 1., 0., 1.]])
    """
    sets = np.arange(2**categories)
    return np.array([(sets >> (categories - 1 - j)) & 1 for j in range(categories)], dtype=np.float64)
