"""The result of an estimate: proportions of joint cells, their covariance, and what they are proportions of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sottovoce.checks import Array, Target
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import CellTests, Ends
from sottovoce.estimates.covariance import (
    MOST_CELLS,
    Covariance,
    FactorCovariance,
    InversionCovariance,
    MatrixCovariance,
)
from sottovoce.estimates.intervals import IntervalOptions, interval_ends, interval_method, standard_errors
from sottovoce.estimates.linear_tests import marginal_tests
from sottovoce.estimates.presentation import IntervalTable, cell_rows, json_rows, remarks
from sottovoce.schemas.attribute import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.estimates.derived import Derived
    from sottovoce.estimates.groups import Comparison


@dataclass(frozen=True)
class Respondents:
    """Which respondents an estimate is from: the tables or files, and the values of public columns that they have."""

    sources: frozenset[Any]
    group: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def disjoint(self, other: "Respondents") -> bool:
        """Return whether nobody can be among both: other tables, or other values of a public column.

        >>> people = frozenset(["survey.parquet"])
        >>> women, men = (Respondents(people, (("sex", (sex,)),)) for sex in ("woman", "man"))
        >>> women.disjoint(men), women.disjoint(Respondents(people))
        (True, False)
        """
        if not self.sources & other.sources:
            return True
        values = dict(other.group)
        return any(name in values and not set(chosen) & set(values[name]) for name, chosen in self.group)

    def __str__(self) -> str:
        """Values of public columns, or "all"."""
        shown = [f"{name} = {' or '.join(map(str, values))}" for name, values in self.group]
        return ", ".join(shown) or "all"


@dataclass(frozen=True, repr=False)
class Estimate(IntervalTable):
    """Estimated proportions of the joint cells of some attributes; the last attribute varies fastest.

    Unless another method was asked for, they are unbiased and never clipped: noise may push one below
    zero. `target` says what they are proportions of, the population or the table of respondents; `reported` are the
    frequencies of the disguised reports. With survey weights, `effective` is the effective sample size. `origin`
    tells which respondents it is from.

    `estimate["yes"]` is a proportion, `estimate["yes", "never"]` that of a joint cell. `first - second` compares
    the estimates of different respondents.
    """

    attributes: tuple[str, ...]
    categories: tuple[tuple[Label, ...], ...]
    value: Array
    covariances: Covariance
    reported: Array
    respondents: int
    target: Target
    method: str
    effective: float | None = None
    origin: Respondents | None = None
    tests: CellTests | None = None
    scores: tuple[tuple[float, ...] | None, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return tuple(len(categories) for categories in self.categories)

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of each proportion."""
        return standard_errors(self.covariances)

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all cells, where they are few enough; see `covariances.block` for some of them."""
        if len(self.value) > MOST_CELLS:
            rule = f"must be at most {MOST_CELLS} for the whole matrix; ask covariances.block for some of them"
            raise SottovoceError("cells", rule, len(self.value))
        return self.covariances.block(np.arange(len(self.value)))

    def interval(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> Ends:
        """Return the ends of each cell's confidence interval, or of all at once if `simultaneous` (Bonferroni).

        The default is `exact` where a cell depends on one property of each report, `profile` for maximum likelihood,
        two samples, weights and strata, and a constrained score interval otherwise (docs/coverage.md); all of these
        stay between 0 and 1. `score` intervals are cut there, `wald` intervals are `value +- z standard_error`, and
        `bootstrap` intervals take their width and skewness from as many samples of new reports as `draws` says, drawn
        with the generator or seed `rng`.
        """
        return interval_ends(self, level, **options)

    def marginal(self, attributes: Sequence[str]) -> "Estimate":
        """Return the proportions of some of the attributes, in the order given, with their covariance.

        They are sums of joint cells: `M p` with covariance `M S M^T`, where M has a one for each joint cell that
        belongs to a cell of the margin. Sums of unbiased estimates are unbiased.

        >>> covariances = FactorCovariance(np.array([[0.1], [0.0], [0.0], [-0.1]]))
        >>> quarters = np.full(4, 0.25)
        >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), quarters, covariances, quarters, 10, "population", "model")
        >>> print(joint.marginal(["b"]))
        b: 10 reports, proportions in the population by model, normal 95 % intervals
          0    0.5000 +- 0.1000  [ 0.3040,  0.6960]
          1    0.5000 +- 0.1000  [ 0.3040,  0.6960]
        """
        names = [attributes] if isinstance(attributes, str) else list(attributes)
        unknown = [name for name in names if name not in self.attributes]
        if unknown or not names or len(set(names)) < len(names):
            raise SottovoceError("attributes", f"must be some of {', '.join(self.attributes)}, once each", names)
        kept = [self.attributes.index(name) for name in names]
        dropped = [axis for axis in range(len(self.shape)) if axis not in kept]

        def summed(cells: Array) -> Array:
            table = cells.reshape(*self.shape, -1).transpose(*kept, *dropped, len(self.shape))
            sums = table.reshape(prod(self.shape[axis] for axis in kept), -1, table.shape[-1]).sum(axis=1)
            return np.asarray(sums.reshape(-1, *cells.shape[1:]))

        covariances: Covariance
        tests: CellTests | None = None
        if isinstance(self.covariances, FactorCovariance):
            covariances = FactorCovariance(summed(self.covariances.factor))
        else:
            covariances = MatrixCovariance(summed(summed(self.covariance).T))
        if isinstance(self.covariances, InversionCovariance):
            tests = marginal_tests(self.covariances, summed)
        return replace(
            self,
            attributes=tuple(names),
            categories=tuple(self.categories[axis] for axis in kept),
            value=summed(self.value),
            covariances=covariances,
            tests=tests,
            scores=None if self.scores is None else tuple(self.scores[axis] for axis in kept),
        )

    def __getitem__(self, labels: Any) -> float:
        """Return the estimated proportion of a category, or of a joint cell given by a tuple of categories."""
        cell = labels if isinstance(labels, tuple) else (labels,)
        if len(cell) != len(self.attributes):
            raise SottovoceError("cell", f"must have a category of each of {', '.join(self.attributes)}", labels)
        for name, label, categories in zip(self.attributes, cell, self.categories, strict=True):
            if label not in categories:
                raise SottovoceError(name, f"must be one of {', '.join(map(str, categories))}", label)
        index = [categories.index(label) for label, categories in zip(cell, self.categories, strict=True)]
        return float(self.value[np.ravel_multi_index(index, self.shape)])

    def __sub__(self, other: "Estimate") -> "Comparison":
        """Compare with the estimate of other respondents, first minus second; those that may overlap are refused."""
        from sottovoce.estimates.groups import compare_estimates

        return compare_estimates(self, other) if isinstance(other, Estimate) else NotImplemented

    def derive(self, measure: Any, level: float = 0.95, **options: Any) -> "Derived":
        """Return a measure of the proportions with its interval: by name, or any function of the cells.

        Names are "mean", "entropy", "odds_ratio" and others (docs/guide.md). See
        `sottovoce.estimates.derive` for the options.
        """
        from sottovoce.estimates.derived import derive

        return derive(self, measure, level, **options)

    def to_rows(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> list[dict[str, Any]]:
        """Return labels, estimate, standard error and interval of each cell, as plain Python."""
        low, high = self.interval(level, **options)
        numbers = {"estimate": self.value, "standard_error": self.standard_error, "low": low, "high": high}
        return cell_rows(self.attributes, self.categories, numbers)

    def to_json(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> dict[str, Any]:
        """Return everything as plain Python, for programs."""
        weighted = {} if self.effective is None else {"effective_respondents": self.effective}
        return {
            "attributes": list(self.attributes),
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            **weighted,
            "level": level,
            "interval": interval_method(self, options.get("kind", "default")),
            **({"simultaneous": True} if options.get("simultaneous") else {}),
            "cells": json_rows(self.to_rows(level, **options)),
        }

    @property
    def headline(self) -> str:
        """What is estimated, from how many reports, and how."""
        weighted = "" if self.effective is None else f" (worth {self.effective:.1f} of equal weight)"
        names = " x ".join(self.attributes)
        return f"{names}: {self.respondents} reports{weighted}, proportions in the {self.target} by {self.method}"

    @property
    def notes(self) -> list[str]:
        """Remarks about reports that contradict the plan, and about negative estimates, where there are any."""
        return remarks(self)

    def __str__(self) -> str:
        """Headline with the method of the intervals, rows and notes."""
        return self.to_text()

    def to_text(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> str:
        """Return a readable table with intervals at this level, the remarks last."""
        title = f"{self.headline}, {interval_method(self, options.get('kind', 'default'))} {100 * level:g} % intervals"
        return "\n".join([title, *self.to_lines(level, **options), *(f"  {note}" for note in self.notes)])

    def plot(self, level: float = 0.95, axes: "Axes | None" = None, **options: Unpack[IntervalOptions]) -> "Axes":
        """Draw two attributes as a heat map, others as dots with intervals, on these matplotlib axes or new ones."""
        from sottovoce.estimates.presentation import plot_estimate

        return plot_estimate(self, level, axes, **options)
