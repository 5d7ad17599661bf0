"""Networks of people: ego-Facebook, and a small part of it that stands in for a private network."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from sottovoce.datasets.files import FILES

FIRST_FRIEND, FRIENDS = 171, 185
"""Node at which the small network starts, and its number of nodes."""


def ego_facebook() -> NDArray[np.int64]:
    """Return the friendships of 4,039 people in ten circles (SNAP): 88,234 pairs of numbers, the smaller first."""
    return np.array(FILES["ego-facebook"].text().split(), np.int64).reshape(-1, 2)


def friendships() -> NDArray[np.int64]:
    """Return the 746 friendships among 185 of those people, renumbered in the order of their numbers.

    They are the first 185 nodes of a breadth-first search from 171, neighbours in order of their numbers, and stand in
    for the 185 users and 684 ties of Wang, Wu & Hu (2016), which are private.
    """
    edges = ego_facebook()
    neighbours: dict[int, list[int]] = {}
    for first, second in edges.tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    reached, waiting = {FIRST_FRIEND}, deque([FIRST_FRIEND])
    while waiting and len(reached) < FRIENDS:
        for other in sorted(neighbours[waiting.popleft()]):
            if other not in reached and len(reached) < FRIENDS:
                reached.add(other)
                waiting.append(other)
    chosen = np.array(sorted(reached))
    inside = np.isin(edges, chosen).all(axis=1)
    return np.searchsorted(chosen, edges[inside])
