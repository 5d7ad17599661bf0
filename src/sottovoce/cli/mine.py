"""`sottovoce mine`: what goes together in the group, from disguised data alone."""

import typer

from sottovoce.cli import mine_graph

app = typer.Typer(help="Find what goes together, from disguised data alone.", no_args_is_help=True)
app.command("graph")(mine_graph.graph)
