"""Joint proportions of any attributes of a plan, from disguised reports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.channels.sampled import Sampled
from sottovoce.channels.set_valued import SetChannel
from sottovoce.checks import Array, Progress, Target, one_of
from sottovoce.checks import target as checked_target
from sottovoce.counts.counter import as_counter
from sottovoce.counts.frequencies import Frequencies
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.cell_tests import CellTests
from sottovoce.estimates.counted import (
    By,
    Counted,
    Weights,
    by_names,
    check_enough,
    count_by,
    count_reports,
)
from sottovoce.estimates.covariance import MOST_CELLS, Covariance, InversionCovariance, MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.from_sets import estimate_from_sets
from sottovoce.estimates.likelihood import em, nearest_distribution, observed, observed_covariance
from sottovoce.estimates.linear_tests import weighted_sum_tests
from sottovoce.estimates.profile_likelihood import effective_tests, maximum_likelihood_tests
from sottovoce.estimates.weights import WeightedCovariance, shift_by_squares
from sottovoce.plans.plan import Plan, check_plan
from sottovoce.schemas.binned import Binned
from sottovoce.schemes.scheme import all_schemes

PURPOSES_BY_SIZE = {1: "marginals", 2: "pairs", 3: "triples"}
"""Purposes of `plan_for_purpose` by the number of attributes of a table."""

MOST_BLUE = 512
"""Joint cells up to which best linear unbiased weights are computed unasked: their cost is the cube of the number."""

MOST_LISTED = 12
"""Most categories of which all sets are counted; of more, only memberships are."""

Method = Literal["best", "inversion", "blue", "em", "simplex"]


class EstimateOptions(TypedDict, total=False):
    """Options of `estimate_proportions`."""

    target: Target
    method: Method
    weights: Weights
    frequencies: Frequencies
    progress: Progress | None


def estimate_proportions(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str],
    *,
    target: Target = "population",
    method: Method = "inversion",
    weights: Weights = None,
    frequencies: Frequencies = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions of one or more attributes, with their covariance.

    `inversion`, `p = B lam` with B the channel's left inverse (Huang & Du 2008, eq. 2), is unbiased; so
    is `blue`, the best linear unbiased estimate, which is better where there are more reports than truths.
    `em` gives the maximum-likelihood distribution, with the covariance of its observed information; `simplex`
    the distribution nearest to the inversion, with the inversion's covariance. `best` is the inversion or, for plans
    that ask each respondent some of the attributes, generalised least squares over what all of them were asked.

    `reports` is a disguised table or its path. The `target` is the population that the respondents are a sample of, or
    the table of the respondents themselves, whose answers are hidden by the coins only. Survey `weights`, a public
    column or a number for each row, make it the weighted population or table. `frequencies`, a public column or a whole
    number for each row, say how many equal reports a row stands for; a weight is that of each of them.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> print(estimate_proportions({"evaded tax": [True] * 40 + [False] * 60}, plan, "evaded tax"))
    evaded tax: 100 reports, proportions in the population by inversion, exact 95 % intervals
      False    0.7000 +- 0.0980  [ 0.5000,  0.8858]
      True     0.3000 +- 0.0980  [ 0.1142,  0.5000]
    """
    names = _checked_choices(attributes, target, method)
    needed = needed_attributes(plan, names)
    if method == "best":
        if weights is None and is_sampled(plan, names):
            return with_scores(_best_of_sampled(reports, plan, names, target, frequencies), plan)
        method = "inversion"
    if is_large_set(plan.channel(needed)):
        if weights is not None:
            raise SottovoceError("weights", "must be left out for sets of many categories", weights)
        counted_reports = reports if frequencies is None else as_counter(reports, frequencies)
        joint = estimate_from_sets(counted_reports, plan, needed, target, method)
    else:
        counted = count_reports(reports, plan, needed, weights, frequencies)
        joint = _from_counts(counted, plan, target, method, progress)
    return with_scores(joint if needed == names else joint.marginal(names), plan)


