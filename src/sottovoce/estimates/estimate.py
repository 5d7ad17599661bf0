"""A value, its covariance, and what it is an estimate of."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import MOST_CELLS, Spread, Target
from sottovoce.estimates.intervals import Ends, IntervalOptions, interval_ends
from sottovoce.estimates.presentation import Backend, cell_rows, for_json, remarks, row_lines, rows_to_frame
from sottovoce.schemas.attribute import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Estimate:
    """Proportions of the joint cells of some attributes, the last attribute varying fastest.

    Unless another method was asked for they are unbiased and never clipped: noise may carry one below
    zero. `target` names what they estimate, `seen` holds the frequencies of the reports themselves.
    Where reports have survey weights, `effective` is the number of equal ones that would tell as much.
    """

    attributes: tuple[str, ...]
    categories: tuple[tuple[Label, ...], ...]
    value: Array
    spread: Spread
    seen: Array
    respondents: int
    target: Target
    method: str
    effective: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return tuple(len(categories) for categories in self.categories)

    @cached_property
    def standard_error(self) -> Array:
        """Square roots of the variances."""
        return np.asarray(np.sqrt(np.maximum(self.spread.variances, 0)))

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all cells, where they are few enough; `spread` gives blocks of any."""
        if len(self.value) > MOST_CELLS:
            rule = f"must be at most {MOST_CELLS} for the whole matrix; ask spread.covariance for some of them"
            raise SottovoceError("cells", rule, len(self.value))
        return self.spread.covariance(np.arange(len(self.value)))

    def interval(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> Ends:
        """Ends of each cell's interval at this confidence, or of all of them at once if `simultaneous`.

        Of kind `wald`, the default, they are symmetric; `score` ones stay between 0 and 1 and are good near
        both ends; `bootstrap` ones take their width and skewness from so many `draws` of new reports, with a
        generator or seed `rng` for repeatable ones.
        """
        return interval_ends(self.value, self.spread, level, **options)

    def to_rows(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> list[dict[str, Any]]:
        """Labels, estimate, standard error and interval of each cell, as plain Python."""
        low, high = self.interval(level, **options)
        numbers = {"estimate": self.value, "standard_error": self.standard_error, "low": low, "high": high}
        return cell_rows(self.attributes, self.categories, numbers)

    def to_json(self, level: float = 0.95, **options: Unpack[IntervalOptions]) -> dict[str, Any]:
        """Everything, for programs."""
        weighted = {} if self.effective is None else {"effective_respondents": self.effective}
        return {
            "attributes": list(self.attributes),
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            **weighted,
            "level": level,
            "interval": options.get("kind", "wald"),
            **({"simultaneous": True} if options.get("simultaneous") else {}),
            "cells": [for_json(row) for row in self.to_rows(level, **options)],
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95, **options: Unpack[IntervalOptions]) -> Any:
        """Data frame with a row for each cell, of the library named: "pandas", "polars" or "pyarrow"."""
        return rows_to_frame(self.to_rows(level, **options), backend)

    @property
    def headline(self) -> str:
        """What is estimated, from how many reports, and how."""
        weighted = "" if self.effective is None else f" (worth {self.effective:.1f} of equal weight)"
        names = " x ".join(self.attributes)
        return f"{names}: {self.respondents} reports{weighted}, proportions in the {self.target} by {self.method}"

    def plot(self, level: float = 0.95, axes: "Axes | None" = None, **options: Unpack[IntervalOptions]) -> "Axes":
        """Draw dots with intervals, or two attributes as a heat map, on these matplotlib axes or new ones."""
        from sottovoce.estimates.presentation import plot_estimate

        return plot_estimate(self, level, axes, **options)

    def __str__(self) -> str:
        """Readable table, with a word about negative estimates where there are any."""
        lines = [self.headline, *row_lines(self.to_rows(), "estimate")]
        return "\n".join([*lines, *(f"  {remark}" for remark in remarks(self.value, self.spread))])
