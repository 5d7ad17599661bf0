"""What a front trades: measures by name, and which way each of them is better."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array


@dataclass(frozen=True)
class Objective:
    """A measure of which less is wanted, or more where it says so."""

    name: str
    more: bool = False

    def loss(self, value: float) -> float:
        """Value turned so that less is better."""
        return -value if self.more else value


GUESSES_AND_ERROR = (Objective("adversary_accuracy"), Objective("mse"))
"""OptRR's trade (Huang & Du 2008): right guesses of the adversary against the error of the estimate."""

BITS_AND_DISTORTION = (Objective("mutual_information"), Objective("distortion"))
"""MOPSO's trade (Gao et al. 2018): bits told against wrong reports."""


def non_dominated(losses: Array) -> NDArray[np.bool_]:
    """Rows that no other row beats: at most as large everywhere, and less somewhere. The first of equals stays.

    >>> non_dominated(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]))
    array([ True,  True, False, False])
    """
    if losses.shape[1] == 2:
        return _in_the_plane(losses)
    kept = np.ones(len(losses), bool)
    for i, row in enumerate(losses):
        no_worse = (losses <= row).all(axis=1)
        less = (losses < row).any(axis=1)
        less[:i] = True  # an equal row before this one stands for both
        less[i] = False
        kept[i] = not (no_worse & less).any()
    return kept


def _in_the_plane(losses: Array) -> NDArray[np.bool_]:
    """In order of the first loss, then of the second: a row stays if its second is less than any before it."""
    order = np.lexsort((losses[:, 1], losses[:, 0]))
    second = losses[order, 1]
    kept = np.ones(len(losses), bool)
    kept[order[1:]] = second[1:] < np.minimum.accumulate(second)[:-1]
    return kept


def hypervolume(losses: Array, reference: Array) -> float:
    """Area between the points and a reference point that is worse than they: more is better. Exact, in the plane.

    Each point dominates the rectangle between itself and the reference; this is the area of their union. Points that
    are not better than the reference in both add nothing (Zitzler & Thiele 1999, IEEE Trans. Evol. Comp. 3).

    >>> hypervolume(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]]), np.array([2.0, 2.0]))
    3.0
    """
    inside = losses[(losses < reference).all(axis=1)]
    steps = inside[np.lexsort((inside[:, 1], inside[:, 0]))]
    floor = np.minimum.accumulate(np.append(reference[1], steps[:, 1]))
    return float(((reference[0] - steps[:, 0]) * (floor[:-1] - floor[1:])).sum())
