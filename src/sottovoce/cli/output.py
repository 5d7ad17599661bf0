"""What commands print: text and tables for people, JSON for programs, and progress bars."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from sottovoce.checks import Progress

FRAME = 3
"""Characters of a table's frame for each column; the whole table has one more."""


def write_json(document: dict[str, Any], target: str | None, *, private: bool = False) -> None:
    """Write a result as JSON to a file, or to standard output if the target is "-"; without a target, do nothing.

    Infinite and undefined numbers, which JSON does not have, become null. A `private` file is readable for its owner
    only.
    """
    if target is None:
        return
    text = json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)
    if target == "-":
        typer.echo(text)
        return
    from sottovoce.tables.sink import new_file

    with new_file(target, private=private) as hidden:
        hidden.write_text(text + "\n", encoding="utf-8")


def _finite(value: Any) -> Any:
    """Return a document with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def say(text: str, target: str | None = None) -> None:
    """Print a text for people, on standard error if JSON goes to standard output."""
    typer.echo(text, err=target == "-")


def interval_header(level: float) -> str:
    """Return the header of a column of intervals.

    >>> interval_header(0.95)
    '95% interval'
    """
    return f"{100 * level:g}% interval"


def print_table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], target: str | None = None, title: str = ""
) -> None:
    """Print a table that fits the terminal. No word is cut; columns without room are printed in further tables."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    console, cells = Console(stderr=target == "-"), [tuple(row) for row in rows]
    columns = list(zip(headers, *cells, strict=True))
    least = [max(cell_len(word) for cell in column for word in (cell.split() or [""])) for column in columns]
    whole = [max(map(cell_len, column)) for column in columns]
    for part in split_columns(least, console.width):
        table = Table(title=title or None, title_justify="left")
        room = console.width - 1 - FRAME * len(part)
        widths = column_widths([(least[index], whole[index]) for index in part], room)
        for index, width in zip(part, widths, strict=True):
            table.add_column(headers[index], width=width, overflow="fold")
        for row in cells:
            table.add_row(*(row[index] for index in part))
        console.print(table, markup=False)


def column_widths(columns: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Return widths between the longest word and the longest cell of each column, given as pairs.

    Columns that need the least additional room get it first.

    >>> column_widths([(3, 20), (5, 7)], room=22)
    [15, 7]
    """
    widths, left = [least for least, _ in columns], max(0, room - sum(least for least, _ in columns))
    for index in sorted(range(len(columns)), key=lambda i: columns[i][1] - columns[i][0]):
        more = min(columns[index][1] - columns[index][0], left)
        widths[index] += more
        left -= more
    return widths


def split_columns(least: Sequence[int], width: int) -> list[list[int]]:
    """Split columns of given least widths into tables that fit a width; each table begins with the first column.

    >>> split_columns([5, 8, 8, 8], width=30)
    [[0, 1], [0, 2], [0, 3]]
    """
    framed = [FRAME + needed for needed in least]
    parts: list[list[int]] = []
    room = 0
    for index in range(1, len(least)):
        if framed[index] > room:
            parts.append([0])
            room = width - 1 - framed[0]
        parts[-1].append(index)
        room -= framed[index]
    return parts or [[0]]


@contextmanager
def progress_bar(label: str) -> Iterator["Progress"]:
    """Show a progress bar on standard error, if that is a terminal; yields the `progress` callback."""
    with progress_bars() as move:
        yield lambda done, total: move(label, done, total)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress bars on standard error, if that is a terminal; the callback's first argument is a bar's label."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def move(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=None)
            bar.update(tasks[label], completed=done, total=total)

        yield move
