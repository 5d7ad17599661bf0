"""`sottovoce mine graph`: degrees, stars or triangles of a graph from disguised pairs of nodes."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import DisguiseSeedOption, ForceOption, JsonOption, LevelOption, option_errors
from sottovoce.cli.output import interval_header, print_table, say, write_json
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.estimates.derived import Derived
    from sottovoce.graphs.degrees import NodeEstimates
    from sottovoce.graphs.reports import GraphReports

STATISTICS = ("degrees", "stars", "triangles")

MOST_ROWS = 40
"""Most rows of the printed table; the JSON has all."""


@option_errors(scheme="odds", output="reports")
def graph(
    path: Annotated[
        str, typer.Argument(metavar="FILE", help="Disguised graph, or a list of true edges with --epsilon or --odds.")
    ],
    statistic: Annotated[str, typer.Option(help="degrees, stars or triangles.")] = "degrees",
    k: Annotated[int, typer.Option(help="Number of edges of a star.")] = 2,
    motif: Annotated[str, typer.Option(help="Directed triangles: all, cycles or transitive.")] = "all",
    epsilon: Annotated[str | None, typer.Option(help="Disguise true edges first; budget of each tie.")] = None,
    odds: Annotated[str | None, typer.Option(help="The same budget as odds: A:B.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes of the true edges, which are 0, 1, ...")] = None,
    directed: Annotated[bool, typer.Option("--directed", help="The true edges are directed.")] = False,
    incoming: Annotated[
        bool, typer.Option("--incoming", help="Count the edges that enter a node instead of those that leave it.")
    ] = False,
    seed: DisguiseSeedOption = None,
    reports: Annotated[str | None, typer.Option(metavar="FILE", help="Write the disguised graph.")] = None,
    level: LevelOption = 0.95,
    memory: Annotated[float, typer.Option(help="Most memory in gigabytes.")] = 2.0,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Estimate degrees, stars or triangles of a graph, for each node and in total, from disguised pairs."""
    from sottovoce.checks import one_of

    one_of("statistic", statistic, STATISTICS)
    if not memory > 0:
        raise SottovoceError("memory", "must be a positive number of gigabytes", memory)
    most_bytes = memory * 1e9
    disguised = _disguised_graph(path, epsilon, odds, seed, most_bytes, {"nodes": nodes, "directed": directed})
    _check_used(disguised, statistic, motif, incoming=incoming)
    if reports is not None:
        from sottovoce.graphs.edge_files import write_reports

        write_reports(disguised, reports, overwrite=force)
    options = {"k": k, "motif": motif, "incoming": incoming}
    estimates, totals = _estimate(disguised, statistic, level, most_bytes, options)
    about = {"nodes": disguised.graph.nodes, "directed": disguised.graph.directed, "epsilon": disguised.epsilon}
    results = {"statistic": estimates.statistic, "level": level, "total": {n.name: n.to_json() for n in totals}}
    write_json(_strict({**about, **results, "estimates": estimates.to_rows(level)}), json)
    if json != "-":
        _show(disguised, estimates, totals, level)


def _disguised_graph(
    path: str, epsilon: str | None, odds: str | None, seed: int | None, memory: float, read: dict[str, Any]
) -> "GraphReports":
    """Return the disguised graph in a file, or disguise the true edges in it."""
    from sottovoce.graphs.edge_files import carries_coin, read_edges, read_reports
    from sottovoce.graphs.reports import disguise_graph
    from sottovoce.schemes.randomized_response import RandomizedResponse

    if carries_coin(path):
        for name, value in {"epsilon": epsilon, "odds": odds, **read}.items():
            if value not in (None, False):
                raise SottovoceError(name, "must not be given for a disguised graph", value)
        return read_reports(path)
    if epsilon is None and odds is None:
        raise SottovoceError("epsilon or odds", "must be given to disguise true edges", Words("neither"))
    scheme = None if odds is None else RandomizedResponse(odds=odds, epsilon=epsilon)
    return disguise_graph(read_edges(path, **read), epsilon, seed, scheme=scheme, memory=memory)


def _check_used(disguised: "GraphReports", statistic: str, motif: str, *, incoming: bool) -> None:
    """Refuse options that would have no effect."""
    if incoming and (not disguised.graph.directed or statistic == "triangles"):
        raise SottovoceError("incoming", "must be used for degrees or stars of a directed graph", Words("others"))
    if motif != "all" and statistic != "triangles":
        raise SottovoceError("motif", "must be used with --statistic triangles", motif)


def _estimate(
    disguised: "GraphReports", statistic: str, level: float, memory: float, options: dict[str, Any]
) -> "tuple[NodeEstimates, list[Derived]]":
    """Return the estimates of every node and of the whole graph."""
    from sottovoce.graphs.degrees import estimate_degrees, estimate_edges
    from sottovoce.graphs.stars import estimate_stars, node_stars
    from sottovoce.graphs.triangles import estimate_triangles

    k, direction = options["k"], {"incoming": options["incoming"]}
    if statistic == "degrees":
        return estimate_degrees(disguised, **direction), [estimate_edges(disguised, level)]
    if statistic == "stars":
        return node_stars(disguised, k, **direction), [estimate_stars(disguised, k, level, **direction)]
    triangles = estimate_triangles(disguised, options["motif"], memory=memory)
    return triangles.nodes, [triangles.total(level), triangles.clustering(level)]


def _strict(document: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None."""
    if isinstance(document, dict):
        return {name: _strict(value) for name, value in document.items()}
    if isinstance(document, list):
        return [_strict(value) for value in document]
    return None if isinstance(document, float) and not isfinite(document) else document


def _show(disguised: "GraphReports", estimates: "NodeEstimates", totals: "list[Derived]", level: float) -> None:
    ties = "directed ties" if disguised.graph.directed else "ties"
    reported = f"{disguised.graph.edges} {ties} reported, epsilon {disguised.epsilon:.4g} for each"
    say(f"{disguised.graph.nodes} nodes, {reported}")
    rows = estimates.to_rows(level)
    shown = [
        (
            str(row["values"]["node"]),
            f"{row['estimate']:.2f}",
            f"{row['standard_error']:.2f}",
            f"{row['low']:.2f} to {row['high']:.2f}",
        )
        for row in rows[:MOST_ROWS]
    ]
    print_table(("node", estimates.statistic, "standard error", interval_header(level)), shown)
    if len(rows) > MOST_ROWS:
        say(f"{len(rows) - MOST_ROWS} more nodes are in the JSON.")
    for total in totals:
        say(str(total))
