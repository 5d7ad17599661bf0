"""Groups: the difference of two groups or waves, and one estimate from strata with known shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import Spread
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.independence import chi_square_tail
from sottovoce.estimates.intervals import Ends, critical_value, wald
from sottovoce.estimates.presentation import Backend, cell_rows, row_lines, rows_to_frame
from sottovoce.exact import distribution

UNBIASED = ("inversion", "blue", "inverse-variance weighting", "two samples")
"""Methods whose errors cancel on average: others would differ by their bias."""


@dataclass(frozen=True)
class CombinedSpread:
    """Covariance of `sum_h f_h p_h` for independent p_h: `sum_h f_h^2 V_h`."""

    spreads: tuple[Spread, ...]
    factors: tuple[float, ...]

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        return np.asarray(sum(f**2 * s.variances for f, s in zip(self.factors, self.spreads, strict=True)))

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Covariance matrix of some cells."""
        return np.asarray(sum(f**2 * s.covariance(cells) for f, s in zip(self.factors, self.spreads, strict=True)))


def stratified(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None = None) -> Estimate:
    """Estimate of the whole from one of each stratum: `p = sum_h W_h p_h`, covariance `sum_h W_h^2 V_h`.

    The shares W are those of the strata in the whole, known from elsewhere (Cochran 1977, ch. 5). Left
    out, they are the sample's own: right for the table as target, and for a population sampled in
    proportion to its strata. A sample that was not planned so has random shares, whose scatter this leaves out:
    then give the population's, or estimate without strata.

    >>> from sottovoce.estimates.proportions import estimate_by
    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40 + [False] * 80, "town": ["Bonn"] * 80 + ["Ulm"] * 80}
    >>> print(stratified(estimate_by(reports, plan, "evaded tax", "town"), {"Bonn": 0.9, "Ulm": 0.1}))
    evaded tax: 160 reports, proportions in the population by inversion, 2 strata
      False    0.6000 +- 0.1006  [ 0.4028,  0.7972]
      True     0.4000 +- 0.1006  [ 0.2028,  0.5972]
    """
    parts = list(estimates.values())
    if not parts:
        raise SottovoceError("estimates", "must be those of at least one stratum", estimates)
    first = parts[0]
    for part in parts[1:]:
        check_alike(first, part)
        if part.method != first.method or len(part.seen) != len(first.seen):
            raise SottovoceError("estimates", "must all be of one plan and method", part.method)
    factors = _shares(estimates, shares)
    value, seen = (sum(f * getattr(p, of) for f, p in zip(factors, parts, strict=True)) for of in ("value", "seen"))
    spread = CombinedSpread(tuple(part.spread for part in parts), factors)
    method = f"{first.method}, {len(parts)} strata"
    respondents = sum(part.respondents for part in parts)
    return Estimate(first.attributes, first.categories, value, spread, seen, respondents, first.target, method)


def check_alike(first: Estimate, second: Estimate) -> None:
    """Refuse estimates of different things."""
    for what in ("attributes", "categories", "target"):
        if getattr(first, what) != getattr(second, what):
            rule = f"must be the same in all estimates ({getattr(first, what)})"
            raise SottovoceError(what, rule, getattr(second, what))


def _shares(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None) -> tuple[float, ...]:
    """Share of each stratum, in the estimates' order."""
    if shares is None:
        if any(part.effective is not None for part in estimates.values()):
            raise SottovoceError("shares", "must be given where reports have weights", shares)
        total = sum(part.respondents for part in estimates.values())
        return tuple(part.respondents / total for part in estimates.values())
    if set(shares) != set(estimates):
        raise SottovoceError("shares", f"must be of the strata {list(estimates)}", list(shares))
    return tuple(float(share) for share in distribution("shares", (shares[name] for name in estimates)))


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

    >>> from sottovoce.estimates.proportions import estimate_proportions
    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
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
