"""A schema from a table: what its columns can take, as far as the table shows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.schemas.attribute import INTEGER, Attribute, Variable
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import CsvSource, open_source
from sottovoce.tables.values import Values, declared_categories, distinct_values, is_list, items


def infer_schema(
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    bins: Mapping[str, Iterable[float]] | None = None,
    sets: Collection[str] = (),
    missing: str | None = None,
    most_categories: int = 100,
) -> Schema:
    """Schema of a table's columns, or of those named: categories are the values found, sorted.

    Numbers with many values need edges in `bins` (closed on the left); columns of text that hold sets of items, with
    semicolons between them, are named as `sets`; lists are sets anyway. `missing` names a category
    for missing values, which are refused otherwise. Mind that a schema is public: a label that
    only one person has belongs in no schema. Booleans and the declared categories of an Enum are
    taken from the type, whether or not they occur.

    >>> infer_schema({"sex": ["m", "f", "f"], "age": [20, 35, 50]}, bins={"age": [18, 40, 99]}).sizes
    (2, 2)
    """
    source = open_source(table)
    wanted = tuple(columns) if columns is not None else source.names
    absent = [name for name in (*wanted, *(bins or {}), *sets) if name not in source.names]
    if absent:
        raise SottovoceError("columns", f"must be columns of the table ({', '.join(source.names)})", absent)
    found = {name: _Found(name, most_categories, name in sets) for name in wanted if name not in (bins or {})}
    for batch in source.batches():
        for name, column in found.items():
            column.add(batch[name], text=isinstance(source, CsvSource))
    cut = {name: Binned(name, edges, closed="left", missing=missing) for name, edges in (bins or {}).items()}
    return Schema(cut[name] if name in cut else found[name].variable(missing) for name in wanted)


class _Found:
    """What one column has shown so far."""

    def __init__(self, name: str, most: int, written_sets: bool) -> None:  # noqa: FBT001  # a column is or is not
        self.name, self.most, self.written_sets = name, most, written_sets
        self.values: set[Any] = set()
        self.declared: Sequence[Any] | None = None
        self.sets = self.text = False

    def add(self, values: Values, *, text: bool) -> None:
        self.text = text
        self.sets = self.sets or is_list(values)
        if self.written_sets and not self.sets:
            self.values |= {item for value in distinct_values(values) if value for item in str(value).split(SEPARATOR)}
            return
        self.declared = self.declared or declared_categories(values)
        self.values |= items(values) if self.sets else distinct_values(values)
        if len(self.values) > self.most and not self.sets:
            rule = f"must take at most {self.most} different values, or be cut into bins, or be left out"
            raise SottovoceError(f"column {self.name!r}", rule, Words(f"at least {len(self.values)}"))

    def variable(self, missing: str | None) -> Variable:
        if self.sets:
            return ItemSet(self.name, sorted(self.values))
        if self.written_sets:
            return ItemSet(self.name, _labels(self.name, self.values, text=True))
        empty = {None, ""} if self.text else {None}
        labels = list(self.declared or _labels(self.name, self.values - empty, text=self.text))
        if self.values & empty:
            return Attribute(self.name, self._with_missing(labels, missing), missing=missing)
        if len(labels) < 2:
            raise SottovoceError(f"column {self.name!r}", "must take at least two values", labels)
        return Attribute(self.name, labels)

    def _with_missing(self, labels: list[Any], missing: str | None) -> list[Any]:
        if missing is None:
            rule = "must have no missing values, unless a category for them is named (missing)"
            raise SottovoceError(f"column {self.name!r}", rule, Words("some"))
        return [*(labels if all(isinstance(v, str) for v in labels) else map(str, labels)), missing]


def _labels(name: str, values: Collection[Any], *, text: bool) -> list[Any]:
    """Sorted labels; text that is all integers or booleans becomes what it says."""
    if text and values and all(INTEGER.fullmatch(v) for v in values):
        return sorted(map(int, values))
    if text and values and {v.lower() for v in values} <= {"true", "false"}:
        return [False, True]
    if values and all(isinstance(v, bool) for v in values):
        return [False, True]
    if values and all(isinstance(v, float) and v.is_integer() for v in values):
        return sorted(map(int, values))
    kinds = {type(v) for v in values}
    if len(kinds) > 1 or not kinds <= {str, int}:
        rule = "must hold text, integers or booleans of one kind; cut other numbers into bins"
        raise SottovoceError(f"column {name!r}", rule, sorted(kind.__name__ for kind in kinds))
    return sorted(values)
