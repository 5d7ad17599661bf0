"""Pairs of nodes by number: one bit of a graph each, reported by one node each.

Without direction the pair {i, j}, i < j, is reported by i alone, so that a tie costs its epsilon once:
node i reports the n - 1 - i pairs with the nodes behind it. With direction i reports all n - 1 pairs (i, j).
Pairs are numbered row by row.
"""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


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
