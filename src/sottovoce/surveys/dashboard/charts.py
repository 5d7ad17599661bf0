"""Charts as SVG in the text of a page: estimates with intervals, heat maps of tables, and trends of scales.

    interval_chart(title, description, rows, level, target=None) -> Markup     rows: IntervalRow(label, estimate, low,
                                                                               high, truth=None, notes=())
    line_chart(title, description, rows, level) -> Markup                      the same rows, from left to right
    heat_map(title, description, rows, columns, cells) -> Markup               cells[row][column]: Cell(value, margin)

Shares are given as fractions and shown in percent. `target` draws a line at a share, `truth` a diamond in a row, and
`notes` fills further columns of the table, which `note_names` names. Each chart is a figure with a title, a
description and the same numbers as a table one click away. A heat map is a table itself, so that its text wraps and
can be read aloud. Pages of the dashboard link `charts.css`; nothing has a style of its own, as the content security
policy demands. Every text is escaped here.

A chart is drawn twice, for wide and for narrow places; styles show the one that fits.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import ceil, floor
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from sottovoce.surveys.page.files import new_templates

FOLDER = Path(__file__).parent
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Distances between the lines of an axis, of which the smallest with few enough lines is taken."""

MINUS = "\N{MINUS SIGN}"
SHADES = 10
"""Shades of a heat map's cells, of which the darkest still has a contrast of 4.5 : 1 to its text."""

FEWEST_LINES, LINE, GAP = 2, 18, 10
"""Lines of an axis at least; height of a line of text and distance between two rows, in units of the drawing."""


@dataclass(frozen=True)
class IntervalRow:
    """An estimated share with its interval; in rehearsals its truth, too. `notes` are shown in the table alone."""

    label: str
    estimate: float
    low: float
    high: float
    truth: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def shares(self) -> list[float]:
        """All numbers that the row shows."""
        return [share for share in (self.estimate, self.low, self.high, self.truth) if share is not None]


@dataclass(frozen=True)
class Cell:
    """A share in a heat map with half the width of its interval; None for both if there is nothing to show."""

    value: float | None
    margin: float | None = None


@dataclass(frozen=True)
class Axis:
    """A scale of shares between two ends in the drawing, with a line at each tick."""

    ticks: tuple[float, ...]
    start: float
    end: float

    def at(self, share: float) -> float:
        """Return the place of a share in the drawing."""
        low, high = self.ticks[0], self.ticks[-1]
        return round(self.start + (share - low) / (high - low) * (self.end - self.start), 1)

    def label(self, tick: float) -> str:
        """Return a tick in percent, with as many digits as tell it from the next."""
        return percent(tick, 0 if self.ticks[1] - self.ticks[0] > 0.0099 else 1)


@dataclass(frozen=True)
class Text:
    """A text of a drawing in lines, with all of it as a tooltip where it was cut."""

    lines: tuple[str, ...]
    whole: str
    right_to_left: bool

    @property
    def cut(self) -> bool:
        """Whether something is left out."""
        return " ".join(self.lines) != self.whole


@dataclass(frozen=True)
class Drawing:
    """One of the two drawings of a chart: its size, its axis, and its rows with their texts and places."""

    kind: str
    width: float
    height: float
    axis: Axis
    rows: tuple[tuple[IntervalRow, Text, float], ...]


def interval_chart(
    title: str,
    description: str,
    rows: Sequence[IntervalRow],
    level: float,
    target: float | None = None,
    *,
    note_names: Sequence[str] = (),
) -> Markup:
    """Return estimates as dots with their intervals as bars, one row each, and the same as a table.

    >>> chart = interval_chart("Drinks", "Estimated shares.", [IntervalRow("Never <3", 0.687, 0.64, 0.74)], 0.95)
    >>> "Never &lt;3" in chart, "68.7 %" in chart, "64.0 to 74.0" in chart
    (True, True, True)
    """
    ticks = _ticks([*_shares(rows), *([] if target is None else [target])])
    drawings = [
        _interval_drawing("wide", 760, rows, Axis(ticks, 196, 560), label_width=180, beside=True),
        _interval_drawing("narrow", 360, rows, Axis(ticks, 10, 350), label_width=190, beside=False),
    ]
    return _rendered("interval_figure", title, description, level, rows, note_names, drawings=drawings, target=target)


def line_chart(
    title: str, description: str, rows: Sequence[IntervalRow], level: float, *, note_names: Sequence[str] = ()
) -> Markup:
    """Return estimates as a line from left to right with their intervals as bars, and the same as a table.

    >>> rows = [IntervalRow("1", 0.2, 0.1, 0.3), IntervalRow("1 to 2", 0.6, 0.5, 0.7)]
    >>> "<polyline" in line_chart("Trust", "Shares up to each step.", rows, 0.9)
    True
    """
    ticks = _ticks(_shares(rows))
    drawings = [_line_drawing("wide", 760, rows, ticks), _line_drawing("narrow", 360, rows, ticks)]
    return _rendered("line_figure", title, description, level, rows, note_names, drawings=drawings)


