"""Public columns of a plan: answers that are not sensitive and are passed on with the reports as they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import Attribute, checked_name
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema


@dataclass(frozen=True)
class PublicNumber:
    """A public number, such as a survey weight: any finite number is passed on.

    >>> PublicNumber("weight").to_json()
    {'kind': 'number', 'name': 'weight'}
    """

    kind: ClassVar[str] = "number"

    name: str

    def __post_init__(self) -> None:
        """Check the name."""
        checked_name(self.name)

    def to_json(self) -> dict[str, Any]:
        """Return kind and name."""
        return {"kind": self.kind, "name": self.name}


PublicColumn: TypeAlias = Attribute | Binned | PublicNumber
"""Categories are passed on as they are, a binned number as the name of its bin, a number as it is."""


def checked_public(public: Iterable[Any], disguised: Sequence[str]) -> tuple[PublicColumn, ...]:
    """Return the public columns of a plan; refuse names that are repeated or that are disguised or reported, too."""
    columns = tuple(public)
    for column in columns:
        if not isinstance(column, Attribute | Binned | PublicNumber):
            rule = "must be attributes with categories, binned numbers or PublicNumber"
            raise SottovoceError("public", rule, column)
    names = [column.name for column in columns]
    for name in names:
        if name in disguised:
            raise SottovoceError("public", f"must not name a column that is disguised; {name!r} is", names)
        if names.count(name) > 1:
            raise SottovoceError("public", f"must name each column once; {name!r} is repeated", names)
    return columns


def public_from_json(json: Any) -> tuple[PublicColumn, ...]:
    """Read a list of what `to_json` of public columns wrote."""
    if not isinstance(json, list):
        raise SottovoceError("public", "must be a list of columns", json)
    columns: list[Any] = []
    for entry in json:
        if isinstance(entry, dict) and entry.get("kind") == PublicNumber.kind:
            columns.append(PublicNumber(entry.get("name", "")))
        else:
            columns += Schema.from_json([entry]).variables
    return checked_public(columns, ())


def split_public(
    schema: Schema, public: Iterable[str | PublicColumn], numbers: Sequence[str] = ()
) -> tuple[Schema, tuple[PublicColumn, ...]]:
    """Split a schema into the variables to disguise and the public columns.

    A public column is given by its name, or as a variable or a `PublicNumber`. Names in `numbers` become a
    `PublicNumber`; any other name is one of the schema, from which it is taken out.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("evaded tax"), Attribute("region", ["north", "south"])])
    >>> disguised, public = split_public(schema, ["region", "weight"], numbers=["weight"])
    >>> disguised.names, [column.name for column in public]
    (('evaded tax',), ['region', 'weight'])
    """
    if isinstance(public, str):
        raise SottovoceError("public", "must be a list of names or columns", public)
    columns: list[Any] = []
    taken = set()
    for column in public:
        if not isinstance(column, str):
            columns.append(column)
            continue
        columns.append(PublicNumber(column) if column in numbers else _variable(schema, column))
        taken.add(column)
    kept = [variable for variable in schema if variable.name not in taken]
    if not kept:
        raise SottovoceError("public", "must leave at least one column to disguise", sorted(taken))
    return Schema(kept), checked_public(columns, [variable.name for variable in kept])


def _variable(schema: Schema, name: str) -> Any:
    if name not in schema.names:
        raise SottovoceError("public", f"must name columns of the table ({', '.join(schema.names)})", name)
    return schema[name]
