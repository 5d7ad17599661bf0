"""Purposes that a plan may serve, and the distributions expected before anyone is asked."""

from collections.abc import Mapping
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError, Words
from sottovoce.measures.matrices import real_array
from sottovoce.plans.plan import PriorSource
from sottovoce.plans.purpose_plan import ORDERS
from sottovoce.schemas.attribute import Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema

RECOMMENDED_FOR = ("marginals", "pairs", "triples", "joint")
"""Purposes that designs are compared for; "split" names a structure, not a purpose."""

LARGEST_JOINT = 2**20
"""Most joint cells that can be estimated together."""

MOST_PAIRED = 200
"""Most columns of which all pairs are examined; beyond, pairs of neighbours stand for all."""

MOST_TRIPLED = 24
"""Most columns of which all triples are examined; beyond, neighbours stand for all."""


def expected_distributions(schema: Schema, prior: Any) -> dict[str, tuple[Array, ...]]:
    """Return the expected distribution of every coded column, by attribute; uniform without a prior.

    `prior` maps names to shares of the categories, or to item frequencies for an item set; for a single attribute its
    shares alone suffice.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> expected_distributions(Schema([boolean("tax"), Attribute("b", [1, 2])]), {"tax": [0.9, 0.1]})
    {'tax': (array([0.9, 0.1]),), 'b': (array([0.5, 0.5]),)}
    """
    given = prior if isinstance(prior, Mapping) else _of_single_attribute(schema, prior)
    for name in given:
        if name not in schema.names:
            raise SottovoceError("prior", f"must name attributes of the schema ({', '.join(schema.names)})", name)
    return {variable.name: _distributions(variable, given.get(variable.name)) for variable in schema}


def checked_prior_source(prior: Any, source: Any) -> PriorSource | None:
    """Return the source of a prior, given as a `PriorSource` or text such as "public: census 2021, table 4".

    >>> checked_prior_source([0.9, 0.1], "pilot: May, 400 reports")
    PriorSource(source='pilot', note='May, 400 reports', forced=False)
    """
    if prior is None:
        if source is not None:
            raise SottovoceError("prior_source", "must be left out where no prior is given", source)
        return None
    if isinstance(source, PriorSource):
        return source
    if not isinstance(source, str):
        rule = "must say where the prior is from, such as public: census 2021"
        raise SottovoceError("prior_source", rule, Words("none") if source is None else source)
    kind, _, note = source.partition(":")
    return PriorSource(kind.strip(), note.strip())


def _of_single_attribute(schema: Schema, prior: Any) -> dict[str, Any]:
    if prior is None:
        return {}
    if len(schema.names) > 1:
        raise SottovoceError("prior", "must map names to shares where there are several attributes", prior)
    return {schema.names[0]: prior}


def _distributions(variable: Variable, prior: Any) -> tuple[Array, ...]:
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
        return tuple(checked_prior(p) for p in (((1 - share, share) for share in shares) if sets else [shares]))
    except SottovoceError as error:
        raise SottovoceError(parameter, error.rule, error.value) from None


def checked_purpose(purpose: Any) -> str:
    """Return the name of a purpose that designs can be compared for.

    >>> checked_purpose("pairs")
    'pairs'
    """
    return one_of("purpose", purpose, RECOMMENDED_FOR)


def targets(columns: int, purpose: str) -> list[Columns]:
    """Return the sets of columns whose joint cells are estimated.

    >>> targets(3, "pairs"), targets(3, "joint"), targets(1, "pairs")
    ([(0, 1), (0, 2), (1, 2)], [(0, 1, 2)], [(0,)])
    """
    order = min(ORDERS.get(purpose, columns), columns)
    if columns > {2: MOST_PAIRED, 3: MOST_TRIPLED}.get(order, columns):
        return [tuple(range(column, column + order)) for column in range(columns - order + 1)]
    return list(combinations(range(columns), order))


def cells_together(schema: Schema, purpose: str) -> int:
    """Number of cells of the largest table that is estimated for a purpose.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> three = Schema([Attribute(name, range(size)) for name, size in (("a", 2), ("b", 5), ("c", 3))])
    >>> cells_together(three, "pairs"), cells_together(three, "joint")
    (15, 30)
    """
    return prod(sorted(schema.sizes)[-ORDERS.get(purpose, len(schema.sizes)) :])


def column_names(schema: Schema) -> list[str]:
    """Return the name of each coded column: an attribute, or an item after the name of its set.

    >>> from sottovoce.schemas.attribute import boolean
    >>> column_names(Schema([boolean("tax"), ItemSet("drugs", ["x", "y"])]))
    ['tax', 'drugs: x', 'drugs: y']
    """
    names: list[str] = []
    for variable in schema:
        items = [f"{variable.name}: {item}" for item in variable.items] if isinstance(variable, ItemSet) else []
        names += items or [variable.name]
    return names
