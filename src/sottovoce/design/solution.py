"""What an optimiser returns: a channel in floating point, what it attains, and what nothing can beat."""

from dataclasses import dataclass

from sottovoce.channel.channel import Array


@dataclass(frozen=True)
class SetComponent:
    """Sets S with `sum_{i in S} lengths_i = size`, drawn in proportion to `prod_{i in S} weights_i`; total mass 1."""

    mass: float
    size: int
    weights: Array
    lengths: Array


@dataclass(frozen=True)
class SetDesign:
    """`P(S | x) = m(S) t_S u_S(x) / norm_x`: m the mixture of the components, u_S(x) = odds or 1 as x is in S or not.

    `t_S = sum_i tilt_i u_S(i)`, or 1 without a tilt. Without odds u_S(x) is 1 or 0: the truth is always in the set, and
    truths outside are ruled out.
    """

    components: tuple[SetComponent, ...]
    odds: float | None
    tilt: Array | None = None


@dataclass(frozen=True)
class Solution:
    """A channel and its certificate: no channel that meets the requirement has an objective below `lower_bound`.

    `value` and `lower_bound` are the mean squared error of an estimated proportion times the number of respondents,
    averaged over categories, `(tr J^-1 - |p|^2) / n`; or mutual information in bits. The channel is a `matrix` of
    reports by truths, or `sets` where the reports are too many to list.
    """

    value: float
    lower_bound: float
    matrix: Array | None = None
    sets: SetDesign | None = None

    @property
    def gap(self) -> float:
        """Relative distance of what is attained from what is proven: 0 is optimal."""
        return relative_gap(self.value, self.lower_bound)


def relative_gap(value: float, lower_bound: float) -> float:
    """`value / lower_bound - 1`; the difference where the bound is zero.

    >>> relative_gap(3.0, 2.0), relative_gap(0.25, 0.0)
    (0.5, 0.25)
    """
    return value / lower_bound - 1 if lower_bound > 0 else value - lower_bound
