"""HTML for notebooks: a heading, a table and notes, all escaped, in the style of the notebook itself."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


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
