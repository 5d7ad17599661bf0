"""Expected error variances of estimates under a plan, from one group at a time: joint cells are never built."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import comb, prod

import numpy as np

from sottovoce.channels.channel import Channel, kron
from sottovoce.channels.set_valued import LARGEST_LISTED
from sottovoce.checks import Array
from sottovoce.designs.exact_scheme import set_design
from sottovoce.measures.matrices import as_matrices
from sottovoce.measures.utility import estimate_covariance

Columns = tuple[int, ...]
"""Indices of coded columns in the plan's channel whose joint cells are estimated."""

MOST_BUILT = 2**20
"""Most joint cells whose variances are computed one by one to find the largest."""


def second_moments(channel: Channel, distribution: Array) -> Array:
    """Return `E[b_x(Y)^2]` for every cell x, b the unbiased estimate of its proportion p_x from one report.

    The variance from N respondents is `(E[b_x^2] - p_x^2) / N`. For subset selection, and for sets too many to list,
    the estimate counts the sets that contain a category: `f (1 - f) / (inside - outside)^2 + p^2` for a category in a
    share f of them. For all other channels it is the best linear unbiased estimate, the diagonal of `J^-1`
    (`measures.utility`), which for square channels is plain inversion.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> second_moments(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.5, 0.5]))
    array([1.25, 1.25])
    """
    closed_form = None if channel.gains_by_weighting else channel.second_moments(distribution)
    if closed_form is not None:
        return closed_form
    design = set_design(channel) if channel.n_in > LARGEST_LISTED else None
    if design is not None:
        from sottovoce.designs.large.set_measures import information_matrix

        return np.diag(np.linalg.inv(information_matrix(design, distribution)))
    return np.asarray(np.diag(estimate_covariance(channel, distribution, 1)) + distribution**2)


def second_moments_by_truth(channel: Channel, distribution: Array) -> tuple[Array, Array]:
    """Return `E[b_x(Y)^2 | x]` and the largest `E[b_x(Y)^2 | z]`, z another cell, for every cell x.

    b is the estimate of `second_moments`, with the weights for this distribution. Closed forms are those of channels
    that treat all cells alike, of which one cell tells all.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> second_moments_by_truth(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.5, 0.5]))
    (array([1.75, 1.75]), array([0.75, 0.75]))
    """
    first = np.eye(1, channel.n_in)[0]
    alike = None if channel.gains_by_weighting else channel.second_moments(first)
    if alike is not None:
        return np.full(len(alike), alike[0]), np.full(len(alike), alike[-1])
    matrix = as_matrices(channel)
    matrix = matrix[matrix.any(axis=1)]
    weighted = matrix / (matrix @ distribution)[:, None]
    estimator = np.linalg.solve(weighted.T @ matrix, weighted.T)
    moments = estimator**2 @ matrix
    own = np.diag(moments).copy()
    np.fill_diagonal(moments, -np.inf)
    return own, moments.max(axis=1)


def _worst_variance(parts: Sequence[tuple[Array, Array]]) -> float:
    """Largest variance of a joint cell for any distribution, from the moments by truth of each group.

    If a share q of the truths is cell x and all others are z, x's variance is `q own + (1 - q) other - q^2`, where the
    moments are products over the groups: concave in q, and largest for the z with the largest moment.
    """
    own = kron(each for each, _ in parts)
    largest = [np.maximum(*each) for each in parts]
    others = [
        kron(other if at == group else largest[at] for at, (_, other) in enumerate(parts))
        for group in range(len(parts))
    ]
    other = np.max(others, axis=0)
    share = np.clip((own - other) / 2, 0, 1)
    return float((share * own + (1 - share) * other - share**2).max())


