"""Proportions of any attributes of a plan, from disguised reports alone."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimate.counted import Counted, count_by, count_reports
from sottovoce.estimate.em import Progress
from sottovoce.estimate.enough import check_enough, check_number
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.marginals import margin, needed_attributes
from sottovoce.estimate.methods import Method, by_blue, by_em, by_inversion
from sottovoce.estimate.sets import estimate_from_sets, is_large_set
from sottovoce.estimate.singular import named_singular
from sottovoce.estimate.spread import MOST_CELLS, Target
from sottovoce.estimate.tally import Weights
from sottovoce.plan.plan import Plan


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

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
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

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
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
