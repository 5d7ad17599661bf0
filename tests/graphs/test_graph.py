"""Graphs from edges: what is counted once, what is refused, and how pairs are numbered."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.graphs.graph import Graph, first_pair, nodes_of, pair_count, pair_numbers


@given(st.integers(1, 30), st.booleans())
def test_pairs_are_numbered_row_by_row(nodes, directed):
    listed = list((permutations if directed else combinations)(range(nodes), 2))
    assert pair_count(nodes, directed=directed) == len(listed)
    numbers = np.arange(len(listed))
    source, target = nodes_of(numbers, nodes, directed=directed)
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == listed
    np.testing.assert_array_equal(pair_numbers(source, target, nodes, directed=directed), numbers)
    starts = [first_pair(node, nodes, directed=directed) for node in range(nodes)]
    assert starts == [sum(pair[0] < node for pair in listed) for node in range(nodes)]


@pytest.mark.parametrize("directed", [False, True])
def test_a_tie_counts_once(directed):
    graph = Graph.of_edges([("b", "a"), ("a", "b"), ("a", "b")], directed=directed)
    assert graph.edges == 1 + directed
    assert graph.degrees.tolist() == [1, 1]


def test_directed_degrees():
    graph = Graph.of_edges([(0, 1), (0, 2), (2, 1)], nodes=4, directed=True)
    assert graph.degrees.tolist() == [2, 0, 1, 0]
    assert graph.in_degrees.tolist() == [0, 2, 1, 0]
    assert [part.tolist() for part in graph.rows] == [[0, 2, 2, 3, 3], [1, 2, 1]]
    assert Graph.of_edges([(0, 1)], nodes=3).in_degrees.tolist() == [1, 1, 0]


def test_rows_without_direction():
    assert [part.tolist() for part in Graph.of_edges([(2, 0), (1, 2)]).rows] == [[0, 1, 2, 4], [2, 2, 0, 1]]


def test_labels_that_cannot_be_sorted_keep_their_order():
    assert Graph.of_edges([("x", 1), (1, None)]).labels == ("x", 1, None)


@pytest.mark.parametrize("nodes", [None, 0, []])
def test_an_empty_graph(nodes):
    graph = Graph.of_edges([], nodes)
    assert (graph.nodes, graph.edges, graph.degrees.tolist()) == (0, 0, [])


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([(1, 1)], None, r"edges must join two different nodes. Got \(1, 1\)"),
        ([("a", "b")], ["a", "c"], "edges must join nodes that are listed. Got 'b'"),
        ([(0, 3)], 3, "edges must join nodes from 0 to 2. Got 3"),
        ([(-1, 0)], 3, "edges must join nodes from 0 to 2. Got -1"),
        ([("a", "b")], 3, "edges must be pairs of integers"),
        ([(0, 1, 2)], None, "edges must be pairs of nodes"),
        ([([], 1)], None, "edges must be pairs of nodes"),
        ([5], None, "edges must be pairs of nodes"),
        ([], ["a", "a"], "nodes must have distinct labels"),
        ([], -1, "nodes must be labels, or their number"),
        ([], True, "nodes must be labels, or their number"),
        (np.zeros((2, 3), int), 4, "edges must be pairs of integers"),
    ],
)
def test_what_is_no_graph_is_refused(edges, nodes, message):
    with pytest.raises(SottovoceError, match=f"^{message}"):
        Graph.of_edges(edges, nodes)


@pytest.mark.parametrize(
    "pairs", [np.array([3]), np.array([1, 0]), np.array([0.0]), np.array([-1]), np.zeros((1, 1), int)]
)
def test_pairs_must_be_ascending_numbers(pairs):
    with pytest.raises(SottovoceError, match=r"^pairs must be ascending numbers \(int64\) of 3 pairs"):
        Graph(range(3), pairs)