def heat_map(
    title: str, description: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]]
) -> Markup:
    """Return a table whose cells are the darker the larger their shares are, with margins of error.

    >>> table = heat_map("By profession", "Percent.", ["Nurses"], ["Hid an error"], [[Cell(0.41, 0.06)]])
    >>> "heat-10" in table, "41" in table, "±6" in table
    (True, True, True)
    """
    largest = max((cell.value for row in cells for cell in row if cell.value is not None), default=0.0)
    shaded = [[(cell, _shade(cell.value, largest)) for cell in row] for row in cells]
    context = {"title": title, "description": description, "columns": columns}
    return _macro("heat_table", context | {"rows": list(zip(rows, shaded, strict=True))})


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent, with a true minus sign and without a sign before zero.

    >>> percent(0.6872), percent(-0.0001), percent(-0.0321, 0) == MINUS + "3"
    ('68.7', '0.0', True)
    """
    text = f"{100 * share:.{digits}f}"
    if not float(text):
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def _shares(rows: Iterable[IntervalRow]) -> list[float]:
    return [share for row in rows for share in row.shares]


def _ticks(shares: Sequence[float]) -> tuple[float, ...]:
    """Return the lines of an axis that has zero and all shares on it; of large shares, 100 % as well."""
    low, high = min([0.0, *shares]), max([0.01, *shares])
    high = 1.0 if 0.6 < high < 1 else high
    step = next((step for step in STEPS if (high - low) / step <= 6), STEPS[-1])
    first, last = floor(low / step + 1e-9), max(ceil(high / step - 1e-9), FEWEST_LINES)
    return tuple(number * step for number in range(first, last + 1))


def _interval_drawing(
    kind: str, width: int, rows: Sequence[IntervalRow], axis: Axis, *, label_width: float, beside: bool
) -> Drawing:
    """Place rows below each other, with labels beside their bars or above them."""
    top, placed = 28.0 if beside else 24.0, []
    for row in rows:
        text = wrapped(row.label, label_width, 2)
        placed.append((row, text, top))
        top += max(len(text.lines) * LINE + (GAP if beside else 2 * GAP + 4), 34)
    return Drawing(kind, width, top + 4, axis, tuple(placed))


def _line_drawing(kind: str, width: int, rows: Sequence[IntervalRow], ticks: tuple[float, ...]) -> Drawing:
    left, right = 52, width - 24
    distance = (right - left) / max(len(rows), 1)
    placed = [
        (row, wrapped(row.label, distance - 6, 1), round(left + (index + 0.5) * distance, 1))
        for index, row in enumerate(rows)
    ]
    return Drawing(kind, width, 250, Axis(ticks, 214, 16), tuple(placed))


def _shade(value: float | None, largest: float) -> int | None:
    """Return the shade of a share: the largest has the darkest."""
    if value is None:
        return None
    return round(SHADES * min(max(value / largest, 0), 1)) if largest > 0 else 0


def wrapped(text: str, width: float, lines: int) -> Text:
    """Break a text into at most some lines of a width, and cut what does not fit.

    >>> wrapped("I would rather not say", 110, 2).lines
    ('I would rather', 'not say')
    >>> wrapped("Donaudampfschifffahrt", 90, 1).lines
    ('Donaudamp…',)
    """
    found: list[str] = []
    rest = whole = " ".join(text.split())
    while rest and len(found) < lines:
        fitting = _fitting(rest, width)
        if fitting < len(rest):
            space = rest.rfind(" ", 0, fitting + 1)
            last = len(found) == lines - 1
            fitting = space if space > 0 and not last else fitting
            cut = rest[:fitting] if not last else rest[: max(_fitting(rest, width - LINE / 2), 1)].rstrip() + "…"
            found.append(cut)
        else:
            found.append(rest)
        rest = rest[fitting:].lstrip()
    return Text(tuple(found or [""]), whole, _right_to_left(whole))


def _fitting(text: str, width: float) -> int:
    """Return how many characters fit into a width, at least one."""
    taken = 0.0
    for index, character in enumerate(text):
        taken += _character_width(character)
        if taken > width:
            return max(index, 1)
    return len(text)


def _character_width(character: str) -> float:
    """Return about the width of a character of 14 units height in a system font; marks over letters have none."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 14.5
    return 4.5 if character in " .,:;'|!ilIjtf()" else 10.5 if character in "mwMW@%" or character.isupper() else 8.1


def _right_to_left(text: str) -> bool:
    """Return whether the first letter is one of a script that is written from right to left."""
    kinds = (unicodedata.bidirectional(character) for character in text)
    return next((kind != "L" for kind in kinds if kind in ("L", "R", "AL")), False)


def _rendered(
    macro: str,
    title: str,
    description: str,
    level: float,
    rows: Sequence[IntervalRow],
    note_names: Sequence[str],
    **context: Any,
) -> Markup:
    content = repr((macro, title, description, level, rows))
    own = {"title": title, "description": description, "level": f"{100 * level:g}", "rows": rows}
    more = {"note_names": note_names, "truths": any(row.truth is not None for row in rows)}
    return _macro(macro, own | more | context | {"id": f"chart-{sha256(content.encode()).hexdigest()[:12]}"})


def _macro(name: str, context: dict[str, Any]) -> Markup:
    macro = getattr(_templates().get_template("charts.html").module, name)
    return Markup(macro(context))  # noqa: S704  # the template has escaped it


@cache
def _templates() -> Environment:
    environment = new_templates(FOLDER / "templates")
    environment.filters["percent"] = percent
    return environment
