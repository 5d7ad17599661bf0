"""Intervals of functionals by inverting a test along the least favourable path."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.bootstrap import resampled
from sottovoce.estimates.covariance import InversionSpread
from sottovoce.estimates.likelihood import Progress, nearest_distribution
from sottovoce.measures.functionals import Functional

STRIDE = 0.5
"""Standard errors between two laws."""

MOST_STEPS = 20
FINAL_STEPS = 200
FINEST_STRIDE = 1e-4
"""Standard errors to which the extreme of a functional is approached."""

INSIDE = 1e-4
"""Share of the uniform law that is mixed in where a gradient needs positive cells."""
SAME = 1e-12
"""Difference of two values that rounding may make."""


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


@dataclass(frozen=True)
class Accepted:
    """Values of a functional that are not contradicted, and the one in their middle: as likely too high as too low."""

    value: float
    low: float
    high: float


def accepted_values(
    source: InversionSpread,
    functional: Functional,
    level: float,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Accepted:
    """Invert a two-sided test of `f(p) = t` with the statistic `T = f(nearest distribution to the estimate)`.

    For every t the reports are drawn anew from one law that has it: from the nearest distribution one goes
    up and down along `S g`, S the covariance and g the gradient of f, which is the way on which f changes
    most a standard error (the least favourable family of Efron 1985). t belongs to the interval where neither
    tail of T is below (1 - level) / 2. The interval ends at the extreme of f where that is not contradicted:
    near independence or the uniform law, where the delta method fails, it has one side. A T beyond the median
    of samples from the extreme itself is taken for that median, so that no luck makes an interval narrower
    than reports can (power-constrained limits, Cowan et al. 2011).
    """
    law = nearest_distribution(source.value)
    observed, tail = functional.value(law), (1 - level) / 2
    down, up = (least_favourable(source, functional, law, sign) for sign in (-1, 1))
    sample = partial(_samples, source, functional, draws=draws, rng=rng)
    much = min(observed, float(np.median(sample(up[0][-1])))) - SAME
    little = max(observed, float(np.median(sample(down[0][-1])))) + SAME
    tested: list[tuple[float, float, float]] = []
    for points, ends in (down, up):
        tested.reverse()
        rejected = 0
        for point in points:
            found = sample(point)
            tested.append((functional.value(point), float((found >= much).mean()), float((found <= little).mean())))
            rejected = rejected + 1 if tested[-1][1 if points is down[0] else 2] < tail else 0
            if progress is not None:
                progress(len(tested), None)
            if rejected == 2:  # one more than the first, which may be chance
                break
        if not ends and not rejected:
            rule = f"must be contradicted by the reports {MOST_STEPS * STRIDE:.0f} standard errors away"
            raise SottovoceError(functional.name, rule, Words(f"{tested[-1][0]:.4g}, which is not"))
    values, as_much, as_little = np.array(tested).T
    low, high = _crossing(values, as_much, tail), _crossing(values[::-1], as_little[::-1], tail)
    return Accepted(_crossing(values, as_much, 0.5), low, high)


def _samples(
    source: InversionSpread, functional: Functional, law: Array, *, draws: int, rng: np.random.Generator
) -> Array:
    """Statistic of samples drawn anew from a law; all at once where the functional knows how."""
    at_once = getattr(functional, "values", None)
    parts = []
    for seen, _ in resampled(source, law, draws, rng):
        laws = nearest_distribution(source.channel.solve(seen)[source.order])
        parts.append([functional.value(law) for law in laws.T] if at_once is None else at_once(laws))
    return np.concatenate(parts)


def _crossing(values: Array, tails: Array, level: float) -> float:
    """Where tails that rise with the values first reach a level; at the last value if chance keeps them below."""
    first = int(np.argmax(tails >= level)) if (tails >= level).any() else len(values) - 1
    if first == 0 or tails[first] <= tails[first - 1]:
        return float(values[first])
    share = min((level - tails[first - 1]) / (tails[first] - tails[first - 1]), 1.0)
    return float(values[first - 1] + share * (values[first] - values[first - 1]))
