"""How results are shown: as rows, data frames, lines of text, HTML and pictures, with remarks about negative estimates.

A result that is a table derives from `ResultTable` or `IntervalTable` and says its `headline` and its rows.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, get_args

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.display import html_table, html_text
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.covariance import InversionCovariance
from sottovoce.estimates.intervals import IntervalOptions, WaldIntervals, chosen_tests, interval_method
from sottovoce.estimates.linear_tests import errors_at_zero
from sottovoce.schemas.attribute import Label
from sottovoce.tables.figures import ACCENT, INK, WARNING, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.estimates.estimate import Estimate

Backend = Literal["pandas", "polars", "pyarrow"]

MOST_LINES = 60
"""Most rows that are printed; further ones are counted."""

MOST_DOTS = 200
"""Most cells in a picture of dots with intervals."""

MOST_SQUARES = 40
"""Most categories of an attribute in a heat map."""

NEGATIVE = "A negative estimate is noise around a small proportion; it is shown, not hidden."

FAR = 5
"""Standard errors below zero that are too many for noise: it happens once in three million."""

MOST_REPORTS = 512
"""Most different reports for which it is checked how far below zero an estimate is."""


class TextResult:
    """Base of results that are shown as a few lines of text: `__str__` is the text."""

    def __repr__(self) -> str:
        """Type and first line."""
        return f"<{type(self).__name__} {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """Text as it is, for notebooks."""
        return html_text(str(self))


class ResultTable:
    """Base of results that are tables: a subclass says its `headline` and `to_rows`, and the rest follows.

    A row is a mapping; labels of a cell, one for each attribute, come first and under "values".
    """

    shown: ClassVar[str] = "estimate"
    """Number that `str` prints of each row, with its standard error and interval."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """One line that says what the table is about."""

    @property
    def notes(self) -> list[str]:
        """Remarks below the table."""
        return []

    @abstractmethod
    def to_rows(self, *args: Any, **options: Any) -> list[dict[str, Any]]:
        """Return the rows as plain Python."""

    def to_columns(self, backend: Backend, *args: Any, **options: Any) -> Mapping[str, Any]:
        """Return the columns of the data frame; arguments after the backend are those of `to_rows`."""
        return columns_of(self.to_rows(*args, **options))

    def to_frame(self, backend: Backend = "pandas", *args: Any, **options: Any) -> Any:
        """Return a data frame of "pandas", "polars" or "pyarrow" with a row for each row of the result.

        Further arguments are those of `to_rows`, such as the `level` of intervals.
        """
        return new_frame(self.to_columns(backend, *args, **options), backend)

    def to_lines(self, *args: Any, **options: Any) -> list[str]:
        """Return the rows as lines of text; arguments are those of `to_rows`."""
        rows = self.to_rows(*args, **options)
        return row_lines(rows, self.shown) if rows and "values" in rows[0] else table_lines(columns_of(rows))

    def __str__(self) -> str:
        """Headline, rows and notes."""
        return "\n".join([self.headline, *self.to_lines(), *(f"  {note}" for note in self.notes)])

    def __repr__(self) -> str:
        """Type and headline."""
        return f"<{type(self).__name__} {self.headline}>"

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        columns = columns_of(self.to_rows())
        return html_table(self.headline, list(columns), zip(*columns.values(), strict=True), self.notes)


class IntervalTable(WaldIntervals, ResultTable):
    """Base of tables with a `value`, a `standard_error` and an interval in each row."""


def cell_rows(
    attributes: Sequence[str], categories: Sequence[Sequence[Label]], numbers: Mapping[str, Array]
) -> list[dict[str, Any]]:
    """Return labels and numbers of each joint cell, as plain Python; the last attribute varies fastest.

    >>> import numpy as np
    >>> cell_rows(["a"], [["x", "y"]], {"estimate": np.array([0.25, 0.75])})[1]
    {'values': {'a': 'y'}, 'estimate': 0.75}
    """
    listed = zip(*(array.tolist() for array in numbers.values()), strict=True)
    return [
        {"values": dict(zip(attributes, cell, strict=True)), **dict(zip(numbers, row, strict=True))}
        for cell, row in zip(product(*categories), listed, strict=True)
    ]


def json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with None for infinite and undefined numbers, which JSON does not have.

    >>> json_row({"estimate": 0.25, "standard_error": float("nan")})
    {'estimate': 0.25, 'standard_error': None}
    """
    return {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}


def json_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with None for infinite and undefined numbers."""
    return [json_row(row) for row in rows]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns: one for each attribute under "values", then one for each number.

    >>> columns_of([{"values": {"a": "x"}, "estimate": 0.25}, {"values": {"a": "y"}, "estimate": 0.75}])
    {'a': ['x', 'y'], 'estimate': [0.25, 0.75]}
    """
    flat = [{**row.get("values", {}), **{name: row[name] for name in row if name != "values"}} for row in rows]
    return {name: [row[name] for row in flat] for name in (flat[0] if flat else ())}


