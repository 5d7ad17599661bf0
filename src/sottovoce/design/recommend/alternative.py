"""A design measured by what it is wanted for: error, interval widths, and whom it takes to match another."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod, sqrt
from typing import Any

from sottovoce.channel.channel import LARGEST_DENSE, Array
from sottovoce.design.recommend.candidate import Candidate
from sottovoce.design.recommend.spread import Axes, Scatter
from sottovoce.estimate.spread import MOST_CELLS
from sottovoce.plan.plan import Plan

MOST_REPORTS = 2**22
"""Joint reports that are counted together."""


@dataclass(frozen=True)
class Alternative:
    """`error` is the variance of an estimated proportion with one respondent, averaged over all that are wanted.

    With N of them the mean squared error is `error / N`. `estimator` is the method of `estimate_proportions` that
    attains it.
    """

    name: str
    structure: str
    plan: Plan
    scatter: Scatter
    error: float
    estimator: str
    relies_on_prior: bool

    def mse(self, respondents: float) -> float:
        """Mean squared error of an estimated proportion."""
        return self.error / respondents

    def width(self, respondents: float, deviations: float) -> float:
        """Width of a typical interval: the root mean square over all that are wanted, `2 z sqrt(mse)`."""
        return 2 * deviations * sqrt(self.mse(respondents))

    def gain(self, other: "Alternative") -> float:
        """How many more respondents the other one needs for the same error, as a share: `error' / error - 1`."""
        return other.error / self.error - 1

    def matching(self, other: "Alternative", respondents: float) -> int:
        """Respondents with whom this one is as precise as the other is with so many."""
        return ceil(respondents * self.error / other.error * (1 - 1e-12))

    def to_json(self, plain: "Alternative", chosen: "Alternative", respondents: float, deviations: float) -> Any:
        """Numbers, and how it compares with the plain and with the chosen one."""
        return {
            "name": self.name,
            "structure": self.structure,
            "schemes": [group.scheme for group in self.plan.groups],
            "estimator": self.estimator,
            "mse": self.mse(respondents),
            "typical_width": self.width(respondents, deviations),
            "gain_over_plain": self.gain(plain),
            "error_over_recommended": self.error / chosen.error,
            "respondents_for_the_same_precision": self.matching(chosen, respondents),
            "relies_on_prior": self.relies_on_prior,
        }


def measured(candidate: Candidate, plan: Plan, laws: tuple[Array, ...], wanted: Sequence[Axes]) -> Alternative | None:
    """Mean error over the targets; None of a design whose reports are too many to be counted together."""
    scatter = Scatter(plan.channel(), laws)
    if not all(_countable(scatter, axes) for axes in wanted if len(axes) > 1):
        return None
    error = sum(scatter.mean(axes) for axes in wanted) / len(wanted)
    own = candidate.relies_on_prior
    return Alternative(candidate.name, candidate.structure, plan, scatter, error, scatter.estimator, own)


def _countable(scatter: Scatter, axes: Axes) -> bool:
    """Whether reports of these columns can be counted together, and weighed where they have to be."""
    cells, reports = prod(len(scatter.laws[axis]) for axis in axes), scatter.reports(axes)
    weighable = cells <= MOST_CELLS and cells * reports <= LARGEST_DENSE
    return reports <= MOST_REPORTS and (scatter.estimator == "inversion" or weighable)
