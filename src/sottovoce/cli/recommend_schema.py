"""What `sottovoce recommend` is asked about: attributes and items in words, or the columns of a table."""

from typing import TYPE_CHECKING

from sottovoce.cli.output import edges, names
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.schema.schema import Schema
    from sottovoce.schema.variable import Variable


def schema_asked(
    source: str | None, attributes: list[str], items: list[str], columns: str | None, bins: list[str]
) -> "Schema":
    """Schema of the attributes and items given, or of a table's columns."""
    from sottovoce.schema.schema import Schema

    if (source is None) == (not attributes and not items):
        rule = "must be given: a table, or attributes with their categories, not both"
        raise SottovoceError("TABLE or --attribute", rule, source or Words("none"))
    if source is None:
        return Schema([*map(_attribute, attributes), *map(_item_set, items)])
    from sottovoce.table.infer import infer_schema

    return infer_schema(source, columns=names(columns) or None, bins=dict(map(edges, bins)))


def _attribute(text: str) -> "Variable":
    """Attribute of named categories, or of so many."""
    from sottovoce.schema.attribute import Attribute

    name, labels = _named("attribute", text)
    if len(labels) == 1 and labels[0].isdecimal():
        return Attribute(name, [str(number) for number in range(1, int(labels[0]) + 1)])
    return Attribute(name, labels)


def _item_set(text: str) -> "Variable":
    from sottovoce.schema.item_set import ItemSet

    return ItemSet(*_named("items", text))


def _named(parameter: str, text: str) -> tuple[str, list[str]]:
    name, separator, labels = text.partition("=")
    if not separator or not name or not labels:
        raise SottovoceError(parameter, "must look like NAME=a,b,c", text)
    return name, names(labels)
