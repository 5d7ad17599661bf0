"""Proportions of any attributes of a plan, from disguised reports alone."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimate.blue import blue_matrix
from sottovoce.estimate.counted import Counted, count_reports
from sottovoce.estimate.em import Progress, em, observed_covariance
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.marginals import margin, needed_attributes
from sottovoce.estimate.sets import estimate_from_sets, is_large_set
from sottovoce.estimate.simplex import nearest_distribution
from sottovoce.estimate.spread import MOST_CELLS, InversionSpread, MatrixSpread, Spread, Target
from sottovoce.plan.plan import Plan

Method = Literal["inversion", "blue", "em", "simplex"]


def estimate_proportions(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str],
    *,
    target: Target = "population",
    method: Method = "inversion",
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions of one or more attributes, with their covariance.

    `inversion`, `p = B lam` with B the channel's left inverse (Huang & Du 2008, eq. 2), is unbiased; so
    is `blue`, which weighs the reports best where there are more of them than truths.
    `em` gives the most likely distribution, with the covariance of its observed information; `simplex`
    the distribution nearest to the inversion, with the inversion's covariance. Choose the `target`: the
    population that the table is a sample of, or this table itself, of which only the coins hide
    anything. `reports` is a disguised table or its path.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(estimate_proportions({"evaded tax": [True] * 40 + [False] * 60}, plan, "evaded tax"))
    evaded tax: 100 reports, proportions in the population by inversion
      False    0.7000 +- 0.0980  [ 0.5080,  0.8920]
      True     0.3000 +- 0.0980  [ 0.1080,  0.4920]
    """
    if target not in get_args(Target):
        raise SottovoceError("target", f"must be one of {', '.join(get_args(Target))}", target)
    if method not in get_args(Method):
        raise SottovoceError("method", f"must be one of {', '.join(get_args(Method))}", method)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    needed = needed_attributes(plan, names)
    if needed != names:
        joint = estimate_proportions(reports, plan, needed, target=target, method=method, progress=progress)
        return margin(joint, names)
    if is_large_set(plan.channel(names)):
        return estimate_from_sets(reports, plan, names, target, method)
    counted = count_reports(reports, plan, names)
    if method in ("em", "blue") and len(counted.order) > MOST_CELLS:
        raise SottovoceError("attributes", f"must have at most {MOST_CELLS} joint cells for {method}", names)
    if method == "em":
        return _by_em(counted, target, progress)
    try:
        return by_blue(counted, target) if method == "blue" else by_inversion(counted, target, method)
    except SingularChannelError as reason:
        raise _named(reason, plan, names) from None


def _named(reason: SingularChannelError, plan: Plan, names: Sequence[str]) -> SingularChannelError:
    """Say which attributes a singular channel is of, and the scheme that made it so."""
    channels = {name: plan.channel(needed_attributes(plan, [name])) for name in names}
    culprits = [name for name, channel in channels.items() if np.isinf(channel.condition_number)] or names
    which = ", ".join(f"{name} ({plan.group_of(name).scheme})" for name in culprits)
    return SingularChannelError(which, f"cannot be estimated: {reason.parameter} {reason.rule}", reason.value)


def by_inversion(counted: Counted, target: Target, method: Method = "inversion") -> Estimate:
    """Unbiased estimate from counts, or the distribution nearest to it."""
    value = counted.channel.solve(counted.seen)[counted.order]
    spread = InversionSpread(counted.channel, counted.seen, value, counted.respondents, counted.order, target)
    return _estimate(counted, nearest_distribution(value) if method == "simplex" else value, spread, target, method)


def by_blue(counted: Counted, target: Target) -> Estimate:
    """Weigh by the distribution nearest to a first, plain estimate; unbiased up to its noise."""
    first = nearest_distribution(counted.channel.solve(counted.seen))
    rows = blue_matrix(counted.channel, first)[counted.order]
    value = rows @ counted.seen
    own = np.outer(value, value) if target == "population" else np.diag(value)
    spread = MatrixSpread(((rows * counted.seen) @ rows.T - own) / counted.respondents)
    return _estimate(counted, value, spread, target, "blue")


def _by_em(counted: Counted, target: Target, progress: Progress | None) -> Estimate:
    if target == "table":
        raise SottovoceError("target", "must be the population for em, whose likelihood is that of a sample", target)
    fit = em(counted.channel, counted.counts, progress=progress)
    covariance = observed_covariance(counted.channel, counted.counts, fit.value)
    matrix = covariance[counted.order][:, counted.order]
    value = fit.value[counted.order]
    method = f"em, {fit.steps} steps" if fit.converged else f"em, NOT converged after {fit.steps} steps"
    return _estimate(counted, value, MatrixSpread(matrix), target, method)


def _estimate(counted: Counted, value: Array, spread: Spread, target: Target, method: str) -> Estimate:
    attributes, categories = counted.attributes, counted.categories
    return Estimate(attributes, categories, value, spread, counted.seen, counted.respondents, target, method)
