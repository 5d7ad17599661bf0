"""`sottovoce mine`: what goes together and what predicts what, from a disguised file."""

import typer

from sottovoce.cli import mine_classify

app = typer.Typer(help="Mine disguised data: what predicts what.", no_args_is_help=True)
app.command("classify")(mine_classify.classify)


@app.callback()
def mine() -> None:
    """Take the commands by name, however many there are."""
