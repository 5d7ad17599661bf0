"""Graphs as text files with an edge in each line; reports carry the nodes and the coin in their first line."""

import json
import re
from pathlib import Path
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.graphs.convert import to_kind
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.tables.sink import check_new, new_file

MARK = "# sottovoce graph "
"""Begins the first line of a file of reports; the rest of the line is JSON."""

_EDGE = re.compile(r"[\s,;]+")


def read_edges(path: str | Path, nodes: int | None = None, *, directed: bool = False) -> Graph:
    """Read a graph from a file with two nodes in each line, separated by blanks, commas or semicolons.

    Lines that begin with # are skipped. If all nodes are integers, they are numbered from 0, and `nodes` is their
    number, by default one more than the largest. Otherwise they are labels, and nodes without edges are not known.
    """
    edges = _edges(path)
    if all(part.isdecimal() for edge in edges for part in edge):
        numbers = [(int(a), int(b)) for a, b in edges]
        count = max((max(edge) for edge in numbers), default=-1) + 1 if nodes is None else nodes
        return Graph.of_edges(numbers, count, directed=directed)
    if nodes is not None:
        raise SottovoceError("nodes", "must not be given for nodes with labels", nodes)
    return Graph.of_edges(edges, directed=directed)


def carries_coin(path: str | Path) -> bool:
    """Whether a file holds reports."""
    return _first_line(path).startswith(MARK)


def write_reports(reports: GraphReports, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the reported pairs, all nodes and the coin; the file appears when it is complete."""
    graph = reports.graph
    nodes = graph.nodes if isinstance(graph.labels, range) else [str(label) for label in graph.labels]
    about = {"nodes": nodes, "directed": graph.directed, "coin": reports.coin.to_json()}
    lines = [MARK + json.dumps(about, ensure_ascii=False)]
    ends = to_kind(Graph(range(graph.nodes), graph.pairs, graph.directed), "edges")
    check_new(path, overwrite=overwrite)
    with new_file(path) as hidden:
        hidden.write_text("\n".join([*lines, *(f"{i} {j}" for i, j in ends), ""]), encoding="utf-8")


def read_reports(path: str | Path) -> GraphReports:
    """Read what `write_reports` wrote; edges name nodes by their indices in the list of nodes."""
    first = _first_line(path)
    try:
        about = json.loads(first.removeprefix(MARK)) if first.startswith(MARK) else {}
        labels, directed, coin = about["nodes"], about["directed"], BitCoin.from_json(about["coin"])
    except (KeyError, json.JSONDecodeError):
        rule = f"must begin with a line {MARK}and its nodes, direction and coin"
        raise SottovoceError(str(path), rule, Words(repr(first[:60]))) from None
    count = labels if isinstance(labels, int) else len(labels)
    numbers: Any = [tuple(_whole(part, path) for part in edge) for edge in _edges(path)]
    graph = Graph.of_edges(numbers, count, directed=bool(directed))
    return GraphReports(Graph(range(count) if count == labels else tuple(labels), graph.pairs, graph.directed), coin)


def _first_line(path: str | Path) -> str:
    with open(path, "rb") as file:
        return _text(file.readline(), path)


def _text(content: bytes, path: str | Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise SottovoceError(str(path), "must be text in UTF-8", Words(f"byte {content[error.start]:#x}")) from None


def _edges(path: str | Path) -> list[tuple[str, str]]:
    edges: list[Any] = []
    for number, line in enumerate(_text(Path(path).read_bytes(), path).splitlines(), start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            parts = _EDGE.split(text)
            if len(parts) != 2:
                raise SottovoceError(str(path), f"must have two nodes in line {number}", text)
            edges.append(tuple(parts))
    return edges


def _whole(text: str, path: str | Path) -> int:
    if not text.isdecimal():
        raise SottovoceError(str(path), "must name nodes by whole numbers", text)
    return int(text)
