"""Joint proportions of any attributes of a plan, from disguised reports alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.set_valued import DrawnSets, SetValued
from sottovoce.counts.counter import count_inclusions, sum_scores
from sottovoce.counts.protocol import Counter
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import (
    Counted,
    Weights,
    categories_of,
    check_enough,
    check_number,
    count_by,
    count_reports,
)
from sottovoce.estimates.covariance import MOST_CELLS, InversionSpread, MatrixSpread, Spread, Target
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import Progress, em, nearest_distribution, observed_covariance
from sottovoce.estimates.weights import WeightedSpread, shift_of
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import schemes
from sottovoce.tables.source import open_source

MOST_LISTED = 12
"""Categories of which all sets are listed and counted; of more, only memberships are."""
Method = Literal["inversion", "blue", "em", "simplex"]


def is_large_set(channel: Channel) -> bool:
    """Whether a channel reports sets of too many categories to list them all."""
    return isinstance(channel, SetValued | DrawnSets) and channel.n_in > MOST_LISTED


def estimate_from_sets(reports: Any, plan: Plan, names: Sequence[str], target: Target, method: str) -> Estimate:
    """Unbiased proportions from the shares f of reports that hold each category, or the nearest distribution.

    For sets drawn by rank f is the mean of their scores `u_S / (h.u_S)` instead (`RandomSet.scores`). The estimate is
    linear in f, `p = c + B f`, so its covariance is `B S B^T / N` with S that of the memberships or scores, counted in
    pairs. For the table as target, what sampling adds, `(diag(p) - p p^T) / N`, is taken off.
    """
    channel = plan.channel(names)
    if not isinstance(channel, SetValued | DrawnSets) or method not in ("inversion", "simplex"):
        raise SottovoceError("method", "must be inversion or simplex for sets of many categories", method)
    mean, products, total = _moments(reports, plan, names, channel)
    order = plan.cell_order(names)
    value = channel.solve_inclusions(mean)[order]
    slopes = _slopes(channel)[order]
    spread = slopes @ (products - np.outer(mean, mean)) @ slopes.T
    if target == "table":
        spread -= np.diag(value) - np.outer(value, value)
    shown = nearest_distribution(value) if method == "simplex" else value
    attributes, categories = tuple(names), categories_of(plan, names)
    return Estimate(attributes, categories, shown, MatrixSpread(spread / total), mean, total, target, method)


def _moments(
    reports: Any, plan: Plan, names: Sequence[str], channel: SetValued | DrawnSets
) -> tuple[Array, Array, int]:
    """Means of memberships or scores and of their products, and the number of reports."""
    schema = plan.report_schema.project(plan.report_names(names))
    if isinstance(reports, Counter):
        return _counted(reports, schema, channel)
    sums, products, total = np.zeros(channel.n_in), np.zeros((channel.n_in, channel.n_in)), 0
    for columns in open_source(reports).coded(schema):
        if isinstance(channel, DrawnSets):
            own, pairs = sum_scores(columns, channel.scores)
        else:
            pairs = count_inclusions(columns).astype(np.float64)
            own = np.diag(pairs)
        sums += own
        products += pairs
        total += len(columns[0])
    return sums / total, products / total, total


def _counted(counter: Counter, schema: Schema, channel: SetValued | DrawnSets) -> tuple[Array, Array, int]:
    """The same from a counter, which knows how many reports hold both of two categories, but no scores."""
    if isinstance(channel, DrawnSets):
        rule = "must be a table or a file for sets drawn by rank, each of which has a score"
        raise SottovoceError("reports", rule, Words(type(counter).__name__))
    first, second = np.triu_indices(channel.n_in)
    held, total = np.zeros((channel.n_in, channel.n_in)), counter.rows()
    held[first, second] = held[second, first] = counter.all_ones(schema, np.stack([first, second], axis=1))
    return np.diag(held) / total, held / total, total


def _slopes(channel: SetValued | DrawnSets) -> Array:
    """How the estimate changes with every share: B."""
    zero = np.zeros(channel.n_in)
    at_zero = channel.solve_inclusions(zero, 0.0)
    return np.stack([channel.solve_inclusions(unit, 0.0) - at_zero for unit in np.eye(channel.n_in)], axis=1)


def blue_matrix(channel: Channel, law: Array) -> Array:
    """Left inverse `B = J^-1 A^T diag(A p)^-1`, `J = A^T diag(A p)^-1 A`, best where the truth has the law p.

    `B A = I`, so `B lam` is unbiased whatever the truth; where p is the truth its covariance
    `(J^-1 - p p^T) / N` is the least that any unbiased estimate can have (Cramer-Rao). For square
    channels it is plain inversion. Reports that p never makes are left out.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> blue_matrix(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.9, 0.1])).round(6)
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    """
    matrix = channel.dense()
    expected = matrix @ law
    weight = np.divide(1, expected, out=np.zeros_like(expected), where=expected > 0)
    information = matrix.T @ (weight[:, None] * matrix)
    if np.linalg.matrix_rank(information, tol=1e-12 * np.linalg.norm(information)) < channel.n_in:
        rule = "must tell every truth from every other for truths to be estimated"
        raise SingularChannelError("channel", rule, Words(f"{channel.n_out} reports of {channel.n_in} truths"))
    return np.asarray(np.linalg.solve(information, matrix.T * weight))


def by_inversion(counted: Counted, target: Target, method: Method = "inversion") -> Estimate:
    """Unbiased estimate from counts, or the distribution nearest to it."""
    channel, order, seen = counted.channel, counted.order, counted.seen
    value = channel.solve(seen)[order]
    spread: Spread
    if counted.weighted is None:
        spread = InversionSpread(channel, seen, value, counted.respondents, order, target)
    else:
        twice = counted.weighted.seen_squared
        own = InversionSpread(channel, twice, channel.solve(twice)[order], counted.effective, order, target)
        spread = WeightedSpread(own, shift_of(own, value))
    return _estimate(counted, nearest_distribution(value) if method == "simplex" else value, spread, target, method)


def by_blue(counted: Counted, target: Target) -> Estimate:
    """Weigh by the distribution nearest to a first, plain estimate; unbiased up to its noise."""
    first = nearest_distribution(counted.channel.solve(counted.seen))
    rows = blue_matrix(counted.channel, first)[counted.order]
    value = rows @ counted.seen
    twice = counted.seen if counted.weighted is None else counted.weighted.seen_squared
    again = rows @ twice
    # Around the estimate itself, as WeightedSpread has it; without weights both are the same.
    own = np.outer(again, value) + np.outer(value, again) - np.outer(value, value)
    taken = own if target == "population" else np.diag(again)
    spread = MatrixSpread(((rows * twice) @ rows.T - taken) / counted.effective)
    return _estimate(counted, value, spread, target, "blue")


def by_em(counted: Counted, target: Target, progress: Progress | None = None) -> Estimate:
    """Most likely distribution, with the covariance of its observed information."""
    if target == "table":
        raise SottovoceError("target", "must be the population for em, whose likelihood is that of a sample", target)
    if counted.weighted is not None:
        raise SottovoceError(
            "method", "must be inversion, blue or simplex with weights, which have no likelihood", "em"
        )
    if np.isinf(counted.channel.condition_number):
        raise SingularChannelError("channel", "must tell every truth from every other", Words("one that does not"))
    fit = em(counted.channel, counted.counts, progress=progress)
    covariance = observed_covariance(counted.channel, counted.counts, fit.value)
    matrix = covariance[counted.order][:, counted.order]
    value = fit.value[counted.order]
    return _estimate(counted, value, MatrixSpread(matrix), target, fit.method)


def _estimate(counted: Counted, value: Array, spread: Spread, target: Target, method: str) -> Estimate:
    attributes, categories = counted.attributes, counted.categories
    effective = None if counted.weighted is None else counted.effective
    return Estimate(attributes, categories, value, spread, counted.seen, counted.respondents, target, method, effective)


def needed_attributes(plan: Plan, names: Sequence[str]) -> list[str]:
    """These attributes, and behind them the others of every group whose report does not split.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("b", "a"): SubsetSelection(odds=3)})
    >>> needed_attributes(plan, ["a"])
    ['a', 'b']
    """
    wanted = plan.schema.project(names).names
    others: list[str] = []
    for group in plan.groups:
        own = [name for name in group.attributes if name in wanted]
        if own and not _splits(plan, own):
            others += [name for name in group.attributes if name not in wanted]
    if others and plan.schema.project([*wanted, *others]).cells > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint cells with {', '.join(others)}, which share their report"
        raise SottovoceError("attributes", rule, wanted)
    return [*wanted, *others]


def margin(joint: Estimate, names: Sequence[str]) -> Estimate:
    """Proportions of the first attributes of an estimate, summed over the others: `M p`, covariance `M S M^T`.

    M has a one where a joint cell belongs to a cell of the margin. Sums of unbiased estimates are unbiased,
    for the table and for the population alike.
    """
    kept, dropped = prod(joint.shape[: len(names)]), prod(joint.shape[len(names) :])
    value = joint.value.reshape(kept, dropped).sum(axis=1)
    covariance = joint.covariance.reshape(kept, dropped, kept, dropped).sum(axis=(1, 3))
    attributes, categories = joint.attributes[: len(names)], joint.categories[: len(names)]
    spread = MatrixSpread(np.asarray(covariance))
    return replace(joint, attributes=attributes, categories=categories, value=value, spread=spread)


def _splits(plan: Plan, names: Sequence[str]) -> bool:
    """Whether a group's report has a part of its own for these attributes."""
    try:
        plan.channel(names)
    except SottovoceError:
        return False
    return True


