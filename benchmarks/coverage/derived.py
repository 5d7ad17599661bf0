"""Coverage of the intervals of derived measures, by simulated reports, through `Estimate.derive`; for `coverage`.

A row sums up several distributions: `covered` is the mean share of intervals that hold the truth, `worst` the least of
them, `width` the mean width against that of the delta method with the true covariance (Wald's), over the intervals with
finite ends where that is defined, and `infinite` the share of intervals with an infinite end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks.coverage.row import CoverageRow
from sottovoce.checks import Array, Target
from sottovoce.estimates.sample_size import expected_proportions
from sottovoce.measures import Entropy, Mean, MutualInformation, OddsRatio, PearsonCorrelation, RiskDifference

RUNS = 600
LEVEL = 0.95
BOOLEANS = ("a", "b")


@dataclass(frozen=True)
class Case:
    """A measure of some attributes, the distributions that reports are simulated from, and how many reports."""

    name: str
    measure: str
    functional: Any
    schema: sv.Schema
    distributions: Sequence[Any]
    respondents: int
    odds: int = 9
    target: Target = "population"
    runs: int = RUNS


def _two_by_two(name: str, measure: str, functional: Any, respondents: int, tables: Sequence[Any], **more: Any) -> Case:
    return Case(name, measure, functional, sv.Schema([*map(sv.boolean, BOOLEANS)]), tables, respondents, **more)


def _of_one(name: str, measure: str, functional: Any, respondents: int, tables: Sequence[Any], **more: Any) -> Case:
    schema = sv.Schema([sv.Attribute("children", list(range(len(tables[0]))))])
    return Case(name, measure, functional, schema, tables, respondents, **more)


DEPENDENT = [[0.4, 0.2, 0.2, 0.2], [0.6, 0.2, 0.15, 0.05]]
INDEPENDENT = [[0.42, 0.18, 0.28, 0.12], [0.72, 0.18, 0.08, 0.02]]
RARE = [[0.86, 0.06, 0.05, 0.03], [0.5, 0.0, 0.3, 0.2]]
FOURS = [[0.4, 0.3, 0.2, 0.1], [0.85, 0.1, 0.05, 0.0], [0.6, 0.4, 0.0, 0.0]]
GRID = (
    np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    + np.array([[0.05, 0.02, -0.03, -0.04], [-0.02, 0, 0.01, 0.01], [-0.03, -0.02, 0.02, 0.03]])
).ravel()
THREE_BY_FOUR = sv.Schema([sv.Attribute("a", [0, 1, 2]), sv.Attribute("b", [0, 1, 2, 3])])
INDEPENDENT_GRID = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]).ravel()
INFORMATION, CORRELATION = MutualInformation((2, 2)), PearsonCorrelation([0, 1], [0, 1])

CASES = (
    _two_by_two("odds ratio", "odds_ratio", OddsRatio(), 100, [*DEPENDENT, *INDEPENDENT]),
    _two_by_two("odds ratio", "odds_ratio", OddsRatio(), 1000, [*DEPENDENT, *INDEPENDENT, RARE[0]]),
    _two_by_two("odds ratio, table", "odds_ratio", OddsRatio(), 1000, DEPENDENT, target="table"),
    _of_one("entropy", "entropy", Entropy(), 300, FOURS),
    _of_one("entropy, uniform", "entropy", Entropy(), 300, [[0.25] * 4]),
    _of_one("entropy, table", "entropy", Entropy(), 300, FOURS[:1], target="table"),
    _two_by_two("mutual information", "mutual_information", INFORMATION, 1000, [*DEPENDENT, RARE[1]]),
    _two_by_two("mutual information, independent", "mutual_information", INFORMATION, 1000, INDEPENDENT),
    Case("mutual information, 3 x 4", "mutual_information", MutualInformation((3, 4)), THREE_BY_FOUR,
         [GRID], 1000),
    Case("mutual information, 3 x 4, independent", "mutual_information", MutualInformation((3, 4)),
         THREE_BY_FOUR, [INDEPENDENT_GRID], 1000),
    _two_by_two("correlation", "correlation", CORRELATION, 300, [*DEPENDENT, *INDEPENDENT, *RARE]),
    _two_by_two("correlation, table", "correlation", CORRELATION, 300, DEPENDENT, target="table", runs=3000),
    _two_by_two("risk difference", "risk_difference", RiskDifference(), 300, DEPENDENT),
    _of_one("mean", "mean", Mean(range(4)), 30, FOURS),
    _of_one("mean", "mean", Mean(range(4)), 300, [*FOURS, [1.0, 0.0, 0.0, 0.0]]),
    _of_one("mean, table", "mean", Mean(range(4)), 300, FOURS[:2], target="table"),
)  # fmt: skip


def derived_rows(runs: int | None = None, cases: Sequence[Case] = CASES) -> Iterator[CoverageRow]:
    """Coverage of every measure, with the share of infinite ends."""
    for case in cases:
        yield _measured(case, case.runs if runs is None else runs)


def _measured(case: Case, runs: int) -> CoverageRow:
    """Simulate reports from every distribution of a case, and see how often its measure's interval holds the truth."""
    parts = [_simulated(case, np.array(each), runs, seed) for seed, each in enumerate(case.distributions)]
    covered, infinite = ([float(np.mean(part[index])) for part in parts] for index in (0, 1))
    widths = [float(np.mean(part[2])) for part in parts if len(part[2])]
    width = float(np.mean(widths)) if widths else None
    shares = float(np.mean(covered)), min(covered)
    return CoverageRow(case.name, case.respondents, LEVEL, *shares, runs, width, width, float(np.mean(infinite)))


