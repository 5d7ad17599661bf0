"""Groups: an estimate of each, the difference of two, and one estimate from strata with known shares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.cell_tests import CellTests, Ends
from sottovoce.estimates.covariance import Cells, Covariance, InversionCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.independence import chi_square_tail
from sottovoce.estimates.intervals import critical_value, standard_errors, wald
from sottovoce.estimates.presentation import IntervalTable, ResultTable, cell_rows, json_row, json_rows, plot_intervals
from sottovoce.estimates.profile_likelihood import effective_tests
from sottovoce.estimates.weights import WeightedCovariance
from sottovoce.exact import distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNBIASED = ("inversion", "blue", "inverse-variance weighting", "generalised least squares", "two samples")
"""Methods whose errors cancel on average; estimates of others would differ by their biases, too."""


@dataclass(frozen=True)
class CombinedCovariance:
    """Covariance of `sum_h f_h p_h` for independent estimates p_h: `sum_h f_h^2 V_h`."""

    parts: tuple[Covariance, ...]
    factors: tuple[float, ...]

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        return np.asarray(sum(f**2 * part.variances for f, part in zip(self.factors, self.parts, strict=True)))

    def block(self, cells: Cells) -> Array:
        """Covariance matrix of some cells."""
        return np.asarray(sum(f**2 * part.block(cells) for f, part in zip(self.factors, self.parts, strict=True)))


def stratified(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None = None) -> Estimate:
    """Estimate the whole from an estimate of each stratum: `p = sum_h W_h p_h`, covariance `sum_h W_h^2 V_h`.

    The shares W are those of the strata in the whole, known from elsewhere (Cochran 1977, ch. 5). Left
    out, they are the sample's own: right for the table as target, and for a population sampled in
    proportion to its strata. In a sample that was not planned so the shares are random, and their variance is
    missing here: then give the population's shares, or estimate without strata.

    >>> from sottovoce.estimates.proportions import estimate_by
    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40 + [False] * 80, "town": ["Bonn"] * 80 + ["Ulm"] * 80}
    >>> print(stratified(estimate_by(reports, plan, "evaded tax", "town"), {"Bonn": 0.9, "Ulm": 0.1}))
    evaded tax: 160 reports, proportions in the population by inversion, 2 strata, profile 95 % intervals
      False    0.6000 +- 0.1006  [ 0.4006,  0.7942]
      True     0.4000 +- 0.1006  [ 0.2058,  0.5994]
    """
    parts = list(estimates.values())
    if not parts:
        raise SottovoceError("estimates", "must be those of at least one stratum", estimates)
    first = parts[0]
    for part in parts[1:]:
        check_comparable(first, part)
        if part.method != first.method or len(part.reported) != len(first.reported):
            raise SottovoceError("estimates", "must all be of one plan and method", part.method)
    factors = _shares(estimates, shares)
    value = sum(factor * part.value for factor, part in zip(factors, parts, strict=True))
    reported = sum(factor * part.reported for factor, part in zip(factors, parts, strict=True))
    return Estimate(
        first.attributes,
        first.categories,
        np.asarray(value),
        CombinedCovariance(tuple(part.covariances for part in parts), factors),
        np.asarray(reported),
        sum(part.respondents for part in parts),
        first.target,
        f"{first.method}, {len(parts)} strata",
        tests=_stratified_tests(parts, factors, np.asarray(value), np.asarray(reported)),
        scores=first.scores,
    )


def _stratified_tests(
    parts: Sequence[Estimate], factors: Sequence[float], value: Array, reported: Array
) -> CellTests | None:
    """Return tests at the effective sample size; None where a stratum's estimate is not an inversion."""
    sources = [part.covariances for part in parts]
    first = sources[0].squared if isinstance(sources[0], WeightedCovariance) else sources[0]
    if not isinstance(first, InversionCovariance):
        return None
    effective = 1 / sum(f**2 / (part.effective or part.respondents) for f, part in zip(factors, parts, strict=True))
    plain = replace(first, reported=reported, value=value, respondents=effective)
    variances = CombinedCovariance(tuple(sources), tuple(factors)).variances
    return effective_tests(plain, variances, effective, max(sum(part.respondents for part in parts) - len(parts), 1))


def check_comparable(first: Estimate, second: Estimate) -> None:
    """Raise unless two estimates have the same attributes, categories and target."""
    for what in ("attributes", "categories", "target"):
        if getattr(first, what) != getattr(second, what):
            rule = f"must be the same in all estimates ({getattr(first, what)})"
            raise SottovoceError(what, rule, getattr(second, what))


def _shares(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None) -> tuple[float, ...]:
    """Return the share of each stratum, in the order of the estimates."""
    if shares is None:
        if any(part.effective is not None for part in estimates.values()):
            raise SottovoceError("shares", "must be given where reports have weights", shares)
        total = sum(part.respondents for part in estimates.values())
        return tuple(part.respondents / total for part in estimates.values())
    if set(shares) != set(estimates):
        raise SottovoceError("shares", f"must be of the strata {list(estimates)}", list(shares))
    return tuple(float(share) for share in distribution("shares", (shares[name] for name in estimates)))


