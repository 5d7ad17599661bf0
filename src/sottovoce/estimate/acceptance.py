"""Intervals of functionals by inverting a test: all values that reports drawn anew do not contradict."""

from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.estimate.bootstrap import resampled
from sottovoce.estimate.em import Progress
from sottovoce.estimate.path import least_favourable
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import InversionSpread
from sottovoce.measure.functional import Functional


@dataclass(frozen=True)
class Accepted:
    """Values of a functional that are not contradicted, and the one in their middle: as likely too high as too low."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Tested:
    """Value of a functional at a law, and how often samples from there have as much as was seen, or as little."""

    value: float
    as_much: float
    as_little: float


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
    near independence or the uniform law, where the delta method fails, it has one side.
    """
    law = nearest_distribution(source.value)
    observed, tail, done = functional.value(law), (1 - level) / 2, 0
    tested = []
    for sign in (-1, 1):
        rejected, points = 0, []
        for point in least_favourable(source, functional, law, sign):
            points.append(_tested(source, functional, point, observed, draws, rng))
            rejected = rejected + 1 if (points[-1].as_much if sign < 0 else points[-1].as_little) < tail else 0
            done += 1
            if progress is not None:
                progress(done, None)
            if rejected == 2:  # one more than the first, which may be chance
                break
        tested += points[::-1] if sign < 0 else points[1:]
    values, much, little = (np.array([getattr(t, of) for t in tested]) for of in ("value", "as_much", "as_little"))
    # What was seen may be rare under every law, nearer to independence than samples come: then it is the end itself.
    low = _crossing(values, much, tail, observed)
    high = _crossing(values[::-1], little[::-1], tail, observed)
    return Accepted(_crossing(values, much, 0.5, values[-1]), low, high)


def _tested(
    source: InversionSpread, functional: Functional, law: Array, observed: float, draws: int, rng: np.random.Generator
) -> Tested:
    parts = []
    for seen, _ in resampled(source, law, draws, rng):
        parts.append(_values(functional, nearest_distribution(source.channel.solve(seen)[source.order])))
    found, little = np.concatenate(parts), 1e-12
    as_much, as_little = (found >= observed - little).mean(), (found <= observed + little).mean()
    return Tested(functional.value(law), float(as_much), float(as_little))


def _values(functional: Functional, laws: Array) -> Array:
    """Value at each column: all at once where the functional knows how."""
    at_once = getattr(functional, "values", None)
    return np.array([functional.value(law) for law in laws.T]) if at_once is None else np.asarray(at_once(laws))


def _crossing(values: Array, tails: Array, level: float, otherwise: float) -> float:
    """Where tails that rise with the values first reach a level, if they do."""
    reached = np.flatnonzero(tails >= level)
    if not len(reached):
        return float(otherwise)
    first = reached[0]
    if first == 0:
        return float(values[0])
    share = (level - tails[first - 1]) / (tails[first] - tails[first - 1])
    return float(values[first - 1] + share * (values[first] - values[first - 1]))
