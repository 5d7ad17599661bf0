"""Estimates of groups, strata, every attribute, tables with public columns, and models: beyond one table of attributes.

Options are the keyword arguments of `Reports.estimate` but `by` and `strata`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from sottovoce.checks import Progress, Target, one_of
from sottovoce.counts.frequencies import plain_list
from sottovoce.errors import SottovoceError, Words, renamed_parameters
from sottovoce.estimates.counted import by_names, check_groups, check_public, group_label
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import Estimates, stratified
from sottovoce.estimates.log_linear import estimate_joint
from sottovoce.estimates.proportions import estimate_by, estimate_proportions, group_errors, is_sampled, with_scores
from sottovoce.plans.plan import Plan
from sottovoce.reports.views import with_public_attributes
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.source import Source

if TYPE_CHECKING:
    from sottovoce.reports.reports import Reports

Names = str | Sequence[str]
Options = Mapping[str, Any]
Method = Literal["best", "inversion", "blue", "em", "simplex", "model"]
Strata = str | Mapping[str, Mapping[Any, float]]


class EstimateArguments(TypedDict, total=False):
    """Further arguments of `Reports.estimate`."""

    weights: str | Sequence[float] | None
    frequencies: str | Sequence[int] | None
    strata: Strata | None
    method: Method
    target: Target
    progress: Progress | bool | None


def estimate_from(
    reports: "Reports", names: Sequence[str] | None, by: Names | None, strata: Strata | None, options: Options
) -> Estimate | Estimates:
    """Answer what `Reports.estimate` is asked."""
    one_of("method", options["method"], get_args(Method))
    if names is None:
        if by is not None:
            raise SottovoceError("by", "must come with the names of what is estimated", by)
        return _attributes(reports, strata, options)
    if strata is not None:
        if by is not None:
            raise SottovoceError("by", "must be left out where strata are given", by)
        return _strata(reports, names, strata, options)
    if by is not None:
        return _groups(reports, names, by, options)
    return _table(reports, names, options)


def _table(reports: "Reports", names: Sequence[str], options: Options) -> Estimate:
    """Joint cells of some attributes and public columns."""
    plan, source = with_public_attributes(reports.plan, names), reports.source("estimate")
    if options["method"] == "model":
        if options["weights"] is not None:
            raise SottovoceError("weights", "must be left out for the method 'model'", Words("some"))
        frequencies, progress = options["frequencies"], options["progress"]
        modelled = estimate_joint(source, plan, names, frequencies=frequencies, progress=progress)
        estimate = with_scores(modelled, plan)
    else:
        estimate = estimate_proportions(source, plan, names, **options)
    return replace(estimate, origin=reports.respondents())


def _groups(reports: "Reports", names: Sequence[str], by: Names, options: Options) -> Estimates:
    """An estimate for each value of some public columns."""
    plan, source = with_public_attributes(reports.plan, names), reports.source("estimate")
    columns = by_names(by)
    key_columns = columns[0] if len(columns) == 1 else columns  # groups of one column are its values, not tuples
    if options["method"] == "model" or (options["method"] == "best" and is_sampled(plan, names)):
        check_public(plan, by=columns)
        source.check_names(columns)
        estimates = {}
        for key in _keys(plan, source, key_columns):  # neither counts all groups in one pass over the reports
            with group_errors(key_columns, key):
                estimates[key] = _table(reports.where(**_columns(columns, key)), names, options)
        return Estimates(estimates, columns)
    found = estimate_by(source, plan, names, key_columns, **options)
    return Estimates(
        {key: replace(each, origin=reports.respondents(**_columns(columns, key))) for key, each in found.items()},
        columns,
    )


def _attributes(reports: "Reports", strata: Strata | None, options: Options) -> Estimates:
    """Every attribute with categories by itself."""
    names = [variable.name for variable in reports.plan.schema if not isinstance(variable, ItemSet)]
    if strata is None:
        return Estimates({name: _table(reports, [name], options) for name in names})
    return Estimates({name: _strata(reports, [name], strata, options) for name in names})


def _strata(reports: "Reports", names: Sequence[str], strata: Strata, options: Options) -> Estimate:
    """The whole from its strata, with their shares in the sample or in the population."""
    if isinstance(strata, str):
        column, shares = strata, None
    elif isinstance(strata, Mapping) and len(strata) == 1:
        ((column, shares),) = strata.items()
    else:
        raise SottovoceError("strata", "must be a public column, or {column: {value: share}}", strata)
    with renamed_parameters({"by": "strata"}):
        groups = _groups(reports, names, column, options)
    whole = stratified(groups, shares)
    return replace(with_scores(whole, with_public_attributes(reports.plan, names)), origin=reports.respondents())


def _keys(plan: Plan, source: Source, by: Names) -> list[Any]:
    """Different values of some public columns, in order; tuples where there are several columns."""
    keys: set[Any] = set()
    names = by_names(by)
    for batch in source.batches(names):
        columns = [plain_list(batch[name]) for name in names]
        found = set(columns[0]) if len(names) == 1 else set(zip(*columns, strict=True))
        keys |= {group_label(plan, by, key) for key in found}
        check_groups(by, len(keys))
    return sorted(keys, key=lambda key: [(type(value).__name__, value) for value in _columns(names, key).values()])


def _columns(by: Sequence[str], key: Any) -> dict[str, Any]:
    """Public columns and their values in a group."""
    return dict(zip(by, (key,) if len(by) == 1 else key, strict=True))
