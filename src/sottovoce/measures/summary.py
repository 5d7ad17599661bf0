"""Measures of every column of a plan, as shown by `sottovoce measure`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import as_matrices, as_prior, real_array
from sottovoce.measures.privacy import (
    adversary_accuracy,
    conditional_entropy,
    individual_reconstruction,
    mutual_information,
    worst_posterior,
)
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.item_set import ItemSet

LARGEST_GROUP = 2**24
"""Most entries of a group's matrix that is computed to measure one attribute: 128 MiB."""

WHOLE, OWN = "whole group's report", "own column of the report"


def column_matrix(channel: Channel, axis: int, priors: Sequence[Any]) -> Array:
    """Return `B[y, a] = sum_(x: x_axis = a) A[y, x] prod_(i != axis) p_i(x_i)`, P(whole report | one attribute).

    Attributes are assumed to be independent, with one prior each, in the order of `channel.shape_in`. Of a
    Kronecker product only the factor with the attribute is used: the others are independent of it.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> record = KeepOrUniform((2, 2), Fraction(1, 2))
    >>> column_matrix(record, 0, [[0.5, 0.5], [1, 0]])  # reports 00, 01, 10, 11
    array([[0.625, 0.125],
           [0.125, 0.125],
           [0.125, 0.625],
           [0.125, 0.125]])
    """
    if not 0 <= axis < len(channel.shape_in) or len(priors) != len(channel.shape_in):
        raise SottovoceError("axis", f"must be one of {len(channel.shape_in)}, with a prior for each", axis)
    if len(channel.factors) > 1:
        start, factor = _factor_of(channel, axis)
        return column_matrix(factor, axis - start, priors[start : start + len(factor.shape_in)])
    if channel.n_in * channel.n_out > LARGEST_GROUP:
        raise SottovoceError("channel", f"must have at most {LARGEST_GROUP} entries", channel.shape_in)
    table = as_matrices(channel).reshape(channel.n_out, *channel.shape_in)
    for other in reversed(range(len(channel.shape_in))):
        if other != axis:
            table = np.tensordot(table, as_prior(priors[other], channel.shape_in[other]), axes=(1 + other, 0))
    return table


def _factor_of(channel: Channel, axis: int) -> tuple[int, Channel]:
    """Return the index of the first attribute of the factor that an attribute belongs to, and the factor."""
    starts = list(accumulate((len(factor.shape_in) for factor in channel.factors), initial=0))
    index = max(i for i, start in enumerate(starts[:-1]) if start <= axis)
    return starts[index], channel.factors[index]


@dataclass(frozen=True)
class ColumnMeasures:
    """Measures of an attribute, or of one item of a set, under a prior; None where there is no number.

    `seen` says which part of the report the adversary uses. `distortion` is P(report differs from truth), for columns
    whose reports have the categories of the truth.
    """

    name: str
    item: Any
    prior: list[float]
    prior_given: bool
    seen: str | None
    accuracy: float | None = None
    worst_posterior: float | None = None
    mutual_information: float | None = None
    conditional_entropy: float | None = None
    individual_reconstruction: list[float] | None = None
    distortion: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all fields; the item only where there is one."""
        return {name: value for name, value in asdict(self).items() if name != "item" or value is not None}


def measure_columns(plan: Plan, priors: Mapping[str, Any] | None = None) -> list[ColumnMeasures]:
    """Measure every attribute, in the order of the schema, under its prior, by default uniform.

    The prior of an item set is a frequency for each item, by default 1/2. Attributes of a group
    are assumed to be independent.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.warner import Warner
    >>> plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    >>> (tax,) = measure_columns(plan, {"tax": [0.75, 0.25]})
    >>> round(tax.accuracy, 6), round(tax.worst_posterior, 6), round(tax.distortion, 6)
    (0.75, 0.9, 0.25)
    """
    given = dict(priors or {})
    for name in given:
        plan.schema[name]
    columns = {name: _column_priors(plan, name, given.get(name)) for name in plan.schema.names}
    return [measures for name in plan.schema.names for measures in _measures(plan, name, columns, given=name in given)]


def _column_priors(plan: Plan, name: str, prior: Any) -> list[Array]:
    """Return the prior of each coded column of an attribute."""
    variable = plan.schema[name]
    try:
        if prior is None:
            return [np.full(size, 1 / size) for size in variable.sizes]
        if not isinstance(variable, ItemSet):
            return [as_prior(prior, variable.sizes[0])]
        shares = real_array("prior", prior)
        if shares.shape != (len(variable.sizes),):
            raise SottovoceError(
                "prior", f"must have a frequency for each of {len(variable.sizes)} items", shares.shape
            )
        return [as_prior([1 - share, share], 2) for share in shares]
    except SottovoceError as error:
        raise SottovoceError(f"prior of {name}", error.rule, error.value) from None


def _measures(plan: Plan, name: str, priors: Mapping[str, list[Array]], *, given: bool) -> Iterator[ColumnMeasures]:
    """Yield the measures of each column of an attribute."""
    group = plan.group_of(name)
    channel = group.mechanism.channel
    group_priors = [prior for other in group.attributes for prior in priors[other]]
    first = sum(len(priors[other]) for other in group.attributes[: group.attributes.index(name)])
    variable = plan.schema[name]
    items = variable.items if isinstance(variable, ItemSet) else [None]
    for axis, item in enumerate(items, start=first):
        prior = group_priors[axis]
        matrix, seen = _matrix(channel, axis, group_priors)
        yield ColumnMeasures(
            name,
            item,
            prior.tolist(),
            given,
            seen,
            **({} if matrix is None else _numbers(matrix, prior)),
            distortion=_distortion(plan, group, name, axis, prior),
        )


def _matrix(channel: Channel, axis: int, priors: list[Array]) -> tuple[Array | None, str | None]:
    """Return P(report | column) of the whole group's report, or of its own column where the group is too large."""
    try:
        return column_matrix(channel, axis, priors), WHOLE
    except SottovoceError:
        own = _own_column(channel, axis)
        if own is None or own.n_in * own.n_out > LARGEST_GROUP:
            return None, None
        return own.dense(), OWN


def _own_column(channel: Channel, axis: int) -> Channel | None:
    try:
        return channel.marginal([axis])
    except SottovoceError:
        return None


def _numbers(matrix: Array, prior: Array) -> dict[str, Any]:
    return {
        "accuracy": float(adversary_accuracy(matrix, prior)),
        "worst_posterior": float(worst_posterior(matrix, prior)),
        "mutual_information": float(mutual_information(matrix, prior)),
        "conditional_entropy": float(conditional_entropy(matrix, prior)),
        "individual_reconstruction": individual_reconstruction(matrix, prior).tolist(),
    }


def _distortion(plan: Plan, group: Group, name: str, axis: int, prior: Array) -> float | None:
    """Return `1 - sum_x p(x) A[x, x]`, or None unless reports have the categories of the truth."""
    alike = name in plan.report_schema.names and plan.report_schema[name] == plan.schema[name].as_report()
    own = _own_column(group.mechanism.channel, axis) if alike else None
    return None if own is None else 1 - sum(float(own.entry(x, x)) * p for x, p in enumerate(prior.tolist()))