def new_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Return a data frame of the named library.

    >>> new_frame({"a": [1]}, "excel")
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: backend must be one of pandas, polars, pyarrow. Got 'excel' instead.
    """
    one_of("backend", backend, get_args(Backend))
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError:
        raise SottovoceError("backend", "must be the name of a library that is installed", backend) from None


def row_lines(rows: Sequence[Mapping[str, Any]], number: str) -> list[str]:
    """Return a line for each row: its labels, and one of its numbers with standard error and interval."""
    shown = rows[:MOST_LINES]
    labels = [", ".join(map(str, row["values"].values())) for row in shown]
    width = max(map(len, labels), default=0)
    lines = [
        f"  {label:<{width}}  {row[number]:8.4f} +- {row['standard_error']:.4f}"
        f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
        for label, row in zip(labels, shown, strict=True)
    ]
    return lines if len(rows) <= MOST_LINES else [*lines, f"  ... and {len(rows) - MOST_LINES} more rows"]


def table_lines(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a line of names and a line for each row, in columns.

    >>> table_lines({"scheme": ["warner", "kuk"], "mse": [0.125, None]})
    ['  scheme  mse', '  warner  0.125', '  kuk']
    """
    texts = [[name, *(_text(value) for value in values[:MOST_LINES])] for name, values in columns.items()]
    padded = [[text.ljust(max(map(len, column))) for text in column] for column in texts]
    lines = [f"  {'  '.join(row)}".rstrip() for row in zip(*padded, strict=True)]
    more = max((len(values) for values in columns.values()), default=0) - MOST_LINES
    return [*lines, f"  ... and {more} more rows"] if more > 0 else lines


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def plot_estimate(
    estimate: "Estimate", level: float = 0.95, axes: "Axes | None" = None, **options: Unpack[IntervalOptions]
) -> "Axes":
    """Draw two attributes as a heat map, others as dots with intervals; negative values in the warning colour."""
    if len(estimate.shape) == 2 and max(estimate.shape) <= MOST_SQUARES:
        return _heat_map(estimate, axes)
    return _dots(estimate, level, axes, options)


def _dots(estimate: "Estimate", level: float, axes: "Axes | None", options: IntervalOptions) -> "Axes":
    labels = [", ".join(map(str, cell)) for cell in product(*estimate.categories)]
    drawn = plot_intervals(labels, estimate.value, *estimate.interval(level, **options), axes)
    kind = interval_method(estimate, options.get("kind", "default"))
    drawn.set_xlabel(f"proportion in the {estimate.target} by {estimate.method}\n({100 * level:g} % {kind} intervals)")
    drawn.set_title(_title(estimate), loc="left")
    return drawn


def plot_intervals(labels: Sequence[str], value: Array, low: Array, high: Array, axes: "Axes | None" = None) -> "Axes":
    """Draw a dot with an interval for each label, the first one on top; negative values in the warning colour."""
    if len(labels) > MOST_DOTS:
        raise SottovoceError("cells", f"must be at most {MOST_DOTS} for a picture", len(labels))
    drawn = axes or new_axes(7, 1.4 + 0.32 * len(labels))
    positions = np.arange(len(labels))
    colours = np.where(value < 0, WARNING, ACCENT)
    drawn.hlines(positions, low, high, colors=colours.tolist(), linewidth=2)
    drawn.scatter(value, positions, c=colours.tolist(), s=36, zorder=3)
    drawn.axvline(0, color=INK, linewidth=0.8, zorder=1)
    drawn.set_yticks(positions, labels)
    drawn.set_ylim(len(positions) - 0.4, -0.6)
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


def remarks(estimate: "Estimate") -> list[str]:
    """Return a remark about negative estimates, or a warning where noise does not explain them.

    Where a cell depends on one property of each report, the number of such reports has a probability. For other cells
    the distance is measured in the standard errors that a cell would have if its proportion were zero: an estimate
    many of them below zero comes from reports that no truth yields under this plan.
    """
    tests = chosen_tests(estimate, "default")
    if isinstance(tests, IndicatorTests):
        if tests.contradiction is not None:
            return [_contradiction(estimate, tests, *tests.contradiction)]
        return [NEGATIVE] if (estimate.value < 0).any() else []
    negative, covariances = estimate.value < 0, estimate.covariances
    if not negative.any():
        return []
    if not isinstance(covariances, InversionCovariance) or covariances.channel.n_out > MOST_REPORTS:
        return [NEGATIVE]
    farthest = float((estimate.value[negative] / errors_at_zero(estimate.value, covariances)[negative]).min())
    if farthest > -FAR:
        return [NEGATIVE]
    return [
        f"An estimate is {-farthest:.1f} standard errors below zero, further than noise carries it: "
        "were these reports disguised under this plan?"
    ]


def _contradiction(estimate: "Estimate", tests: IndicatorTests, cell: int, probability: float) -> str:
    """Return the warning about a number of reports that is improbable under every proportion."""
    index = np.unravel_index(cell, estimate.shape)
    label = ", ".join(str(labels[i]) for labels, i in zip(estimate.categories, index, strict=True))
    count, extreme = round(float(tests.counts[cell])), "fewer" if tests.value[cell] < 0 else "more"
    return (
        f"{count} of {tests.respondents} reports speak for {label}, {extreme} than under any proportion (probability "
        f"{probability:.1g}): were they disguised under this plan, and did respondents follow it?"
    )
