"""`sottovoce survey`: from a definition to estimates, one file for each part of the way."""

import typer

from sottovoce.cli.survey.author import freeze, new, preview
from sottovoce.cli.survey.demo import demo
from sottovoce.cli.survey.results import estimate, export
from sottovoce.cli.survey.run import invite, serve, status
from sottovoce.cli.survey.simulate import simulate

app = typer.Typer(
    help="Ask a survey whose answers are disguised on the respondents' own devices.", no_args_is_help=True
)
for command in (new, preview, freeze, invite, serve, status, estimate, export, simulate, demo):
    app.command()(command)
