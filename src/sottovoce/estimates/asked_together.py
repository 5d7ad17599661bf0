"""Unbiased proportions from the respondents who were asked all the attributes in question."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sottovoce.checks import Array, Target
from sottovoce.counts.counter import as_counter
from sottovoce.counts.frequencies import Frequencies
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.cell_tests import CellTests, IndicatorTests, QuadraticVariance, ScoreTests
from sottovoce.estimates.counted import Counted, check_number, count_reports
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import Axes, Block, Observed, nearest_distribution, observed
from sottovoce.estimates.linear_tests import properties, whole_tests
from sottovoce.estimates.proportions import (
    NeverAskedError,
    estimate_proportions,
    is_large_set,
    is_sampled,
    report_covariance,
)
from sottovoce.plans.plan import Plan

MOST_REPORTS = 2**22
"""Most joint cells of a group's reports for which all of its report columns are counted together."""


def estimate_asked_together(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str],
    *,
    target: Target = "population",
    frequencies: Frequencies = None,
) -> Estimate:
    """Estimate joint proportions from every part of a sampling plan that asks all the attributes.

    Each such part Q gives `p_Q = B_Q c_Q / N_Q`, unbiased whatever the number N_Q of its respondents; the parts are
    averaged with the inverses of their variances at the uniform distribution as weights, `N_Q keep_Q^2` for
    gamma-diagonal parts. The weights do not depend on the answers, so the average is unbiased, too. A cell of the
    table has the variance

        sum_Q w_Q^2 l (1 - l) / (keep_Q^2 N_Q) - s (1 - s) / N,   l = (1 - keep_Q) / n + keep_Q s;

    for the population, without the last term. Where nothing is sampled this is `estimate_proportions`.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3)})
    >>> no = plan.report_schema["a"].categories[-1]
    >>> rows = {"a": [True] * 40 + [False] * 60 + [no] * 100, "b": [no] * 100 + [True, False] * 50}
    >>> print(estimate_asked_together(rows, plan, "a"))
    a: 200 reports, proportions in the population by inverse-variance weighting, normal 95 % intervals
      False    0.7000 +- 0.0980  [ 0.5080,  0.8834]
      True     0.3000 +- 0.0980  [ 0.1166,  0.4920]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if not is_sampled(plan, names):
        return estimate_proportions(reports, plan, names, target=target, frequencies=frequencies)
    found = count_by_part(reports, plan, names, frequencies)
    blocks = [block for block in found.sampled.blocks if set(found.kept) <= set(block.axes)]
    if not blocks:
        raise NeverAskedError(names)
    check_number(int(sum(block.total for block in blocks)))
    value, covariance = _averaged([_estimate_block(block, found.kept, found.sampled.sizes) for block in blocks])
    counted = found.counted
    if target == "table":
        covariance = covariance - (np.diag(value) - np.outer(value, value)) / counted.respondents
    return Estimate(
        counted.attributes,
        counted.categories,
        value[counted.order],
        MatrixCovariance(covariance[np.ix_(counted.order, counted.order)], report_covariance(counted, target)),
        counted.reported,
        counted.respondents,
        target,
        "inverse-variance weighting",
    )


def estimate_by_least_squares(found: "ByPart", target: Target) -> Estimate:
    """Estimate joint proportions from all parts of a sampling plan, also from those that ask some of the attributes.

    Part Q gives an unbiased estimate v of the margin `M p` that it asks, with covariance C; generalised least squares,
    `p = J^-1 sum_Q M^T C^-1 v` with `J = sum_Q M^T C^-1 M` and p summing to one, has the least variance of all
    unbiased combinations. C is that at the uniform distribution first, and then at the estimate that this gives,
    as a distribution and mixed with one uniform answer for each cell: with few reports the weights are those for
    equal frequencies, with many the best for the true ones. No estimate is picked by what came out. Variances
    are those at this distribution: none is zero because a few reports are alike.
    """
    counted, sizes = found.counted, found.sampled.sizes
    check_number(int(found.sampled.total))
    asked = [block for block in found.sampled.blocks if set(block.axes) & set(found.kept)]
    parts = [_LinearPart.of(block, found.kept, sizes) for block in asked]
    cells = prod(sizes[a] for a in found.kept)
    uniform = np.full(cells, 1 / cells)
    if _rank(parts, cells) < cells - 1:
        rule = f"must include some in which all of {', '.join(counted.attributes)} were asked"
        raise SottovoceError("reports", rule, Words(f"{counted.respondents} in which they were not"))
    first, _, _ = _weighted_least_squares(parts, uniform)
    near, people = nearest_distribution(first), found.sampled.total
    value, covariance, weights = _weighted_least_squares(parts, (people * near + 1) / (people + cells))
    tests = _tests(parts, weights, value, counted, target)
    if target == "table":
        near = nearest_distribution(value)
        covariance = covariance - (np.diag(near) - np.outer(near, near)) / counted.respondents
    matrix = covariance[np.ix_(counted.order, counted.order)]
    return Estimate(
        counted.attributes,
        counted.categories,
        value[counted.order],
        MatrixCovariance(matrix, report_covariance(counted, target)),
        counted.reported,
        counted.respondents,
        target,
        "generalised least squares",
        tests=tests,
    )


def _tests(
    parts: Sequence["_LinearPart"], weights: Sequence[Array], value: Array, counted: Counted, target: Target
) -> CellTests:
    """Return exact tests where one part tells everything by one property of a report, and score tests otherwise.

    Part Q adds `(m_0 + (m_1 - m_0) t - (e_0 + (e_1 - e_0) t)^2) / N_Q` to the variance at a proportion t, with m and e
    the mean square and the mean of a report's weight, from respondents in the cell and outside it.
    """
    order, cells = counted.order, np.eye(len(value))
    if len(parts) == 1 and target == "population":
        block = parts[0].block
        found = properties(parts[0].inverse[order], block.counts / block.total)
        if found is not None:
            return IndicatorTests(found[0] * block.total, round(block.total), found[1], found[2], target)
    near = nearest_distribution(value) + 1e-12
    others = (1 - cells) * near / ((1 - cells) * near).sum(axis=1, keepdims=True)
    coefficients = np.zeros((3, len(value)))
    matrices = [np.stack([part.reports(cell) for cell in cells], axis=1) for part in parts]
    for part, weight, reports in zip(parts, weights, matrices, strict=True):
        (e_in, e_out), (m_in, m_out) = (
            (np.diag(moment), (moment * others).sum(axis=1)) for moment in (weight @ reports, weight**2 @ reports)
        )
        slope = e_in - e_out
        terms = np.array([m_out - e_out**2, m_in - m_out - 2 * e_out * slope, -(slope**2)])
        coefficients += terms / part.block.total
    if target == "table":
        coefficients += np.array([[0.0], [-1.0], [1.0]]) / counted.respondents
    score = ScoreTests(value[order], QuadraticVariance(*coefficients[:, order]))
    if target == "table":
        return score
    shares = np.array([part.block.total for part in parts]) / sum(part.block.total for part in parts)
    return whole_tests(
        np.concatenate([weight / share for weight, share in zip(weights, shares, strict=True)], axis=1)[order],
        np.concatenate([share * reports for share, reports in zip(shares, matrices, strict=True)]),
        np.concatenate([part.block.counts for part in parts]),
        np.eye(len(value), dtype=bool)[order],
        target,
        score,
        np.repeat(np.arange(len(parts)), [len(reports) for reports in matrices]) if len(parts) > 1 else None,
    )


@dataclass(frozen=True, eq=False)
class _LinearPart:
    """A block of reports, its inverse to the attributes wanted among those it asks, and the matrix of their margin."""

    block: Block
    shape: list[int]
    inverse: Array
    margin: Array

    @classmethod
    def of(cls, block: Block, kept: Axes, sizes: Sequence[int]) -> "_LinearPart":
        """Return the part of a block that asks some of what is wanted; sizes of other attributes are negative."""
        shared = tuple(a for a in kept if a in block.axes)
        shape = [sizes[a] if a in shared else -sizes[a] for a in block.axes]
        return cls(block, shape, _inverse(block, shared, sizes)[0], _margin(kept, shared, sizes))

    def reports(self, cells: Array) -> Array:
        """Return the distribution of the reports, given the wanted joint cells; other attributes are uniform."""
        table = (self.margin @ cells).reshape([max(size, 1) for size in self.shape])
        others = prod(-size for size in self.shape if size < 0)
        full = np.broadcast_to(table / others, [abs(size) for size in self.shape])
        return self.block.report_distribution(full.ravel())


def _rank(parts: Sequence[_LinearPart], cells: int) -> int:
    """Return the number of directions that sum to zero about which the parts say something."""
    margins = [part.margin - part.margin.mean(axis=1, keepdims=True) for part in parts]
    return int(np.linalg.matrix_rank(np.concatenate([np.zeros((1, cells)), *margins])))


def _weighted_least_squares(parts: Sequence[_LinearPart], cells: Array) -> tuple[Array, Array, list[Array]]:
    """Return the estimate with the best weights at a distribution, its covariance there, and each report's weights.

    Of a part that asks further attributes, half of the covariance is that at the reported frequencies, for how these
    attributes go together is not known.
    """
    k = len(cells)
    basis = np.linalg.qr(np.eye(k) - 1 / k)[0][:, : k - 1]
    total, gains, covariances = np.zeros((k, k)), [], []
    for part in parts:
        covariances.append(_covariance(part.inverse, part.reports(cells), part.block.total))
        gains.append(part.margin.T @ np.linalg.pinv(covariances[-1], hermitian=True))
        total += gains[-1] @ part.margin
    information = basis.T @ total @ basis
    value, spread, uniform, applied = np.full(k, 1 / k), np.zeros((k, k)), np.full(k, 1 / k), []
    for part, weights, covariance in zip(parts, gains, covariances, strict=True):
        gain = basis @ np.linalg.solve(information, basis.T @ weights)
        applied.append(gain @ part.inverse)
        reported = part.block.counts / part.block.total
        value += gain @ (part.inverse @ reported - part.margin @ uniform)
        seen = _covariance(part.inverse, reported, part.block.total) if min(part.shape) < 0 else covariance
        spread += gain @ (covariance + seen) @ gain.T / 2
    return value, spread, applied


def _margin(kept: Axes, shared: Axes, sizes: Sequence[int]) -> Array:
    """Return the matrix that sums joint cells of the attributes kept over those that are not shared."""
    shape = [sizes[a] for a in kept]
    dropped = tuple(axis for axis, a in enumerate(kept) if a not in shared)
    return np.asarray(np.eye(prod(shape)).reshape(*shape, -1).sum(axis=dropped).reshape(-1, prod(shape)))


def _inverse(block: Block, kept: Axes, sizes: Sequence[int]) -> tuple[Array, Array]:
    """Return the matrix from a block's reports to the margin of some attributes, and the reports of uniform answers.

    The whole report is inverted and then summed over the other attributes: a part of the report may tell less.
    """
    shape = [sizes[a] for a in block.axes]
    dropped = tuple(axis for axis, a in enumerate(block.axes) if a not in kept)
    whole = np.linalg.pinv(block.report_distribution(np.eye(prod(shape))))
    inverse = whole.reshape(*shape, -1).sum(axis=dropped).reshape(-1, whole.shape[1])
    return inverse, block.report_distribution(np.full(prod(shape), 1 / prod(shape)))


def _covariance(inverse: Array, reported: Array, total: float) -> Array:
    """Return the covariance of a block's estimate from so many reports with these frequencies."""
    value = inverse @ reported
    return np.asarray(((inverse * reported) @ inverse.T - np.outer(value, value)) / total)


