"""Schemes side by side: a row for each scheme and epsilon."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.estimate.rows import Backend, new_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Compared:
    """Rows have `scheme`, the epsilon `asked` for, the `epsilon` that the coins really have, and every measure.

    A measure is None where it is infinite or has no meaning: distortion of reports that are no categories, say.
    """

    rows: tuple[dict[str, Any], ...]
    prior: tuple[float, ...]
    respondents: float
    measures: tuple[str, ...]
    width: float
    level: float
    shape: tuple[int, ...]

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names, in the order they were given."""
        return tuple(dict.fromkeys(row["scheme"] for row in self.rows))

    def of(self, scheme: str) -> list[dict[str, Any]]:
        """Rows of one scheme, by the epsilon of its coins."""
        return sorted((row for row in self.rows if row["scheme"] == scheme), key=lambda row: float(row["epsilon"]))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Data frame with a row for each scheme and epsilon, of the library named: "pandas", "polars" or "pyarrow"."""
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        return new_frame(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "prior": list(self.prior),
            "shape": list(self.shape),
            "respondents": self.respondents,
            "measures": list(self.measures),
            "width": self.width,
            "level": self.level,
            "rows": [dict(row) for row in self.rows],
        }

    def plot(self, path: str | Path | None = None) -> "list[Axes]":
        """Draw a line for each scheme over epsilon, in a panel for each measure; needs matplotlib (extra `plot`)."""
        from sottovoce.design.compared_picture import draw

        return draw(self, path)
