"""A value, its covariance, and what it is an estimate of."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schema.variable import Label


@dataclass(frozen=True)
class Estimate:
    """Unbiased proportions of an attribute, never clipped: noise may carry one below zero.

    `seen` holds the frequencies of the reports themselves; `covariance` is that of the population's
    proportions: sampling and coins together.
    """

    attribute: str
    categories: tuple[Label, ...]
    value: NDArray[np.float64]
    covariance: NDArray[np.float64]
    seen: NDArray[np.float64]
    respondents: int
    target: str = "population"

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends of the Wald interval of each category, at this confidence."""
        if not 0 < level < 1:
            raise SottovoceError("level", "must be between 0 and 1", level)
        half = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error
        return self.value - half, self.value + half

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Estimate, standard error and interval of each category, as plain Python."""
        low, high = self.interval(level)
        columns: Sequence[Any] = (self.categories, self.value, self.standard_error, low, high)
        names = ("category", "estimate", "standard_error", "low", "high")
        return [
            {name: v.item() if isinstance(v, np.generic) else v for name, v in zip(names, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]

    def __str__(self) -> str:
        """Readable table, with a word about negative estimates where there are any."""
        rows = self.to_rows()
        width = max(len(str(row["category"])) for row in rows)
        lines = [f"{self.attribute}: {self.respondents} reports, proportions in the {self.target}"]
        lines += [
            f"  {row['category']!s:<{width}}  {row['estimate']:8.4f} +- {row['standard_error']:.4f}"
            f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
            for row in rows
        ]
        if (self.value < 0).any():
            lines.append("  A negative estimate is noise around a small proportion; it is shown, not hidden.")
        return "\n".join(lines)
