"""What commands print: tables for people, JSON for programs."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.schemas.schema import Schema

JsonOption = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON.")]
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="Disguised CSV or Parquet file, with its plan.")]
PlanOption = Annotated[str | None, typer.Option(help="Plan, if the file does not carry it.")]
LevelOption = Annotated[float, typer.Option(help="Confidence of the intervals.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]

FRAME = 3
"""Characters that a column of a printed table takes besides its own; the table takes one more."""


def emit(document: dict[str, Any], target: str | None) -> None:
    """Write a result as JSON to a file, or to standard output for "-"; nothing without a target."""
    if target is None:
        return
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if target == "-":
        typer.echo(text)
        return
    from sottovoce.tables.sink import new_file

    with new_file(target) as hidden:
        hidden.write_text(text + "\n", encoding="utf-8")


def say(text: str, target: str | None = None) -> None:
    """Print for people; on standard error where standard output is taken."""
    typer.echo(text, err=target == "-")


def names(text: str | None) -> list[str]:
    """Comma-separated names; one that holds a comma stands in quotation marks.

    >>> names('age,"income, net"')
    ['age', 'income, net']
    """
    return [name.strip() for name in next(csv.reader([text]))] if text else []


def numbers(parameter: str, text: str | None) -> list[float] | None:
    """Comma-separated numbers, or None where nothing was given.

    >>> numbers("accuracy", ".4,.5")
    [0.4, 0.5]
    """
    if text is None:
        return None
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise SottovoceError(parameter, "must be numbers with commas between them", text) from None


def edges(text: str) -> tuple[str, list[float]]:
    """Name and edges of bins, from NAME=EDGE,EDGE,...

    >>> edges("age=18,40,inf")
    ('age', [18.0, 40.0, inf])
    """
    name, separator, numbers = text.rpartition("=")
    try:
        cuts = [float(number) for number in numbers.split(",")]
    except ValueError:
        cuts = []
    if not separator or not cuts:
        raise SottovoceError("bins", "must look like NAME=EDGE,EDGE,...", text)
    return name, cuts


def shares_given(text: str) -> dict[str, str]:
    """Names and shares, from NAME=SHARE,NAME=SHARE,...

    >>> shares_given("north=.4,south=.6")
    {'north': '.4', 'south': '.6'}
    """
    pairs = [part.rpartition("=") for part in names(text)]
    found = {name: share for name, separator, share in pairs if separator and name}
    if len(found) < len(pairs):
        raise SottovoceError("shares", "must look like NAME=SHARE,NAME=SHARE,... with each name once", text)
    return found


def priors_given(schema: "Schema", texts: Iterable[str]) -> dict[str, list[float]]:
    """Shares by name, from NAME=.7,.2,.1; the name may be left out where there is one attribute."""
    found: dict[str, list[float]] = {}
    for text in texts:
        name, separator, shares = text.rpartition("=")
        if not separator and len(schema.names) == 1:
            (name,) = schema.names
        try:
            values = [float(number) for number in shares.split(",")]
        except ValueError:
            values = []
        if not name or not values:
            raise SottovoceError("prior", "must look like NAME=.7,.2,.1", text)
        if name in found:
            raise SottovoceError("prior", f"must be given once for {name}", text)
        found[name] = values
    return found


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], target: str | None = None, title: str = "") -> None:
    """Print a table, fitted to the terminal: nothing is cut; columns for which there is no room follow below."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    console, cells = Console(stderr=target == "-"), [tuple(row) for row in rows]
    columns = list(zip(headers, *cells, strict=True))
    least = [max(cell_len(word) for cell in column for word in (cell.split() or [""])) for column in columns]
    whole = [max(map(cell_len, column)) for column in columns]
    for block in side_by_side(least, console.width):
        drawn = Table(title=title or None, title_justify="left")
        room = console.width - 1 - FRAME * len(block)
        for place, width in zip(block, fitted([(least[p], whole[p]) for p in block], room), strict=True):
            drawn.add_column(headers[place], width=width, overflow="fold")
        for row in cells:
            drawn.add_row(*(row[place] for place in block))
        console.print(drawn, markup=False)


def fitted(columns: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Widths between what the longest word and what the longest cell of a column takes; the easiest are served first.

    >>> fitted([(3, 20), (5, 7)], room=22)
    [15, 7]
    """
    widths, left = [least for least, _ in columns], max(0, room - sum(least for least, _ in columns))
    for place in sorted(range(len(columns)), key=lambda p: columns[p][1] - columns[p][0]):
        more = min(columns[place][1] - columns[place][0], left)
        widths[place] += more
        left -= more
    return widths


def side_by_side(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns that fit beside each other, as many as do, with a frame between them; each part begins with the first.

    >>> side_by_side([5, 8, 8, 8], width=30)
    [[0, 1], [0, 2], [0, 3]]
    """
    taken = [FRAME + needed for needed in least]
    parts: list[list[int]] = []
    room = 0
    for place in range(1, len(least)):
        if taken[place] > room:
            parts.append([0])
            room = width - 1 - taken[0]
        parts[-1].append(place)
        room -= taken[place]
    return parts or [[0]]


@contextmanager
def progress_bar(label: str) -> Iterator[Any]:
    """Bar on standard error that a `progress` callback moves; silent where there is no terminal."""
    with progress_bars() as move:
        yield lambda done, total: move(label, done, total)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int | None], None]]:
    """Bars on standard error, one for each label that the callback is told; silent where there is no terminal."""
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
