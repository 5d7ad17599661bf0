"""Learning curves, as rows, frames and pictures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sottovoce.channel.channel import Array
from sottovoce.estimate.rows import Backend, new_frame
from sottovoce.mine.classify.laws import Repair
from sottovoce.table.figure import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class LearningCurve:
    """Mean and standard deviation of the accuracy at each point, for each repair, and the undisguised classifier's."""

    along: str
    points: tuple[float, ...]
    repairs: tuple[Repair, ...]
    mean: Array
    deviation: Array
    undisguised: float
    repetitions: int

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each point and repair."""
        return [
            {
                self.along: point,
                "repair": repair,
                "accuracy": float(self.mean[r, p]),
                "standard_deviation": float(self.deviation[r, p]),
                "undisguised": self.undisguised,
            }
            for r, repair in enumerate(self.repairs)
            for p, point in enumerate(self.points)
        ]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Data frame of the library named."""
        rows = self.to_rows()
        return new_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the means with a standard deviation either way, and the undisguised classifier as a line."""
        drawn = axes or new_axes(7, 4.5)
        for colour, repair, mean, spread in zip(
            (ACCENT, WARNING, INK), self.repairs, self.mean, self.deviation, strict=False
        ):
            drawn.fill_between(self.points, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
            drawn.plot(self.points, mean, color=colour, marker="o", markersize=4, label=repair)
        drawn.axhline(self.undisguised, color=INK, linewidth=0.8, linestyle="--", label="undisguised")
        if self.along == "respondents":
            drawn.set_xscale("log")
        drawn.set_xlabel(self.along)
        drawn.set_ylabel(f"accuracy, mean of {self.repetitions} repetitions")
        drawn.legend(frameon=False)
        return drawn
