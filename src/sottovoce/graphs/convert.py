"""Graphs of other libraries in and out: networkx, igraph, scipy's sparse matrices, and lists of edges."""

import sys
from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.errors import MissingExtraError, SottovoceError, Words
from sottovoce.graphs.graph import Graph

KINDS = ("edges", "sparse", "networkx", "igraph")
"""What a graph may be given back as."""


def as_graph(given: Any, nodes: Any = None, *, directed: bool | None = None) -> Graph:
    """Graph of whatever a caller has.

    A networkx graph or an igraph Graph, with their own nodes and direction, which `directed=False` takes away; a square
    scipy matrix of zeros and ones, symmetric unless `directed`; or pairs of nodes, with `nodes` as in `Graph.of_edges`:
    a list, an array or a data frame of two columns. Loops are refused, and ties that are there more than once count
    once, whatever they come in.

    >>> as_graph([("ann", "bob"), ("bob", "ann")], nodes=["ann", "bob", "cy"]).degrees
    array([1, 1, 0])
    """
    own = _with_own_nodes(given)
    if own is not None:
        if nodes is not None:
            raise SottovoceError("nodes", "must not be given for a graph that has nodes of its own", nodes)
        return own if directed is None else _turned(own, directed=directed)
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(given):
        return _of_matrix(given, nodes, directed=bool(directed))
    return Graph.of_edges(_listed(given), nodes, directed=bool(directed))


def to_kind(graph: Graph, kind: str) -> Any:
    """The graph as a list of pairs of labels, or a graph of another library.

    >>> to_kind(Graph.of_edges([("ann", "bob")]), "edges")
    [('ann', 'bob')]
    """
    if kind not in KINDS:
        raise SottovoceError("kind", f"must be one of {', '.join(KINDS)}", kind)
    if kind == "edges":
        source, target = graph.ends
        return [(graph.labels[i], graph.labels[j]) for i, j in zip(source.tolist(), target.tolist(), strict=True)]
    return {"sparse": _to_matrix, "networkx": _to_networkx, "igraph": _to_igraph}[kind](graph)


def _with_own_nodes(given: Any) -> Graph | None:
    """Graph of a graph, ours or that of another library."""
    if isinstance(given, Graph):
        return given
    if _is(given, "networkx", "Graph"):
        return Graph.of_edges(given.edges(), given.nodes, directed=given.is_directed())
    if _is(given, "igraph", "Graph"):
        named = given.vs["name"] if "name" in given.vs.attributes() else None
        found = Graph.of_edges(given.get_edgelist(), given.vcount(), directed=given.is_directed())
        return found if named is None else Graph(tuple(named), found.pairs, found.directed)
    return None


def _turned(graph: Graph, *, directed: bool) -> Graph:
    """The same without direction; none is made up."""
    if directed and not graph.directed:
        raise SottovoceError("directed", "must not be asked for where ties have no direction", directed)
    found = Graph.of_edges(np.stack(graph.ends, axis=1), graph.nodes, directed=directed)
    return Graph(graph.labels, found.pairs, directed)


def _listed(given: Any) -> Any:
    """Edges of a data frame row by row; anything else as it is."""
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return given
    if len(frame.columns) != 2:
        raise SottovoceError("edges", "must be two columns of a data frame", frame.columns)
    return frame.rows()


def _is(given: Any, library: str, name: str) -> bool:
    """Whether it is an object of a library, without importing it: whoever made it has."""
    return library in sys.modules and isinstance(given, getattr(sys.modules[library], name))


def _of_matrix(matrix: Any, nodes: Any, *, directed: bool) -> Graph:
    rows, columns = matrix.shape
    cells = matrix.tocoo()
    other = cells.data[(cells.data != 1) & (cells.data != 0)]
    if rows != columns or len(other):
        got = Words(f"{rows} x {columns}") if rows != columns else other[0]
        raise SottovoceError("graph", "must be a square matrix of zeros and ones", got)
    tied = cells.data == 1
    there = Graph.of_edges(np.stack([cells.row[tied], cells.col[tied]], axis=1), rows, directed=True)
    found = there if directed else _turned(there, directed=False)
    if not directed and 2 * found.edges != there.edges:
        raise SottovoceError("graph", "must be a symmetric matrix, or directed", Words("one that is not"))
    labels = found.labels if nodes is None else range(nodes) if isinstance(nodes, int) else tuple(nodes)
    if len(labels) != rows:
        raise SottovoceError("nodes", f"must be as many as the matrix has rows, {rows}", len(labels))
    return Graph(labels, found.pairs, directed)


def _to_matrix(graph: Graph) -> Any:
    indptr, indices = graph.rows
    ones = np.ones(len(indices), np.uint8)
    return _library("scipy.sparse").csr_array((ones, indices, indptr), shape=(graph.nodes,) * 2)


def _to_networkx(graph: Graph) -> Any:
    networkx = _library("networkx")
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(graph.labels)
    made.add_edges_from(to_kind(graph, "edges"))
    return made


def _to_igraph(graph: Graph) -> Any:
    made = _library("igraph").Graph(n=graph.nodes, directed=graph.directed)
    made.vs["name"] = list(graph.labels)
    made.add_edges(list(zip(*(end.tolist() for end in graph.ends), strict=True)))
    return made


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"a graph of {name}", name, "graphs") from None
