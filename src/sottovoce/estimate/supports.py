"""Supports of item sets, their covariance, and what they are supports in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import Ends, critical_value, wald
from sottovoce.estimate.rows import Backend, row_lines, rows_to_frame
from sottovoce.estimate.spread import Spread, Target
from sottovoce.schema.variable import Label

NEGATIVE = "A negative support is noise around a small one; it is shown, not hidden."


@dataclass(frozen=True)
class VariancesOnly:
    """Variances of sets whose covariances were not computed, and why they were not."""

    variances: Array
    reason: str

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Refuse: what was not counted cannot be had afterwards."""
        raise SottovoceError("itemsets", f"must be fewer or shorter for covariances: {self.reason}", len(cells))


@dataclass(frozen=True)
class Supports:
    """Share of the transactions that hold all items of a set, for each of some sets of one attribute's items.

    Supports are unbiased and never clipped: noise may carry one below zero. Sets overlap, so they do
    not sum to one; that is what tells them from an `Estimate`. `target` names what they are supports in.
    """

    attribute: str
    itemsets: tuple[tuple[Label, ...], ...]
    value: Array
    spread: Spread
    respondents: int
    target: Target
    method: str

    @cached_property
    def standard_error(self) -> Array:
        """Square roots of the variances."""
        return np.asarray(np.sqrt(np.maximum(self.spread.variances, 0)))

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all sets, where it was computed."""
        return self.spread.covariance(np.arange(len(self.value)))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each set's Wald interval at this confidence, or of all of them at once if `simultaneous`."""
        return wald(self.value, self.spread, critical_value(level, len(self.value) if simultaneous else 1))

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Items, length, support, standard error and interval of each set, as plain Python."""
        numbers = zip(*(a.tolist() for a in (self.value, self.standard_error, *self.interval(level))), strict=True)
        names = ("support", "standard_error", "low", "high")
        return [
            {"items": list(items), "length": len(items), **dict(zip(names, row, strict=True))}
            for items, row in zip(self.itemsets, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "attribute": self.attribute,
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            "level": level,
            "itemsets": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each set, of the library named: "pandas", "polars" or "pyarrow"."""
        return rows_to_frame([{"values": {"items": row["items"]}, **row} for row in self.to_rows(level)], backend)

    def __str__(self) -> str:
        """Readable table, with a word about negative supports where there are any."""
        head = f"{self.attribute}: {self.respondents} reports, supports in the {self.target} by {self.method}"
        lines = [
            head,
            *row_lines([{"values": dict(enumerate(row["items"])), **row} for row in self.to_rows()], "support"),
        ]
        return "\n".join([*lines, f"  {NEGATIVE}"] if (self.value < 0).any() else lines)