@dataclass(frozen=True, repr=False)
class Comparison(IntervalTable):
    """Difference of two independent estimates, first minus second, cell by cell and as a whole."""

    shown: ClassVar[str] = "difference"

    first: Estimate
    second: Estimate
    names: tuple[str, str] = ("first", "second")

    @property
    def difference(self) -> Array:
        """Difference of each proportion."""
        return self.first.value - self.second.value

    @property
    def value(self) -> Array:
        """Difference of each proportion."""
        return self.difference

    @property
    def covariances(self) -> CombinedCovariance:
        """Covariances of both estimates, which add up."""
        return CombinedCovariance((self.first.covariances, self.second.covariances), (1.0, 1.0))

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of each difference."""
        return standard_errors(self.covariances)

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all differences."""
        return self.first.covariance + self.second.covariance

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, kind: Literal["default", "wald"] = "default"
    ) -> Ends:
        """Return the ends of each difference's interval, from the intervals of both estimates.

        `d - sqrt((p_1 - l_1)^2 + (u_2 - p_2)^2)` to `d + sqrt((u_1 - p_1)^2 + (p_2 - l_2)^2)` (G. Y. Zou & A. Donner
        2008, Statist. Med. 27, 1693-1702), with proportions cut to their intervals. Of kind `wald`,
        `d +- z standard_error`. With `simultaneous` all of them hold at once (Bonferroni).
        """
        if one_of("kind", kind, ("default", "wald")) == "wald":
            return wald(self.value, self.standard_error, critical_value(level, len(self.value) if simultaneous else 1))
        (low, high), (other_low, other_high) = (
            estimate.interval(level, simultaneous=simultaneous) for estimate in (self.first, self.second)
        )
        first, second = np.clip(self.first.value, low, high), np.clip(self.second.value, other_low, other_high)
        below, above = np.hypot(first - low, other_high - second), np.hypot(high - first, second - other_low)
        return first - second - below, first - second + above

    @cached_property
    def _test(self) -> tuple[float, int]:
        """Wald's statistic along the directions that sum to zero, and how many of them have a variance."""
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
        """Probability of a statistic at least as large if nothing differs."""
        return chi_square_tail(self.statistic, self.degrees)

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return labels, both estimates, difference, standard error and interval of each cell, as plain Python."""
        low, high = self.interval(level)
        numbers = {"first": self.first.value, "second": self.second.value, "difference": self.difference}
        more = {"standard_error": self.standard_error, "low": low, "high": high}
        return cell_rows(self.first.attributes, self.first.categories, numbers | more)

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return everything as plain Python, for programs."""
        return {
            "attributes": list(self.first.attributes),
            "target": self.first.target,
            "groups": list(self.names),
            "respondents": [self.first.respondents, self.second.respondents],
            "level": level,
            "interval": "combined",
            "statistic": self.statistic,
            "degrees": self.degrees,
            "p_value": self.p_value,
            "cells": json_rows(self.to_rows(level)),
        }

    @property
    def headline(self) -> str:
        """What is compared, and from how many reports."""
        attributes, (first, second) = " x ".join(self.first.attributes), self.names
        groups = f"{first} ({self.first.respondents} reports) minus {second} ({self.second.respondents})"
        return f"{attributes}: differences in the {self.first.target}, {groups}"

    @property
    def notes(self) -> list[str]:
        """Test of the hypothesis that nothing differs."""
        test = f"statistic {self.statistic:.2f} on {self.degrees} degrees of freedom, p = {self.p_value:.3g}"
        return [f"all alike: {test}"]

    def __str__(self) -> str:
        """Readable table with 95 % intervals, the test last."""
        return self.to_text()

    def to_text(self, level: float = 0.95) -> str:
        """Return a readable table with intervals at this level, the test last."""
        lines = [f"{self.headline}, combined {100 * level:g} % intervals", *self.to_lines(level)]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def compare_estimates(first: Estimate, second: Estimate, names: tuple[str, str] | None = None) -> Comparison:
    """Compare the estimates of two groups or two waves of different respondents: first minus second.

    Attributes, categories and targets must be the same; plans, methods and numbers of reports may differ. Their
    covariances add up, and `d^T V^+ d` with d the differences is chi-square with k - 1 degrees of freedom if
    nothing differs (Wald 1943).

    >>> from sottovoce.estimates.proportions import estimate_proportions
    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> waves = [{"evaded tax": [True] * yes + [False] * (1000 - yes)} for yes in (400, 450)]
    >>> old, new = (estimate_proportions(wave, plan, "evaded tax") for wave in waves)
    >>> print(compare_estimates(new, old, ("2026", "2025")))
    evaded tax: differences in the population, 2026 (1000 reports) minus 2025 (1000), combined 95 % intervals
      False   -0.1000 +- 0.0442  [-0.1865, -0.0123]
      True     0.1000 +- 0.0442  [ 0.0123,  0.1865]
      all alike: statistic 5.13 on 1 degrees of freedom, p = 0.0235
    """
    check_comparable(first, second)
    if first.origin is not None and second.origin is not None and not first.origin.disjoint(second.origin):
        rule = "must be of different respondents: estimates of the same people vary together"
        raise SottovoceError("second", rule, Words(f"{second.origin}, compared with {first.origin}"))
    for estimate in (first, second):
        if estimate.method.split(",")[0] not in UNBIASED:
            raise SottovoceError("method", f"must be {' or '.join(UNBIASED)}, to compare", estimate.method)
    one, other = names or (_group_name(first, "first"), _group_name(second, "second"))
    return Comparison(first, second, (str(one), str(other)))


