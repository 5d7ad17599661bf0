"""What answers are wanted for, and what is expected of them before anyone is asked."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError, Words
from sottovoce.measures.matrices import real_array
from sottovoce.plans.plan import PriorSource
from sottovoce.schemas.attribute import Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema

PURPOSES = {
    "each": "the proportions of each attribute",
    "pairs": "the cells of each pair of attributes",
    "joint": "the joint cells of all attributes",
}
"""Purposes by name, and what is estimated for them."""

ALIASES = {"each attribute": "each", "mining": "pairs"}

LARGEST_JOINT = 2**20
"""Joint cells that can be counted and estimated together."""

MOST_PAIRED = 200
"""Columns of which all pairs are looked at; of more, neighbours are, as if they stood for all."""


def expected_laws(schema: Schema, prior: Any) -> dict[str, tuple[Array, ...]]:
    """Law of every coded column, by attribute: as given, uniform where nothing is.

    `prior` maps names to shares, of item sets to the frequency of each item; for one attribute its shares will do.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
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


def checked_purpose(purpose: Any) -> str:
    """A purpose by its name or another one it goes by.

    >>> checked_purpose("mining")
    'pairs'
    """
    found = ALIASES.get(purpose, purpose) if isinstance(purpose, str) else purpose
    if found not in PURPOSES:
        raise SottovoceError("purpose", f"must be one of {', '.join((*PURPOSES, *ALIASES))}", purpose)
    return str(found)


def targets(columns: int, purpose: str) -> list[Columns]:
    """Columns that are read together, one set after the other.

    >>> targets(3, "pairs"), targets(3, "joint"), targets(1, "pairs")
    ([(0, 1), (0, 2), (1, 2)], [(0, 1, 2)], [(0,)])
    """
    if purpose == "joint":
        return [tuple(range(columns))]
    if purpose == "each" or columns == 1:
        return [(place,) for place in range(columns)]
    if columns > MOST_PAIRED:
        return [(place, place + 1) for place in range(columns - 1)]
    return list(combinations(range(columns), 2))


def cells_together(schema: Schema, purpose: str) -> int:
    """Cells of the largest table that is read for "pairs" or "joint"ly.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> three = Schema([Attribute(name, range(size)) for name, size in (("a", 2), ("b", 5), ("c", 3))])
    >>> cells_together(three, "pairs"), cells_together(three, "joint")
    (15, 30)
    """
    return prod(sorted(schema.sizes)[-2:]) if purpose == "pairs" else schema.cells


def column_names(schema: Schema) -> list[str]:
    """Name of each coded column: an attribute's own, or an item after its set's.

    >>> from sottovoce.schemas.attribute import boolean
    >>> column_names(Schema([boolean("tax"), ItemSet("drugs", ["x", "y"])]))
    ['tax', 'drugs: x', 'drugs: y']
    """
    return list(_named(schema))


def _named(schema: Schema) -> Iterator[str]:
    for variable in schema:
        if isinstance(variable, ItemSet):
            yield from (f"{variable.name}: {item}" for item in variable.items)
        else:
            yield variable.name
