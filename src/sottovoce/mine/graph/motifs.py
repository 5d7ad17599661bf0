"""Triangles of a directed graph: which of the eight there may be among three nodes are counted.

Each of the three pairs is tied one way; two of the eight ways go round (cycles), and six have a node that both others
are tied from, one that both are tied to, and one in between (transitive). If all pairs are tied both ways all
eight are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError


@dataclass(frozen=True)
class Motif:
    """`matrix[r, s]` says whether a tie i -> j is closed by a third node k, tied by kinds r with i and s with j.

    Kinds are 0 for a tie towards k, 1 for one from k. Two ties at one node are counted by the clustering coefficient
    if they are a path (one comes, one leaves) as often as `paths` says, both ways round, and if they are a fork, as
    often as `forks`; `closed` of them are closed by one triangle.
    """

    name: str
    matrix: Array
    paths: float
    forks: float
    closed: int

    @property
    def stars_closed(self) -> float:
        """2-stars that a tie closes, as often as they are counted."""
        own, other = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        return float(self.forks * (own[0] + other[1]) + self.paths * (own[1] + other[0]))


MOTIFS = {
    "all": Motif("directed triangles", np.array([[1, 1], [1, 1]]), 1, 1, 3),
    "cycles": Motif("cycles", np.array([[0, 0], [1, 0]]), 0.5, 0, 3),
    "transitive": Motif("transitive triangles", np.array([[1, 1], [0, 1]]), 0.5, 0, 1),
}
"""What may be counted, by name."""

_FROM_STATES = np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 1]])
"""Coefficients of a, b and ab from the values at (1, 0), (0, 1) and (1, 1)."""


def motif_named(name: str) -> Motif:
    """Motif of this name.

    >>> motif_named("cycles").matrix.tolist()
    [[0, 0], [1, 0]]
    """
    if name not in MOTIFS:
        raise SottovoceError("motif", f"must be one of {', '.join(MOTIFS)}", name)
    return MOTIFS[name]


def squared(matrix: Array) -> Array:
    """`|matrix (a, b)|^2` of two bits, as coefficients of a, b and ab: bits are their own squares.

    >>> squared(np.array([[1, 1]])).tolist()
    [1, 1, 2]
    """
    first, second = matrix[:, 0], matrix[:, 1]
    return np.array([first @ first, second @ second, 2 * first @ second])


def squared_product(matrix: Array) -> Array:
    """`((a, b) matrix (c, d))^2` of four bits, as coefficients of a, b, ab times c, d, cd.

    >>> squared_product(np.array([[1, 1], [0, 0]])).tolist()
    [[1, 1, 2], [0, 0, 0], [0, 0, 0]]
    """
    states: Sequence[Sequence[int]] = ((1, 0), (0, 1), (1, 1))
    values = (np.array(states) @ matrix @ np.array(states).T) ** 2
    return np.asarray(_FROM_STATES @ values @ _FROM_STATES.T)