def named_singular(reason: SingularChannelError, plan: Plan, names: Sequence[str]) -> SingularChannelError:
    """The same error with the attributes it is about, the scheme of each, and which parameter makes it so.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.warner import Warner
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=0.5), "b": Warner(p=0.8)})
    >>> print(named_singular(SingularChannelError("channel", "must be invertible", 0), plan, ["a", "b"]).parameter)
    a (warner: p must not be 1/n, n the number of categories)
    """
    channels = {name: plan.channel(needed_attributes(plan, [name])) for name in names}
    culprits = [name for name, channel in channels.items() if np.isinf(channel.condition_number)] or names
    groups = groupby(culprits, key=lambda name: plan.group_of(name).attributes)
    which = ", ".join(f"{', '.join(own)} ({_scheme(plan, group[0])})" for group, own in groups)
    return SingularChannelError(which, f"cannot be estimated: {reason.parameter} {reason.rule}", reason.value)


def _scheme(plan: Plan, attribute: str) -> str:
    """Name of an attribute's scheme, and what its parameters must be, where that is known."""
    name = plan.group_of(attribute).scheme
    needs = getattr(schemes().get(name), "identified", "")  # a user's own scheme may say nothing
    return f"{name}: {needs}" if needs else name


def estimate_proportions(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str],
    *,
    target: Target = "population",
    method: Method = "inversion",
    weights: Weights = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions of one or more attributes, with their covariance.

    `inversion`, `p = B lam` with B the channel's left inverse (Huang & Du 2008, eq. 2), is unbiased; so
    is `blue`, which weighs the reports best where there are more of them than truths.
    `em` gives the most likely distribution, with the covariance of its observed information; `simplex`
    the distribution nearest to the inversion, with the inversion's covariance. Choose the `target`: the
    population that the table is a sample of, or this table itself, of which only the coins hide
    anything. `reports` is a disguised table or its path. Survey `weights`, a column of it that was not
    disguised or a number for each report, make the estimate that of the weighted population or table.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(estimate_proportions({"evaded tax": [True] * 40 + [False] * 60}, plan, "evaded tax"))
    evaded tax: 100 reports, proportions in the population by inversion
      False    0.7000 +- 0.0980  [ 0.5080,  0.8920]
      True     0.3000 +- 0.0980  [ 0.1080,  0.4920]
    """
    names = _checked_choices(attributes, target, method)
    needed = needed_attributes(plan, names)
    if needed != names:
        joint = estimate_proportions(
            reports, plan, needed, target=target, method=method, weights=weights, progress=progress
        )
        return margin(joint, names)
    if is_large_set(plan.channel(names)):
        return _from_sets(reports, plan, names, target, method, weights)
    counted = count_reports(reports, plan, names, weights)
    return _from_counts(counted, plan, target, method, progress)


def estimate_by(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str],
    by: str,
    *,
    target: Target = "population",
    method: Method = "inversion",
    weights: Weights = None,
    progress: Progress | None = None,
) -> dict[Any, Estimate]:
    """Estimate apart for each value of a column that was not disguised: one `Estimate` a group or stratum.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40, "town": ["Bonn"] * 40 + ["Ulm"] * 40}
    >>> {town: found.respondents for town, found in estimate_by(reports, plan, "evaded tax", "town").items()}
    {'Bonn': 40, 'Ulm': 40}
    """
    names = _checked_choices(attributes, target, method)
    needed = needed_attributes(plan, names)
    if needed != names:
        joints = estimate_by(
            reports, plan, needed, by, target=target, method=method, weights=weights, progress=progress
        )
        return {value: margin(joint, names) for value, joint in joints.items()}
    if is_large_set(plan.channel(names)):
        raise SottovoceError("by", "must be left out for sets of many categories", by)
    found = {}
    for value, counted in count_by(reports, plan, names, by, weights).items():
        try:
            found[value] = _from_counts(counted, plan, target, method, progress)
        except SingularChannelError:
            raise
        except SottovoceError as reason:
            raise SottovoceError(reason.parameter, f"{reason.rule}, where {by} is {value}", reason.value) from None
    return found


def _checked_choices(attributes: str | Sequence[str], target: Target, method: Method) -> list[str]:
    if target not in get_args(Target):
        raise SottovoceError("target", f"must be one of {', '.join(get_args(Target))}", target)
    if method not in get_args(Method):
        raise SottovoceError("method", f"must be one of {', '.join(get_args(Method))}", method)
    return [attributes] if isinstance(attributes, str) else list(attributes)


def _from_sets(
    reports: Any, plan: Plan, names: Sequence[str], target: Target, method: Method, weights: Weights
) -> Estimate:
    if weights is not None:
        raise SottovoceError("weights", "must be left out for sets of many categories", weights)
    found = estimate_from_sets(reports, plan, names, target, method)
    check_number(found.respondents)
    return found


def _from_counts(counted: Counted, plan: Plan, target: Target, method: Method, progress: Progress | None) -> Estimate:
    names = counted.attributes
    if method in ("em", "blue") and len(counted.order) > MOST_CELLS:
        raise SottovoceError("attributes", f"must have at most {MOST_CELLS} joint cells for {method}", names)
    if np.isfinite(counted.channel.condition_number):  # else no number of reports would be enough
        check_enough(counted)
    try:
        return by_em(counted, target, progress) if method == "em" else _linear(counted, target, method)
    except SingularChannelError as reason:
        raise named_singular(reason, plan, names) from None


def _linear(counted: Counted, target: Target, method: Method) -> Estimate:
    return by_blue(counted, target) if method == "blue" else by_inversion(counted, target, method)
