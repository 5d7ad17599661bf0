"""Laws on the way on which a functional changes most a standard error."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import InversionSpread
from sottovoce.measure.functional import Functional

STRIDE = 0.5
"""Standard errors between two laws."""

MOST_STEPS = 60
FINEST_STRIDE = 1e-6
"""Standard errors to which the extreme of a functional is approached."""

INSIDE = 1e-4
"""Share of the uniform law that is mixed in where a gradient needs positive cells."""


def least_favourable(source: InversionSpread, functional: Functional, start: Array, sign: int) -> Iterator[Array]:
    """Laws with higher (or lower) and higher values, a stride apart, to the extreme of the functional."""
    covariance = _covariance(source, start)
    point, height = start, functional.value(start)
    yield point
    for _ in range(MOST_STEPS):
        moved, stride = _moved(functional, covariance, point, sign, STRIDE)
        if stride < STRIDE:
            yield _extreme(functional, covariance, point, sign)
            return
        point, height = moved, functional.value(moved)
        yield point
    rule = f"must come to an end within {MOST_STEPS * STRIDE:.0f} standard errors for a test to be inverted"
    raise SottovoceError(functional.name, rule, Words(f"{height:.4g} there"))


def _extreme(functional: Functional, covariance: Array, point: Array, sign: int) -> Array:
    """End of the path, with ever smaller steps."""
    stride = STRIDE
    for _ in range(50 * MOST_STEPS):
        point, stride = _moved(functional, covariance, point, sign, stride)
        if stride < FINEST_STRIDE:
            break
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
    """Direction of one standard error in which the functional rises most.

    Where it rises in none, as at independence, all are tried: of those that the noise takes, the best.
    """
    inside = (point + INSIDE / len(point)) / (1 + INSIDE)
    gradient = functional.gradient(inside)
    along = covariance @ gradient
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
