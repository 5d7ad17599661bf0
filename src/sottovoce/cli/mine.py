"""`sottovoce mine`: what goes together and what predicts what, from disguised data alone."""

import typer

from sottovoce.cli import mine_classify, mine_graph, mine_itemsets, mine_rules

app = typer.Typer(help="Mine disguised data: what goes together, and what predicts what.", no_args_is_help=True)
app.command("itemsets")(mine_itemsets.itemsets)
app.command("rules")(mine_rules.rules)
app.command("classify")(mine_classify.classify)
app.command("graph")(mine_graph.graph)
