"""Edges as pairs of labels or of numbers, read and checked."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.mine.graph.pairs import Numbers

Node = Hashable

MOST_NODES = 2**31 - 1


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
