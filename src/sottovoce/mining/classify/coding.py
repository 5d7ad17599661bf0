"""Records given as frames, files, arrays or rows, coded and checked for classifiers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.counted import categories_of
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Columns, Variable, narrow
from sottovoce.schemas.schema import Schema
from sottovoce.tables.plan_file import carries_plan, read_plan
from sottovoce.tables.source import Source, open_source


def check_carried_plan(table: Any, plan: Plan) -> None:
    """Refuse a disguised file that carries another plan."""
    if isinstance(table, str | Path) and carries_plan(table) and plan_hash(read_plan(table)) != plan_hash(plan):
        rule = "must be the one that the classifier learns under"
        raise SottovoceError("plan", rule, Words(f"another in {table}"))


def feature_names(plan: Plan, target: str, attributes: Sequence[str] | None) -> list[str]:
    """Attributes that a classifier looks at: all others than the target, or those named."""
    names = [name for name in plan.schema.names if name != target] if attributes is None else list(attributes)
    if not names or target in names or len(set(names)) < len(names):
        raise SottovoceError("attributes", "must be at least one other than the target, once each", names)
    categories_of(plan, names)
    return names


def checked_positive(parameter: str, value: Any) -> float:
    """A positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise SottovoceError(parameter, "must be a positive number", value)
    return float(value)


def check_classes(classes: Sequence[Any], shares: Array) -> None:
    """Refuse a class of which reconstruction leaves nothing: there is no telling what its members are like."""
    for label, share in zip(classes, shares.tolist(), strict=True):
        if share <= 0:
            rule = f"must leave something of every class after reconstruction; of {label!r} there is"
            raise SottovoceError("reports", rule, Words(f"a share of {share:.4g}"))


def checked_choices(parameter: str, values: Any, known: Sequence[str]) -> None:
    """At least one of the names that are known, and no others."""
    if not values or isinstance(values, str) or not set(values) <= set(known):
        raise SottovoceError(parameter, f"must be some of {', '.join(known)}", values)


def checked_count(parameter: str, value: Any, most: float = np.inf) -> int:
    """A positive whole number, not above another."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        above = "" if most == np.inf else f" of at most {most:g}"
        raise SottovoceError(parameter, f"must be a positive whole number{above}", value)
    return value


def coded_batches(table: Any, schema: Schema, beside: Mapping[str, Any] | None = None) -> Iterator[Columns]:
    """Coded columns of a table in batches; `beside` gives columns that the table does not hold.

    An array, or a list of rows, has the columns of the schema in their order, less those beside it.
    """
    extra = dict(beside or {})
    if is_array(table):
        yield _from_array(np.asarray(table), schema, extra)
    elif extra:
        yield _joined(table, schema, extra)
    else:
        yield from open_source(table).coded(schema)


def coded(table: Any, schema: Schema, beside: Mapping[str, Any] | None = None) -> Columns:
    """All rows at once.

    >>> from sottovoce.schemas.attribute import boolean
    >>> coded([[1, 0], [1, 1]], Schema([boolean("a"), boolean("b")]))
    (array([1, 1], dtype=uint8), array([0, 1], dtype=uint8))
    """
    parts = list(coded_batches(table, schema, beside))
    return parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def is_array(table: Any) -> bool:
    """Whether rows come without names of columns."""
    return (
        not isinstance(table, str | Path | Mapping | Source) and not hasattr(table, "columns") and not _is_frame(table)
    )


def encode_array(variable: Variable, values: NDArray[Any]) -> Columns:
    """Codes of an array of labels; whole numbers that are their own codes are not looked up.

    >>> encode_array(Attribute("drug", ["never", "often"]), np.array(["often", "never"]))
    (array([1, 0], dtype=uint8),)
    """
    own = isinstance(variable, Attribute) and variable.categories == tuple(range(len(variable.categories)))
    if own and values.dtype.kind in "iub" and len(values) and values.min() >= 0 and values.max() < variable.sizes[0]:
        return (narrow(values, variable.sizes[0]),)
    if values.dtype.kind == "O":
        return variable.encode(values)
    distinct, places = np.unique(values, return_inverse=True)
    return tuple(codes[places.ravel()] for codes in variable.encode(distinct))


def _is_frame(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "column_names")


def _from_array(rows: NDArray[Any], schema: Schema, beside: dict[str, Any]) -> Columns:
    names = [name for name in schema.names if name not in beside]
    if rows.ndim != 2 or rows.shape[1] != len(names) or not len(rows):
        rule = f"must be rows of {len(names)} values ({', '.join(names)})"
        raise SottovoceError("X", rule, rows.shape)
    columns = {name: rows[:, place] for place, name in enumerate(names)} | beside
    return _encoded(columns, schema, len(rows))


def _joined(table: Any, schema: Schema, beside: dict[str, Any]) -> Columns:
    inside = coded(table, schema.project([name for name in schema.names if name not in beside]))
    outside = _encoded(beside, schema.project(list(beside)), len(inside[0]))
    found = {name: iter((codes,)) for name, codes in zip(beside, outside, strict=True)}
    rest = iter(inside)
    return tuple(next(found[v.name]) if v.name in found else next(rest) for v in schema for _ in v.sizes)


def _encoded(columns: Mapping[str, Any], schema: Schema, rows: int) -> Columns:
    lengths = {name: len(columns[name]) for name in schema.names}
    if set(lengths.values()) != {rows}:
        raise SottovoceError("y", f"must have a value for each of the {rows} rows", lengths)
    return tuple(codes for v in schema for codes in encode_array(v, plain_array(columns[v.name])))


def plain_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """One column as an array, whatever held it."""
    array = np.asarray(values)
    return array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array