def with_scores(estimate: Estimate, plan: Plan) -> Estimate:
    """Return an estimate that knows the midpoints of its binned numbers, as means and correlations need them."""
    variables = [plan.schema[name] for name in estimate.attributes]
    if not any(isinstance(variable, Binned) for variable in variables):
        return estimate
    scores = (variable.midpoints if isinstance(variable, Binned) else None for variable in variables)
    return replace(estimate, scores=tuple(scores))


def _best_of_sampled(
    reports: Any, plan: Plan, names: Sequence[str], target: Target, frequencies: Frequencies
) -> Estimate:
    """Return the estimate by least squares from all parts; of many cells, from those that ask all the attributes."""
    from sottovoce.estimates.asked_together import count_by_part, estimate_asked_together, estimate_by_least_squares

    _check_asked(plan, names)
    if plan.schema.project(names).cells > MOST_BLUE:
        return estimate_asked_together(reports, plan, names, target=target, frequencies=frequencies)
    return estimate_by_least_squares(count_by_part(reports, plan, names, frequencies), target)


def _check_asked(plan: Plan, names: Sequence[str]) -> None:
    never = never_asked(plan, names)
    if never:
        raise NeverAskedError(never)


def _best_of_group(counted: Counted, target: Target) -> Estimate:
    """Return the estimate by least squares from the reports of one group about the attributes in question."""
    from sottovoce.estimates.asked_together import ByPart, estimate_by_least_squares

    axes = tuple(range(len(counted.attributes)))
    return estimate_by_least_squares(ByPart(counted, observed(counted.channel, counted.counts), axes), target)


def estimate_by(
    reports: Any, plan: Plan, attributes: str | Sequence[str], by: By, **options: Unpack[EstimateOptions]
) -> dict[Any, Estimate]:
    """Estimate joint proportions in each group: for each value of a public column, or of several columns.

    The options are those of `estimate_proportions`. With a list of names, groups are tuples.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40, "town": ["Bonn"] * 40 + ["Ulm"] * 40}
    >>> {town: found.respondents for town, found in estimate_by(reports, plan, "evaded tax", "town").items()}
    {'Bonn': 40, 'Ulm': 40}
    """
    target, method = options.get("target", "population"), options.get("method", "inversion")
    names = _checked_choices(attributes, target, method)
    best = method == "best" and options.get("weights") is None and is_sampled(plan, names)
    best = best and plan.schema.project(names).cells <= MOST_BLUE
    method = "inversion" if method == "best" else method
    needed = needed_attributes(plan, names)
    if is_large_set(plan.channel(needed)):
        raise SottovoceError("by", "must be left out for sets of many categories", by)
    groups = count_by(reports, plan, needed, by, options.get("weights"), options.get("frequencies"))
    estimates = {}
    for group, counted in groups.items():
        with group_errors(by, group):
            if best:
                _check_asked(plan, names)
                joint = _best_of_group(counted, target)
            else:
                joint = _from_counts(counted, plan, target, method, options.get("progress"))
        estimates[group] = with_scores(joint if needed == names else joint.marginal(names), plan)
    return estimates


@contextmanager
def group_errors(by: By, group: Any) -> Iterator[None]:
    """Say in which group an estimate is refused; a plan that tells nothing does so in every group."""
    try:
        yield
    except SingularChannelError:
        raise
    except SottovoceError as reason:
        value = group if isinstance(by, str) else ", ".join(map(str, group))
        rule = f"{reason.rule}, where {', '.join(by_names(by))} is {value}"
        raise SottovoceError(reason.parameter, rule, reason.value) from None


def _checked_choices(attributes: str | Sequence[str], target: Target, method: Method) -> list[str]:
    checked_target(target)
    one_of("method", method, get_args(Method))
    return [attributes] if isinstance(attributes, str) else list(attributes)


def needed_attributes(plan: Plan, names: Sequence[str]) -> list[str]:
    """Return these attributes, followed by the others of every group whose report cannot be divided.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("b", "a"): SubsetSelection(odds=3)})
    >>> needed_attributes(plan, ["a"])
    ['a', 'b']
    """
    check_plan(plan)
    needed = plan.with_inseparable(names)
    others = needed[len(names) :]
    if others and plan.schema.project(needed).cells > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint cells with {', '.join(others)}, which share their report"
        raise SottovoceError("attributes", rule, tuple(names))
    return list(needed)


