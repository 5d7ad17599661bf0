"""`sottovoce survey`: from a definition to estimates; one file for each stage of a survey."""

from collections.abc import Callable

import typer

from sottovoce.cli.survey import author, demo, results, run

app = typer.Typer(
    help="Run a survey whose answers are disguised on the respondents' own devices.", no_args_is_help=True
)
COMMANDS: tuple[Callable[..., None], ...] = (
    author.new,
    author.preview,
    author.freeze,
    run.invite,
    run.serve,
    run.status,
    results.estimate,
    results.export,
    demo.simulate,
    demo.demo,
)
for command in COMMANDS:
    app.command()(command)