@dataclass(frozen=True)
class ExpectedErrors:
    """Error variances of estimates through a channel, if its columns are independent with these distributions.

    Groups are disguised independently, so second moments of joint cells are products over the groups, and so are their
    means over the cells: `mean E[b^2] - mean p^2`.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.channels.kronecker import Kronecker
    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> errors = ExpectedErrors(Kronecker([coin, coin]), (np.array([0.5, 0.5]),) * 2)
    >>> errors.mean_variance((0,)), errors.mean_variance((0, 1)), errors.worst_variance((0, 1))
    (1.0, 1.5, 2.078125)
    """

    channel: Channel
    distributions: tuple[Array, ...]
    _cache: dict[tuple[int, Columns | tuple[bytes, ...]], tuple[Array, Array]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def mean_variance(self, axes: Columns) -> float:
        """Variance from one respondent, averaged over the joint cells of these columns."""
        parts = self._parts(axes)
        return float(prod(second.mean() for second, _ in parts) - prod((p**2).mean() for _, p in parts))

    def worst_variance(self, axes: Columns) -> float:
        """Largest variance of a joint cell of these columns for any true distribution, also of dependent columns."""
        return _worst_variance([self._by_truth(group, local) for group, local in self._split(axes)])

    def cells(self, axes: Columns) -> tuple[Array, Array] | None:
        """Proportions of the joint cells of these columns and variances from one respondent; None if too many."""
        parts = self._parts(axes)
        if prod(len(distribution) for _, distribution in parts) > MOST_BUILT:
            return None
        joint = kron(distribution for _, distribution in parts)
        return joint, kron(second for second, _ in parts) - joint**2

    def reports(self, axes: Columns) -> int:
        """Number of distinct joint reports on these columns."""
        return prod(self._marginal(group, local).n_out for group, local in self._split(axes))

    def _parts(self, axes: Columns) -> list[tuple[Array, Array]]:
        """Second moments and distribution of these columns, group by group."""
        return [self._part(group, local) for group, local in self._split(axes)]

    def _part(self, group: int, local: Columns) -> tuple[Array, Array]:
        start = self._starts[group]
        distributions = [self.distributions[start + axis] for axis in local]
        # If all sets of a size are equally likely to be asked, only the distributions matter, not the attributes.
        symmetric = _samples_all_alike(self._factors[group])
        key = (group, tuple(each.tobytes() for each in distributions) if symmetric else local)
        if key not in self._cache:
            joint = kron(distributions)
            self._cache[key] = second_moments(self._marginal(group, local), joint), joint
        return self._cache[key]

    def _by_truth(self, group: int, local: Columns) -> tuple[Array, Array]:
        start = self._starts[group]
        joint = kron(self.distributions[start + axis] for axis in local)
        return second_moments_by_truth(self._marginal(group, local), joint)

    def _marginal(self, group: int, local: Columns) -> Channel:
        factor = self._factors[group]
        return factor if len(local) == len(factor.shape_in) else factor.marginal(local)

    def _split(self, axes: Columns) -> list[tuple[int, Columns]]:
        """Index of each group that has some of these columns, and their indices within the group."""
        pairs = [
            (group, tuple(axis - low for axis in axes if low <= axis < high))
            for group, (low, high) in enumerate(pairwise(self._starts))
            if low <= axes[-1] and high > axes[0]
        ]
        return [(group, local) for group, local in pairs if local]

    @property
    def estimator(self) -> str:
        """Method of `estimate_proportions` that attains these variances."""
        return "blue" if any(factor.gains_by_weighting for factor in self._factors) else "inversion"

    @cached_property
    def _factors(self) -> Sequence[Channel]:
        return self.channel.factors

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(factor.shape_in) for factor in self._factors), initial=0))


def _samples_all_alike(channel: Channel) -> bool:
    """Whether a channel samples all sets of some number of attributes with equal probability."""
    if not channel.samples:
        return False
    sizes, weights = {len(part.axes) for part in channel.parts}, {part.weight for part in channel.parts}
    different = len({part.axes for part in channel.parts})
    return len(sizes) == len(weights) == 1 and different == comb(len(channel.shape_in), *sizes) == len(channel.parts)
