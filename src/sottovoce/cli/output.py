"""What commands print: tables for people, JSON for programs."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.schema.schema import Schema

JsonOption = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON.")]
ANY_WIDTH = 10_000
"""Characters of a terminal that is wide enough for any table."""

ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def emit(document: dict[str, Any], target: str | None) -> None:
    """Write a result as JSON to a file, or to standard output for "-"; nothing without a target."""
    if target is None:
        return
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if target == "-":
        typer.echo(text)
        return
    from sottovoce.table.sink import new_file

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
    """Print a table, fitted to the terminal: without lines between its columns where it is too wide for them."""
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table

    # Folded, and not cut off with dots: ids and hashes are copied from tables.
    columns = [Column(header, overflow="fold") for header in headers]
    drawn = Table(*columns, title=title or None, title_justify="left")
    for row in rows:
        drawn.add_row(*row)
    console = Console(stderr=target == "-")
    if console.measure(drawn, options=console.options.update(width=ANY_WIDTH)).maximum > console.width:
        drawn.box, drawn.padding, drawn.show_edge = box.SIMPLE_HEAD, (0, 0), False
    console.print(drawn, markup=False)


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
