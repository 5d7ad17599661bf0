"""Measures of every column of a plan: the numbers that `sottovoce measure` shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.kronecker import Kronecker
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
"""Entries of a group's matrix that are written out to measure one attribute: 128 MiB."""
WHOLE, OWN = "whole group's report", "own column of the report"


def column_matrix(channel: Channel, axis: int, priors: Sequence[Any]) -> Array:
    """`B[y, a] = sum_(x: x_axis = a) A[y, x] prod_(i != axis) p_i(x_i)`: P(whole report | one attribute).

    Attributes are taken as independent, with one prior each, in the order of `channel.shape_in`. Of a
    product of channels only the factor that holds the attribute is looked at: the others have coins of
    their own and tell nothing of it.

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
    if isinstance(channel, Kronecker):
        start, factor = _factor_of(channel, axis)
        return column_matrix(factor, axis - start, priors[start : start + len(factor.shape_in)])
    if channel.n_in * channel.n_out > LARGEST_GROUP:
        raise SottovoceError("channel", f"must have at most {LARGEST_GROUP} entries", channel.shape_in)
    table = as_matrices(channel).reshape(channel.n_out, *channel.shape_in)
    for other in reversed(range(len(channel.shape_in))):
        if other != axis:
            table = np.tensordot(table, as_prior(priors[other], channel.shape_in[other]), axes=(1 + other, 0))
    return table


def _factor_of(channel: Kronecker, axis: int) -> tuple[int, Channel]:
    """Factor that holds an attribute, and the position of its first one."""
    starts = list(accumulate((len(factor.shape_in) for factor in channel.factors), initial=0))
    place = max(i for i, start in enumerate(starts[:-1]) if start <= axis)
    return starts[place], channel.factors[place]


@dataclass(frozen=True)
class ColumnMeasures:
    """Measures of an attribute, or of one item of a set, under a prior; None where there is no number.

    `seen` says what the adversary looks at. `distortion` is P(report differs from truth), for columns
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
        """All fields; the item only where there is one."""
        return {name: value for name, value in asdict(self).items() if name != "item" or value is not None}


def measure_columns(plan: Plan, priors: Mapping[str, Any] | None = None) -> list[ColumnMeasures]:
    """Measure every attribute, in the schema's order, under its prior, uniform where none is given.

    The prior of an item set is one frequency for each item, 1/2 if none is given. Attributes of a group
    are taken as independent.

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
    laws = {name: _laws(plan, name, given.get(name)) for name in plan.schema.names}
    return [found for name in plan.schema.names for found in _measured(plan, name, laws, given=name in given)]


def _laws(plan: Plan, name: str, prior: Any) -> list[Array]:
    """One distribution for each coded column of an attribute."""
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


def _measured(plan: Plan, name: str, laws: Mapping[str, list[Array]], *, given: bool) -> Iterator[ColumnMeasures]:
    """Measures of each column of an attribute."""
    group = plan.group_of(name)
    channel = group.mechanism.channel
    everyone = [law for other in group.attributes for law in laws[other]]
    first = sum(len(laws[other]) for other in group.attributes[: group.attributes.index(name)])
    variable = plan.schema[name]
    items = variable.items if isinstance(variable, ItemSet) else [None]
    for place, item in enumerate(items, start=first):
        law = everyone[place]
        matrix, seen = _matrix(channel, place, everyone)
        yield ColumnMeasures(
            name,
            item,
            law.tolist(),
            given,
            seen,
            **({} if matrix is None else _numbers(matrix, law)),
            distortion=_distortion(plan, group, name, place, law),
        )


def _matrix(channel: Channel, place: int, laws: list[Array]) -> tuple[Array | None, str | None]:
    """What the whole group's report tells of a column; its own column alone where the group is too large."""
    try:
        return column_matrix(channel, place, laws), WHOLE
    except SottovoceError:
        own = _own_column(channel, place)
        if own is None or own.n_in * own.n_out > LARGEST_GROUP:
            return None, None
        return own.dense(), OWN


def _own_column(channel: Channel, place: int) -> Channel | None:
    try:
        return channel.marginal([place])
    except SottovoceError:
        return None


def _numbers(matrix: Array, law: Array) -> dict[str, Any]:
    return {
        "accuracy": float(adversary_accuracy(matrix, law)),
        "worst_posterior": float(worst_posterior(matrix, law)),
        "mutual_information": float(mutual_information(matrix, law)),
        "conditional_entropy": float(conditional_entropy(matrix, law)),
        "individual_reconstruction": individual_reconstruction(matrix, law).tolist(),
    }


def _distortion(plan: Plan, group: Group, name: str, place: int, law: Array) -> float | None:
    """`1 - sum_x p(x) A[x, x]`, where reports are written in the truth's own categories."""
    alike = name in plan.report_schema.names and plan.report_schema[name] == plan.schema[name].as_report()
    own = _own_column(group.mechanism.channel, place) if alike else None
    return None if own is None else 1 - sum(float(own.entry(x, x)) * p for x, p in enumerate(law.tolist()))
