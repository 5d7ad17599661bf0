"""Schemas: the variables of a table of truths or of reports, in order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words
from sottovoce.schemas.attribute import Attribute, Codes, Columns, Labels, Variable, ravel, unravel
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet, category_set

KINDS: dict[str, type[Attribute] | type[Binned] | type[ItemSet]] = {
    kind.kind: kind for kind in (Attribute, Binned, ItemSet)
}
"""Kinds of variables, by their name in JSON."""


@dataclass(frozen=True)
class Schema:
    """Variables with different names, and the numbering of their joint cells.

    >>> schema = Schema([Attribute("sex", ["f", "m"]), Attribute("drug", ["never", "once", "often"])])
    >>> schema.cells, schema.sizes
    (6, (2, 3))
    >>> schema.project(["drug"]).names
    ('drug',)
    >>> joint = schema.ravel(schema.encode({"sex": ["m"], "drug": ["once"]}))
    >>> joint, schema.decode(schema.unravel(joint))["drug"]
    (array([4]), array(['once'], dtype=object))
    """

    variables: tuple[Variable, ...]

    def __init__(self, variables: Iterable[Variable]) -> None:
        """Check that there is a variable, and that no two share a name."""
        given = _checked_variables(variables)
        names = [v.name for v in given]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise SottovoceError("variables", f"must have different names; {sorted(repeated)} is repeated", names)
        object.__setattr__(self, "variables", given)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in order."""
        return tuple(v.name for v in self.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each coded column; an item set has a column for each item."""
        return tuple(size for v in self.variables for size in v.sizes)

    @property
    def cells(self) -> int:
        """Number of joint cells, a Python integer of any size."""
        return prod(self.sizes)

    def __getitem__(self, name: str) -> Variable:
        """Variable with this name."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise SottovoceError("name", f"must be one of {', '.join(self.names)}", name)

    def __iter__(self) -> Iterator[Variable]:
        """Variables in order."""
        return iter(self.variables)

    def project(self, names: Sequence[str]) -> "Schema":
        """Schema of the named variables, in the order given."""
        return Schema(self[name] for name in names)

    def columns_of(self, name: str) -> slice:
        """Positions of a variable's coded columns among those of the table."""
        self[name]
        return self._slices[name]

    @cached_property
    def _slices(self) -> dict[str, slice]:
        ends = list(accumulate((len(v.sizes) for v in self.variables), initial=0))
        return {v.name: slice(*ends[i : i + 2]) for i, v in enumerate(self.variables)}

    def ravel(self, columns: Sequence[Codes]) -> NDArray[np.int64]:
        """Number of each row's joint cell."""
        return ravel(columns, self.sizes)

    def unravel(self, joint: Codes) -> Columns:
        """Coded columns from the numbers of joint cells."""
        return unravel(joint, self.sizes)

    def encode(self, table: Any) -> Columns:
        """Coded columns of a mapping from names to values; other names are ignored."""
        missing = [name for name in self.names if name not in table]
        if missing:
            raise SottovoceError("table", f"must have the columns {missing}", Words(f"only {list(table)}"))
        for name in self.names:
            if isinstance(table[name], str) or not isinstance(table[name], Iterable):
                raise SottovoceError(name, "must be a column: a list of values, one for each row", table[name])
        return tuple(codes for v in self.variables for codes in v.encode(table[v.name]))

    def decode(self, columns: Sequence[Codes]) -> dict[str, Labels]:
        """Labels of coded columns, by name."""
        return {v.name: v.decode(tuple(columns[self.columns_of(v.name)])) for v in self.variables}

    def as_report(self) -> "Schema":
        """Schema of reports that have the categories of the truths."""
        return Schema(v.as_report() for v in self.variables)

    def to_json(self) -> list[dict[str, Any]]:
        """List of the variables' JSON."""
        return [v.to_json() for v in self.variables]

    @classmethod
    def from_json(cls, json: Any) -> "Schema":
        """Read what `to_json` wrote."""
        if not isinstance(json, list):
            raise SottovoceError("schema", "must be a list of variables", json)
        return cls(_variable(entry) for entry in json)


def _checked_variables(variables: Any) -> tuple[Variable, ...]:
    rule = "must be a list of attributes, item sets and binned numbers, such as [Attribute('sex', ['f', 'm'])]"
    if isinstance(variables, str | Mapping | Variable) or not isinstance(variables, Iterable):
        raise SottovoceError("variables", rule, variables)
    given = tuple(variables)
    if not given:
        raise SottovoceError("variables", "must be at least one", given)
    for variable in given:
        if not isinstance(variable, Variable):
            raise SottovoceError("variables", rule, variable)
    return given


def _variable(json: Any) -> Variable:
    kind = json.get("kind") if isinstance(json, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise SottovoceError("kind", f"must be one of {', '.join(KINDS)}", json)
    try:
        return KINDS[kind].from_json(json)
    except (KeyError, TypeError) as reason:
        raise SottovoceError("schema", f"must describe each variable in full ({reason})", json) from None


def cell_set(schema: Schema) -> ItemSet:
    """Item set whose items are the joint cells, labelled by their categories; for one attribute, its categories.

    >>> cell_set(Schema([Attribute("a", ["x", "y"]), Attribute("b", [0, 1])])).items
    ('x & 0', 'x & 1', 'y & 0', 'y & 1')
    """
    parts = [category_set(variable) for variable in schema]
    if len(parts) == 1:
        return parts[0]
    cells = product(*(part.items for part in parts))
    return ItemSet.trusted("+".join(schema.names), (" & ".join(map(str, cell)) for cell in cells))
