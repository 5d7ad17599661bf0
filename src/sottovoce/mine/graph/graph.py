"""A graph as sorted numbers of its pairs: as many as it has edges, however many nodes there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.mine.graph.edge_list import Node, coded_edges
from sottovoce.mine.graph.pairs import Numbers, nodes_of, numbers_of, pair_count

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Where the neighbours of each node start and end, and the neighbours, in ascending order."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes by label, and the pairs among them that are tied, numbered as in `pairs`.

    There are no loops and no ties counted twice; `of_edges` says what it does with those.

    >>> square = Graph.of_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> square.edges, square.degrees.tolist(), square.labels
    (4, [2, 2, 2, 2], ('a', 'b', 'c', 'd'))
    """

    labels: Sequence[Node]
    pairs: Numbers
    directed: bool = False

    def __post_init__(self) -> None:
        """Check that labels differ and that pairs are numbers of pairs, ascending."""
        if not isinstance(self.labels, range) and len(set(self.labels)) < self.nodes:
            raise SottovoceError("nodes", "must be different labels", self.labels)
        pairs = np.asarray(self.pairs)
        most = pair_count(self.nodes, directed=self.directed)
        ascending = pairs.ndim == 1 and pairs.dtype == np.int64 and (pairs[1:] > pairs[:-1]).all()
        if not ascending or (len(pairs) and not 0 <= pairs[0] <= pairs[-1] < most):
            raise SottovoceError("pairs", f"must be ascending numbers (int64) of {most} pairs", self.pairs)

    @classmethod
    def of_edges(
        cls,
        edges: Iterable[tuple[Node, Node]] | NDArray[np.integer[Any]],
        nodes: int | Iterable[Node] | None = None,
        *,
        directed: bool = False,
    ) -> "Graph":
        """Read pairs of labels; a tie that is listed twice, either way round, counts once, and loops are refused.

        `nodes` lists all labels, or says how many nodes 0, 1, ... there are; an edge to another one is
        refused. Without it the nodes are those that have edges, sorted where they can be: list them,
        since whether a node has any edge is nobody's business.
        """
        labels, source, target = coded_edges(edges, nodes)
        loops = np.flatnonzero(source == target)
        if len(loops):
            raise SottovoceError("edges", "must join two different nodes", (labels[source[loops[0]]],) * 2)
        if not directed:
            source, target = np.minimum(source, target), np.maximum(source, target)
        return cls(labels, np.unique(numbers_of(source, target, len(labels), directed=directed)), directed)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.pairs)

    @property
    def pair_count(self) -> int:
        """Number of pairs that could be tied."""
        return pair_count(self.nodes, directed=self.directed)

    @cached_property
    def ends(self) -> tuple[Numbers, Numbers]:
        """Both nodes of each edge, by number, the edges in order."""
        return nodes_of(self.pairs, self.nodes, directed=self.directed)

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Edges at each node; with direction, those that leave it."""
        source, target = self.ends
        leaving = np.bincount(source, minlength=self.nodes)
        return leaving if self.directed else leaving + np.bincount(target, minlength=self.nodes)

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """Edges that come to each node; without direction, the degrees."""
        return np.bincount(self.ends[1], minlength=self.nodes) if self.directed else self.degrees

    @cached_property
    def rows(self) -> Rows:
        """Neighbours of each node; with direction, those that its edges lead to."""
        source, target = self.ends
        if self.directed:
            return _rows(source, target, self.nodes)
        return _rows(np.concatenate([source, target]), np.concatenate([target, source]), self.nodes)

    @cached_property
    def rows_back(self) -> Rows:
        """Nodes whose edges lead to each node."""
        return _rows(*self.ends[::-1], self.nodes) if self.directed else self.rows


def _rows(source: Numbers, target: Numbers, nodes: int) -> Rows:
    order = np.lexsort((target, source))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=nodes))]).astype(np.int64)
    return indptr, target[order].astype(np.int32)
