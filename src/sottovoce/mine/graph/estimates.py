"""Numbers of a graph with their uncertainty: one for each node, or one for the graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.derived import Derived
from sottovoce.estimate.intervals import Ends, critical_value
from sottovoce.estimate.rows import Backend, cell_rows, new_frame, row_lines


@dataclass(frozen=True)
class NodeEstimates:
    """A number for each node of this graph: unbiased and never clipped; only the coins are random.

    So are the variances, which noise may carry below the `least` that the coins alone give them.
    """

    statistic: str
    labels: Sequence[Any]
    value: Array
    variance: Array
    least: float = 0.0

    @property
    def standard_error(self) -> Array:
        """Square roots of the variances, none below the least."""
        return np.sqrt(np.maximum(self.variance, self.least))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each node's interval at this confidence, or of all of them at once if `simultaneous`."""
        half = critical_value(level, len(self.value) if simultaneous else 1) * self.standard_error
        return self.value - half, self.value + half

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Label, estimate, standard error and interval of each node, as plain Python."""
        return cell_rows(["node"], [tuple(self.labels)], self._numbers(level))

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {"statistic": self.statistic, "level": level, "nodes": self.to_rows(level)}

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each node, of the library named: "pandas", "polars" or "pyarrow"."""
        columns = {"node": list(self.labels), **self._numbers(level)}
        return new_frame(columns, backend)

    def __str__(self) -> str:
        """Readable table."""
        lines = row_lines(self.to_rows(), "estimate") if len(self.value) else []
        return "\n".join([f"{self.statistic} of {len(self.value)} nodes", *lines])

    def _numbers(self, level: float) -> dict[str, Array]:
        low, high = self.interval(level)
        return {"estimate": self.value, "standard_error": self.standard_error, "low": low, "high": high}


def number(name: str, value: float, variance: float, level: float, method: str = "inversion") -> Derived:
    """A number of the whole graph, unbiased, with its interval."""
    error = variance**0.5
    half = critical_value(level) * error
    return Derived(name, value, 0.0, error, value - half, value + half, level, None, method)
