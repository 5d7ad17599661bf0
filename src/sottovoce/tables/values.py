"""Values of a column to codes and back, for any frame, and for Arrow columns by dictionary."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.schemas.attribute import Attribute, Codes, Columns, Label, Variable, is_missing, narrow
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet

MOST_INTEGERS = 2**20
"""Range of integers that is looked up in a table."""
Values = Sequence[Any] | NDArray[Any] | nw.Series[Any]
"""A list or an array of values, or a column of any data frame that narwhals knows."""


def encode_arrow(variable: Variable, column: Any) -> Columns:
    """Codes of a chunked array: what `variable.encode` gives for its values, looked up once a distinct value."""
    arrow = pyarrow()
    flat = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = flat.type
    if isinstance(variable, Binned) and (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return variable.encode(flat.to_numpy(zero_copy_only=False))
    if isinstance(variable, ItemSet) and (arrow.types.is_list(kind) or arrow.types.is_large_list(kind)):
        return _encode_sets(variable, flat)
    try:
        coded = flat if arrow.types.is_dictionary(kind) else flat.dictionary_encode()
    except arrow.ArrowNotImplementedError:  # structures and other values that are no labels
        return variable.encode(flat.to_pylist())
    return _look_up(variable.encode, coded)


def array_of_sets(variable: ItemSet, columns: Columns, kind: Any) -> Any:
    """Lists of the items whose bits are set."""
    rows, codes = np.nonzero(np.stack(columns, axis=1))
    return array_of_lists(variable, np.searchsorted(rows, np.arange(len(columns[0]) + 1)), codes, kind)


def array_of_lists(variable: ItemSet, ends: Codes, codes: Codes, kind: Any) -> Any:
    """Lists of items by number, of which each ends where the next one starts."""
    arrow = pyarrow()
    items = arrow.array(variable.items, kind.value_type).take(arrow.array(codes))
    return arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()), items, type=kind)


def pyarrow(purpose: str = "Parquet") -> Any:
    """Import pyarrow where a table asks for it, saying what to install if it is not there."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(purpose, "pyarrow", "tables") from None
    return pyarrow


def item_numbers(variable: ItemSet, items: Any) -> Codes:
    """Number of each item of an Arrow array, looked up once a distinct item."""
    if pyarrow().types.is_integer(items.type) and len(items) and not items.null_count:
        values = items.to_numpy()
        low, high = int(values.min()), int(values.max())
        if high - low < MOST_INTEGERS:
            # Faster than a dictionary: a table of all integers between the smallest and the largest.
            places = values.astype(np.int64) - low
            seen = np.flatnonzero(np.bincount(places))
            table = np.zeros(high - low + 1, np.int32)
            table[seen] = _numbers(variable, (seen + low).tolist())
            return np.asarray(table[places])
    coded = items if pyarrow().types.is_dictionary(items.type) else items.dictionary_encode()
    (codes,) = _look_up(lambda found: (_numbers(variable, found),), coded)
    return codes


def _encode_sets(variable: ItemSet, lists: Any) -> Columns:
    """Set the bits of the items in each list; a missing list is refused as `variable.encode` does."""
    arrow = pyarrow()
    if lists.null_count:
        return variable.encode(lists.to_pylist())
    codes = item_numbers(variable, lists.flatten())
    bits = np.zeros((len(variable.items), len(lists)), np.uint8)
    bits[codes, arrow.compute.list_parent_indices(lists).to_numpy()] = 1
    return tuple(bits)


def _numbers(variable: ItemSet, items: list[Any]) -> Codes:
    _, numbers = variable.listed([items])
    return numbers


def _look_up(encode: Callable[[list[Any]], Columns], coded: Any) -> Columns:
    """Codes of a dictionary array by those of its dictionary; labels that no row has are not asked for."""
    labels, positions = coded.dictionary.to_pylist(), coded.indices
    if positions.null_count:
        positions = positions.cast("int64").fill_null(len(labels))
        labels.append(None)
    places = positions.to_numpy(zero_copy_only=False)
    try:
        table = encode(labels)
    except SottovoceError:
        used, places = np.unique(places, return_inverse=True)
        table = encode([labels[place] for place in used])
    return tuple(codes.take(places) for codes in table)


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
