"""A value, its covariance, and what it is an estimate of."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import Ends, Kind, critical_value, score, wald
from sottovoce.estimate.spread import MOST_CELLS, Spread, Target
from sottovoce.schema.variable import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 60
"""Cells that an estimate prints; the rest is counted."""


@dataclass(frozen=True)
class Estimate:
    """Proportions of the joint cells of some attributes, the last attribute varying fastest.

    Unless another method was asked for they are unbiased and never clipped: noise may carry one below
    zero. `target` names what they estimate, `seen` holds the frequencies of the reports themselves.
    """

    attributes: tuple[str, ...]
    categories: tuple[tuple[Label, ...], ...]
    value: Array
    spread: Spread
    seen: Array
    respondents: int
    target: Target
    method: str

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

    def interval(self, level: float = 0.95, *, kind: Kind = "wald", simultaneous: bool = False) -> Ends:
        """Ends of each cell's interval at this confidence, or of all of them at once if `simultaneous`.

        `wald` intervals are symmetric; `score` ones stay between 0 and 1 and are good near both ends.
        """
        if kind not in get_args(Kind):
            raise SottovoceError("kind", f"must be one of {', '.join(get_args(Kind))}", kind)
        deviations = critical_value(level, len(self.value) if simultaneous else 1)
        return (wald if kind == "wald" else score)(self.value, self.spread, deviations)

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Labels, estimate, standard error and Wald interval of each cell, as plain Python."""
        low, high = self.interval(level)
        numbers = zip(*(a.tolist() for a in (self.value, self.standard_error, low, high)), strict=True)
        names = ("estimate", "standard_error", "low", "high")
        return [
            {"values": dict(zip(self.attributes, cell, strict=True)), **dict(zip(names, row, strict=True))}
            for cell, row in zip(product(*self.categories), numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "attributes": list(self.attributes),
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            "level": level,
            "cells": self.to_rows(level),
        }

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each cell, of the library named: "pandas", "polars" or "pyarrow"."""
        rows = self.to_rows(level)
        columns = {name: [row["values"][name] for row in rows] for name in self.attributes}
        numbers = {name: [row[name] for row in rows] for name in ("estimate", "standard_error", "low", "high")}
        return nw.from_dict(columns | numbers, backend=backend).to_native()

    def plot(self, level: float = 0.95, axes: "Axes | None" = None) -> "Axes":
        """Draw dots with intervals, or two attributes as a heat map, on these matplotlib axes or new ones."""
        from sottovoce.estimate.plot import plot_estimate

        return plot_estimate(self, level, axes)

    def __str__(self) -> str:
        """Readable table, with a word about negative estimates where there are any."""
        rows = self.to_rows()[:MOST_LINES]
        labels = [", ".join(map(str, row["values"].values())) for row in rows]
        width = max(map(len, labels))
        names = " x ".join(self.attributes)
        lines = [f"{names}: {self.respondents} reports, proportions in the {self.target} by {self.method}"]
        lines += [
            f"  {label:<{width}}  {row['estimate']:8.4f} +- {row['standard_error']:.4f}"
            f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
            for label, row in zip(labels, rows, strict=True)
        ]
        if prod(self.shape) > MOST_LINES:
            lines.append(f"  ... and {prod(self.shape) - MOST_LINES} more cells")
        if (self.value < 0).any():
            lines.append("  A negative estimate is noise around a small proportion; it is shown, not hidden.")
        return "\n".join(lines)
