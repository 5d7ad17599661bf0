"""Fronts on one picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.table.figure import new_axes, save_figure

if TYPE_CHECKING:
    from sottovoce.design.front import Front

LABELS = {
    "mse": "mean squared error of a proportion",
    "iterative_mse": "mean squared error of the most likely distribution",
    "adversary_accuracy": "right guesses of the best adversary",
    "worst_posterior": "worst posterior",
    "mutual_information": "bits told by a report",
    "distortion": "wrong reports",
}
MARKED = 60
"""Points up to which each is marked."""


def draw(fronts: "Sequence[Front]", axes: Any = None, path: str | Path | None = None) -> Any:
    """Draw fronts of the same two objectives; give back matplotlib's axes, and write a file where asked to."""
    first, second = _shared_objectives(fronts)
    canvas = new_axes(7, 5) if axes is None else axes
    for front in fronts:
        kept = front.non_dominated()
        values = np.array([[point[first.name], point[second.name]] for point in kept]).reshape(-1, 2)
        seen = values[np.isfinite(values).all(axis=1)]
        marker = "o" if len(seen) <= MARKED else ""
        canvas.plot(*seen[np.argsort(seen[:, 0])].T, marker=marker, markersize=3, label=front.name)
    canvas.set(xlabel=LABELS.get(first.name, first.name), ylabel=LABELS.get(second.name, second.name))
    if second.name.endswith("mse"):
        canvas.set_yscale("log")
    canvas.grid(visible=True, alpha=0.3)
    canvas.legend()
    if path is not None:
        save_figure(canvas, path)
    return canvas


def _shared_objectives(fronts: "Sequence[Front]") -> Any:
    goals = fronts[0].objectives
    if len(goals) != 2 or any(front.objectives != goals for front in fronts):
        raise SottovoceError("fronts", "must have the same two objectives", [front.name for front in fronts])
    return goals
