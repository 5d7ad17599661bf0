"""Options that commands share, how their texts are parsed, and how errors name them."""

import csv
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer
from typer.models import ArgumentInfo

from sottovoce.errors import SottovoceError, renamed_parameters

if TYPE_CHECKING:
    from sottovoce.schemas.schema import Schema

JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; - for standard output.")
]
ReportsArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="Disguised CSV or Parquet file, or a tally (.json, .arrow).")
]
PlanArgument = Annotated[str, typer.Argument(metavar="PLAN", help="Plan, or a disguised file that carries its plan.")]
PlanOption = Annotated[str | None, typer.Option(metavar="PLAN", help="Plan, if the file does not carry it.")]
LevelOption = Annotated[float, typer.Option(help="Confidence level of intervals.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
EpsilonOption = Annotated[str | None, typer.Option(help="Privacy budget of the whole record.")]
OddsOption = Annotated[str | None, typer.Option(help="Privacy budget of the whole record as odds: A:B.")]
DisguiseSeedOption = Annotated[
    int | None, typer.Option(min=0, help="Repeatable disguise, for experiments only: it protects nobody.")
]

Command = TypeVar("Command", bound=Callable[..., None])


def option_errors(**options: str | None) -> Callable[[Command], Command]:
    """Make errors of a command name options as they are written on the command line.

    An error about a parameter of the command names its option or argument. `kind="interval"` adds that the library's
    parameter `kind` is set by `--interval`; `reports=None` says that the library's `reports` is no option.
    """

    def decorate(command: Command) -> Command:
        written = {name: _as_written(each) for name, each in signature(command).parameters.items()}
        names = written | {library: written[name] if name else library for library, name in options.items()}

        @wraps(command)
        def run(*arguments: Any, **values: Any) -> None:
            with renamed_parameters(names):
                command(*arguments, **values)

        return cast(Command, run)

    return decorate


def _as_written(parameter: Parameter) -> str:
    """Return an option's long form, or an argument's metavar."""
    (info,) = getattr(parameter.annotation, "__metadata__", [None])
    if isinstance(info, ArgumentInfo):
        return str(info.metavar).strip("[]")
    given = (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ()))  # typer takes the first apart
    declared = [each for each in given if isinstance(each, str) and each.startswith("-")]
    return max(declared or [f"--{written_name(parameter.name)}"], key=len).partition("/")[0]


def split_names(text: str | None) -> list[str]:
    """Return comma-separated names; a name with a comma stands in quotation marks.

    >>> split_names('age,"income, net"')
    ['age', 'income, net']
    """
    return [name.strip() for name in next(csv.reader([text]))] if text else []


def split_numbers(parameter: str, text: str | None) -> list[float] | None:
    """Return comma-separated numbers, or None without a text.

    >>> split_numbers("accuracy", ".4,.5")
    [0.4, 0.5]
    """
    if text is None:
        return None
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise SottovoceError(parameter, "must be numbers with commas between them", text) from None


def written_name(name: str) -> str:
    """Return a measure's name as it is written on the command line, with hyphens.

    >>> written_name("standard_error")
    'standard-error'
    """
    return name.replace("_", "-")


def parse_measure(parameter: str, text: str, known: Iterable[str]) -> str:
    """Return the library's name of a measure, which may be written with hyphens or underscores.

    >>> parse_measure("tie", "pair-error", ["odds", "pair_error"])
    'pair_error'
    """
    names = {written_name(name): name for name in known}
    if written_name(text) not in names:
        raise SottovoceError(parameter, f"must be one of {', '.join(names)}", text)
    return names[written_name(text)]


def parse_bins(text: str) -> tuple[str, list[float]]:
    """Return a name and edges of bins, from NAME=EDGE,EDGE,...

    >>> parse_bins("age=18,40,inf")
    ('age', [18.0, 40.0, inf])
    """
    name, separator, numbers = text.rpartition("=")
    edges = _floats(numbers)
    if not separator or not edges:
        raise SottovoceError("bins", "must look like NAME=EDGE,EDGE,...", text)
    return name, edges


def parse_shares(text: str) -> dict[str, str]:
    """Return shares by name, from NAME=SHARE,NAME=SHARE,...

    >>> parse_shares("north=.4,south=.6")
    {'north': '.4', 'south': '.6'}
    """
    pairs = [part.rpartition("=") for part in split_names(text)]
    shares = {name: share for name, separator, share in pairs if separator and name}
    if len(shares) < len(pairs):
        raise SottovoceError("shares", "must look like NAME=SHARE,NAME=SHARE,... with each name once", text)
    return shares


def parse_priors(schema: "Schema", texts: Iterable[str]) -> dict[str, list[float]]:
    """Return priors by attribute, from NAME=.7,.2,.1; the name is not needed if there is one attribute."""
    priors: dict[str, list[float]] = {}
    for text in texts:
        name, separator, shares = text.rpartition("=")
        if not separator and len(schema.names) == 1:
            (name,) = schema.names
        values = _floats(shares)
        if not name or not values:
            raise SottovoceError("prior", "must look like NAME=.7,.2,.1", text)
        if name in priors:
            raise SottovoceError("prior", f"must be given once for {name}", text)
        priors[name] = values
    return priors


def _floats(text: str) -> list[float]:
    """Return comma-separated numbers; an empty list if some are no numbers."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        return []
