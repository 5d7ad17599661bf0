"""Reported edges in tables of any back end give the same graph, and hence the same degrees."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.graphs.convert import as_graph
from sottovoce.graphs.degrees import estimate_degrees
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports, disguise_graph, edge_coin

TRUTH = Graph.of_edges([(0, 1), (0, 2), (1, 4), (3, 4)], nodes=7)
REPORTS = disguise_graph(TRUTH, epsilon=1, rng=1)


def test_every_back_end_gives_the_same_degrees(back_ends):
    expected = estimate_degrees(REPORTS).value.tolist()
    ends = pa.table(dict(zip(["from", "to"], REPORTS.graph.ends, strict=True)))
    for table in back_ends(ends).values():
        found = GraphReports(as_graph(table, nodes=7), edge_coin(epsilon=1))
        assert estimate_degrees(found).value.tolist() == expected


def test_labels_and_direction(back_ends):
    named = pa.table({"from": ["ann", "bob", "ann"], "to": ["bob", "ann", "cy"]})
    for table in back_ends(named).values():
        assert as_graph(table, ["ann", "bob", "cy", "di"], directed=True).degrees.tolist() == [2, 1, 0, 0]
        assert as_graph(table).degrees.tolist() == [2, 1, 1]


def test_no_edges_at_all(back_ends):
    empty = pa.table({"from": np.zeros(0, np.int64), "to": np.zeros(0, np.int64)})
    for table in back_ends(empty).values():
        assert as_graph(table, nodes=3).degrees.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"from": [0]}, r"^edges must be a table with two columns\. Got \['from'\]"),
        ({"from": [0, None], "to": [1, 2]}, r"^edges must be pairs of nodes, none of them missing"),
        ({"from": [0, 3], "to": [1, 9]}, r"^edges must join nodes from 0 to 6\. Got 9"),
    ],
)
def test_tables_that_hold_no_edges(columns, message):
    with pytest.raises(SottovoceError, match=message):
        as_graph(pl.DataFrame(columns).lazy(), nodes=7)