def _from_counts(counted: Counted, plan: Plan, target: Target, method: Method, progress: Progress | None) -> Estimate:
    names = counted.attributes
    if method in ("em", "blue") and len(counted.order) > MOST_CELLS:
        raise SottovoceError("attributes", f"must have at most {MOST_CELLS} joint cells for {method}", names)
    if np.isfinite(counted.channel.condition_number):  # of a singular channel no number of reports is enough
        check_enough(counted)
    try:
        if method == "em":
            return by_em(counted, target, progress)
        return by_blue(counted, target) if method == "blue" else by_inversion(counted, target, method)
    except SingularChannelError as reason:
        raise singular_channel_error(reason, plan, names) from None


def by_inversion(counted: Counted, target: Target, method: Method = "inversion") -> Estimate:
    """Return the unbiased estimate `B lam` from counts or, for "simplex", the distribution nearest to it."""
    channel, order, reported = counted.channel, counted.order, counted.reported
    value = channel.solve(reported)[order]
    covariances: Covariance
    if counted.weighted is None:
        covariances = InversionCovariance(channel, reported, value, counted.respondents, order, target)
    else:
        by_squares = counted.weighted.reported_squared
        squared = InversionCovariance(
            channel, by_squares, channel.solve(by_squares)[order], counted.effective, order, target
        )
        covariances = WeightedCovariance(squared, shift_by_squares(squared, value))
    shown = nearest_distribution(value) if method == "simplex" else value
    return _estimate(counted, shown, covariances, target, method, _tests(counted, covariances, target))


def _tests(counted: Counted, covariances: Covariance, target: Target) -> CellTests | None:
    """Return tests at the effective sample size for weighted reports; otherwise they follow from the covariance."""
    if counted.weighted is None:
        return None
    plain = InversionCovariance(
        counted.channel,
        counted.reported,
        counted.channel.solve(counted.reported)[counted.order],
        counted.effective,
        counted.order,
        target,
    )
    return effective_tests(plain, covariances.variances, counted.effective, counted.respondents - 1)


def by_blue(counted: Counted, target: Target) -> Estimate:
    """Return the best linear unbiased estimate at the distribution nearest to the inversion's; see `blue_matrix`."""
    first = nearest_distribution(counted.channel.solve(counted.reported))
    rows = blue_matrix(counted.channel, first)[counted.order]
    value = rows @ counted.reported
    by_squares = counted.reported if counted.weighted is None else counted.weighted.reported_squared
    squared = rows @ by_squares
    # Centred at the estimate itself, as in WeightedCovariance; without weights both are the same.
    product_of_means = np.outer(squared, value) + np.outer(value, squared) - np.outer(value, value)
    centre = product_of_means if target == "population" else np.diag(squared)
    matrix = ((rows * by_squares) @ rows.T - centre) / counted.effective
    tests: CellTests | None = None
    if counted.weighted is None:
        members = np.eye(len(counted.order))[counted.order]
        tests = weighted_sum_tests(rows, counted.channel, counted.reported, counted.respondents, target, members)
    return _estimate(
        counted, value, MatrixCovariance(matrix, report_covariance(counted, target)), target, "blue", tests
    )


def report_covariance(counted: Counted, target: Target) -> InversionCovariance | None:
    """Return the covariance of the inversion, which knows reports and channel; None where there is no inversion."""
    channel, order, reported = counted.channel, counted.order, counted.reported
    if counted.weighted is not None or np.isinf(channel.condition_number):
        return None
    return InversionCovariance(channel, reported, channel.solve(reported)[order], counted.respondents, order, target)


def blue_matrix(channel: Channel, distribution: Array) -> Array:
    """Return the left inverse `B = J^-1 A^T diag(A p)^-1`, `J = A^T diag(A p)^-1 A`, best where p is the truth.

    `B A = I`, so `B lam` is unbiased whatever the truth; where p is the truth its covariance
    `(J^-1 - p p^T) / N` is the least of any unbiased estimate (Cramer-Rao). For square
    channels it is plain inversion. Reports that have probability zero under p are left out.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> blue_matrix(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.9, 0.1])).round(6)
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    """
    matrix = channel.dense()
    expected = matrix @ distribution
    weight = np.divide(1, expected, out=np.zeros_like(expected), where=expected > 0)
    information = matrix.T @ (weight[:, None] * matrix)
    if np.linalg.matrix_rank(information, tol=1e-12 * np.linalg.norm(information)) < channel.n_in:
        rule = "must tell every truth from every other for truths to be estimated"
        raise SingularChannelError("channel", rule, Words(f"{channel.n_out} reports of {channel.n_in} truths"))
    return np.asarray(np.linalg.solve(information, matrix.T * weight))


