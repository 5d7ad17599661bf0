"""Encode the values of a column of any frame, and Arrow columns through their dictionaries."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, check_installed
from sottovoce.schemas.attribute import INTEGER, Attribute, Codes, Columns, Label, Variable, is_missing, narrow
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet

MOST_INTEGERS = 2**20
"""Largest range of integers for which a lookup table is built."""

Values = Sequence[Any] | NDArray[Any] | nw.Series[Any]
"""A list or an array of values, or a column of any data frame that narwhals supports."""


def encode_arrow(variable: Variable, column: Any) -> Columns:
    """Codes of a chunked array, as `variable.encode` gives them; each distinct value is looked up once."""
    arrow = pyarrow()
    flat = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = flat.type
    if isinstance(variable, Binned) and (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return variable.encode(flat.to_numpy(zero_copy_only=False))
    if isinstance(variable, ItemSet) and (arrow.types.is_list(kind) or arrow.types.is_large_list(kind)):
        return _encode_sets(variable, flat)
    try:
        coded = flat if arrow.types.is_dictionary(kind) else flat.dictionary_encode()
    except arrow.ArrowNotImplementedError:  # structs and other values that cannot be labels
        return variable.encode(flat.to_pylist())
    return _look_up(variable.encode, coded)


def array_of_sets(variable: ItemSet, columns: Columns, kind: Any) -> Any:
    """Lists of the items whose bits are set."""
    rows, codes = np.nonzero(np.stack(columns, axis=1))
    return array_of_lists(variable, np.searchsorted(rows, np.arange(len(columns[0]) + 1)), codes, kind)


def array_of_lists(variable: ItemSet, ends: Codes, codes: Codes, kind: Any) -> Any:
    """Arrow array of lists of items, from their offsets and the numbers of the items."""
    arrow = pyarrow()
    items = arrow.array(variable.items, kind.value_type).take(arrow.array(codes))
    return arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()), items, type=kind)


def pyarrow(purpose: str = "Parquet") -> Any:
    """Import pyarrow; if it is missing, the error says what to install."""
    check_installed(purpose, "tables", "pyarrow")
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    return pyarrow


def item_numbers(variable: ItemSet, items: Any) -> Codes:
    """Number of each item of an Arrow array; each distinct item is looked up once."""
    if pyarrow().types.is_integer(items.type) and len(items) and not items.null_count:
        values = items.to_numpy()
        low, high = int(values.min()), int(values.max())
        if high - low < MOST_INTEGERS:
            # A table of all integers between the smallest and the largest is faster than a dictionary.
            offsets = values.astype(np.int64) - low
            present = np.flatnonzero(np.bincount(offsets))
            table = np.zeros(high - low + 1, np.int32)
            table[present] = _numbers(variable, (present + low).tolist())
            return np.asarray(table[offsets])
    coded = items if pyarrow().types.is_dictionary(items.type) else items.dictionary_encode()
    (codes,) = _look_up(lambda distinct: (_numbers(variable, distinct),), coded)
    return codes


def _encode_sets(variable: ItemSet, lists: Any) -> Columns:
    """Set the bits of the items in each list; missing lists are refused by `variable.encode`."""
    arrow = pyarrow()
    if lists.null_count:
        return variable.encode(lists.to_pylist())
    codes = item_numbers(variable, lists.flatten())
    bits = np.zeros((len(variable.items), len(lists)), np.uint8)
    bits[codes, arrow.compute.list_parent_indices(lists).to_numpy()] = 1
    return tuple(bits)


def _numbers(variable: ItemSet, items: list[Any]) -> Codes:
    _, numbers = variable.encode_sparse([items])
    return numbers


def _look_up(encode: Callable[[list[Any]], Columns], coded: Any) -> Columns:
    """Codes of a dictionary array, from the codes of its dictionary; labels that no row has may be unknown."""
    labels, positions = coded.dictionary.to_pylist(), coded.indices
    if positions.null_count:
        positions = positions.cast("int64").fill_null(len(labels))
        labels.append(None)
    rows = positions.to_numpy(zero_copy_only=False)
    try:
        table = encode(labels)
    except SottovoceError:
        used, rows = np.unique(rows, return_inverse=True)
        table = encode([labels[position] for position in used])
    return tuple(codes.take(rows) for codes in table)


def encode(variable: Variable, values: Values) -> Columns:
    """Codes of a column; columns of frames are coded by their distinct values, by the frame library itself."""
    if not isinstance(values, nw.Series):
        return variable.encode(values)
    if values.implementation.is_pyarrow():
        return encode_arrow(variable, values.to_native())
    if not isinstance(variable, Attribute):
        return variable.encode(values.to_list())
    distinct = [value for value in values.unique().to_list() if not is_missing(value)]
    (codes,) = variable.encode(distinct)
    # Missing values match nothing and get the default: the code of the missing category, or an error.
    default = -1 if not values.is_null().any() else int(variable.encode([None])[0][0])
    coded = values.replace_strict(distinct, codes.tolist(), default=default, return_dtype=nw.Int64)
    return (narrow(np.asarray(coded.to_numpy()), variable.sizes[0]),)


def encode_texts(variable: Variable, texts: Sequence[str], *, empty: str | None) -> Columns:
    """Codes of a column of text; each distinct text is looked up once, and `empty` is the value of empty text."""
    positions = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    table = variable.encode([text or empty for text in positions])
    rows = np.fromiter(map(positions.__getitem__, texts), np.intp, len(texts))
    return tuple(codes[rows] for codes in table)


def finite_numbers(name: str, values: Values, *, text: bool = False) -> NDArray[Any]:
    """Numbers of a column in the type they have; with `text`, text is read as numbers; anything else is refused.

    >>> finite_numbers("weight", [1, 2.5]), finite_numbers("weight", ["1", "2"], text=True)
    (array([1. , 2.5]), array([1, 2]))
    >>> finite_numbers("weight", [1, None])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: weight must be a finite number in every row. Got None instead.
    """
    if not isinstance(values, nw.Series):
        array = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
    elif values.dtype.is_numeric() and not values.is_null().any():
        array = np.asarray(values.to_numpy())
    else:
        array = np.array(values.to_list(), dtype=object)
    if array.dtype.kind not in "iuf":
        array = np.array([_number(name, value, text=text) for value in array.tolist()])
        array = array.astype(np.float64) if array.dtype == object else array
    infinite = array[~np.isfinite(array)]
    if len(infinite):
        raise SottovoceError(name, "must be a finite number in every row", infinite[0])
    return array


def _number(name: str, value: Any, *, text: bool) -> int | float:
    try:
        if text and isinstance(value, str):
            return int(value) if INTEGER.fullmatch(value) else float(value)
        if not isinstance(value, bool) and isinstance(value, Real | Decimal):
            return int(value) if isinstance(value, Integral) else float(value)
    except ValueError:  # text that is no number
        pass
    raise SottovoceError(name, "must be a finite number in every row", value)


def series(array: Any) -> nw.Series[Any]:
    """Column of an Arrow table or batch as a narwhals series."""
    import pyarrow

    chunked = array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.chunked_array([array])
    return nw.from_native(chunked, series_only=True)


def distinct_values(values: Values) -> set[Any]:
    """Distinct values of a column; missing values appear as None."""
    listed = values.unique().to_list() if isinstance(values, nw.Series) else _listed(values)
    return {None if is_missing(value) else value for value in listed}


def declared_categories(values: Values) -> tuple[Label, ...] | None:
    """Categories that the type of a column declares, such as a polars Enum or an ordered pandas categorical."""
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
    """Distinct items of a column of collections."""
    return {item for value in _listed(values) if not is_missing(value) for item in value}


def _listed(values: Values) -> Iterable[Any]:
    """Python values of a column that may hold collections; typed columns cannot and give an empty list."""
    if isinstance(values, nw.Series):
        return values.to_list() if values.dtype in (nw.Object, nw.List, nw.Array, nw.Unknown) else []
    return values.tolist() if isinstance(values, np.ndarray) else values
