"""Infer a schema from a table."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.public import PublicColumn, PublicNumber, checked_public
from sottovoce.schemas.attribute import INTEGER, Attribute, Variable
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.csv_source import CsvSource
from sottovoce.tables.source import Batch, Source, open_source
from sottovoce.tables.values import Values, declared_categories, distinct_values, finite_numbers, is_list, items

MOST_PUBLIC_NUMBERS = 20
"""Different values of a public column of whole numbers beyond which it is a number, not categories."""

ONE_KIND = "must hold text, integers or booleans of one kind; cut other numbers into bins"
"""Rule for the values of a column."""


def infer_schema(
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    bins: Mapping[str, Iterable[float]] | None = None,
    sets: Collection[str] = (),
    missing: str | None = None,
    most_categories: int = 100,
) -> Schema:
    """Infer the schema of a table, or of some of its columns; the categories are the values that occur, sorted.

    Numbers with many values need edges in `bins` (closed on the left). Text columns that hold sets of items, separated
    by semicolons, are named in `sets`; columns of lists are sets in any case. `missing` names a category for missing
    values, which are refused otherwise. A schema is public: a label that only one person has must not be in
    it. Booleans and the declared categories of an Enum are taken from the type, whether or not they occur.

    >>> infer_schema({"sex": ["m", "f", "f"], "age": [20, 35, 50]}, bins={"age": [18, 40, 99]}).sizes
    (2, 2)
    """
    schema, _ = infer_columns(
        table, columns=columns, bins=bins, sets=sets, missing=missing, most_categories=most_categories
    )
    return schema


def infer_columns(
    table: Any,
    *,
    public: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    bins: Mapping[str, Iterable[float]] | None = None,
    sets: Collection[str] = (),
    missing: str | None = None,
    most_categories: int = 100,
) -> tuple[Schema, tuple[PublicColumn, ...]]:
    """Infer the schema of the columns to disguise, and the public columns, in one pass over a table.

    The options are those of `infer_schema`; `columns` are the columns to disguise. A public column of numbers becomes
    a `PublicNumber` if some are not whole, if there are more than 20 different ones, or only one.

    >>> schema, public = infer_columns({"tax": [True, False], "weight": [0.5, 1.5]}, public=["weight"])
    >>> schema.names, public
    (('tax',), (PublicNumber(name='weight'),))
    """
    if isinstance(public, str):
        raise SottovoceError("public", "must be a list of names", public)
    source, edges = open_source(table), dict(bins or {})
    disguised = [name for name in (source.names if columns is None else columns) if name not in public]
    wanted = [*disguised, *public]
    for parameter, names in (("columns", disguised), ("public", public), ("bins", edges), ("sets", sets)):
        absent = [name for name in names if name not in source.names]
        if absent:
            raise SottovoceError(parameter, f"must be columns of the table ({', '.join(source.names)})", absent)
    observed = {
        name: _ObservedColumn(name, most_categories, sets=name in sets, public=name in public)
        for name in wanted
        if name not in edges
    }
    for batch in _distinct_batches(source, list(observed)):
        for name, values in batch.items():
            observed[name].add(values, source)
    variables = {name: Binned(name, cuts, closed="left", missing=missing) for name, cuts in edges.items()}
    passed_on = [column.public_column(missing) for name, column in observed.items() if name in public]
    by_name: dict[str, Any] = variables | {column.name: column for column in passed_on}
    schema = Schema(variables[name] if name in variables else observed[name].variable(missing) for name in disguised)
    return schema, checked_public([by_name[name] for name in public], schema.names)


def _distinct_batches(source: Source, names: Sequence[str]) -> Iterator[Batch]:
    """Yield batches with all values of some columns: the different ones where an engine finds them, else all rows."""
    groups = {name: source.grouped([name]) for name in names}
    for name, group in groups.items():
        if group is not None:
            yield from group.batches([name])
    others = [name for name in names if groups[name] is None]
    if others:
        yield from source.batches(others)


class _ObservedColumn:
    """Values of one column, collected batch by batch."""

    def __init__(self, name: str, most: int, *, sets: bool, public: bool) -> None:
        self.name, self.most, self.written_sets, self.public = name, most, sets, public
        self.values: set[Any] = set()
        self.declared: Sequence[Any] | None = None
        self.sets = self.text = self.many_numbers = False

    def add(self, values: Values, source: Source) -> None:
        if self.many_numbers:
            source.numbers(self.name, values)
            return
        self.text = isinstance(source, CsvSource)
        self.sets = self.sets or is_list(values)
        if self.written_sets and not self.sets:
            self.values |= {item for value in distinct_values(values) if value for item in str(value).split(SEPARATOR)}
            return
        self.declared = self.declared or declared_categories(values) or source.declared(self.name)
        try:
            self.values |= items(values) if self.sets else distinct_values(values)
        except (TypeError, NotImplementedError):  # no hash, or no way to compare them
            raise SottovoceError(f"column {self.name!r}", ONE_KIND, Words("records, or something like that")) from None
        self.many_numbers = self.public and len(self.values) > MOST_PUBLIC_NUMBERS and self._all_numbers()
        if len(self.values) > self.most and not self.sets and not self.many_numbers:
            rule = f"must take at most {self.most} different values, or be cut into bins, or be left out"
            raise SottovoceError(f"column {self.name!r}", rule, Words(f"at least {len(self.values)}"))

    def _all_numbers(self) -> bool:
        try:
            finite_numbers(self.name, list(self.values), text=self.text)
        except SottovoceError:
            return False
        return True

    def public_column(self, missing: str | None) -> Any:
        """Column to pass on: a number where categories would be odd, else the variable."""
        if self.many_numbers:
            return PublicNumber(self.name)
        if not self.sets and not self.written_sets and self.values and self._all_numbers():
            numbers = finite_numbers(self.name, list(self.values), text=self.text)
            # Text in a CSV file tells 1.0 from 1, as a frame's types do.
            if len(numbers) == 1 or any(isinstance(value, float) or "." in str(value) for value in self.values):
                return PublicNumber(self.name)
        return self.variable(missing)

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
        raise SottovoceError(f"column {name!r}", ONE_KIND, sorted(kind.__name__ for kind in kinds))
    return sorted(values)
