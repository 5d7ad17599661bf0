"""Numbers with their uncertainty, as rows for programs and as lines for people."""

from collections.abc import Sequence
from typing import Any

from sottovoce.channel.channel import Array
from sottovoce.estimate.intervals import Ends

COLUMNS = ("estimate", "standard_error", "low", "high")

MOST_LINES = 60
"""Rows that are printed; the rest is counted."""


def listed(value: Array, standard_error: Array, ends: Ends) -> list[dict[str, float]]:
    """Estimate, standard error and ends of its interval, by name, as plain Python."""
    numbers = zip(*(a.tolist() for a in (value, standard_error, *ends)), strict=True)
    return [dict(zip(COLUMNS, row, strict=True)) for row in numbers]


def printed(labels: Sequence[str], rows: Sequence[dict[str, Any]], what: str) -> list[str]:
    """A line for each of the first rows, and a word about negative estimates where there are any."""
    width = max(map(len, labels[:MOST_LINES]))
    lines = [
        f"  {label:<{width}}  {row['estimate']:8.4f} +- {row['standard_error']:.4f}"
        f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
        for label, row in zip(labels[:MOST_LINES], rows, strict=False)
    ]
    if len(rows) > MOST_LINES:
        lines.append(f"  ... and {len(rows) - MOST_LINES} more {what}")
    if any(row["estimate"] < 0 for row in rows):
        lines.append("  A negative estimate is noise around a small proportion; it is shown, not hidden.")
    return lines
