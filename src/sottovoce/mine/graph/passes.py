"""Passes over the neighbours of neighbours: refused where they would take too much, else done in parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.memory import BYTES_A_PAIR, checked_memory, in_gigabytes
from sottovoce.table.fast import in_threads

MOST_STEPS = 10**12
"""Neighbours of neighbours that are looked at: hours, on one core."""

ROWS_AT_ONCE = 256

DENSE = 64
"""Rows of bits or matrices are faster where the neighbours of neighbours are more than n^3 over this: measured."""


def check_size(graph: Graph, steps: float, memory: float, bytes_a_node: int) -> float:
    """Memory that is left; a graph whose triangles take more, or more steps than anybody waits for, is refused."""
    need = 2 * BYTES_A_PAIR * graph.edges + bytes_a_node * graph.nodes
    if need > checked_memory(memory) or steps > MOST_STEPS:
        rule = f"must be small enough for triangles in {in_gigabytes(memory)} and {MOST_STEPS:.0e} steps; ask for more"
        got = Words(f"one of {graph.edges} reported edges: {in_gigabytes(need)} and {steps:.1e} steps")
        raise SottovoceError("graph", rule, got)
    return memory - need


def in_parts(work: Callable[[int, Any], None], nodes: int, columns: int, threads: int | None) -> NDArray[np.int64]:
    """So many sums for each node, by `work` on some of the rows at a time, from the first of them on."""
    sums = np.zeros((nodes, columns), np.int64)
    rows = max(ROWS_AT_ONCE, nodes // 64)
    parts = max(-(-nodes // rows), 1)
    in_threads(lambda part: work(part * rows, sums[part * rows : (part + 1) * rows]), parts, threads)
    return sums
