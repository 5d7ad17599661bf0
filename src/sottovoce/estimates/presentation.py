"""Rows, frames, lines, pictures and remarks that results are shown as."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import InversionSpread, Spread
from sottovoce.estimates.intervals import IntervalOptions, errors_at_zero
from sottovoce.schemas.attribute import Label
from sottovoce.tables.figures import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.estimates.estimate import Estimate

Backend = Literal["pandas", "polars", "pyarrow"]

MOST_LINES = 60
"""Cells that are printed; the rest is counted."""
MOST_DOTS = 200
MOST_SQUARES = 40
"""Cells that fit a picture of dots, and categories of one attribute that fit a heat map."""
NEGATIVE = "A negative estimate is noise around a small proportion; it is shown, not hidden."

FAR = 5
"""Standard errors below zero that noise does not carry an estimate: once in three million."""

MOST_REPORTS = 512
"""Different reports up to which is looked how far below zero estimates are."""


def cell_rows(
    attributes: Sequence[str], categories: Sequence[Sequence[Label]], numbers: Mapping[str, Array]
) -> list[dict[str, Any]]:
    """Labels and numbers of each cell, as plain Python; the last attribute varies fastest.

    >>> import numpy as np
    >>> cell_rows(["a"], [["x", "y"]], {"estimate": np.array([0.25, 0.75])})[1]
    {'values': {'a': 'y'}, 'estimate': 0.75}
    """
    listed = zip(*(array.tolist() for array in numbers.values()), strict=True)
    return [
        {"values": dict(zip(attributes, cell, strict=True)), **dict(zip(numbers, row, strict=True))}
        for cell, row in zip(product(*categories), listed, strict=True)
    ]


def for_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same with None for what is not a number, which JSON cannot say.

    >>> for_json({"estimate": 0.25, "standard_error": float("nan")})
    {'estimate': 0.25, 'standard_error': None}
    """
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}


def rows_to_frame(rows: Sequence[dict[str, Any]], backend: Backend) -> Any:
    """Data frame of the library named, with a column for each attribute and each number."""
    columns = {name: [row["values"][name] for row in rows] for name in rows[0]["values"]}
    numbers = {name: [row[name] for row in rows] for name in rows[0] if name != "values"}
    return new_frame(columns | numbers, backend)


def new_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Data frame of the library named.

    >>> new_frame({"a": [1]}, "excel")
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: backend must be one of pandas, polars, pyarrow. Got 'excel' instead.
    """
    if backend not in get_args(Backend):
        raise SottovoceError("backend", f"must be one of {', '.join(get_args(Backend))}", backend)
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError:
        raise SottovoceError("backend", "must be the name of a library that is installed", backend) from None


def row_lines(rows: Sequence[dict[str, Any]], number: str) -> list[str]:
    """Readable table of one number of each cell, with its standard error and interval."""
    shown = rows[:MOST_LINES]
    labels = [", ".join(map(str, row["values"].values())) for row in shown]
    width = max(map(len, labels))
    lines = [
        f"  {label:<{width}}  {row[number]:8.4f} +- {row['standard_error']:.4f}"
        f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
        for label, row in zip(labels, shown, strict=True)
    ]
    return lines if len(rows) <= MOST_LINES else [*lines, f"  ... and {len(rows) - MOST_LINES} more cells"]


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


def remarks(value: Array, spread: Spread) -> list[str]:
    """Words about negative estimates, and a warning where they are further below zero than noise explains.

    Standard errors are those that a cell would have if its proportion were zero. An estimate many of them below
    has reports that no truth makes under this plan: another plan, or made up.
    """
    negative = value < 0
    if not negative.any():
        return []
    if not isinstance(spread, InversionSpread) or spread.channel.n_out > MOST_REPORTS:
        return [NEGATIVE]
    farthest = float((value[negative] / errors_at_zero(value, spread)[negative]).min())
    if farthest > -FAR:
        return [NEGATIVE]
    return [
        f"An estimate is {-farthest:.1f} standard errors below zero, further than noise carries it: "
        "were these reports disguised under this plan?"
    ]
