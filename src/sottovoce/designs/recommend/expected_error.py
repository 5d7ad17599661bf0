"""How far estimates through a plan will scatter, from one column at a time: joint cells are never built."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import comb, prod

import numpy as np

from sottovoce.channels.channel import Array, Channel, kron
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.sampled import Sampled
from sottovoce.channels.set_valued import LARGEST_LISTED, SetValued
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.designs.exact_scheme import set_design
from sottovoce.measures.utility import estimate_covariance

Columns = tuple[int, ...]
"""Coded columns that are read together, by their places in the plan's channel."""

Laws = tuple[bytes, ...]
"""What columns are expected to hold, to be looked up by."""

MOST_BUILT = 2**20
"""Joint cells whose variances are written out to find the largest."""


def second_moments(channel: Channel, law: Array) -> Array:
    """`E[b_x(Y)^2]` for every cell x, b the unbiased estimate of its proportion from one report, truths of law p.

    The variance from N respondents is `(E[b_x^2] - p_x^2) / N`. Of subset selection, and of sets too many to list, the
    estimate is made from the categories they hold, `f (1 - f) / (inside - outside)^2 + p^2` for one in a share f of
    them; of everything else it is the best there is, the diagonal of `J^-1` (`measures.utility`), which for square
    channels is plain inversion.

    >>> from fractions import Fraction
    >>> second_moments(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.5, 0.5]))
    array([1.25, 1.25])
    """
    if isinstance(channel, KeepOrUniform):
        return channel.solve_squared(channel.matvec(law))
    if isinstance(channel, SetValued) and not weighed(channel):
        gain = float(channel.inside - channel.outside)
        share = float(channel.outside) + gain * law
        return np.asarray(share * (1 - share) / gain**2 + law**2)
    design = set_design(channel) if channel.n_in > LARGEST_LISTED else None
    if design is not None:
        from sottovoce.designs.large.set_measures import information_matrix

        return np.diag(np.linalg.inv(information_matrix(design, law)))
    return np.asarray(np.diag(estimate_covariance(channel, law, 1)) + law**2)


def weighed(channel: Channel) -> bool:
    """Whether plain inversion would waste a part of the reports, and the best unbiased estimate can be had."""
    if isinstance(channel, SetValued):
        return channel.n_in <= LARGEST_LISTED and not isinstance(channel, SubsetSelection)
    return isinstance(channel, Sampled) or (len(channel.shape_out) == 1 and channel.n_in != channel.n_out)


@dataclass(frozen=True)
class Scatter:
    """Errors of what is read through a channel, if its columns are independent with these laws.

    Groups have coins of their own, so second moments of joint cells are products over the groups, and so are means
    over the cells: `mean E[b^2] - mean p^2`.

    >>> from fractions import Fraction
    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> scatter = Scatter(Kronecker([coin, coin]), (np.array([0.5, 0.5]),) * 2)
    >>> scatter.mean((0,)), scatter.mean((0, 1)), scatter.largest((0, 1))
    (1.0, 1.5, 1.5)
    """

    channel: Channel
    laws: tuple[Array, ...]
    _memory: dict[tuple[int, Columns | Laws], tuple[Array, Array]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def mean(self, axes: Columns) -> float:
        """Variance from one respondent, averaged over the joint cells of these columns."""
        parts = self._parts(axes)
        return float(prod(second.mean() for second, _ in parts) - prod((law**2).mean() for _, law in parts))

    def largest(self, axes: Columns) -> float | None:
        """Variance of the worst cell; None where the cells are too many to look at."""
        parts = self._parts(axes)
        if prod(len(law) for _, law in parts) > MOST_BUILT:
            return None
        own = kron(law for _, law in parts)
        return float((kron(second for second, _ in parts) - own**2).max())

    def reports(self, axes: Columns) -> int:
        """Different reports that speak of these columns together: what has to be counted."""
        return prod(self._marginal(place, own).n_out for place, own in self._split(axes))

    def _parts(self, axes: Columns) -> list[tuple[Array, Array]]:
        """Second moments and law of the part of these columns that each group has."""
        return [self._part(place, own) for place, own in self._split(axes)]

    def _part(self, place: int, own: Columns) -> tuple[Array, Array]:
        start = self._starts[place]
        laws = [self.laws[start + axis] for axis in own]
        # Every set of as many attributes is as likely to be asked: those with the same laws are alike.
        alike = _asks_all_alike(self._factors[place])
        key = (place, tuple(law.tobytes() for law in laws) if alike else own)
        if key not in self._memory:
            law = kron(laws)
            self._memory[key] = second_moments(self._marginal(place, own), law), law
        return self._memory[key]

    def _marginal(self, place: int, own: Columns) -> Channel:
        factor = self._factors[place]
        return factor if len(own) == len(factor.shape_in) else factor.marginal(own)

    def _split(self, axes: Columns) -> list[tuple[int, Columns]]:
        """Places of the groups that have some of these columns, and which of its own."""
        found = [
            (place, tuple(axis - low for axis in axes if low <= axis < high))
            for place, (low, high) in enumerate(pairwise(self._starts))
            if low <= axes[-1] and high > axes[0]
        ]
        return [(place, own) for place, own in found if own]

    @property
    def estimator(self) -> str:
        """Method of `estimate_proportions` that attains these errors."""
        return "blue" if any(map(weighed, self._factors)) else "inversion"

    @cached_property
    def _factors(self) -> Sequence[Channel]:
        return self.channel.factors if isinstance(self.channel, Kronecker) else (self.channel,)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(factor.shape_in) for factor in self._factors), initial=0))


def _asks_all_alike(channel: Channel) -> bool:
    """Whether a channel draws what to ask from all sets of as many attributes."""
    if not isinstance(channel, Sampled):
        return False
    sizes, weights = {len(part.axes) for part in channel.parts}, {part.weight for part in channel.parts}
    different = len({part.axes for part in channel.parts})
    return len(sizes) == len(weights) == 1 and different == comb(len(channel.shape_in), *sizes) == len(channel.parts)
