"""Intervals of functionals by inverting a test along the least favourable path (Efron 1985)."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sottovoce.checks import Array, Progress
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.bootstrap import simulated_reports
from sottovoce.estimates.covariance import InversionCovariance
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.measures.functionals import Functional

STRIDE = 0.5
"""Standard errors between two distributions of a path."""

MOST_STEPS = 20
"""Most distributions of a path on either side."""

FINAL_STEPS = 200
"""Most steps towards the extreme of a functional."""

FINEST_STRIDE = 1e-4
"""Standard errors to which the extreme of a functional is approached."""

INSIDE = 1e-4
"""Share of the uniform distribution that is mixed in where a gradient needs positive cells."""

SAME = 1e-12
"""Difference of two values that may be due to rounding."""


def least_favourable(
    source: InversionCovariance, functional: Functional, start: Array, sign: int
) -> tuple[list[Array], bool]:
    """Return distributions along the least favourable path of a functional, and whether they reach its extreme.

    Each is a stride from the one before it, with a higher value of the functional, or a lower one if `sign` is -1.
    """
    covariance = _covariance_at(source, start)
    points = [start]
    while len(points) <= MOST_STEPS:
        moved, stride = _moved(functional, covariance, points[-1], sign, STRIDE)
        if stride < STRIDE:
            return [*points, _extreme(functional, covariance, points[-1], sign)], True
        points.append(moved)
    return points, False


def _extreme(functional: Functional, covariance: Array, point: Array, sign: int) -> Array:
    """Return the end of the path, approached with ever smaller steps."""
    stride, steps = STRIDE, 0
    while stride >= FINEST_STRIDE and steps < FINAL_STEPS:
        point, stride = _moved(functional, covariance, point, sign, stride)
        steps += 1
    return point


def _moved(functional: Functional, covariance: Array, point: Array, sign: int, stride: float) -> tuple[Array, float]:
    """Return the point after a step along the path, and the step's length, halved until the value improves."""
    direction, start = sign * _steepest(functional, covariance, point, sign), functional.value(point)
    while stride >= FINEST_STRIDE:
        moved = nearest_distribution(point + stride * direction)
        if sign * (functional.value(moved) - start) > 0:
            return moved, stride
        stride /= 2
    return point, stride


def _steepest(functional: Functional, covariance: Array, point: Array, sign: int) -> Array:
    """Return the direction, one standard error long, in which the functional rises most; cells at zero stay there.

    Where the gradient vanishes, as at independence, the best of the principal directions of the covariance is taken.
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
    both = [way * np.sqrt(max(size, 0)) * d for size, d in zip(sizes, directions.T, strict=True) for way in (-1, 1)]
    values = [sign * functional.value(nearest_distribution(point + sign * STRIDE * way)) for way in both]
    return np.asarray(both[int(np.argmax(values))])


def _covariance_at(source: InversionCovariance, distribution: Array) -> Array:
    """Return the covariance of estimates if this distribution were the truth, along directions that sum to zero."""
    grouped = np.empty_like(distribution)
    grouped[source.order] = distribution
    there = replace(source, reported=source.channel.matvec(grouped), value=distribution)
    centre = np.eye(len(distribution)) - 1 / len(distribution)
    return np.asarray(centre @ there.block(np.arange(len(distribution))) @ centre)


@dataclass(frozen=True)
class Accepted:
    """Interval of the values of a functional that a test accepts, and the median-unbiased value inside it."""

    value: float
    low: float
    high: float


def accepted_values(
    source: InversionCovariance,
    functional: Functional,
    level: float,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Accepted:
    """Invert a two-sided test of `f(p) = t` with the statistic `T = f(nearest distribution to the estimate)`.

    For every t reports are simulated from one distribution that has this value: from the nearest distribution, the
    path goes up and down along `S g`, S the covariance and g the gradient of f, in which f changes most per standard
    error (the least favourable family of Efron 1985). t belongs to the interval where neither
    tail of T is below (1 - level) / 2. The interval ends at the extreme of f where that is not contradicted:
    near independence or the uniform distribution, where the delta method fails, it is one-sided. A T beyond the median
    of samples from the extreme itself is replaced by that median, so that chance cannot make an interval narrower
    than reports allow (power-constrained limits, Cowan et al. 2011).
    """
    start = nearest_distribution(source.value)
    observed, tail = functional.value(start), (1 - level) / 2
    down, up = (least_favourable(source, functional, start, sign) for sign in (-1, 1))
    sample = partial(_simulated_statistics, source, functional, draws=draws, rng=rng)
    at_most = min(observed, float(np.median(sample(up[0][-1])))) - SAME
    at_least = max(observed, float(np.median(sample(down[0][-1])))) + SAME
    tested: list[tuple[float, float, float]] = []
    for points, ends in (down, up):
        tested.reverse()
        rejected = 0
        for point in points:
            simulated = sample(point)
            tails = float((simulated >= at_most).mean()), float((simulated <= at_least).mean())
            tested.append((functional.value(point), *tails))
            rejected = rejected + 1 if tested[-1][1 if points is down[0] else 2] < tail else 0
            if progress is not None:
                progress(len(tested), None)
            if rejected == 2:  # the first rejection may be due to chance
                break
        if not ends and not rejected:
            rule = f"must be contradicted by the reports {MOST_STEPS * STRIDE:.0f} standard errors away"
            raise SottovoceError(functional.name, rule, Words(f"{tested[-1][0]:.4g}, which is not"))
    values, upper, lower = np.array(tested).T
    low, high = _crossing(values, upper, tail), _crossing(values[::-1], lower[::-1], tail)
    return Accepted(_crossing(values, upper, 0.5), low, high)


def _simulated_statistics(
    source: InversionCovariance, functional: Functional, distribution: Array, *, draws: int, rng: np.random.Generator
) -> Array:
    """Return the statistic of samples simulated from a distribution, all at once where the functional has `values`."""
    values = getattr(functional, "values", None)
    parts = []
    for reported, _ in simulated_reports(source, distribution, draws, rng):
        estimates = nearest_distribution(source.channel.solve(reported)[source.order])
        parts.append([functional.value(each) for each in estimates.T] if values is None else values(estimates))
    return np.concatenate(parts)


def _crossing(values: Array, tails: Array, level: float) -> float:
    """Return the value at which rising tails first reach a level, interpolated; the last one if they never do."""
    first = int(np.argmax(tails >= level)) if (tails >= level).any() else len(values) - 1
    if first == 0 or tails[first] <= tails[first - 1]:
        return float(values[first])
    share = min((level - tails[first - 1]) / (tails[first] - tails[first - 1]), 1.0)
    return float(values[first - 1] + share * (values[first] - values[first - 1]))