def _group_name(estimate: Estimate, default: str) -> str:
    """Name of the respondents, as far as the estimate knows them."""
    return str(estimate.origin) if estimate.origin is not None and estimate.origin.group else default


class Estimates(ResultTable, Mapping[Any, Estimate]):
    """An `Estimate` for each value of some public columns (`by`), or for each attribute.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.estimates.proportions import estimate_by
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40, "town": ["Bonn"] * 40 + ["Ulm"] * 40}
    >>> towns = Estimates(estimate_by(reports, plan, "evaded tax", "town"), ["town"])
    >>> list(towns), towns["Ulm"].respondents
    (['Bonn', 'Ulm'], 40)
    """

    def __init__(self, estimates: Mapping[Any, Estimate], by: Sequence[str] = ()) -> None:
        """Keep the estimates in their order."""
        self._estimates = dict(estimates)
        self.by = tuple(by)

    def __getitem__(self, key: Any) -> Estimate:
        """Estimate of one group or attribute; an unknown one is refused with those there are."""
        try:
            estimate: Estimate = self._estimates[key]
        except (KeyError, TypeError):
            what = " x ".join(self.by) or "attribute"
            raise SottovoceError(what, f"must be one of {', '.join(map(repr, self._estimates))}", key) from None
        return estimate

    def __contains__(self, key: object) -> bool:
        """Whether there is an estimate of this group or attribute."""
        return key in self._estimates

    def __iter__(self) -> Iterator[Any]:
        """Groups or attributes, in order."""
        return iter(self._estimates)

    def __len__(self) -> int:
        """Number of estimates."""
        return len(self._estimates)

    def stratified(self, shares: Mapping[Any, Any] | None = None) -> Estimate:
        """Join the groups to one estimate of the whole, with their shares in the population if they are known."""
        return stratified(self, shares)

    @property
    def headline(self) -> str:
        """What is estimated, and by what."""
        first = next(iter(self.values()), None)
        if not self.by or first is None:
            return f"proportions of {len(self)} attributes"
        return f"{' x '.join(first.attributes)} by {', '.join(self.by)}: {len(self)} groups"

    def to_rows(self, level: float = 0.95, **options: Any) -> list[dict[str, Any]]:
        """Return the rows of all estimates with their group; of attributes by themselves, with the attribute's name."""
        rows = []
        for key, estimate in self.items():
            for row in estimate.to_rows(level, **options):
                labels = row.pop("values")
                shown = labels if self.by else {"category": next(iter(labels.values()))}
                rows.append({"values": self._labels(key) | shown, **row})
        return rows

    def to_json(self, level: float = 0.95, **options: Any) -> dict[str, Any]:
        """Return everything as plain Python, for programs: the groups in order, each with its estimate."""
        groups = [
            {"group": json_row(self._labels(key)), **estimate.to_json(level, **options)}
            for key, estimate in self.items()
        ]
        return {"by": list(self.by), "groups": groups}

    def plot(self, level: float = 0.95, axes: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw a dot with an interval for every cell of every group, on these matplotlib axes or new ones."""
        rows = self.to_rows(level, **options)
        labels = [", ".join(map(str, row["values"].values())) for row in rows]
        value, low, high = (np.array([row[name] for row in rows]) for name in ("estimate", "low", "high"))
        drawn = plot_intervals(labels, value, low, high, axes)
        drawn.set_xlabel(f"proportion, {100 * level:g} % intervals")
        drawn.set_title(self.headline, loc="left")
        return drawn

    @property
    def notes(self) -> list[str]:
        """Remarks on the estimates, each once."""
        return list(dict.fromkeys(note for estimate in self.values() for note in estimate.notes))

    def _labels(self, key: Any) -> dict[str, Any]:
        """Public columns and their values, or the name of an attribute."""
        return dict(zip(self.by, (key,) if len(self.by) == 1 else key, strict=True)) if self.by else {"attribute": key}
