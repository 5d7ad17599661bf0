"""Graphs as sorted numbers of their tied pairs of nodes.

In an undirected graph the pair {i, j}, i < j, is reported by i alone, so that a tie costs its epsilon once: node i
reports the n - 1 - i pairs with later nodes. In a directed graph i reports all n - 1 pairs (i, j). Pairs are numbered
row by row.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import number
from sottovoce.errors import SottovoceError

MEMORY = 2**31
"""Bytes that a call may use by default."""

BYTES_A_PAIR = 48
"""Memory of a reported pair while it is drawn, sorted and turned into rows."""

Indices = NDArray[np.int64]
Node = Hashable

MOST_NODES = 2**31 - 1

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Compressed sparse rows: where the neighbours of each node start and end, and the neighbours, ascending."""


def checked_memory(memory: Any) -> float:
    """Return a positive number of bytes; infinity is no limit."""
    return memory if memory == np.inf else number("memory", memory, 0, open_ends=True)


def in_gigabytes(count: float) -> str:
    """Return a number of bytes in gigabytes.

    >>> in_gigabytes(2**31)
    '2.15 GB'
    """
    return f"{count / 1e9:.3g} GB"


def pair_count(nodes: int, *, directed: bool) -> int:
    """Return the number of pairs that are reported: n (n - 1), or half as many in an undirected graph.

    >>> pair_count(4, directed=False), pair_count(4, directed=True)
    (6, 12)
    """
    return nodes * (nodes - 1) if directed else nodes * (nodes - 1) // 2


def first_pair(node: int | Indices, nodes: int, *, directed: bool) -> int | Indices:
    """Return the number of the first pair that a node reports.

    >>> first_pair(2, 4, directed=False), first_pair(2, 4, directed=True)
    (5, 6)
    """
    return node * (nodes - 1) if directed else node * (2 * nodes - node - 1) // 2


def pair_numbers(source: Indices, target: Indices, nodes: int, *, directed: bool) -> Indices:
    """Return the numbers of pairs, the smaller node first unless they are directed.

    >>> pair_numbers(np.array([0, 1]), np.array([3, 2]), 4, directed=False)
    array([2, 3])
    """
    offset = target - (target > source) if directed else target - source - 1
    return np.asarray(first_pair(source, nodes, directed=directed) + offset)


def nodes_of(numbers: Indices, nodes: int, *, directed: bool) -> tuple[Indices, Indices]:
    """Return both nodes of numbered pairs: the inverse of `pair_numbers`.

    >>> nodes_of(np.array([2, 3]), 4, directed=False)
    (array([0, 1]), array([3, 2]))
    """
    if directed:
        source, offset = np.divmod(numbers, max(nodes - 1, 1))
        return source, offset + (offset >= source)
    starts = np.asarray(first_pair(np.arange(nodes, dtype=np.int64), nodes, directed=False))
    source = np.searchsorted(starts[: max(nodes - 1, 0)], numbers, side="right") - 1
    return source, numbers - starts[source] + source + 1


def coded_edges(edges: Any, nodes: Any) -> tuple[Sequence[Node], Indices, Indices]:
    """Return the labels of all nodes, and the indices of both ends of each edge."""
    if not isinstance(edges, Iterable):
        raise SottovoceError("edges", "must be pairs of nodes", edges)
    listed = edges if isinstance(edges, np.ndarray) else list(edges)
    if isinstance(nodes, int | np.integer):
        known: Sequence[Node] = range(_checked_node_count(nodes))
        return known, *_ends(_whole_numbers(listed), len(known))
    ends = [_both(edge) for edge in (listed.tolist() if isinstance(listed, np.ndarray) else listed)]
    labels = _labels(node for edge in ends for node in edge) if nodes is None else tuple(nodes)
    indices = {label: index for index, label in enumerate(labels)}
    unknown = next((node for edge in ends for node in edge if node not in indices), None)
    if unknown is not None:
        raise SottovoceError("edges", "must join nodes that are listed", unknown)
    codes = np.array([[indices[a], indices[b]] for a, b in ends], np.int64).reshape(-1, 2)
    return labels, codes[:, 0], codes[:, 1]


