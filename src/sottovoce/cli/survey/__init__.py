"""`sottovoce survey`: from a definition to estimates; one file for each stage of a survey."""

from collections.abc import Callable

import typer

from sottovoce.cli.survey import accounts, audit, author, backup, demo, drill, rehearse, results, run, serve

app = typer.Typer(
    help="Run a survey whose answers are disguised on the respondents' own devices.", no_args_is_help=True
)
COMMANDS: tuple[Callable[..., None], ...] = (
    author.new,
    author.preview,
    author.freeze,
    rehearse.rehearse,
    run.invite,
    serve.serve,
    run.status,
    run.revoke,
    run.receipt,
    audit.audit,
    run.close,
    run.delete,
    results.estimate,
    results.export,
    results.report,
    backup.backup,
    backup.restore,
    demo.simulate,
    demo.demo,
    drill.drill,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(accounts.app, name="accounts")
