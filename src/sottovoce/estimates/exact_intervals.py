"""Exact intervals of proportions that are estimated from the number of reports with one property.

A report has the property with probability `inside` if the respondent belongs to the cell and `outside` if not, so the
number of such reports among N is binomial, `Bin(N, outside + (inside - outside) p)`, where respondents are a sample of
the population, and the sum `Bin(M, inside) + Bin(N - M, outside)` where M of the N respondents belong to the cell.

A proportion is in the interval if the test of it does not reject. The test orders counts by their likelihood ratio
against the best proportion in [0, 1] (G. J. Feldman & R. D. Cousins 1998, Phys. Rev. D 57, 3873-3889), so the interval
is never empty and never leaves [0, 1]; where the accepted proportions have gaps, it is their hull.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, erf, floor, lgamma, sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target

POINTS = 129
"""Proportions that are tested at once."""

ROUNDS = 3
"""Rounds of testing, each between two neighbouring proportions of the round before."""

MOST_ROWS = 400
"""Most tables of respondents, by their number in the cell, that are tested at once."""

BEYOND = 3.0
"""Standard errors further than the critical value to which proportions are tested."""

TAILS = 8.0
"""Standard errors of the count that are summed on either side."""

TIE = 1e-7
"""Difference of log-likelihood ratios that may be due to rounding."""

MOST_VARIANCE, MOST_VARIANCE_OF_TABLE = 1e4, 1e3
"""Variance of the count up to which probabilities are summed; beyond it the normal approximation is as good."""


@lru_cache(maxsize=4096)
def exact_interval(
    count: int, respondents: int, inside: float, outside: float, deviations: float, target: Target = "population"
) -> tuple[float, float]:
    """Return the ends of the interval for a proportion, from the number of reports that have the property.

    `deviations` is the critical value of the level, 1.96 for 95 %. Of 30 reports under Warner's design with p = 3/4,
    none says yes: fewer than chance alone sends, so that only small proportions are left.

    >>> [round(end, 4) for end in exact_interval(12, 30, 0.75, 0.25, 1.96)]
    [0.0, 0.6741]
    >>> [round(end, 3) for end in exact_interval(0, 30, 0.75, 0.25, 1.96)]
    [0.0, 0.072]
    """
    level = normal_level(deviations)
    if target == "table":
        return _interval_of_table(count, respondents, inside, outside, deviations, level)
    least, most = min(inside, outside), max(inside, outside)
    center = count / respondents
    start, stop = _plausible(center, respondents, deviations + BEYOND, least, most)
    counts = _window(respondents, start, stop, count)
    logarithms = np.array([lgamma(respondents + 1) - lgamma(t + 1) - lgamma(respondents - t + 1) for t in counts])
    best = _log_probabilities(counts, respondents, np.clip(counts / respondents, least, most), logarithms)

    def accepted(chances: Array) -> NDArray[np.bool_]:
        logs = _log_probabilities(counts, respondents, chances[:, None], logarithms)
        return np.asarray(p_values(logs, best, count - int(counts[0])) > 1 - level)

    chances = _outermost(accepted, start, min(max(center, least), most), stop)
    ends = sorted((chance - outside) / (inside - outside) for chance in chances)
    return max(ends[0], 0.0), min(ends[1], 1.0)


def normal_level(deviations: float) -> float:
    """Return the probability that a standard normal variable is within so many standard deviations.

    >>> round(normal_level(1.959964), 6)
    0.95
    """
    return erf(deviations / sqrt(2))


def tail_probability(count: float, respondents: int, chance: float) -> float:
    """Return the probability of a binomial count at least as far from its mean as this one, on the same side.

    >>> f"{tail_probability(0, 30, 0.25):.2g}"
    '0.00018'
    """
    below, deviation = count < respondents * chance, sqrt(respondents * chance * (1 - chance))
    far = respondents * chance + (-1 if below else 1) * (40 * deviation + 40)
    first, last = sorted((round(count), min(max(round(far), 0), respondents)))
    counts = np.arange(first, last + 1, dtype=np.float64)
    logarithms = np.array([lgamma(respondents + 1) - lgamma(t + 1) - lgamma(respondents - t + 1) for t in counts])
    return float(np.exp(_log_probabilities(counts, respondents, np.array(chance), logarithms)).sum())


def p_values(logarithms: Array, best: Array, observed: int) -> Array:
    """Return the probability of a likelihood ratio at most as large as that of the observed count, by row."""
    ratios = logarithms - np.where(np.isfinite(best), best, 0.0)
    far = ratios <= ratios[:, observed, None] + TIE
    return np.asarray(np.where(far, np.exp(logarithms), 0.0).sum(axis=1))


def _plausible(center: float, respondents: int, deviations: float, least: float, most: float) -> tuple[float, float]:
    """Return a range of chances that contains all that are accepted: the score interval of more deviations.

    Where the count contradicts every proportion, the range begins at the nearest one.
    """
    c = deviations**2 / respondents
    root = sqrt(c * center * (1 - center) + c**2 / 4)
    low, high = ((center + c / 2 + sign * root) / (1 + c) for sign in (-1, 1))
    nearest = min(max(center, least), most)
    reach = deviations * sqrt(nearest * (1 - nearest) / respondents) + c
    return max(min(low, nearest - reach), least), min(max(high, nearest + reach), most)


def _window(respondents: int, start: float, stop: float, count: int) -> Array:
    """Return the counts that have a probability under any chance of the range."""
    low, high = (
        respondents * chance + sign * (TAILS * sqrt(respondents * chance * (1 - chance)) + TAILS)
        for chance, sign in ((start, -1), (stop, 1))
    )
    return np.arange(max(floor(min(low, count)), 0), min(ceil(max(high, count)), respondents) + 1, dtype=np.float64)


def _log_probabilities(counts: Array, respondents: int, chances: Array, logarithms: Array) -> Array:
    """Return binomial log-probabilities; those of impossible counts are minus infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(counts > 0, counts * np.log(chances), 0.0)
        no = np.where(counts < respondents, (respondents - counts) * np.log1p(-chances), 0.0)
    return np.asarray(logarithms + yes + no)


