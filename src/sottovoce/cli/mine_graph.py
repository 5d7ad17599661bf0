"""`sottovoce mine graph`: degrees, stars or triangles of a graph from disguised pairs."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import ForceOption, JsonOption, LevelOption, emit, say, table
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.estimates.derived import Derived
    from sottovoce.graphs.degrees import NodeEstimates
    from sottovoce.graphs.reports import GraphReports

STATISTICS = ("degrees", "stars", "triangles")

MOST_ROWS = 40
"""Nodes of the table for people; the JSON has all."""


def graph(
    path: Annotated[str, typer.Argument(metavar="FILE", help="Disguised graph; or, with --epsilon, true edges.")],
    statistic: Annotated[str, typer.Option(help="degrees, stars or triangles.")] = "degrees",
    k: Annotated[int, typer.Option(help="Arms of a star.")] = 2,
    motif: Annotated[str, typer.Option(help="Directed triangles: all, cycles or transitive.")] = "all",
    epsilon: Annotated[str | None, typer.Option(help="Disguise true edges first: bound for each tie.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes of the true edges, 0, 1, ...")] = None,
    directed: Annotated[bool, typer.Option("--directed", help="True edges have a direction.")] = False,
    incoming: Annotated[bool, typer.Option("--incoming", help="Edges that come to a node, not that leave it.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable coins, for experiments only.")] = None,
    reports: Annotated[str | None, typer.Option(metavar="FILE", help="Write the disguised graph.")] = None,
    level: LevelOption = 0.95,
    memory: Annotated[float, typer.Option(help="Gigabytes that may be used.")] = 2.0,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Estimate degrees, stars or triangles, of each node and in all, from disguised pairs."""
    if statistic not in STATISTICS:
        raise SottovoceError("statistic", f"must be one of {', '.join(STATISTICS)}", statistic)
    if not memory > 0:
        raise SottovoceError("memory", "must be a positive number of gigabytes", memory)
    room = memory * 1e9
    told = _reports(path, epsilon, seed, room, {"nodes": nodes, "directed": directed})
    _refuse_in_vain(told, statistic, motif, incoming=incoming)
    if reports is not None:
        from sottovoce.graphs.edge_files import write_reports

        write_reports(told, reports, overwrite=force)
    asked = {"k": k, "motif": motif, "incoming": incoming}
    each, numbers = _estimates(told, statistic, level, room, asked)
    about = {"nodes": told.graph.nodes, "directed": told.graph.directed, "epsilon": told.epsilon}
    found = {"statistic": each.statistic, "level": level, "total": {n.name: n.to_json() for n in numbers}}
    emit(_strict({**about, **found, "estimates": each.to_rows(level)}), json)
    if json != "-":
        _show(told, each, numbers, level)


def _reports(path: str, epsilon: str | None, seed: int | None, memory: float, read: dict[str, Any]) -> "GraphReports":
    """Reports in the file, or of the true edges in it."""
    from sottovoce.graphs.edge_files import carries_coin, read_edges, read_reports
    from sottovoce.graphs.reports import disguise_graph

    if carries_coin(path):
        for name, given in {"epsilon": epsilon, **read}.items():
            if given not in (None, False):
                raise SottovoceError(name, "must not be given for a graph that is disguised", given)
        return read_reports(path)
    if epsilon is None:
        raise SottovoceError("epsilon", "must be given for a file of true edges, to disguise them", Words("none"))
    return disguise_graph(read_edges(path, **read), epsilon, seed, memory=memory)


def _refuse_in_vain(told: "GraphReports", statistic: str, motif: str, *, incoming: bool) -> None:
    """Refuse what would change nothing."""
    if incoming and (not told.graph.directed or statistic == "triangles"):
        raise SottovoceError("incoming", "must be for degrees or stars of directed ties", Words("others"))
    if motif != "all" and statistic != "triangles":
        raise SottovoceError("motif", "must be for triangles", motif)


def _estimates(
    told: "GraphReports", statistic: str, level: float, memory: float, asked: dict[str, Any]
) -> "tuple[NodeEstimates, list[Derived]]":
    from sottovoce.graphs.degrees import estimate_degrees, estimate_edges
    from sottovoce.graphs.stars import estimate_stars, node_stars
    from sottovoce.graphs.triangles import estimate_triangles

    k, way = asked["k"], {"incoming": asked["incoming"]}
    if statistic == "degrees":
        return estimate_degrees(told, **way), [estimate_edges(told, level)]
    if statistic == "stars":
        return node_stars(told, k, **way), [estimate_stars(told, k, level, **way)]
    found = estimate_triangles(told, asked["motif"], memory=memory)
    return found.nodes, [found.total(level), found.clustering(level)]


def _strict(document: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(document, dict):
        return {name: _strict(value) for name, value in document.items()}
    if isinstance(document, list):
        return [_strict(value) for value in document]
    return None if isinstance(document, float) and not isfinite(document) else document


def _show(told: "GraphReports", each: "NodeEstimates", numbers: "list[Derived]", level: float) -> None:
    ties = "directed ties" if told.graph.directed else "ties"
    say(f"{told.graph.nodes} nodes, {told.graph.edges} {ties} reported, epsilon {told.epsilon:.4g} for each")
    rows = each.to_rows(level)
    shown = [
        (
            str(r["values"]["node"]),
            f"{r['estimate']:.2f}",
            f"{r['standard_error']:.2f}",
            f"{r['low']:.2f} to {r['high']:.2f}",
        )
        for r in rows[:MOST_ROWS]
    ]
    table(("node", each.statistic, "standard error", f"{level:.0%} interval"), shown)
    if len(rows) > MOST_ROWS:
        say(f"{len(rows) - MOST_ROWS} more nodes are in the JSON.")
    for each_number in numbers:
        say(str(each_number))
