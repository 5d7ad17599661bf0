"""Loops of one generation, for `mechanism.bulk` to compile; as plain Python they say the same, only slowly.

Matrices are reports by truths. Two losses are minimised: the adversary's accuracy, and the mean squared error. Random
numbers come in as uniforms, a fixed number for each child, so that a seed decides everything, compiled or not.
"""

from typing import Any

import numpy as np


def rank(losses: Any, places: Any, fitness: Any, distances: Any) -> None:
    """SPEA2's fitness: strengths of all that dominate, and `1 / (sigma + 2)`, sigma the distance of the next."""
    t = len(losses)
    strength = np.zeros(t)
    for i in range(t):
        nearest = np.inf
        for j in range(t):
            no_worse = losses[i, 0] <= losses[j, 0] and losses[i, 1] <= losses[j, 1]
            if no_worse and (losses[i, 0] < losses[j, 0] or losses[i, 1] < losses[j, 1]):
                strength[i] += 1
            distances[i, j] = np.hypot(places[i, 0] - places[j, 0], places[i, 1] - places[j, 1])
            if i != j:
                nearest = min(nearest, distances[i, j])
        fitness[i] = 1 / (nearest + 2)
    for i in range(t):
        for j in range(t):
            no_worse = losses[i, 0] <= losses[j, 0] and losses[i, 1] <= losses[j, 1]
            if no_worse and (losses[i, 0] < losses[j, 0] or losses[i, 1] < losses[j, 1]):
                fitness[j] += strength[i]


def truncate(alive: Any, distances: Any, keep: Any) -> None:
    """Remove points until `keep` are alive: each time the one nearest to a neighbour, then to its second nearest."""
    t, left = len(alive), 0
    for i in range(t):
        left += alive[i]
    while left > keep:
        out, first, second = -1, np.inf, np.inf
        for i in range(t):
            if alive[i]:
                one, two = np.inf, np.inf
                for j in range(t):
                    if alive[j] and j != i:
                        if distances[i, j] < one:
                            one, two = distances[i, j], one
                        elif distances[i, j] < two:
                            two = distances[i, j]
                if out < 0 or one < first or (one == first and two < second):
                    out, first, second = i, one, two
        alive[out] = False
        left -= 1


def breed(archive: Any, fitness: Any, uniforms: Any, rate: Any, children: Any) -> None:
    """Children of tournament winners: columns right of a line change sides, then one column mutates.

    A pair uses the first four uniforms of its first child for two binary tournaments, and the fifth for the line. Each
    child uses the others: whether it mutates, the column, the element, up or down, and the size, whose logarithm is
    uniform over three decades. What an element gains the others lose in proportion to themselves; what it loses they
    gain in proportion to one minus themselves.
    """
    count, n = len(archive), archive.shape[1]
    for k in range(len(children)):
        pair = k - k % 2
        winners = np.zeros(2, np.int64)
        for side in range(2):
            a = int(uniforms[pair, 2 * side] * count)
            b = int(uniforms[pair, 2 * side + 1] * count)
            winners[side] = a if fitness[a] <= fitness[b] else b
        line = 1 + int(uniforms[pair, 4] * (n - 1))
        for x in range(n):
            parent = winners[k - pair] if x < line else winners[1 - (k - pair)]
            for y in range(n):
                children[k, y, x] = archive[parent, y, x]
        if uniforms[k, 5] < rate:
            column, row = int(uniforms[k, 6] * n), int(uniforms[k, 7] * n)
            size = uniforms[k, 9] * 10 ** (-3 * uniforms[k, 10])
            own = children[k, row, column]
            if uniforms[k, 8] < 0.5:
                step = min(size, 1 - own)
                rest = 1 - own
            else:
                step = -min(size, own)
                rest = n - 2 + own
            if rest > 1e-12:
                for y in range(n):
                    share = children[k, y, column] if step > 0 else 1 - children[k, y, column]
                    if y != row:
                        children[k, y, column] -= step * share / rest
                children[k, row, column] += step


def repair(matrices: Any, prior: Any, delta: Any, sweeps: Any, met: Any) -> None:
    """Lower every element that makes a posterior exceed delta to where it does not, column by column.

    What a column loses its other elements gain, in proportion to how far each may still rise. There is always room, for
    `sum_y delta / (1 - delta) (l_y - p_x A_yx) / p_x >= 1` for every `p_x <= delta`. But what one column gains may be
    too much for another; `met` says where no column had to be changed any more within so many sweeps.
    """
    for k in range(len(matrices)):
        for _ in range(sweeps):
            met[k] = True
            law = (matrices[k] * prior).sum(axis=1)
            for x in range(len(prior)):
                column = matrices[k, :, x].copy()
                others = np.maximum(law - prior[x] * column, 0.0)
                limit = np.minimum(delta / (1 - delta) / prior[x] * others, 1.0)
                if (column > limit * (1 + 1e-12)).any():
                    met[k] = False
                    lowered = np.minimum(column, limit)
                    lost, room = (column - lowered).sum(), limit - lowered
                    lowered += lost / max(room.sum(), lost) * room
                    matrices[k, :, x] = lowered / lowered.sum()
                    law += prior[x] * (matrices[k, :, x] - column)
            if met[k]:
                break


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
