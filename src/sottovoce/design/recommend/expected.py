"""What is expected before anyone is asked: a law for each column, and where it came from."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.prior import checked_prior
from sottovoce.errors import SottovoceError, Words
from sottovoce.measure.reals import real_array
from sottovoce.plan.prior import PriorSource
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.schema.variable import Variable


def expected_laws(schema: Schema, prior: Any) -> dict[str, tuple[Array, ...]]:
    """Law of every coded column, by attribute: as given, uniform where nothing is.

    `prior` maps names to shares, of item sets to the frequency of each item; for one attribute its shares will do.

    >>> from sottovoce.schema.attribute import Attribute, boolean
    >>> expected_laws(Schema([boolean("tax"), Attribute("b", [1, 2])]), {"tax": [0.9, 0.1]})
    {'tax': (array([0.9, 0.1]),), 'b': (array([0.5, 0.5]),)}
    """
    given = prior if isinstance(prior, Mapping) else _alone(schema, prior)
    for name in given:
        if name not in schema.names:
            raise SottovoceError("prior", f"must name attributes of the schema ({', '.join(schema.names)})", name)
    return {variable.name: _laws(variable, given.get(variable.name)) for variable in schema}


def prior_origin(prior: Any, source: Any) -> PriorSource | None:
    """Where the prior is from: a `PriorSource`, or text like "public: census 2021, table 4".

    >>> prior_origin([0.9, 0.1], "pilot: May, 400 reports")
    PriorSource(source='pilot', note='May, 400 reports', forced=False)
    """
    if prior is None:
        if source is not None:
            raise SottovoceError("prior_source", "must be left out where no prior is given", source)
        return None
    if isinstance(source, PriorSource):
        return source
    if not isinstance(source, str):
        rule = "must say where the prior is from, like public: census 2021"
        raise SottovoceError("prior_source", rule, Words("none") if source is None else source)
    kind, _, note = source.partition(":")
    return PriorSource(kind.strip(), note.strip())


def _alone(schema: Schema, prior: Any) -> dict[str, Any]:
    if prior is None:
        return {}
    if len(schema.names) > 1:
        raise SottovoceError("prior", "must map names to shares where there are several attributes", prior)
    return {schema.names[0]: prior}


def _laws(variable: Variable, prior: Any) -> tuple[Array, ...]:
    if prior is None:
        return tuple(np.full(size, 1 / size) for size in variable.sizes)
    parameter = f"prior of {variable.name}"
    shares = real_array(parameter, prior)
    sets = isinstance(variable, ItemSet)
    wanted = len(variable.sizes) if sets else variable.sizes[0]
    if shares.shape != (wanted,):
        each = "a frequency for each item" if sets else "a share for each category"
        raise SottovoceError(parameter, f"must have {each}, {wanted}", shares.shape)
    try:
        return tuple(checked_prior(law) for law in (((1 - share, share) for share in shares) if sets else [shares]))
    except SottovoceError as error:
        raise SottovoceError(parameter, error.rule, error.value) from None
