"""Rows of the coverage benchmark, and how outcomes are turned into one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import lgamma
from typing import Any, Literal

import numpy as np

from sottovoce.checks import Array

Ends = tuple[Array, Array]
Interval = Callable[[Array], tuple[Ends, Ends]]
"""Default and Wald intervals of all cells, from counts of reports."""

ROUNDING = 1e-9


@dataclass(frozen=True)
class CoverageRow:
    """How often intervals contain the truth, and how wide they are."""

    name: str
    respondents: int | None
    nominal: float
    covered: float
    worst: float
    runs: int | Literal["enumerated"]
    width: float | None
    widest: float | None
    infinite: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    def line(self) -> str:
        """One line for people."""
        wide = "" if self.width is None else f"{self.width:6.3f} x Wald"
        size = "" if self.respondents is None else f"n = {self.respondents}"
        share = f"covered {100 * self.covered:5.1f} %, worst {100 * self.worst:5.1f} %"
        return f"{self.name:44} {size:11} {share}  {self.runs!s:>10}  {wide}"


@dataclass(frozen=True)
class Outcome:
    """Counts of reports, with the intervals of all cells by default and by Wald."""

    counts: Array
    default: Ends
    wald: Ends


def outcomes(counts: Iterable[Array], interval: Interval) -> list[Outcome]:
    """Intervals of every vector of counts."""
    return [Outcome(vector, *interval(vector)) for vector in counts]


def coverage_row(
    name: str,
    respondents: int,
    found: Sequence[Outcome],
    truths: Sequence[tuple[Array, Array]],
    runs: int | Literal["enumerated"],
) -> CoverageRow:
    """Summarise outcomes over truths: each has the proportions of the cells, and the probability of every outcome.

    Widths are compared where proportions are in [.2, .8] and Wald's intervals cover at least 93 %.
    """
    ends = [np.array([[getattr(o, kind)[side] for o in found] for side in (0, 1)]) for kind in ("default", "wald")]
    default, wald = ends
    covered, ratios, infinite = [], [], float(np.isinf(default).mean())
    for cells, weights in truths:
        inside = [((e[0] <= cells + ROUNDING) & (e[1] >= cells - ROUNDING)) for e in (default, wald)]
        shares = [weights @ each for each in inside]
        covered.append(shares[0])
        widths = [weights @ np.diff(np.clip(each, 0, 1), axis=0)[0] for each in (default, wald)]
        compared = (cells >= 0.2) & (cells <= 0.8) & (shares[1] >= 0.93)
        ratios += (widths[0][compared] / widths[1][compared]).tolist()
    every = np.concatenate([np.ravel(share) for share in covered])
    mean, most = (float(np.mean(ratios)), float(np.max(ratios))) if ratios else (None, None)
    return CoverageRow(name, respondents, 0.95, float(every.mean()), float(every.min()), runs, mean, most, infinite)


def all_counts(respondents: int, kinds: int) -> Array:
    """All ways in which so many reports can be of some kinds, one a row."""
    if kinds == 1:
        return np.array([[float(respondents)]])
    rows = [
        np.column_stack([np.full(len(rest), float(first)), rest])
        for first in range(respondents + 1)
        for rest in [all_counts(respondents - first, kinds - 1)]
    ]
    return np.concatenate(rows)


def multinomial_probabilities(counts: Array, chances: Array) -> Array:
    """Probability of each row of counts, whose cells have these chances."""
    logs = np.array([lgamma(row.sum() + 1) - sum(lgamma(t + 1) for t in row) for row in counts])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts * np.log(chances), 0.0)
    return np.asarray(np.exp(logs + terms.sum(axis=1)))


def simulated(rng: np.random.Generator, chances: Array, respondents: int, runs: int) -> tuple[Array, Array]:
    """Different counts among so many samples, and their shares."""
    drawn = rng.multinomial(respondents, chances / chances.sum(), runs)
    different, times = np.unique(drawn, axis=0, return_counts=True)
    return different.astype(np.float64), times / runs
