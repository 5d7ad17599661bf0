"""Loops of selection and breeding for `mechanisms.bulk` to compile; in plain Python they do the same, slowly.

Two losses are minimised: the adversary's accuracy, and the mean squared error. Random numbers are passed as uniforms, a
fixed number for each child, so that a seed determines everything, compiled or not.
"""

from typing import Any

import numpy as np


def rank(losses: Any, points: Any, fitness: Any, distances: Any) -> None:
    """SPEA2's fitness: sum of the strengths of all dominators, plus `1 / (sigma + 2)`, sigma the nearest distance."""
    t = len(losses)
    strength, nearest = np.zeros(t), np.full(t, np.inf)
    for i in range(t):
        distances[i, i] = 0.0
        for j in range(i):
            gap = np.sqrt((points[i, 0] - points[j, 0]) ** 2 + (points[i, 1] - points[j, 1]) ** 2)
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
    """Remove points until `keep` are alive, each time the one nearest to a neighbour, ties by the second nearest.

    Only points that have lost one of their two nearest neighbours search for them again.
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
    """Compare each matrix with the best of its privacy, and replace the worse by the better.

    The better has the smaller error, or the smaller accuracy for equal errors.
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


def mate(
    archive: Any, fitness: Any, omega: Any, front: Any, uniforms: Any, neighbours: Any, reach: Any, children: Any
) -> None:
    """Make children of two parents by exchanging the columns right of a line.

    A pair uses the uniforms of its first child: the sixth decides whether the parents are winners of two binary
    tournaments in the archive, or two neighbours on Omega's front; the logarithm of their distance is uniform up to
    that of `reach`.
    """
    n = archive.shape[1]
    for k in range(len(children)):
        draws = uniforms[k - k % 2]
        near = draws[5] < neighbours and len(front) > 1
        if near:
            step = int(min(reach, len(front) - 1) ** draws[1])
            first = int(draws[0] * (len(front) - step))
            source, parents = omega, (front[first], front[first + step])
        else:
            a, b = int(draws[0] * len(archive)), int(draws[1] * len(archive))
            c, d = int(draws[2] * len(archive)), int(draws[3] * len(archive))
            winners = (a if fitness[a] <= fitness[b] else b, c if fitness[c] <= fitness[d] else d)
            source, parents = archive, winners
        line = 1 + int(draws[4] * (n - 1))
        for x in range(n):
            parent = parents[k % 2] if x < line else parents[1 - k % 2]
            for y in range(n):
                children[k, y, x] = source[parent, y, x]


def mutate(children: Any, which: Any, uniforms: Any) -> None:
    """Mutate an element as in the paper, up or down by a size whose logarithm is uniform over three decades.

    If the element grows, the others of its column shrink in proportion to themselves; if it shrinks, they grow in
    proportion to one minus themselves.
    """
    n = children.shape[1]
    for k in which:
        draws = uniforms[k]
        x, y, size = int(draws[6] * n), int(draws[7] * n), draws[8] * 10 ** (-3 * draws[9])
        element = children[k, y, x]
        if draws[10] < 0.5:
            step, rest = min(size, 1 - element), 1 - element
        else:
            step, rest = -min(size, element), n - 2 + element
        if rest > 1e-12:
            for z in range(n):
                share = children[k, z, x] if step > 0 else 1 - children[k, z, x]
                if z != y:
                    children[k, z, x] -= step * share / rest
            children[k, y, x] += step


def shift(children: Any, which: Any, prior: Any, uniforms: Any) -> None:
    """Move a part of a column from one report to another, and leave its other elements, in particular zeros, unchanged.

    Half of the shifts move a size as in `mutate`; the others as much as the receiving report takes before this truth
    becomes the best guess from it, which costs no privacy: the best matrices have zeros, and ties among best guesses.
    """
    n = children.shape[1]
    for k in which:
        draws = uniforms[k]
        x, y, z = int(draws[6] * n), int(draws[7] * n), int(draws[10] * n)
        size = draws[8] * 10 ** (-3 * draws[9])
        if draws[11] < 0.5:
            size = 0.0
            for truth in range(n):
                size = max(size, children[k, z, truth] * prior[truth] / prior[x] - children[k, z, x])
        step = min(size, children[k, y, x], 1 - children[k, z, x]) if y != z else 0.0
        children[k, y, x] -= step
        children[k, z, x] += step


def lift(children: Any, which: Any, prior: Any, uniforms: Any) -> None:
    """Scale a report for all truths that are best guesses from it, so that they stay tied.

    The others of their columns shrink or grow in proportion to themselves.
    """
    n = children.shape[1]
    for k in which:
        draws = uniforms[k]
        y, size = int(draws[7] * n), draws[8] * 10 ** (-3 * draws[9]) * (1 if draws[10] < 0.5 else -1)
        largest = 0.0
        for x in range(n):
            largest = max(largest, children[k, y, x] * prior[x])
        for x in range(n):
            element = children[k, y, x]
            others = children[k, :y, x].sum() + children[k, y + 1 :, x].sum()  # more exact than one minus the element
            if element * prior[x] >= largest * (1 - 1e-3) and others > 1e-12:
                step = min(size * element, others)
                for z in range(n):
                    children[k, z, x] *= 1 - step / others
                children[k, y, x] = element + step


def repair(matrices: Any, prior: Any, delta: Any, sweeps: Any, met: Any) -> None:
    """Lower every element that makes a posterior exceed delta, column by column.

    The other elements of the column grow in proportion to how far each may still rise. There is always room, as
    `sum_y delta / (1 - delta) (l_y - p_x A_yx) / p_x >= 1` for every `p_x <= delta`. A change in one column may violate
    another; `met` marks the matrices that needed no more change within so many sweeps.
    """
    for k in range(len(matrices)):
        for _ in range(sweeps):
            met[k] = True
            reports = (matrices[k] * prior).sum(axis=1)
            for x in range(len(prior)):
                column = matrices[k, :, x].copy()
                others = np.maximum(reports - prior[x] * column, 0.0)
                limit = np.minimum(delta / (1 - delta) / prior[x] * others, 1.0)
                if (column > limit * (1 + 1e-12)).any():
                    met[k] = False
                    lowered = np.minimum(column, limit)
                    lost, room = (column - lowered).sum(), limit - lowered
                    lowered += lost / max(room.sum(), lost) * room
                    matrices[k, :, x] = lowered / lowered.sum()
                    reports += prior[x] * (matrices[k, :, x] - column)
            if met[k]:
                break
