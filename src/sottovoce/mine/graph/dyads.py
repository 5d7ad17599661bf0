"""Pairs of nodes of a directed graph, as each of both sees them: tied there, tied back, or both."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.graph.graph import Graph, Rows

LEAVING, COMING = 1, 2
"""Bits of the state of a pair: a tie to the other node, and one from it."""


class Dyads:
    """Neighbours of each node in ascending order, and the state of each pair.

    >>> seen = Dyads(Graph.of_edges([(0, 1), (1, 0), (2, 1)], nodes=3, directed=True))
    >>> seen.rows[1].tolist(), seen.states.tolist()
    ([1, 0, 2, 1], [3, 3, 2, 1])
    """

    def __init__(self, graph: Graph) -> None:
        """Sort every tie into the rows of both of its nodes."""
        source, target = graph.ends
        n = graph.nodes
        places = np.concatenate([source * n + target, target * n + source])
        kinds = np.repeat(np.array([LEAVING, COMING], np.int8), graph.edges)
        order = np.argsort(places, kind="stable")
        ascending = places[order]
        first = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(order)])
        self.graph = graph
        self.states: NDArray[np.int8] = np.add.reduceat(kinds[order], first) if len(order) else kinds
        row, column = np.divmod(ascending[first], max(n, 1))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
        self.rows: Rows = starts, column.astype(np.int32)

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """Ties that leave each node, ties that come to it, and its neighbours with both: three columns."""
        starts = self.rows[0]
        kinds = (self.states & LEAVING, self.states & COMING, self.states == LEAVING | COMING)
        running = (np.concatenate([[0], np.cumsum(kind != 0)]) for kind in kinds)
        return np.stack([total[starts[1:]] - total[starts[:-1]] for total in running], axis=1)

    def over_neighbours(self, numbers: Array, kind: int) -> Array:
        """Sum of numbers of the nodes that each node has a tie of this kind with."""
        source, target = self.graph.ends if kind == LEAVING else self.graph.ends[::-1]
        return np.asarray(np.bincount(source, numbers[target], minlength=self.graph.nodes), np.float64)