def _simulated(case: Case, distribution: Array, runs: int, seed: int) -> tuple[list[bool], list[bool], list[float]]:
    """Return by run: whether the interval holds the truth, has an infinite end; and finite widths against Wald's."""
    plan = sv.plan(case.schema, odds=case.odds, purpose="split")
    names = list(case.schema.names)
    labels = list(product(*plan.categories_of(names)))
    matrix, rng = plan.channel(names).dense(), np.random.default_rng([seed, len(case.name)])
    table = np.round(distribution * case.respondents).astype(int)
    if case.target == "table":
        distribution = table / table.sum()
    try:
        truth = case.functional.value(distribution)
    except sv.SottovoceError:  # an odds ratio with an empty cell
        truth = float("inf")
    wald = _wald(case, plan, distribution)
    held, infinite, widths = [], [], []
    for _ in range(runs):
        if case.target == "table":
            counts = np.sum([rng.multinomial(n, column) for n, column in zip(table, matrix.T, strict=True)], axis=0)
        else:
            counts = rng.multinomial(case.respondents, matrix @ distribution)
        tallied = {cell if len(names) > 1 else cell[0]: int(n) for cell, n in zip(labels, counts, strict=True)}
        found = sv.Reports.from_counts(tallied, plan, names).estimate(names, target=case.target)
        derived = found.derive(case.measure, LEVEL)
        if derived.low is None or derived.high is None:
            raise RuntimeError(derived.reason)
        slack = 1e-9 * max(1.0, abs(truth))
        held.append(derived.low - slack <= truth <= derived.high + slack)
        infinite.append(not (isfinite(derived.low) and isfinite(derived.high)))
        if wald > 0 and not infinite[-1]:
            widths.append((derived.high - derived.low) / wald)
    return held, infinite, widths


def _wald(case: Case, plan: sv.Plan, distribution: Array) -> float:
    """Return the width of the delta method's interval at the truth; 0 where it has none."""
    expected = expected_proportions(plan, case.schema.names, distribution, case.respondents, case.target)
    try:
        gradient = case.functional.gradient(distribution)
    except sv.SottovoceError:
        return 0.0
    width = 2 * 1.96 * float(np.sqrt(max(gradient @ expected.covariance @ gradient, 0)))
    return width if width > 1e-6 else 0.0
