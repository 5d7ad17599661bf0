"""Tests of cells that are estimated by weighted sums of reports: of which kind they are, and score tests.

A cell that depends on one property of each report has exact tests (`IndicatorTests`). Others have score tests: the
variance of the estimate is that at the proportion tested, with all other proportions at their most likely values given
that one (as in O. Miettinen & M. Nurminen 1985, Statistics in Medicine 4, 213-226, for two proportions). The
distribution is normal but for its skewness (P. Hall 1992, The Bootstrap and Edgeworth Expansion, 2.4); of few reports,
the probabilities of all outcomes are summed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import comb, lgamma

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel, kron
from sottovoce.checks import Array, Target
from sottovoce.estimates.cell_tests import (
    MOST_EXACT,
    Ends,
    IndicatorTests,
    Mask,
    ScoreTests,
    linear_variance,
    normal_p_values,
)
from sottovoce.estimates.covariance import InversionCovariance, inverse_rows
from sottovoce.estimates.exact_intervals import normal_level
from sottovoce.estimates.likelihood import nearest_distribution

MOST_LISTED_REPORTS = 512
"""Most reports of a channel whose inverse is searched for cells that depend on one property of a report."""

MOST_CHANCES = 50_000
"""Most probabilities of reports, over all cells, for which other proportions are made most likely."""

MOST_OUTCOMES = 100_000
"""Most counts of reports, over all cells, whose probabilities are summed."""

POINTS, FINER_POINTS, ROUNDS = 33, 9, 3
"""Proportions that are tested at once, those between two neighbours of them on either side, and how often."""

MOST_STEPS = 60
"""Most pairs of steps towards the most likely proportions of other cells."""

LONGEST_STEP = 4.0
"""Most by which a pair of steps is prolonged."""

LEAST_GAIN = 0.01
"""Possible gain of the log-likelihood below which other proportions count as most likely."""

SAME_DISTANCE = 1e-9
"""Difference of squared distances that may be due to rounding."""


@dataclass(frozen=True, eq=False)
class ConstrainedTests:
    """Score tests of cells, each with its reports and truths, and all other proportions at their most likely values.

    `chances[c, x, y]` is the probability of report y from truth x as far as cell c is concerned, `members[c, x]`
    whether x belongs to the cell, `weights[c, y]` what a report adds to its estimate, `counts[c, y]` the number of such
    reports. `score` has the tests with other proportions as they were estimated. Where reports come in several parts,
    each of a given number, `part[y]` is the part of a report.
    """

    chances: Array
    members: Mask
    weights: Array
    counts: Array
    target: Target
    score: ScoreTests
    part: NDArray[np.intp] | None = None
    method: str = "constrained score"

    @cached_property
    def respondents(self) -> float:
        """Number of reports."""
        return float(self.counts[0].sum())

    @property
    def value(self) -> Array:
        """Unbiased estimates of the proportions: the mean weight of a report, and a constant where parts are joined."""
        return self.score.value

    @cached_property
    def _kinds(self) -> NDArray[np.intp]:
        """Number of each report's weight: reports of the same weight for every cell have one number."""
        return np.unique(self.weights.round(9).T, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def _sums(self) -> bool:
        """Whether outcomes are so few that their probabilities are summed: a sample of the population, and small."""
        kinds = int(self._kinds.max()) + 1
        whole = self.target == "population" and self.part is None and self.respondents == round(self.respondents)
        return whole and comb(round(self.respondents) + kinds - 1, kinds - 1) * len(self.counts) <= MOST_OUTCOMES

    def ends(self, deviations: float) -> Ends:
        """Return the hull of the proportions that are not rejected, searched in ever finer steps."""
        best, tail = np.clip(self.value, 0, 1), 1 - normal_level(deviations)
        low, high = self.score.ends(deviations)
        reach = np.ones_like(best) if self._sums else high - low
        first, last = np.maximum(low - reach, 0), np.minimum(high + reach, 1)
        points = first[:, None] + (last - first)[:, None] * np.linspace(0, 1, POINTS)
        points = np.sort(np.concatenate([points, best[:, None]], axis=1), axis=1)
        accepted = self.p_values(points) > tail
        sides = [_outermost(points, accepted), _outermost(points[:, ::-1], accepted[:, ::-1])]
        steps = np.linspace(0, 1, FINER_POINTS)
        for _ in range(ROUNDS):
            finer = [outer[:, None] + (inner - outer)[:, None] * steps for outer, inner in sides]
            accepted = self.p_values(np.concatenate(finer, axis=1)) > tail
            kept = accepted[:, :FINER_POINTS], accepted[:, FINER_POINTS:]
            sides = [_outermost(*side) for side in zip(finer, kept, strict=True)]
        return sides[0][0], sides[1][0]

    def p_values(self, proportions: Array) -> Array:
        """Return the p-values of several proportions of each cell."""
        truths = self._most_likely(proportions)
        expected = truths @ self.chances
        if self._sums:
            return self._summed(proportions, expected)
        variances, skewness = self._moments(truths, expected, proportions)
        value = np.broadcast_to(self.value[:, None], proportions.shape)
        return normal_p_values(value, proportions, variances, skewness)

    def _moments(self, truths: Array, expected: Array, proportions: Array) -> Ends:
        """Return variance and skewness of the estimates: cumulants of the parts that reports come in add up.

        Of the table, a report's weight varies around 1 for members and around 0 for others.
        """
        weights, total = self.weights[:, None], self.respondents
        part = np.zeros(weights.shape[2], np.intp) if self.part is None else self.part
        parts = np.eye(int(part.max()) + 1)[part]
        shares = self.counts[0] @ parts / total
        first, second, third = ((expected * weights**power) @ parts for power in (1, 2, 3))
        if self.target == "table":
            inside = ((truths * self.members[:, None]) @ self.chances * weights**2).sum(axis=2)
            variances = second.sum(axis=2) - proportions
            cubes = third.sum(axis=2) - 3 * inside + 2 * proportions
        else:
            variances = (second - first**2 / shares).sum(axis=2)
            cubes = (third - 3 * first * second / shares + 2 * first**3 / shares**2).sum(axis=2)
        spread = np.maximum(variances, 1e-12)
        return np.maximum(variances, 0) / total, cubes / (spread**1.5 * np.sqrt(total))

    def _summed(self, proportions: Array, expected: Array) -> Array:
        """Return the probabilities of estimates as far from the proportions as the observed ones, to a few digits."""
        kinds = int(self._kinds.max()) + 1
        counts, logarithms = _outcomes(round(self.respondents), kinds)
        weights = np.zeros((len(self.weights), kinds))
        weights[:, self._kinds] = self.weights
        constant = self.value - (self.weights * self.counts).sum(axis=1) / self.respondents
        estimates = weights @ counts / self.respondents + constant[:, None]
        outside = np.minimum(estimates, 0) ** 2 + np.maximum(estimates - 1, 0) ** 2
        own = np.minimum(self.value, 0) ** 2 + np.maximum(self.value - 1, 0) ** 2
        sums, summed = np.empty_like(proportions), expected @ np.eye(kinds)[self._kinds]
        logs = np.log(np.maximum(summed, 1e-300)).astype(np.float32)
        small = counts.astype(np.float32)
        for cell, held in enumerate(proportions[..., None]):
            farther = (estimates[cell] - held) ** 2 - outside[cell]
            farther -= (self.value[cell] - held) ** 2 - own[cell] - SAME_DISTANCE
            probabilities = np.exp(logs[cell] @ small + logarithms)
            sums[cell] = np.einsum("pn,pn->p", probabilities, farther >= 0)
        return sums

    def _most_likely(self, proportions: Array) -> Array:
        """Return the most likely distribution of each cell's truths for each proportion of the cell.

        EM steps with the members' sum held at t and that of all others at 1 - t, extrapolated in pairs. The log-
        likelihood is concave: it can still gain at most `t max g + (1 - t) max g' - sum g p`, g and g' the factors of a
        step for members and others.
        """
        members = self.members[:, None]
        held = np.stack([proportions, 1 - proportions])
        groups = np.stack([members, ~members])
        start = np.broadcast_to(groups / groups.sum(axis=3, keepdims=True), (*held.shape, members.shape[2]))
        points = np.asarray((held[..., None] * start).sum(axis=0))
        if (groups.sum(axis=3) <= 1).all():
            return points
        shares = (self.counts / self.respondents)[:, None]
        backwards = self.chances.transpose(0, 2, 1)

        def factors(current: Array) -> Array:
            expected = current @ self.chances
            return np.asarray(np.divide(shares, expected, out=np.zeros_like(expected), where=expected > 0) @ backwards)

        def scaled(current: Array) -> Array:
            sums = np.where(groups, current, 0.0).sum(axis=3)
            scale = np.divide(held, sums, out=np.zeros_like(held), where=sums > 0)
            return np.asarray(current * np.where(members, scale[0][..., None], scale[1][..., None]))

        for _ in range(MOST_STEPS):
            gains = factors(points)
            most = (held * np.where(groups, gains, 0.0).max(axis=3)).sum(axis=0)
            first = points * gains
            if ((most - first.sum(axis=2)) * self.respondents <= LEAST_GAIN).all():
                break
            first = scaled(first)
            second = scaled(first * factors(first))
            points = scaled(_extrapolated(points, first, second))
        return points


def _extrapolated(start: Array, first: Array, second: Array) -> Array:
    """Return two steps prolonged by their lengths' ratio, as `likelihood.extrapolate` does, along the last axis."""
    change, bend = first - start, second - 2 * first + start
    lengths = [np.linalg.norm(each, axis=2, keepdims=True) for each in (change, bend)]
    step = np.clip(lengths[0] / np.maximum(lengths[1], 1e-300), 1.0, LONGEST_STEP)
    return np.asarray(np.maximum(start + 2 * step * change + step**2 * bend, second / 100))


def _outermost(points: Array, accepted: Mask) -> Ends:
    """Return the last point before the first accepted one of each row, and that one."""
    first = np.argmax(accepted, axis=1)
    rows = np.arange(len(points))
    return points[rows, np.maximum(first - 1, 0)], points[rows, first]


@lru_cache(maxsize=8)
def _outcomes(respondents: int, kinds: int) -> tuple[Array, Array]:
    """Return all counts of so many reports of some kinds, one column each, and logarithms of their coefficients.

    >>> _outcomes(2, 2)[0].tolist()
    [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    """
    counts = np.zeros((1, 0), dtype=np.int64)
    for _ in range(kinds - 1):
        left = respondents - counts.sum(axis=1)
        rows = np.repeat(np.arange(len(counts)), left + 1)
        starts = np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        counts = np.column_stack([counts[rows], np.arange(len(rows)) - starts])
    counts = np.column_stack([counts, respondents - counts.sum(axis=1)])
    factorials = np.array([lgamma(number + 1) for number in range(respondents + 1)])
    coefficients = factorials[respondents] - factorials[counts].sum(axis=1)
    return np.ascontiguousarray(counts.T, np.float64), coefficients.astype(np.float32)


LinearTests = IndicatorTests | ConstrainedTests | ScoreTests
"""Tests of weighted sums of reports."""


def inversion_tests(covariances: InversionCovariance) -> LinearTests:
    """Return the tests of an estimate by inversion: exact ones where each cell depends on one property of a report.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> channel, reported = KeepOrUniform((2,), Fraction(1, 2)), np.array([0.6, 0.4])
    >>> tests = inversion_tests(InversionCovariance(channel, reported, np.zeros(2), 30, np.arange(2), "population"))
    >>> tests.method, tests.counts.tolist()
    ('exact', [18.0, 12.0])
    """
    channel, order, respondents = covariances.channel, covariances.order, covariances.respondents
    found = _indicators(channel.factors[0] if len(channel.factors) == 1 else channel, covariances.reported)
    if found is not None and respondents == round(respondents):
        shares, inside, outside = (numbers[order] for numbers in found)
        return IndicatorTests(shares * respondents, round(respondents), inside, outside, covariances.target)
    inside, outside = second_moments(covariances.value, covariances)
    score = ScoreTests(covariances.value, linear_variance(inside, outside, respondents, covariances.target))
    if len(order) > MOST_EXACT:
        return score
    by_match = _by_match(channel, covariances.reported * respondents, order)
    if by_match is not None:
        return ConstrainedTests(*by_match, covariances.target, score) if by_match[0].size <= MOST_CHANCES else score
    if channel.n_out > MOST_LISTED_REPORTS:
        return score
    weights, members = inverse_rows(channel, order), np.eye(channel.n_in, dtype=bool)[order]
    reports = channel.matvec(np.eye(channel.n_in))
    return whole_tests(weights, reports, covariances.reported * respondents, members, covariances.target, score)


def _indicators(channel: Channel, reported: Array) -> tuple[Array, Array, Array] | None:
    """Return the share of reports with each cell's property, and its probabilities inside and outside the cell.

    Unbiased weights that take two values, c for reports with the property and c' for others, make the probability
    of the property the same outside the cell, `-c' / (c - c')`, and `(1 - c') / (c - c')` inside it.
    """
    if channel.replacement is not None:
        keep, known = channel.replacement
        noise = (1 - keep) * kron(known)
        return (reported, keep + noise, noise) if keep > 0 and channel.n_out == channel.n_in else None
    if channel.n_out > MOST_LISTED_REPORTS:
        return None
    return properties(channel.solve(np.eye(channel.n_out)), reported)


def properties(weights: Array, reported: Array) -> tuple[Array, Array, Array] | None:
    """Return the same from the weights of all reports, one row for each cell; None unless all rows have two values."""
    low, high = weights.min(axis=1), weights.max(axis=1)
    gain = high - low
    near = [np.abs(weights - ends[:, None]) < 1e-9 * gain[:, None] for ends in (low, high)]
    if not (near[0] | near[1]).all() or not (gain > 0).all():
        return None
    return near[1] @ reported, np.minimum((1 - low) / gain, 1.0), np.maximum(-low / gain, 0.0)


def weighted_sum_tests(
    weights: Array, channel: Channel, reported: Array, respondents: int, target: Target, members: Array
) -> LinearTests:
    """Return the tests of estimates `sum_y w[x, y] lam_y`, unbiased for the sums of truths that `members` has ones for.

    Where there are too many reports and truths to make the others most likely, respondents in a cell, and those outside
    it, have the estimated distribution among themselves.
    """
    found = properties(weights, reported)
    if found is not None:
        shares, inside, outside = found
        return IndicatorTests(shares * respondents, respondents, inside, outside, target)
    reports = channel.matvec(np.eye(channel.n_in))
    moments = weights**2 @ reports
    truths = nearest_distribution(channel.solve(reported)) + 1e-12
    inner, outer = members * truths, (1 - members) * truths
    inside, outside = ((moments * part).sum(axis=1) / np.maximum(part.sum(axis=1), 1e-300) for part in (inner, outer))
    score = ScoreTests(weights @ reported, linear_variance(inside, outside, respondents, target))
    return whole_tests(weights, reports, reported * respondents, members > 0, target, score)


def whole_tests(
    weights: Array,
    reports: Array,
    counts: Array,
    members: Mask,
    target: Target,
    score: ScoreTests,
    part: NDArray[np.intp] | None = None,
) -> ConstrainedTests | ScoreTests:
    """Return the tests of cells with all truths and reports of a channel, whose matrix has columns of `reports`.

    Where there are too many of them to make other proportions most likely, return `score`.
    """
    cells, (kinds, truths) = len(weights), reports.shape
    if cells * kinds * truths > MOST_CHANCES:
        return score
    chances = np.broadcast_to(reports.T, (cells, truths, kinds))
    return ConstrainedTests(chances, members, weights, np.broadcast_to(counts, weights.shape), target, score, part)


def _by_match(channel: Channel, counts: Array, order: NDArray[np.intp]) -> tuple[Array, Mask, Array, Array] | None:
    """Return chances, members, weights and counts of joint cells by which attributes of a report match the cell.

    That is all a report says of a joint cell where each attribute is estimated from one property of its report. The
    truths are told apart by which attributes have the cell's categories; the last has all. None for other channels.
    """
    if any(factor.n_out > MOST_LISTED_REPORTS for factor in channel.factors):
        return None
    found = [properties(factor.solve(np.eye(factor.n_out)), np.eye(factor.n_out)) for factor in channel.factors]
    factors = [each for each in found if each is not None]
    if len(factors) < len(found):
        return None
    table = counts.reshape([factor.n_out for factor in channel.factors])
    patterns = []
    for pattern in product((False, True), repeat=len(factors)):
        matched = table
        for matches, (masks, _, _) in zip(pattern, factors, strict=True):
            matched = np.tensordot(matched, masks if matches else 1 - masks, axes=(0, 1))  # its axis moves to the end
        patterns.append(matched.ravel()[order])
    cells = np.unravel_index(order, [factor.n_in for factor in channel.factors])
    chances, weights = np.ones((len(order), 1, 1)), np.ones((len(order), 1))
    for index, (_, inside, outside) in zip(cells, factors, strict=True):
        a, b = inside[index], outside[index]
        one = np.array([[1 - b, b], [1 - a, a]]).transpose(2, 0, 1)
        gain = a - b
        chances = np.einsum("cxy,cuv->cxuyv", chances, one).reshape(len(order), 2 * chances.shape[1], -1)
        weights = np.einsum("cy,cv->cyv", weights, np.stack([-b / gain, (1 - b) / gain], axis=1))
        weights = weights.reshape(len(order), -1)
    members = np.zeros((len(order), chances.shape[1]), dtype=bool)
    members[:, -1] = True
    return chances, members, weights, np.stack(patterns, axis=1)


def marginal_tests(covariances: InversionCovariance, summed: Callable[[Array], Array]) -> LinearTests | None:
    """Return the tests of sums of joint cells; None if there are too many reports to list."""
    channel, order = covariances.channel, covariances.order
    if channel.n_out > MOST_LISTED_REPORTS:
        return None
    weights, members = summed(inverse_rows(channel, order)), summed(np.eye(channel.n_in)[order])
    respondents = round(covariances.respondents)
    return weighted_sum_tests(weights, channel, covariances.reported, respondents, covariances.target, members)


def errors_at_zero(value: Array, covariances: InversionCovariance) -> Array:
    """Return each cell's standard error if its proportion were zero and the others kept their shares, `sqrt(m_0/N)`."""
    return np.asarray(np.sqrt(second_moments(value, covariances)[1] / covariances.respondents))


def second_moments(value: Array, covariances: InversionCovariance) -> Ends:
    """Return the mean squared weight that a report has for a cell: from respondents in the cell, and outside it.

    Outside it, the other cells keep their shares among themselves. Weights of a product of channels are products.
    """
    channel, order = covariances.channel, covariances.order
    distribution = np.empty_like(value)
    distribution[order] = nearest_distribution(value)
    squares = [
        factor.solve(np.eye(factor.n_out)) ** 2 @ factor.matvec(np.eye(factor.n_in)) for factor in channel.factors
    ]
    inside = kron([np.diag(moments) for moments in squares])
    mean = distribution.reshape([len(moments) for moments in squares])
    for axis, moments in enumerate(squares):
        mean = np.moveaxis(np.tensordot(moments, mean, axes=(1, axis)), 0, axis)
    others = np.maximum(1 - distribution, 1e-12)
    outside = (mean.ravel() - inside * distribution) / others
    return inside[order], outside[order]
