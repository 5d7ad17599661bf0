"""Graphs of other libraries and files."""

import sys
from itertools import permutations

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from scipy import sparse

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.graphs.convert import as_graph, to_kind
from sottovoce.graphs.degrees import reconstruct_graph
from sottovoce.graphs.edge_files import carries_coin, read_edges, read_reports, write_reports
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports, disguise_graph
from sottovoce.mechanisms.flips import BitCoin

PATH = Graph.of_edges([("ann", "bob"), ("bob", "cy")], nodes=["ann", "bob", "cy", "dan"])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["networkx", "igraph"])
def test_there_and_back(kind, directed):
    graph = Graph(PATH.labels, PATH.pairs, directed)
    made = to_kind(graph, kind)
    assert isinstance(made, igraph.Graph if kind == "igraph" else networkx.Graph)
    back = as_graph(made)
    assert (tuple(back.labels), back.directed) == (tuple(graph.labels), directed)
    assert back.pairs.tolist() == graph.pairs.tolist()


def test_nodes_of_igraph_may_have_no_names():
    assert as_graph(igraph.Graph(n=3, edges=[(0, 1)])).labels == range(3)


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_a_library_that_is_missing_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"a graph of {library} needs {library}"):
        to_kind(PATH, library)


@pytest.mark.parametrize("directed", [False, True])
def test_sparse_matrices(directed):
    graph = Graph(PATH.labels, PATH.pairs, directed)
    matrix = to_kind(graph, "sparse")
    assert matrix.sum() == (2 if directed else 4)
    back = as_graph(matrix, nodes=graph.labels, directed=directed)
    assert (back.labels, back.pairs.tolist()) == (graph.labels, graph.pairs.tolist())
    assert as_graph(matrix, directed=directed).labels == range(4)


def test_ties_listed_twice_in_a_matrix_count_once():
    places = [0, 0, 1, 1, 2], [1, 1, 0, 0, 2]
    matrix = sparse.coo_array((np.array([1, 1, 1, 1, 0]), places), shape=(3, 3))
    assert as_graph(matrix).edges == 1
    assert as_graph(matrix, directed=True).edges == 2


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_data_frames_are_read_by_row(make):
    frame = make({"from": ["ann", "bob", "cy"], "to": ["bob", "cy", "bob"]})
    assert to_kind(as_graph(frame), "edges") == [("ann", "bob"), ("bob", "cy")]
    assert as_graph(make({"from": [0, 3], "to": [1, 2]}), nodes=5, directed=True).edges == 2
    with pytest.raises(SottovoceError, match="edges must be two columns of a data frame"):
        as_graph(make({"from": ["ann"], "to": ["bob"], "since": [2001]}))


@pytest.mark.parametrize("kind", ["networkx", "igraph"])
def test_direction_can_be_left_out_but_not_made_up(kind):
    there_and_back = Graph.of_edges([("ann", "bob"), ("bob", "ann"), ("cy", "bob")], directed=True)
    plain = as_graph(to_kind(there_and_back, kind), directed=False)
    assert (plain.directed, plain.edges, tuple(plain.labels)) == (False, 2, ("ann", "bob", "cy"))
    with pytest.raises(SottovoceError, match="directed must not be True for ties without direction"):
        as_graph(to_kind(PATH, kind), directed=True)
    with pytest.raises(SottovoceError, match="nodes must not be given for a graph that has nodes of its own"):
        as_graph(to_kind(PATH, kind), nodes=9)


@pytest.mark.parametrize(
    ("nodes", "message"), [(5, "be as many as the matrix has rows, 4"), ("aabc", "have distinct labels")]
)
def test_nodes_of_a_matrix_fit_its_rows(nodes, message):
    with pytest.raises(SottovoceError, match=f"^nodes must {message}"):
        as_graph(to_kind(PATH, "sparse"), nodes=nodes)


@pytest.mark.parametrize("given", [None, 3])
def test_what_is_no_graph(given):
    with pytest.raises(SottovoceError, match="edges must be pairs of nodes"):
        as_graph(given)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["networkx", "igraph"])
def test_graphs_of_other_libraries_are_disguised(kind, directed):
    graph = Graph(PATH.labels, PATH.pairs, directed)
    told, expected = (disguise_graph(each, 1, rng=1).graph for each in (to_kind(graph, kind), graph))
    assert (told.pairs.tolist(), told.directed) == (expected.pairs.tolist(), directed)


