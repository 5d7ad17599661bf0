"""Networks of people: ego-Facebook, and a small part of it in the place of a private one."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from sottovoce.datasets.files import FILES

FIRST_FRIEND, FRIENDS = 171, 185
"""Where the search for the small network starts, and how many nodes it takes."""


def ego_facebook() -> NDArray[np.int64]:
    """Friendships of 4,039 people in ten circles (SNAP): 88,234 pairs of numbers, the smaller first."""
    return np.array(FILES["ego-facebook"].text().split(), np.int64).reshape(-1, 2)


def friendships() -> NDArray[np.int64]:
    """185 of those people and the 746 friendships among them, numbered anew in the order of their numbers.

    The first 185 that a breadth-first search from 171 meets, neighbours in order of their numbers. It stands in
    for the 185 users and 684 ties of Wang, Wu & Hu (2016), which are private.
    """
    edges = ego_facebook()
    neighbours: dict[int, list[int]] = {}
    for first, second in edges.tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    met, waiting = {FIRST_FRIEND}, deque([FIRST_FRIEND])
    while waiting and len(met) < FRIENDS:
        for other in sorted(neighbours[waiting.popleft()]):
            if other not in met and len(met) < FRIENDS:
                met.add(other)
                waiting.append(other)
    chosen = np.array(sorted(met))
    inside = np.isin(edges, chosen).all(axis=1)
    return np.searchsorted(chosen, edges[inside])
