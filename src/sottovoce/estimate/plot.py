"""Pictures of an estimate: dots with intervals, and a heat map of two attributes."""

from itertools import product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import IntervalOptions
from sottovoce.table.figure import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.estimate.estimate import Estimate

MOST_DOTS = 200
MOST_SQUARES = 40
"""Cells that fit a picture of dots, and categories of one attribute that fit a heat map."""


def plot_estimate(
    estimate: "Estimate", level: float = 0.95, axes: "Axes | None" = None, **options: Unpack[IntervalOptions]
) -> "Axes":
    """Draw two attributes as a heat map, and anything else as dots with intervals; negative values stand out."""
    if len(estimate.shape) == 2 and max(estimate.shape) <= MOST_SQUARES:
        return _heat_map(estimate, axes)
    if len(estimate.value) > MOST_DOTS:
        raise SottovoceError("cells", f"must be at most {MOST_DOTS} for a picture", len(estimate.value))
    return _dots(estimate, level, axes, options)


def _dots(estimate: "Estimate", level: float, axes: "Axes | None", options: IntervalOptions) -> "Axes":
    drawn = axes or new_axes(7, 1.4 + 0.32 * len(estimate.value))
    low, high = estimate.interval(level, **options)
    places = np.arange(len(estimate.value))
    colours = np.where(estimate.value < 0, WARNING, ACCENT)
    drawn.hlines(places, low, high, colors=colours.tolist(), linewidth=2)
    drawn.scatter(estimate.value, places, c=colours.tolist(), s=36, zorder=3)
    drawn.axvline(0, color=INK, linewidth=0.8, zorder=1)
    drawn.set_yticks(places, [", ".join(map(str, cell)) for cell in product(*estimate.categories)])
    drawn.set_ylim(len(places) - 0.4, -0.6)
    kind = "" if options.get("kind", "wald") == "wald" else f"{options['kind']} "
    drawn.set_xlabel(f"proportion in the {estimate.target} by {estimate.method}, {100 * level:g} % {kind}intervals")
    drawn.set_title(_title(estimate), loc="left")
    return drawn


def _heat_map(estimate: "Estimate", axes: "Axes | None") -> "Axes":
    rows, columns = estimate.shape
    drawn = axes or new_axes(max(4.6, 2.2 + 1.05 * columns), 1.8 + 0.62 * rows)
    value = estimate.value.reshape(rows, columns)
    error = estimate.standard_error.reshape(rows, columns)
    top = max(value.max(), 1e-12)
    drawn.imshow(value, cmap="Blues", vmin=0, vmax=1.15 * top, aspect="auto")
    for row, column in np.ndindex(rows, columns):
        number = value[row, column]
        colour = WARNING if number < 0 else "white" if number > 0.65 * top else INK
        words = f"{number:.3f}\n± {error[row, column]:.3f}"
        drawn.text(column, row, words, ha="center", va="center", color=colour, fontsize=8)
    drawn.set_xticks(range(columns), [str(label) for label in estimate.categories[1]])
    drawn.set_yticks(range(rows), [str(label) for label in estimate.categories[0]])
    drawn.set_xlabel(f"{estimate.attributes[1]}\n(proportion in the {estimate.target} ± standard error)")
    drawn.set_ylabel(estimate.attributes[0])
    drawn.set_title(_title(estimate), loc="left")
    return drawn


def _title(estimate: "Estimate") -> str:
    return f"{' x '.join(estimate.attributes)}: {estimate.respondents:,} reports"
