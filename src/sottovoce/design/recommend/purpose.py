"""What the answers are wanted for: which columns are read together."""

from collections.abc import Iterator
from itertools import combinations
from math import prod
from typing import Any

from sottovoce.design.recommend.spread import Axes
from sottovoce.errors import SottovoceError
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema

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


def checked_purpose(purpose: Any) -> str:
    """A purpose by its name or another one it goes by.

    >>> checked_purpose("mining")
    'pairs'
    """
    found = ALIASES.get(purpose, purpose) if isinstance(purpose, str) else purpose
    if found not in PURPOSES:
        raise SottovoceError("purpose", f"must be one of {', '.join((*PURPOSES, *ALIASES))}", purpose)
    return str(found)


def targets(columns: int, purpose: str) -> list[Axes]:
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

    >>> from sottovoce.schema.attribute import Attribute
    >>> three = Schema([Attribute(name, range(size)) for name, size in (("a", 2), ("b", 5), ("c", 3))])
    >>> cells_together(three, "pairs"), cells_together(three, "joint")
    (15, 30)
    """
    return prod(sorted(schema.sizes)[-2:]) if purpose == "pairs" else schema.cells


def column_names(schema: Schema) -> list[str]:
    """Name of each coded column: an attribute's own, or an item after its set's.

    >>> from sottovoce.schema.attribute import boolean
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