def _estimate_block(block: Block, kept: Axes, sizes: Sequence[int]) -> tuple[Array, Array, float]:
    """Return the estimate from one block, its covariance, and its precision at the uniform distribution."""
    inverse, expected = _inverse(block, kept, sizes)
    reported = block.counts / block.total
    value = inverse @ reported
    at_uniform = inverse**2 @ expected
    precision = block.total / float(at_uniform.mean() - 1 / len(value) ** 2)
    return value, _covariance(inverse, reported, block.total), precision


def _averaged(estimates: Sequence[tuple[Array, Array, float]]) -> tuple[Array, Array]:
    """Return the mean of unbiased estimates weighted by their precisions, and its covariance."""
    values, covariances, precisions = zip(*estimates, strict=True)
    shares = np.array(precisions) / sum(precisions)
    return np.tensordot(shares, np.array(values), axes=1), np.tensordot(shares**2, np.array(covariances), axes=1)


@dataclass(frozen=True, eq=False)
class ByPart:
    """Counts of the reports about some attributes, and the same reports by the attributes that were asked.

    `sampled` may be about further attributes of the group that was sampled from; `kept` are the axes of those wanted.
    """

    counted: Counted
    sampled: Observed
    kept: Axes

    @property
    def reports(self) -> Observed:
        """Reports about the attributes wanted."""
        return self.sampled if len(self.kept) == len(self.sampled.sizes) else self.sampled.margin(self.kept)


