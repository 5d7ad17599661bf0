"""What people see outside the command line: HTML of results for notebooks, and a line of progress."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from sottovoce.checks import Progress

REDRAW_SECONDS = 0.1
"""How long a line of progress stands before it is written again."""


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = (), most: int = 60
) -> str:
    """Return a table with a title and notes, for `_repr_html_`; rows beyond `most` are counted, not shown.

    Numbers are set to the right and floats to four digits; None is an empty cell.

    >>> html_table("tax", ["answer", "share"], [("yes", 0.25)], notes=["100 reports"])
    '<div><b>tax</b><table><thead><tr><th>answer</th><th>share</th></tr></thead><tbody><tr><td>yes</td><td
    style="text-align: right">0.2500</td></tr></tbody></table><small>100 reports</small></div>'
    """
    given = list(rows)
    head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in given[:most])
    left_out = [f"{len(given) - most} more rows"] if len(given) > most else []
    below = "<br>".join(f"<small>{escape(note)}</small>" for note in [*notes, *left_out])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><b>{escape(title)}</b>{table}{below}</div>"


def html_text(text: str) -> str:
    """Return lines of plain text as they are, for `_repr_html_` of what is no table.

    >>> html_text("3 : 1 & more")
    '<pre>3 : 1 &amp; more</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{escape(str(value))}</td>"
    shown = f"{value:.4f}" if isinstance(value, float) else str(value)
    return f'<td style="text-align: right">{shown}</td>'


@contextmanager
def progress_line(
    progress: Progress | bool | None,  # noqa: FBT001  # callers pass on what they were given
    what: str,
) -> Iterator[Progress | None]:
    """Yield a callback: the caller's own, none, or for True one that keeps a line of standard error up to date.

    It works in terminals and notebooks alike: the line is written over with a carriage return.
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    line = _Line(what)
    yield line
    line.end()


class _Line:
    """One line, written again at most ten times a second."""

    def __init__(self, what: str) -> None:
        self._what, self._drawn, self._text = what, 0.0, ""

    def __call__(self, done: int, total: int | None) -> None:
        share = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
        self._text = f"{self._what}: {done:,}{share}"
        if time.monotonic() - self._drawn >= REDRAW_SECONDS:
            self._draw()

    def end(self) -> None:
        if self._text:
            self._draw()
            print(file=sys.stderr)

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        print(f"\r{self._text}", end="", file=sys.stderr, flush=True)