def by_em(counted: Counted, target: Target, progress: Progress | None = None) -> Estimate:
    """Return the maximum-likelihood distribution, with the covariance of its observed information."""
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
    covariances = MatrixCovariance(matrix, report_covariance(counted, target))
    tests = maximum_likelihood_tests(counted.channel, counted.counts, counted.order)
    return _estimate(counted, fit.value[counted.order], covariances, target, fit.method, tests)


def _estimate(
    counted: Counted,
    value: Array,
    covariances: Covariance,
    target: Target,
    method: str,
    tests: CellTests | None = None,
) -> Estimate:
    return Estimate(
        counted.attributes,
        counted.categories,
        value,
        covariances,
        counted.reported,
        counted.respondents,
        target,
        method,
        None if counted.weighted is None else counted.effective,
        tests=tests,
    )


class NeverAskedError(SingularChannelError):
    """Raised where no respondent was asked all the attributes in question."""

    def __init__(self, names: Sequence[str]) -> None:
        """Name the purpose of a plan that would ask them, and the model that can do without."""
        self.names = tuple(names)
        purpose = PURPOSES_BY_SIZE.get(len(names), "joint")
        rule = "must be asked together of some respondents; plan with purpose="
        super().__init__(
            "attributes", f"{rule}{purpose!r}, or fill in by a model (method='model')", Words(" and ".join(names))
        )


def singular_channel_error(reason: SingularChannelError, plan: Plan, names: Sequence[str]) -> SingularChannelError:
    """Return the error with the attributes it is about, their schemes, and the parameter that is the cause.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.warner import Warner
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=0.5), "b": Warner(p=0.8)})
    >>> reason = SingularChannelError("channel", "must be invertible", 0)
    >>> print(singular_channel_error(reason, plan, ["a", "b"]).parameter)
    a (warner: p must not be 1/n, n the number of categories)
    """
    never = never_asked(plan, names)
    if never:
        return NeverAskedError(never)
    channels = {name: plan.channel(needed_attributes(plan, [name])) for name in names}
    singular = [name for name, channel in channels.items() if np.isinf(channel.condition_number)] or names
    groups = groupby(singular, key=lambda name: plan.group_of(name).attributes)
    which = ", ".join(f"{', '.join(members)} ({_scheme(plan, group[0])})" for group, members in groups)
    return SingularChannelError(which, f"cannot be estimated: {reason.parameter} {reason.rule}", reason.value)


def never_asked(plan: Plan, names: Sequence[str]) -> list[str]:
    """Return the attributes among these that a plan samples but never asks together."""
    for group in plan.groups:
        channel, wanted = group.mechanism.channel, [name for name in group.attributes if name in names]
        if wanted and isinstance(channel, Sampled):
            axes = {group.attributes.index(name) for name in wanted}
            if not any(axes <= set(part.axes) for part in channel.parts):
                return [name for name in names if name in wanted]
    return []


def _scheme(plan: Plan, attribute: str) -> str:
    """Return the name of an attribute's scheme, and what its parameters must be, where that is known."""
    name = plan.group_of(attribute).scheme
    needs = getattr(all_schemes().get(name), "identified", "")  # a user's own scheme may say nothing
    return f"{name}: {needs}" if needs else name


def is_large_set(channel: Channel) -> bool:
    """Return whether a channel reports sets of too many categories to count them all."""
    return isinstance(channel, SetChannel) and channel.n_in > MOST_LISTED


def is_sampled(plan: Plan, names: Sequence[str]) -> bool:
    """Return whether these attributes are in one group of which each respondent is asked some."""
    group = plan.group_of(names[0])
    return group.mechanism.channel.samples and set(names) <= set(group.attributes)
