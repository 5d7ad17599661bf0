"""Loops of selection, for `mechanism.bulk` to compile; as plain Python they say the same, only slowly.

Two losses are minimised: the adversary's accuracy, and the mean squared error.
"""

from typing import Any

import numpy as np


def rank(losses: Any, places: Any, fitness: Any, distances: Any) -> None:
    """SPEA2's fitness: strengths of all that dominate, and `1 / (sigma + 2)`, sigma the distance of the next."""
    t = len(losses)
    strength, nearest = np.zeros(t), np.full(t, np.inf)
    for i in range(t):
        distances[i, i] = 0.0
        for j in range(i):
            gap = np.sqrt((places[i, 0] - places[j, 0]) ** 2 + (places[i, 1] - places[j, 1]) ** 2)
            distances[i, j] = distances[j, i] = gap
            nearest[i], nearest[j] = min(nearest[i], gap), min(nearest[j], gap)
        for j in range(t):
            no_worse = losses[i, 0] <= losses[j, 0] and losses[i, 1] <= losses[j, 1]
            if no_worse and (losses[i, 0] < losses[j, 0] or losses[i, 1] < losses[j, 1]):
                strength[i] += 1
    for j in range(t):
        fitness[j] = 1 / (nearest[j] + 2)
        for i in range(t):
            no_worse = losses[i, 0] <= losses[j, 0] and losses[i, 1] <= losses[j, 1]
            if no_worse and (losses[i, 0] < losses[j, 0] or losses[i, 1] < losses[j, 1]):
                fitness[j] += strength[i]


def truncate(alive: Any, distances: Any, keep: Any) -> None:
    """Remove points until `keep` are alive: each time the one nearest to a neighbour, then to its second nearest.

    Only those that have lost one of their two nearest look for them again.
    """
    t, out = len(alive), -1
    near, gaps = np.full((t, 2), -1), np.full((t, 2), np.inf)
    for _ in range(alive.sum() - keep):
        for i in range(t):
            if alive[i] and (out < 0 or near[i, 0] == out or near[i, 1] == out):
                gaps[i, 0], gaps[i, 1] = np.inf, np.inf
                for j in range(t):
                    if alive[j] and j != i:
                        if distances[i, j] < gaps[i, 0]:
                            gaps[i, 1], near[i, 1] = gaps[i, 0], near[i, 0]
                            gaps[i, 0], near[i, 0] = distances[i, j], j
                        elif distances[i, j] < gaps[i, 1]:
                            gaps[i, 1], near[i, 1] = distances[i, j], j
        out = -1
        for i in range(t):
            if alive[i] and (
                out < 0 or gaps[i, 0] < gaps[out, 0] or (gaps[i, 0] == gaps[out, 0] and gaps[i, 1] < gaps[out, 1])
            ):
                out = i
        alive[out] = False


def exchange(matrices: Any, losses: Any, best: Any, best_losses: Any, changes: Any) -> None:
    """Compare each matrix with the best of its privacy; the worse of the two becomes the better one.

    The better one has the smaller error; of equal errors, that which is guessed less.
    """
    slots, n = len(best), matrices.shape[1]
    for k in range(len(matrices)):
        slot = min(max(int((1 - losses[k, 0]) * slots), 0), slots - 1)
        closer = losses[k, 1] == best_losses[slot, 1] and losses[k, 0] < best_losses[slot, 0]
        if losses[k, 1] < best_losses[slot, 1] or closer:
            changes[0] += 1
            for i in range(2):
                best_losses[slot, i] = losses[k, i]
            for y in range(n):
                for x in range(n):
                    best[slot, y, x] = matrices[k, y, x]
        elif losses[k, 1] > best_losses[slot, 1]:
            for i in range(2):
                losses[k, i] = best_losses[slot, i]
            for y in range(n):
                for x in range(n):
                    matrices[k, y, x] = best[slot, y, x]