def count_by_part(reports: Any, plan: Plan, attributes: Sequence[str], frequencies: Frequencies = None) -> ByPart:
    """Count the reports about some attributes by the part of the plan that they came through.

    Where the reports of all sampled attributes have too many joint cells, only the columns of those wanted are counted:
    parts that have the same attributes in common with them are then one block, of the mixture of their channels.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> names = ("a", "b", "c")
    >>> plan = Plan.of(Schema(map(boolean, names)), {names: AttributeSampling(odds=3, subsets=[[0, 1], [2]])})
    >>> no = plan.report_schema["a"].categories[-1]
    >>> rows = {"a": [True, no], "b": [False, no], "c": [no, True]}
    >>> [block.axes for block in count_by_part(rows, plan, ["b", "c"]).reports.blocks]
    [(0,), (1,)]
    """
    wanted = plan.schema.project(attributes).names
    if is_large_set(plan.channel(wanted)):
        scheme = Words(plan.group_of(wanted[0]).scheme)
        raise SottovoceError("plan", "must give reports in categories, or sets of a few of them", scheme)
    counter, group = as_counter(reports, frequencies), sampled_with(plan, wanted)
    counted = count_reports(counter, plan, wanted)
    if len(group) > len(wanted) and plan.group_of(wanted[0]).mechanism.channel.n_out <= MOST_REPORTS:
        whole = count_reports(counter, plan, group)
        kept = tuple(axis for axis, name in enumerate(group) if name in wanted)
        return ByPart(counted, observed(whole.channel, whole.counts), kept)
    return ByPart(counted, observed(counted.channel, counted.counts), tuple(range(len(wanted))))


def sampled_with(plan: Plan, names: Sequence[str]) -> tuple[str, ...]:
    """Return all attributes of the group that these are sampled from; just these where nothing is sampled."""
    return plan.group_of(names[0]).attributes if is_sampled(plan, names) else tuple(names)
