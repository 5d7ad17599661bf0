"""Two groups or two waves of a survey: how far their proportions differ, and whether by more than chance."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.chi_square import chi_square_tail
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.intervals import Ends, critical_value, wald
from sottovoce.estimate.rows import Backend, cell_rows, row_lines, rows_to_frame
from sottovoce.estimate.strata import CombinedSpread, check_alike

UNBIASED = ("inversion", "blue", "inverse-variance weighting", "two samples")
"""Methods whose errors cancel on average: others would differ by their bias."""


@dataclass(frozen=True)
class Comparison:
    """Difference of two independent estimates, second less first, cell by cell and as a whole."""

    first: Estimate
    second: Estimate

    @property
    def difference(self) -> Array:
        """Change of each proportion, from the first estimate to the second."""
        return self.second.value - self.first.value

    @property
    def spread(self) -> CombinedSpread:
        """Variances add up."""
        return CombinedSpread((self.first.spread, self.second.spread), (1.0, 1.0))

    @cached_property
    def standard_error(self) -> Array:
        """Of each difference."""
        return np.asarray(np.sqrt(np.maximum(self.spread.variances, 0)))

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all differences."""
        return self.first.covariance + self.second.covariance

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each difference's interval at this confidence, or of all of them at once if `simultaneous`."""
        statements = len(self.difference) if simultaneous else 1
        return wald(self.difference, self.spread, critical_value(level, statements))

    @cached_property
    def _test(self) -> tuple[float, int]:
        """Wald's statistic along the directions that sum to zero, and how many of them have any noise."""
        cells = len(self.difference)
        basis = np.linalg.svd(np.ones((1, cells)))[2][1:]
        change, noise = basis @ self.difference, basis @ self.covariance @ basis.T
        rank = int(np.linalg.matrix_rank(noise, tol=1e-10 * max(float(np.trace(noise)), 1e-300), hermitian=True))
        return float(change @ np.linalg.pinv(noise, rcond=1e-10, hermitian=True) @ change), rank

    @property
    def statistic(self) -> float:
        """Wald's chi-square, `d^T V^+ d`, of the hypothesis that nothing differs."""
        return self._test[0]

    @property
    def degrees(self) -> int:
        """Degrees of freedom: one fewer than there are cells."""
        return self._test[1]

    @property
    def p_value(self) -> float:
        """Chance of such a statistic if nothing differs."""
        return chi_square_tail(self.statistic, self.degrees)

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Labels, both estimates, difference, standard error and interval of each cell, as plain Python."""
        low, high = self.interval(level)
        numbers = {"first": self.first.value, "second": self.second.value, "difference": self.difference}
        more = {"standard_error": self.standard_error, "low": low, "high": high}
        return cell_rows(self.first.attributes, self.first.categories, numbers | more)

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "attributes": list(self.first.attributes),
            "target": self.first.target,
            "respondents": [self.first.respondents, self.second.respondents],
            "level": level,
            "statistic": self.statistic,
            "degrees": self.degrees,
            "p_value": self.p_value,
            "cells": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each cell, of the library named: "pandas", "polars" or "pyarrow"."""
        return rows_to_frame(self.to_rows(level), backend)

    def __str__(self) -> str:
        """Readable table with 95 % intervals, the test last."""
        return self.to_text()

    def to_text(self, level: float = 0.95) -> str:
        """Readable table with intervals at this confidence, the test last."""
        names, numbers = " x ".join(self.first.attributes), (self.first.respondents, self.second.respondents)
        about = f"{names}: differences in the {self.first.target}, {numbers[1]} reports less {numbers[0]}"
        test = (
            f"  all alike: statistic {self.statistic:.2f} on {self.degrees} degrees of freedom, p = {self.p_value:.3g}"
        )
        lines = [f"{about}, {100 * level:g} % intervals", *row_lines(self.to_rows(level), "difference")]
        return "\n".join([*lines, test])


def compare_estimates(first: Estimate, second: Estimate) -> Comparison:
    """Compare the estimates of two groups or two waves, from different respondents, each with coins of their own.

    Attributes, categories and targets must be the same; plans, methods and numbers of reports may differ. Their
    covariances add up, and `d^T V^+ d` with d the differences is chi-square with k - 1 degrees of freedom if
    nothing differs (Wald 1943).

    >>> from sottovoce.estimate.proportions import estimate_proportions
    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> waves = [{"evaded tax": [True] * yes + [False] * (1000 - yes)} for yes in (400, 450)]
    >>> print(compare_estimates(*(estimate_proportions(wave, plan, "evaded tax") for wave in waves)))
    evaded tax: differences in the population, 1000 reports less 1000, 95 % intervals
      False   -0.1000 +- 0.0442  [-0.1865, -0.0135]
      True     0.1000 +- 0.0442  [ 0.0135,  0.1865]
      all alike: statistic 5.13 on 1 degrees of freedom, p = 0.0235
    """
    check_alike(first, second)
    for estimate in (first, second):
        if estimate.method.split(",")[0] not in UNBIASED:
            raise SottovoceError("method", f"must be {' or '.join(UNBIASED)}, to compare", estimate.method)
    return Comparison(first, second)