def _outermost(
    accepted: Callable[[Array], NDArray[np.bool_]], start: float, best: float, stop: float
) -> tuple[float, float]:
    """Return points just outside the first and the last accepted one, searched in ever finer steps from the best."""
    points = np.union1d(np.linspace(start, stop, POINTS), [best])
    indices = np.flatnonzero(accepted(points))
    ends = []
    for index, step in ((int(indices[0]), -1), (int(indices[-1]), 1)):
        inner, outer = float(points[index]), float(points[min(max(index + step, 0), len(points) - 1)])
        for _ in range(ROUNDS - 1):
            if inner == outer:
                break
            finer = np.linspace(outer, inner, POINTS // 4 + 1)
            first = int(np.flatnonzero(accepted(finer))[0])
            inner, outer = float(finer[first]), float(finer[max(first - 1, 0)])
        ends.append(outer)
    return ends[0], ends[1]


def _interval_of_table(
    count: int, respondents: int, inside: float, outside: float, deviations: float, level: float
) -> tuple[float, float]:
    """Return the hull of the accepted proportions of respondents in the cell; they are multiples of 1 / N."""
    variances = [chance * (1 - chance) for chance in (inside, outside)]
    spread = sqrt(respondents * max(variances)) + 1
    value = (count - respondents * outside) / (inside - outside)
    reach = (deviations + BEYOND) * spread / abs(inside - outside) + 1
    nearest = min(max(value, 0.0), float(respondents))
    low, high = max(floor(nearest - reach), 0), min(ceil(nearest + reach), respondents)
    stride = max(1, (high - low) // MOST_ROWS)
    members = np.unique(np.append(np.arange(low, high + 1, stride, dtype=np.float64), [high, round(nearest)]))
    expected = respondents * outside + members * (inside - outside)
    margin = TAILS * spread + TAILS
    first = max(floor(min(expected.min() - margin, count)), 0)
    last = min(ceil(max(expected.max() + margin, count)), respondents)
    table = _table_probabilities(members, respondents, inside, outside, first, last)
    best = table.max(axis=0)
    # A count that no table yields is tested like the nearest one that some table does.
    possible = np.flatnonzero(np.isfinite(best))
    observed = int(possible[np.argmin(np.abs(possible - (count - first)))])
    accepted = p_values(table, best, observed) > 1 - level
    ends = [int(members[np.flatnonzero(accepted)[side]]) for side in (0, -1)]
    if stride > 1:
        for side, step in ((0, -1), (1, 1)):
            nearby = np.arange(ends[side], ends[side] + step * stride, step, dtype=np.float64)
            nearby = nearby[(nearby >= 0) & (nearby <= respondents)]
            rows = _table_probabilities(nearby, respondents, inside, outside, first, last)
            kept = np.flatnonzero(p_values(rows, np.maximum(best, rows.max(axis=0)), observed) > 1 - level)
            ends[side] = int(nearby[kept[-1]]) if len(kept) else ends[side]
    return ends[0] / respondents, ends[1] / respondents


def _table_probabilities(
    members: Array, respondents: int, inside: float, outside: float, first: int, last: int
) -> Array:
    """Return log-probabilities of the counts from `first` to `last`, one row for each number of members.

    They are those of the sum of two binomial variables, by the discrete Fourier transform of its characteristic
    function; counts outside the window have no probability to speak of, so that nothing is folded into it.
    """
    length = 1 << (last - first + 1).bit_length()
    turns = np.exp(2j * np.pi * np.arange(length) / length)
    with np.errstate(divide="ignore"):
        logs = [np.log(1 - chance + chance * turns) for chance in (inside, outside)]
    inner = members[:, None]
    powers = np.where(inner > 0, inner * logs[0], 0) + np.where(inner < respondents, (respondents - inner) * logs[1], 0)
    folded = np.fft.fft(np.exp(powers), axis=1).real / length
    probabilities = np.take(folded, np.arange(first, last + 1) % length, axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(probabilities > 1e-13, probabilities, 0.0)))