def _whole_numbers(edges: Any) -> Indices:
    array = np.asarray(edges if len(edges) else np.zeros((0, 2), np.int64))
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise SottovoceError("edges", "must be pairs of integers", edges)
    return array.astype(np.int64)


def _ends(edges: Indices, nodes: int) -> tuple[Indices, Indices]:
    unknown = edges[(edges < 0) | (edges >= nodes)]
    if len(unknown):
        raise SottovoceError("edges", f"must join nodes from 0 to {nodes - 1}", unknown[0])
    return edges[:, 0], edges[:, 1]


def _both(edge: Any) -> tuple[Node, Node]:
    try:
        first, second = edge
        hash((first, second))
    except (TypeError, ValueError):
        raise SottovoceError("edges", "must be pairs of nodes", edge) from None
    return first, second


def _labels(nodes: Iterable[Node]) -> tuple[Node, ...]:
    distinct = dict.fromkeys(nodes)
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]  # labels without an order are not sorted
    except TypeError:
        return tuple(distinct)


def _checked_node_count(nodes: Any) -> int:
    """Return a number of nodes that fits 32 bits."""
    if isinstance(nodes, bool) or not 0 <= nodes <= MOST_NODES:
        raise SottovoceError("nodes", f"must be labels, or their number from 0 to {MOST_NODES}", nodes)
    return int(nodes)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes by label, and the numbers of the pairs among them that are tied.

    There are no loops and no repeated ties; `of_edges` says how it treats those.

    >>> square = Graph.of_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> square.edges, square.degrees.tolist(), square.labels
    (4, [2, 2, 2, 2], ('a', 'b', 'c', 'd'))
    """

    labels: Sequence[Node]
    pairs: Indices
    directed: bool = False

    def __post_init__(self) -> None:
        """Check that labels are distinct and that pairs are ascending numbers of pairs."""
        if not isinstance(self.labels, range) and len(set(self.labels)) < self.nodes:
            raise SottovoceError("nodes", "must have distinct labels", self.labels)
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
        """Return the graph of pairs of labels; a repeated tie counts once, and loops are refused.

        `nodes` lists all labels, or is the number of nodes 0, 1, ...; an edge to another node is refused. Without it
        the nodes are those that have edges, sorted if they can be. List them if possible: whether a node has any edge
        is private.
        """
        labels, source, target = coded_edges(edges, nodes)
        loops = np.flatnonzero(source == target)
        if len(loops):
            raise SottovoceError("edges", "must join two different nodes", (labels[source[loops[0]]],) * 2)
        if not directed:
            source, target = np.minimum(source, target), np.maximum(source, target)
        return cls(labels, np.unique(pair_numbers(source, target, len(labels), directed=directed)), directed)

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
    def ends(self) -> tuple[Indices, Indices]:
        """Indices of both nodes of each edge, the edges in order."""
        return nodes_of(self.pairs, self.nodes, directed=self.directed)

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of each node; in directed graphs the out-degree."""
        source, target = self.ends
        leaving = np.bincount(source, minlength=self.nodes)
        return leaving if self.directed else leaving + np.bincount(target, minlength=self.nodes)

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """In-degree of each node; in undirected graphs the degree."""
        return np.bincount(self.ends[1], minlength=self.nodes) if self.directed else self.degrees

    @cached_property
    def rows(self) -> Rows:
        """Neighbours of each node; in directed graphs its successors."""
        source, target = self.ends
        if self.directed:
            return _rows(source, target, self.nodes)
        return _rows(np.concatenate([source, target]), np.concatenate([target, source]), self.nodes)

    @cached_property
    def rows_back(self) -> Rows:
        """Neighbours of each node; in directed graphs its predecessors."""
        return _rows(*self.ends[::-1], self.nodes) if self.directed else self.rows

    def __repr__(self) -> str:
        """Summarize in one line.

        >>> Graph.of_edges([(0, 1), (1, 2)], nodes=4)
        <Graph: 4 nodes, 2 edges>
        """
        kind = "directed edges" if self.directed else "edges"
        return f"<Graph: {self.nodes} nodes, {self.edges} {kind}>"


def _rows(source: Indices, target: Indices, nodes: int) -> Rows:
    order = np.lexsort((target, source))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=nodes))]).astype(np.int64)
    return indptr, target[order].astype(np.int32)