def test_lists_and_graphs():
    assert as_graph(PATH) is PATH
    assert as_graph(to_kind(PATH, "edges"), nodes=PATH.labels).pairs.tolist() == PATH.pairs.tolist()
    with pytest.raises(SottovoceError, match="kind must be one of edges, sparse, networkx, igraph"):
        to_kind(PATH, "drawing")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), "graph must be a square matrix of zeros and ones. Got 2 x 3"),
        (np.array([[0, 2], [2, 0]]), "graph must be a square matrix of zeros and ones. Got 2"),
        (np.array([[0, 1], [0, 0]]), "graph must be a symmetric matrix"),
        (np.array([[1, 0], [0, 0]]), "edges must join two different nodes"),
    ],
)
def test_other_matrices_are_refused(matrix, message):
    with pytest.raises(SottovoceError, match=f"^{message}"):
        as_graph(sparse.csr_array(matrix))


@pytest.mark.parametrize("graph", [PATH, Graph.of_edges([(0, 1), (2, 1)], nodes=5, directed=True)])
def test_reports_are_written_and_read(graph, tmp_path):
    reports, path = disguise_graph(graph, 1, rng=1), tmp_path / "reports.txt"
    write_reports(reports, path)
    back = read_reports(path)
    assert (tuple(back.graph.labels), back.coin) == (tuple(graph.labels), reports.coin)
    assert (back.graph.pairs.tolist(), back.graph.directed) == (reports.graph.pairs.tolist(), graph.directed)
    assert carries_coin(path)
    with pytest.raises(SottovoceError, match="must not exist"):
        write_reports(reports, path)


def test_true_edges_are_read(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("ann bob\n\n# nobody\nbob, cy\n")
    assert read_edges(path).labels == ("ann", "bob", "cy")
    assert not carries_coin(path)
    with pytest.raises(SottovoceError, match="nodes must not be given for nodes with labels"):
        read_edges(path, nodes=3)
    path.write_text("")
    assert read_edges(path).nodes == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n", "must begin with a line # sottovoce graph"),
        ("# sottovoce graph {}\n", "must begin with a line # sottovoce graph"),
        ("# sottovoce graph {\n", "must begin with a line # sottovoce graph"),
        (
            '# sottovoce graph {"nodes": 2, "directed": false, "coin": ["3", "1", "4"]}\n0 x\n',
            "must name nodes by whole",
        ),
        (
            '# sottovoce graph {"nodes": 2, "directed": false, "coin": ["3", "1", "4"]}\n0\n',
            "must have two nodes in line 2",
        ),
    ],
)
def test_files_that_are_no_reports(text, message, tmp_path):
    path = tmp_path / "reports.txt"
    path.write_text(text)
    with pytest.raises(SottovoceError, match=message):
        read_reports(path)


@pytest.mark.parametrize("content", [b"\xff\xfe0 1\n", b"0 1\n\xff 2\n"])
def test_files_that_are_no_text(content, tmp_path):
    path = tmp_path / "edges.bin"
    path.write_bytes(content)
    with pytest.raises(SottovoceError, match=r"edges.bin must be text in UTF-8. Got byte 0xff instead"):
        carries_coin(path) or read_edges(path)


def test_an_instance_has_the_estimated_number_of_edges():
    """185 nodes: at a large epsilon the instance is nearly the truth, at a small one it is mostly chance."""
    rng = np.random.default_rng(1)
    truth = Graph.of_edges(np.argwhere(np.triu(rng.random((185, 185)) < 0.04, 1)), 185)
    for epsilon, low, high in ((10, 0.95, 1), (0.5, 0, 0.25)):
        reports = disguise_graph(truth, epsilon, rng=2)
        made = reconstruct_graph(reports, rng=3)
        shared = np.isin(made.pairs, truth.pairs).mean()
        assert low <= shared <= high
        assert (np.diff(made.pairs) > 0).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("tied", "share"), [(False, 0), (True, 1)])
def test_instances_of_extreme_reports(tied, share, directed):
    """Fewer ties than noise alone, or all there are: the estimate is cut to what a graph can have."""
    edges = [edge for edge in permutations(range(3), 2) if tied]
    reports = GraphReports(Graph.of_edges(edges, nodes=3, directed=directed), BitCoin(3, 2, 5))
    made = reconstruct_graph(reports, rng=1)
    assert (made.edges, made.directed) == (share * made.pair_count, directed)
