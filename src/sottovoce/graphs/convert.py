"""Conversion from and to networkx, igraph, scipy's sparse matrices and lists of edges."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.checks import one_of
from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.graphs.graph import Graph
from sottovoce.tables.back_ends import carries_own_plan, engine_of
from sottovoce.tables.source import Source, open_source

KINDS = ("edges", "sparse", "networkx", "igraph")
"""Kinds that a graph can be converted to."""


def as_graph(given: Any, nodes: Any = None, *, directed: bool | None = None) -> Graph:
    """Return a `Graph` from a graph of another library, a sparse matrix or a list of edges.

    A networkx graph or an igraph Graph brings its nodes and direction, which `directed=False` removes; a square scipy
    matrix of zeros and ones must be symmetric unless `directed`; pairs of nodes are a list, an array or a table of two
    columns, with `nodes` as in `Graph.of_edges`. A table is a data frame, or is held by an engine: an Arrow dataset, a
    Polars LazyFrame, a DuckDB relation, a Spark DataFrame, or the path of a Parquet file, of a folder of them or of a
    table in a DuckDB file. Loops are refused, and repeated ties count once.

    >>> as_graph([("ann", "bob"), ("bob", "ann")], nodes=["ann", "bob", "cy"]).degrees
    array([1, 1, 0])
    """
    graph = _from_graph(given)
    if graph is not None:
        if nodes is not None:
            raise SottovoceError("nodes", "must not be given for a graph that has nodes of its own", nodes)
        return graph if directed is None else _with_direction(graph, directed=directed)
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(given):
        return _from_matrix(given, nodes, directed=bool(directed))
    return Graph.of_edges(_edge_rows(given), nodes, directed=bool(directed))


def to_kind(graph: Graph, kind: str) -> Any:
    """Return the graph as a list of pairs of labels, or as a graph of another library.

    >>> to_kind(Graph.of_edges([("ann", "bob")]), "edges")
    [('ann', 'bob')]
    """
    one_of("kind", kind, KINDS)
    if kind == "edges":
        source, target = graph.ends
        return [(graph.labels[i], graph.labels[j]) for i, j in zip(source.tolist(), target.tolist(), strict=True)]
    return {"sparse": _to_matrix, "networkx": _to_networkx, "igraph": _to_igraph}[kind](graph)


def _from_graph(given: Any) -> Graph | None:
    """Return the graph of a `Graph`, networkx or igraph object, or None."""
    if isinstance(given, Graph):
        return given
    if _is(given, "networkx", "Graph"):
        return Graph.of_edges(given.edges(), given.nodes, directed=given.is_directed())
    if _is(given, "igraph", "Graph"):
        named = given.vs["name"] if "name" in given.vs.attributes() else None
        graph = Graph.of_edges(given.get_edgelist(), given.vcount(), directed=given.is_directed())
        return graph if named is None else Graph(tuple(named), graph.pairs, graph.directed)
    return None


def _with_direction(graph: Graph, *, directed: bool) -> Graph:
    """Remove the direction of ties if asked; it cannot be added."""
    if directed and not graph.directed:
        raise SottovoceError("directed", "must not be True for ties without direction", directed)
    same = Graph.of_edges(np.stack(graph.ends, axis=1), graph.nodes, directed=directed)
    return Graph(graph.labels, same.pairs, directed)


def _edge_rows(given: Any) -> Any:
    """Return the rows of a table; anything else unchanged."""
    if engine_of(given) is not None or (isinstance(given, str | Path) and carries_own_plan(given)):
        return _read_edges(open_source(given))
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return given
    if len(frame.columns) != 2:
        raise SottovoceError("edges", "must be two columns of a data frame", frame.columns)
    return frame.rows()


def _read_edges(source: Source) -> Any:
    """Pairs of nodes in the columns of a table: an array of whole numbers, or a list of pairs."""
    if len(source.names) != 2:
        raise SottovoceError("edges", "must be a table with two columns", list(source.names))
    parts = [tuple(_nodes(batch[name]) for name in source.names) for batch in source.batches()]
    both = [np.concatenate([np.zeros(0, np.int64), *ends]) for ends in zip(*parts, strict=True)]
    if all(ends.dtype.kind in "iu" for ends in both):
        return np.stack(both, axis=1) if both else np.zeros((0, 2), np.int64)
    return list(zip(*(ends.tolist() for ends in both), strict=True))


def _nodes(values: Any) -> Any:
    """Nodes of one column of a batch, none of which may be missing: whole numbers as they are, others as objects."""
    if values.is_null().any():
        raise SottovoceError("edges", "must be pairs of nodes, none of them missing", None)
    return values.to_numpy() if values.dtype.is_integer() else np.array(values.to_list(), object)


def _is(given: Any, library: str, name: str) -> bool:
    """Whether it is an object of a library, without importing the library, which is loaded if there is one."""
    return library in sys.modules and isinstance(given, getattr(sys.modules[library], name))


def _from_matrix(matrix: Any, nodes: Any, *, directed: bool) -> Graph:
    rows, columns = matrix.shape
    cells = matrix.tocoo()
    other = cells.data[(cells.data != 1) & (cells.data != 0)]
    if rows != columns or len(other):
        value = Words(f"{rows} x {columns}") if rows != columns else other[0]
        raise SottovoceError("graph", "must be a square matrix of zeros and ones", value)
    tied = cells.data == 1
    arcs = Graph.of_edges(np.stack([cells.row[tied], cells.col[tied]], axis=1), rows, directed=True)
    graph = arcs if directed else _with_direction(arcs, directed=False)
    if not directed and 2 * graph.edges != arcs.edges:
        raise SottovoceError("graph", "must be a symmetric matrix, or directed", Words("one that is not"))
    labels = graph.labels if nodes is None else range(nodes) if isinstance(nodes, int) else tuple(nodes)
    if len(labels) != rows:
        raise SottovoceError("nodes", f"must be as many as the matrix has rows, {rows}", len(labels))
    return Graph(labels, graph.pairs, directed)


def _to_matrix(graph: Graph) -> Any:
    indptr, indices = graph.rows
    ones = np.ones(len(indices), np.uint8)
    return _library("scipy.sparse").csr_array((ones, indices, indptr), shape=(graph.nodes,) * 2)


def _to_networkx(graph: Graph) -> Any:
    networkx = _library("networkx")
    converted = networkx.DiGraph() if graph.directed else networkx.Graph()
    converted.add_nodes_from(graph.labels)
    converted.add_edges_from(to_kind(graph, "edges"))
    return converted


def _to_igraph(graph: Graph) -> Any:
    converted = _library("igraph").Graph(n=graph.nodes, directed=graph.directed)
    converted.vs["name"] = list(graph.labels)
    converted.add_edges(list(zip(*(end.tolist() for end in graph.ends), strict=True)))
    return converted


def _library(name: str) -> Any:
    check_installed(f"a graph of {name}", "graphs", name)
    return import_module(name)
