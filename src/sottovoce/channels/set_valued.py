"""Channels whose report is a set of categories, listed or drawn from too many to list."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import (
    LARGEST_CONDITION,
    LARGEST_DENSE,
    Array,
    Channel,
    WrittenOut,
    checked_axes,
    checked_vector,
    ratio,
)
from sottovoce.channels.slabs import Slab
from sottovoce.errors import SingularChannelError, SottovoceError, Words

LARGEST_EXHAUSTED = 10
"""Categories up to which the odds are found by trying all sets."""

LARGEST_LISTED = 12
"""Categories up to which the matrix is written out."""


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


class DrawnSets(WrittenOut):
    """One attribute of n categories in, or n joint cells, a set of them out, coded as n bits."""

    components: tuple[Slab, ...]

    @abstractmethod
    def probability(self, members: set[int], truth: int) -> Fraction:
        """Probability of one set."""

    @abstractmethod
    def score_matrix(self) -> Array:
        """`M[j, x]`: mean of the scores of the report, one for each category j, if the truth is x; any n."""

    @abstractmethod
    def scores(self, bits: Array) -> Array:
        """Scores of reports, columns of n bits: one for each category."""

    @property
    def shape_out(self) -> tuple[int, ...]:
        """One bit for each category."""
        return (2,) * self.n_in

    def entry(self, report: int, truth: int) -> Fraction:
        """Ways the coins can fall, over all there are."""
        return self.probability({j for j in range(self.n_in) if report >> (self.n_in - 1 - j) & 1}, truth)

    def matvec(self, truths: Any) -> Array:
        """Law of the reported sets, for few enough categories to list them."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Mean of a function of the set, for each truth."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def dense(self) -> Array:
        """Matrix of all sets by all truths."""
        if self.n_in > LARGEST_LISTED:
            rule = f"must have at most {LARGEST_LISTED} categories to list all sets; estimate from inclusions instead"
            raise SottovoceError("channel", rule, self.n_in)
        return np.array([[float(self.entry(y, x)) for x in range(self.n_in)] for y in range(self.n_out)])

    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """Truths from means or sums of the scores of the reports: unbiased, sum `total`, any n.

        `p = total / n + q`, with q of sum zero and `M q` nearest to the difference between the scores and those of
        uniform truths. Where all reports' scores have the same weighted sum this is `M^-1` times the scores.
        """
        scores = checked_vector("inclusions", self.n_in, inclusions)
        whole, (expected, inverse) = np.asarray(total, np.float64), self._from_scores
        excess = scores - np.multiply.outer(expected, whole)
        return np.asarray(whole / self.n_in + np.tensordot(inverse, excess, axes=1))

    def marginal(self, axes: Sequence[int]) -> "DrawnSets":
        """Whole truth only: a set of joint cells does not split."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) < len(self.shape_in):
            raise SottovoceError("axes", "must keep all attributes, for the report does not split", kept)
        return self

    def _check_components(self) -> None:
        """Refuse none, and weights of other categories."""
        if not self.components:
            raise SottovoceError("components", "must be at least one", self.components)
        for component in self.components:
            if len(component.items) != self.n_in:
                raise SottovoceError("items", f"must be weights of all {self.n_in} categories", component.items)

    @cached_property
    def _from_scores(self) -> tuple[Array, Array]:
        """Scores under uniform truths, and what undoes differences from them."""
        matrix = self.score_matrix()
        expected = matrix.mean(axis=1)
        left, values, right = np.linalg.svd(matrix - expected[:, None])
        if values[-2] * LARGEST_CONDITION < np.abs(matrix).max():
            rule = "must hold every category more often if it is the truth, for truths to be estimated"
            raise SingularChannelError("sets", rule, Words(f"a singular value of {values[-2]:.3g}"))
        # The least singular value is that of the vector of ones, which `total` takes care of.
        return expected, np.asarray(right[:-1].T / values[:-1] @ left[:, :-1].T)
