"""Records as frames, files, arrays or rows, coded and checked for classifiers."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.counts.counter import CodedCounter, as_pattern_counter
from sottovoce.counts.patterns import PatternCounter
from sottovoce.counts.protocol import Counter
from sottovoce.errors import SottovoceError, SottovoceWarning, Words
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Columns, Variable, narrow
from sottovoce.schemas.schema import Schema
from sottovoce.tables.plan_file import carries_plan, read_plan
from sottovoce.tables.source import is_table, open_source


def check_carried_plan(table: Any, plan: Plan) -> None:
    """Raise if a disguised file carries another plan."""
    if isinstance(table, str | Path) and carries_plan(table) and plan_hash(read_plan(table)) != plan_hash(plan):
        rule = "must be the one that the classifier is fitted under"
        raise SottovoceError("plan", rule, Words(f"another in {table}"))


def feature_names(plan: Plan, label: str, attributes: Sequence[str] | None) -> list[str]:
    """Return the attributes that a classifier uses: those named, or all but the label."""
    names = [name for name in plan.schema.names if name != label] if attributes is None else list(attributes)
    if not names or label in names or len(set(names)) < len(names):
        raise SottovoceError("attributes", "must be at least one other than the label, once each", names)
    plan.categories_of(names)
    return names


def warn_of_empty_classes(classes: Sequence[Any], shares: Array) -> None:
    """Warn of classes whose estimated share is not positive, so that nothing can be learned about them."""
    empty = [f"{name!r} ({share:.4f})" for name, share in zip(classes, shares.tolist(), strict=True) if share <= 0]
    if empty:
        shown = f"share of {empty[0]} is" if len(empty) == 1 else f"shares of {', '.join(empty)} are"
        message = (
            f"label: the estimated {shown} not positive, so next to nothing was learned about "
            f"{'it' if len(empty) == 1 else 'them'}. Merge rare classes, or ask more people."
        )
        warnings.warn(message, SottovoceWarning, stacklevel=4)


def is_disguised(table: Any) -> bool:
    """Whether a table is known to be disguised: reports, a file that carries a plan, or a frame with a plan's mark.

    Arrays, mappings and polars frames carry no mark.
    """
    return hasattr(table, "as_source") or (is_table(table) and open_source(table).mark is not None)


def check_choices(parameter: str, values: Any, known: Sequence[str]) -> None:
    """Raise unless values are a non-empty collection of known names."""
    if not values or isinstance(values, str) or not set(values) <= set(known):
        raise SottovoceError(parameter, f"must be some of {', '.join(known)}", values)


def coded_batches(table: Any, schema: Schema, beside: Mapping[str, Any] | None = None) -> Iterator[Columns]:
    """Yield the coded columns of a table in batches; `beside` are columns that the table does not hold.

    An array, or a list of rows, has the columns of the schema in their order, without those beside it.
    """
    extra = dict(beside or {})
    if is_array(table):
        yield _from_array(np.asarray(table), schema, extra)
    elif extra:
        yield _joined(table, schema, extra)
    else:
        yield from open_source(table).coded(schema)


def report_counter(table: Any, schema: Schema, beside: Mapping[str, Any] | None = None) -> PatternCounter:
    """Return a counter of disguised records: of a table or tally, or of an array and columns beside it."""
    if beside or is_array(table):
        return CodedCounter(schema, coded(table, schema, beside))
    return as_pattern_counter(table)


def coded(table: Any, schema: Schema, beside: Mapping[str, Any] | None = None) -> Columns:
    """Return the coded columns of all rows at once.

    >>> from sottovoce.schemas.attribute import boolean
    >>> coded([[1, 0], [1, 1]], Schema([boolean("a"), boolean("b")]))
    (array([1, 1], dtype=uint8), array([0, 1], dtype=uint8))
    """
    parts = list(coded_batches(table, schema, beside))
    return parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def is_array(table: Any) -> bool:
    """Whether a table is an array or a list of rows, without column names."""
    return not (is_table(table) or hasattr(table, "columns") or isinstance(table, Counter))


def encode_array(variable: Variable, values: NDArray[Any]) -> Columns:
    """Return the codes of an array of labels; integers that are their own codes are not looked up.

    >>> encode_array(Attribute("drug", ["never", "often"]), np.array(["often", "never"]))
    (array([1, 0], dtype=uint8),)
    """
    numbered = isinstance(variable, Attribute) and variable.categories == tuple(range(len(variable.categories)))
    if (
        numbered
        and values.dtype.kind in "iub"
        and len(values)
        and values.min() >= 0
        and values.max() < variable.sizes[0]
    ):
        return (narrow(values, variable.sizes[0]),)
    if values.dtype.kind == "O":
        return variable.encode(values)
    distinct, inverse = np.unique(values, return_inverse=True)
    return tuple(codes[inverse.ravel()] for codes in variable.encode(distinct))


def _from_array(rows: NDArray[Any], schema: Schema, beside: dict[str, Any]) -> Columns:
    names = [name for name in schema.names if name not in beside]
    if rows.ndim != 2 or rows.shape[1] != len(names) or not len(rows):
        rule = f"must have rows of {len(names)} values ({', '.join(names)})"
        raise SottovoceError("X", rule, rows.shape)
    columns = {name: rows[:, index] for index, name in enumerate(names)} | beside
    return _encoded(columns, schema, len(rows))


def _joined(table: Any, schema: Schema, beside: dict[str, Any]) -> Columns:
    inside = coded(table, schema.project([name for name in schema.names if name not in beside]))
    outside = _encoded(beside, schema.project(list(beside)), len(inside[0]))
    given = {name: iter((codes,)) for name, codes in zip(beside, outside, strict=True)}
    rest = iter(inside)
    return tuple(next(given[v.name]) if v.name in given else next(rest) for v in schema for _ in v.sizes)


def _encoded(columns: Mapping[str, Any], schema: Schema, rows: int) -> Columns:
    lengths = {name: len(columns[name]) for name in schema.names}
    if set(lengths.values()) != {rows}:
        raise SottovoceError("y", f"must have a value for each of the {rows} rows", lengths)
    return tuple(codes for v in schema for codes in encode_array(v, plain_array(columns[v.name])))


def plain_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return one column as an array, whatever held it."""
    array = np.asarray(values)
    return array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array
