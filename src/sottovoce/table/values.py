"""One column's values, whatever holds them, to codes and to distinct values."""

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.schema.attribute import Attribute
from sottovoce.schema.cells import Columns, narrow
from sottovoce.schema.variable import Label, Variable, is_missing
from sottovoce.table.arrow import encode_arrow

Values = Sequence[Any] | NDArray[Any] | nw.Series[Any]
"""A list or an array of values, or a column of any data frame that narwhals knows."""


def encode(variable: Variable, values: Values) -> Columns:
    """Codes of a column; frames are coded by their few distinct values, in their own engine."""
    if not isinstance(values, nw.Series):
        return variable.encode(values)
    if values.implementation.is_pyarrow():
        return encode_arrow(variable, values.to_native())
    if not isinstance(variable, Attribute):
        return variable.encode(values.to_list())
    distinct = [value for value in values.unique().to_list() if not is_missing(value)]
    (codes,) = variable.encode(distinct)
    # Missing values match nothing and fall to the default: a code of their own, or the error.
    default = -1 if not values.is_null().any() else int(variable.encode([None])[0][0])
    coded = values.replace_strict(distinct, codes.tolist(), default=default, return_dtype=nw.Int64)
    return (narrow(np.asarray(coded.to_numpy()), variable.sizes[0]),)


def encode_texts(variable: Variable, texts: Sequence[str], *, empty: str | None) -> Columns:
    """Codes of a column of text, each different one looked up once; `empty` is what no text stands for."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    table = variable.encode([text or empty for text in places])
    rows = np.fromiter(map(places.__getitem__, texts), np.intp, len(texts))
    return tuple(codes[rows] for codes in table)


def series(array: Any) -> nw.Series[Any]:
    """Column of an Arrow table or batch, as narwhals shows it."""
    import pyarrow

    chunked = array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.chunked_array([array])
    return nw.from_native(chunked, series_only=True)


def distinct_values(values: Values) -> set[Any]:
    """Different values of a column; missing ones appear as None."""
    listed = values.unique().to_list() if isinstance(values, nw.Series) else _listed(values)
    return {None if is_missing(value) else value for value in listed}


def declared_categories(values: Values) -> tuple[Label, ...] | None:
    """Categories that a column's own type lists, as a polars Enum or an ordered pandas categorical does."""
    if isinstance(values, nw.Series) and isinstance(values.dtype, nw.Enum):
        return tuple(values.dtype.categories)
    return None


def is_list(values: Values) -> bool:
    """Whether each value of a column is itself a collection."""
    if isinstance(values, nw.Series) and isinstance(values.dtype, nw.List | nw.Array):
        return True
    first = next((v for v in _listed(values) if not is_missing(v)), None)
    return isinstance(first, list | tuple | set | frozenset | np.ndarray)


def items(values: Values) -> set[Any]:
    """Different items of a column of collections."""
    return {item for value in _listed(values) if not is_missing(value) for item in value}


def _listed(values: Values) -> Iterable[Any]:
    """Python values; only columns of objects can hide collections, so typed ones are not listed."""
    if isinstance(values, nw.Series):
        return values.to_list() if values.dtype in (nw.Object, nw.List, nw.Array, nw.Unknown) else []
    return values.tolist() if isinstance(values, np.ndarray) else values
