"""Channels whose report is a set of categories."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from sottovoce.channels.channel import LARGEST_DENSE, Channel, checked_axes, checked_vector, ratio
from sottovoce.checks import Array
from sottovoce.errors import SingularChannelError, SottovoceError

LARGEST_EXHAUSTED = 10
"""Categories up to which the odds are found by trying all sets."""

LARGEST_LISTED = 12
"""Categories up to which the matrix of all sets is built."""


class SetChannel(Channel):
    """The truth is one of n categories or joint cells, the report a subset of them, coded as n bits.

    Truths are estimated from the mean *scores* of the reports, one score for each category, for any n. The score is
    the bit itself, unless `has_scores`.
    """

    has_scores: ClassVar[bool] = False
    """Whether scores differ from the bits of the report."""

    @property
    def shape_out(self) -> tuple[int, ...]:
        """One bit for each category."""
        return (2,) * self.n_in

    def scores(self, bits: Array) -> Array:
        """Scores of reports, given as columns of n bits."""
        return bits

    @abstractmethod
    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """Distribution of the truths from the means of the reports' scores, or their sums over `total` reports."""

    def marginal(self, axes: Sequence[int]) -> Channel:
        """The channel itself: a set of joint cells does not split into attributes."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) < len(self.shape_in):
            raise SottovoceError("axes", "must keep all attributes, since the report does not split into them", kept)
        return self


class SetValued(SetChannel):
    """Sets whose distribution treats all categories alike.

    A category is in the report with probability `inside` if it is the truth and with probability `outside` if not, the
    same for all categories. So the share of reports that contain category j is `outside + (inside - outside) p_j`, from
    which `p_j` is estimated without bias, for any n.
    """

    @property
    @abstractmethod
    def inside(self) -> Fraction:
        """Probability that the truth is in the report."""

    @property
    @abstractmethod
    def outside(self) -> Fraction:
        """Probability that another category is in the report."""

    @abstractmethod
    def columns(self) -> Array:
        """Distribution of the report for each truth: a 2^n by n matrix, for small n."""

    @abstractmethod
    def overlap(self) -> tuple[float, float]:
        """Inner products of a column with itself and with another column."""

    @property
    def inclusion(self) -> tuple[Fraction, Fraction]:
        """`inside` and `outside`."""
        return self.inside, self.outside

    def second_moments(self, distribution: Array) -> Array:
        """`f (1 - f) / (inside - outside)^2 + p^2` for a category in a share f of the reports: O(n)."""
        gain = float(self.inside - self.outside)
        share = float(self.outside) + gain * distribution
        return np.asarray(share * (1 - share) / gain**2 + distribution**2)

    @property
    def gains_by_weighting(self) -> bool:
        """Yes, if there are few enough categories to list all sets."""
        return self.n_in <= LARGEST_LISTED

    def matvec(self, truths: Any) -> Array:
        """Distribution of the reported sets, for few enough categories to list them."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Expected value of a function of the set, for each truth."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def solve(self, reports: Any) -> Array:
        """Estimate from the shares of reports that contain each category."""
        vector = checked_vector("reports", self.n_out, reports)
        return self.solve_inclusions(np.tensordot(self._membership, vector, axes=1), vector.sum(axis=0))

    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """`p_j = (f_j - outside total) / (inside - outside)` from shares or counts f: O(n), any n."""
        shares = checked_vector("inclusions", self.n_in, inclusions)
        if self.inside == self.outside:
            rule = "must differ from that of other categories for truths to be estimated from reports"
            raise SingularChannelError("the truth's share", rule, float(self.inside))
        return np.asarray((shares - float(self.outside) * total) / float(self.inside - self.outside))

    @property
    def condition_number(self) -> float:
        """Ratio of singular values: `A^T A` has two eigenvalues, from the two inner products of columns."""
        same, other = self.overlap()
        values = (same + (self.n_in - 1) * other, same - other)
        return sqrt(ratio(max(values), min(values) if min(values) > 1e-14 * max(values) else 0))

    @cached_property
    def _matrix(self) -> Array:
        if self.n_in * 2**self.n_in > LARGEST_DENSE:
            rule = "must have few enough categories to list all sets; use solve_inclusions instead"
            raise SottovoceError("channel", rule, self.n_in)
        return self.columns()

    @cached_property
    def _membership(self) -> Array:
        return membership(self.n_in)


def membership(categories: int) -> Array:
    """Which categories each of the 2^n sets contains, n by 2^n; the first category is the highest bit.

    >>> membership(2)
    array([[0., 0., 1., 1.],
           [0., 1., 0., 1.]])
    """
    sets = np.arange(2**categories)
    return np.array([(sets >> (categories - 1 - j)) & 1 for j in range(categories)], dtype=np.float64)
