"""The `sottovoce` command: its subcommands, errors without tracebacks, and exit codes.

Exit codes: 0 success, 1 an audit, a drill or a check of a receipt failed, 2 wrong usage (explained on standard error),
130 interrupted; anything else is a bug.
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import demo, design, estimate, measure, mine, plan, recommend, survey, tally
from sottovoce.errors import SottovoceError

app = typer.Typer(
    name="sottovoce",
    help="Ask sensitive questions deniably, and learn the truth about the group.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(plan.app, name="plan")
app.command("recommend")(recommend.recommend)
app.command("compare")(measure.compare)
app.add_typer(design.app, name="design")
app.add_typer(mine.app, name="mine")
app.add_typer(survey.app, name="survey")
app.command("disguise")(plan.disguise)
app.command("estimate")(estimate.estimate)
app.command("tally")(tally.tally)
app.command("measure")(measure.measure)
app.command("width")(measure.width)
app.command("respondents")(measure.respondents)
app.command("demo")(demo.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sottovoce {sottovoce.__version__}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Ask sensitive questions deniably, and learn the truth about the group."""


@cache
def command() -> Callable[..., object]:
    """Return the command with all its subcommands and options, which typer takes a while to put together."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; `--debug` may stand anywhere in it."""
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    try:
        command()([word for word in words if word != "--debug"])
    except (SottovoceError, OSError) as error:
        if debug:
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
