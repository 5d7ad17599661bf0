"""A graph as sorted numbers of its pairs of nodes.

Without direction the pair {i, j}, i < j, is reported by i alone, so that a tie costs its epsilon once:
node i reports the n - 1 - i pairs with the nodes behind it. With direction i reports all n - 1 pairs (i, j).
Pairs are numbered row by row.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

MEMORY = 2**31
"""Bytes that a call may take unless it is told otherwise."""

BYTES_A_PAIR = 48
"""Of a reported pair, while it is drawn, sorted and turned into rows."""
Numbers = NDArray[np.int64]
Node = Hashable

MOST_NODES = 2**31 - 1
Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Where the neighbours of each node start and end, and the neighbours, in ascending order."""


def checked_memory(memory: Any) -> float:
    """A positive number of bytes."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
        raise SottovoceError("memory", "must be a positive number of bytes", memory)
    return float(memory)


def in_gigabytes(count: float) -> str:
    """Bytes for people.

    >>> in_gigabytes(2**31)
    '2.15 GB'
    """
    return f"{count / 1e9:.3g} GB"


def pair_count(nodes: int, *, directed: bool) -> int:
    """Pairs that are reported: n (n - 1), or half as many without direction.

    >>> pair_count(4, directed=False), pair_count(4, directed=True)
    (6, 12)
    """
    return nodes * (nodes - 1) if directed else nodes * (nodes - 1) // 2


def row_start(node: int | Numbers, nodes: int, *, directed: bool) -> int | Numbers:
    """Number of the first pair that a node reports.

    >>> row_start(2, 4, directed=False), row_start(2, 4, directed=True)
    (5, 6)
    """
    return node * (nodes - 1) if directed else node * (2 * nodes - node - 1) // 2


def numbers_of(source: Numbers, target: Numbers, nodes: int, *, directed: bool) -> Numbers:
    """Numbers of pairs, of which the smaller node comes first unless they are directed.

    >>> numbers_of(np.array([0, 1]), np.array([3, 2]), 4, directed=False)
    array([2, 3])
    """
    place = target - (target > source) if directed else target - source - 1
    return np.asarray(row_start(source, nodes, directed=directed) + place)


def nodes_of(numbers: Numbers, nodes: int, *, directed: bool) -> tuple[Numbers, Numbers]:
    """Both nodes of numbered pairs: the inverse of `numbers_of`.

    >>> nodes_of(np.array([2, 3]), 4, directed=False)
    (array([0, 1]), array([3, 2]))
    """
    if directed:
        source, place = np.divmod(numbers, max(nodes - 1, 1))
        return source, place + (place >= source)
    starts = np.asarray(row_start(np.arange(nodes, dtype=np.int64), nodes, directed=False))
    source = np.searchsorted(starts[: max(nodes - 1, 0)], numbers, side="right") - 1
    return source, numbers - starts[source] + source + 1


def coded_edges(edges: Any, nodes: Any) -> tuple[Sequence[Node], Numbers, Numbers]:
    """Labels of all nodes, and the numbers of both ends of each edge."""
    if not isinstance(edges, Iterable):
        raise SottovoceError("edges", "must be pairs of nodes", edges)
    listed = edges if isinstance(edges, np.ndarray) else list(edges)
    if isinstance(nodes, int | np.integer):
        known: Sequence[Node] = range(_checked_node_count(nodes))
        return known, *_ends(_whole_numbers(listed), len(known))
    ends = [_both(edge) for edge in (listed.tolist() if isinstance(listed, np.ndarray) else listed)]
    labels = _labels(node for edge in ends for node in edge) if nodes is None else tuple(nodes)
    places = {label: place for place, label in enumerate(labels)}
    unknown = next((node for edge in ends for node in edge if node not in places), None)
    if unknown is not None:
        raise SottovoceError("edges", "must join nodes that are listed", unknown)
    codes = np.array([[places[a], places[b]] for a, b in ends], np.int64).reshape(-1, 2)
    return labels, codes[:, 0], codes[:, 1]


def _whole_numbers(edges: Any) -> Numbers:
    array = np.asarray(edges if len(edges) else np.zeros((0, 2), np.int64))
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise SottovoceError("edges", "must be pairs of numbers of nodes", edges)
    return array.astype(np.int64)


def _ends(edges: Numbers, nodes: int) -> tuple[Numbers, Numbers]:
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
    found = dict.fromkeys(nodes)
    try:
        return tuple(sorted(found))  # type: ignore[type-var]  # what has no order is told below
    except TypeError:
        return tuple(found)


def _checked_node_count(nodes: Any) -> int:
    """A number of nodes that can be numbered."""
    if isinstance(nodes, bool) or not 0 <= nodes <= MOST_NODES:
        raise SottovoceError("nodes", f"must be labels, or their number from 0 to {MOST_NODES}", nodes)
    return int(nodes)


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
