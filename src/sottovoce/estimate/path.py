"""Laws on the way on which a functional changes most a standard error."""

from dataclasses import replace

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import InversionSpread
from sottovoce.measure.functional import Functional

STRIDE = 0.5
"""Standard errors between two laws."""

MOST_STEPS = 20
FINAL_STEPS = 200
FINEST_STRIDE = 1e-4
"""Standard errors to which the extreme of a functional is approached."""

INSIDE = 1e-4
"""Share of the uniform law that is mixed in where a gradient needs positive cells."""


def least_favourable(
    source: InversionSpread, functional: Functional, start: Array, sign: int
) -> tuple[list[Array], bool]:
    """Laws from the start, higher (or lower) and higher, a stride apart; whether they reach the extreme."""
    covariance = _covariance(source, start)
    points = [start]
    while len(points) <= MOST_STEPS:
        moved, stride = _moved(functional, covariance, points[-1], sign, STRIDE)
        if stride < STRIDE:
            return [*points, _extreme(functional, covariance, points[-1], sign)], True
        points.append(moved)
    return points, False


def _extreme(functional: Functional, covariance: Array, point: Array, sign: int) -> Array:
    """End of the path, with ever smaller steps."""
    stride, steps = STRIDE, 0
    while stride >= FINEST_STRIDE and steps < FINAL_STEPS:
        point, stride = _moved(functional, covariance, point, sign, stride)
        steps += 1
    return point


def _moved(functional: Functional, covariance: Array, point: Array, sign: int, stride: float) -> tuple[Array, float]:
    """Step the right way, and its length: as long as asked, or halved until the value gets better."""
    direction, height = sign * _steepest(functional, covariance, point, sign), functional.value(point)
    while stride >= FINEST_STRIDE:
        moved = nearest_distribution(point + stride * direction)
        if sign * (functional.value(moved) - height) > 0:
            return moved, stride
        stride /= 2
    return point, stride


def _steepest(functional: Functional, covariance: Array, point: Array, sign: int) -> Array:
    """Direction of one standard error in which the functional rises most, along cells that are not at their end.

    Where it rises in none, as at independence, all are tried: of those that the noise takes, the best.
    """
    inside = (point + INSIDE / len(point)) / (1 + INSIDE)
    gradient = functional.gradient(inside)
    gradient = gradient - gradient.mean()
    stuck = (point <= 0) & (sign * (covariance @ gradient) < 0)
    kept = np.diag(1.0 * ~stuck) - np.outer(~stuck, ~stuck) / max(np.count_nonzero(~stuck), 1)
    along = kept @ covariance @ kept @ gradient
    length = max(float(gradient @ along), 0.0) ** 0.5
    if length > 1e-9:
        return np.asarray(along / length)
    sizes, directions = np.linalg.eigh(covariance)
    ways = [way * np.sqrt(max(size, 0)) * d for size, d in zip(sizes, directions.T, strict=True) for way in (-1, 1)]
    reached = [sign * functional.value(nearest_distribution(point + sign * STRIDE * way)) for way in ways]
    return np.asarray(ways[int(np.argmax(reached))])


def _covariance(source: InversionSpread, law: Array) -> Array:
    """Covariance of estimates if the law were the truth, along directions that sum to zero."""
    grouped = np.empty_like(law)
    grouped[source.order] = law
    there = replace(source, seen=source.channel.matvec(grouped), value=law)
    centre = np.eye(len(law)) - 1 / len(law)
    return np.asarray(centre @ there.covariance(np.arange(len(law))) @ centre)
