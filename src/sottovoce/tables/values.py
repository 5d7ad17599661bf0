"""Encode the values of a column of any frame, and Arrow columns through their dictionaries."""

import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, check_installed
from sottovoce.mechanisms.bulk import BULK_ROWS, kernels, read_only
from sottovoce.schemas.attribute import (
    INTEGER,
    LARGEST_LABEL,
    Attribute,
    Codes,
    Columns,
    Label,
    Variable,
    is_missing,
    narrow,
)
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet

ROWS_AT_ONCE = 2**15
"""Positions that numpy looks up at once: its copies of them fit the cache."""

MOST_INTEGERS = 2**20
"""Largest range of integers for which a lookup table is built."""

ANY_INTEGER = 2**7
"""Integers from zero to below this fit every type of integers."""

ROWS_READ_FIRST = 2**10
"""Rows of a categorical series that are read first to see which labels there are."""

Values = Sequence[Any] | NDArray[Any] | nw.Series[Any]
"""A list or an array of values, or a column of any data frame that narwhals supports."""


def encode_arrow(variable: Variable, column: Any) -> Columns:
    """Codes of a chunked array, as `variable.encode` gives them; each distinct value is looked up once."""
    arrow = pyarrow()
    flat = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind = flat.type
    codes = _encode_arrow_type(variable, flat)
    if codes is not None:
        return (codes,)
    if isinstance(variable, Binned) and (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return variable.encode(flat.to_numpy(zero_copy_only=False))
    if isinstance(variable, ItemSet) and (arrow.types.is_list(kind) or arrow.types.is_large_list(kind)):
        return _encode_sets(variable, flat)
    try:
        coded = flat if arrow.types.is_dictionary(kind) else flat.dictionary_encode()
    except arrow.ArrowNotImplementedError:  # structs and other values that cannot be labels
        return variable.encode(flat.to_pylist())
    return _look_up(variable.encode, coded)


def _encode_arrow_type(variable: Variable, flat: Any) -> Codes | None:
    """Codes of integers, booleans, text or a dictionary; None for anything else, and if a value is refused."""
    types, kind = pyarrow().types, flat.type
    if types.is_integer(kind) or types.is_boolean(kind):
        return _encode_integers(variable, series(flat))
    if not isinstance(variable, Attribute):
        return None
    if types.is_dictionary(kind):
        return _codes_at(variable, flat.dictionary.to_pylist(), _arrow_positions(flat.indices))
    if types.is_string(kind) or types.is_large_string(kind):
        positions = pyarrow().compute.index_in(flat, pyarrow().array(variable.texts, kind))
        if positions.null_count != flat.null_count:  # an unknown text
            return None
        return _codes_at(variable, variable.texts, _arrow_positions(positions))
    return None


def _arrow_positions(positions: Any) -> NDArray[Any]:
    """Positions in a dictionary; -1 for a missing value."""
    if positions.null_count and pyarrow().types.is_unsigned_integer(positions.type):
        positions = positions.cast("int64")
    return np.asarray((positions.fill_null(-1) if positions.null_count else positions).to_numpy())


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
    """Codes of a column: by its own codes or a table where its type allows, else by its distinct values."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # with None for what is masked
    if not isinstance(values, nw.Series):
        codes = _find_integers(variable, values) if isinstance(values, np.ndarray) else None
        return variable.encode(values) if codes is None else (codes,)
    if values.implementation.is_pyarrow():
        return encode_arrow(variable, values.to_native())
    codes = _encode_type(variable, values)
    return _encode_distinct(variable, values) if codes is None else (codes,)


def _encode_distinct(variable: Variable, values: nw.Series[Any]) -> Columns:
    """Codes of a column of any type by its distinct values, which the frame library finds and replaces."""
    if not isinstance(variable, Attribute):
        return variable.encode([None if is_missing(value) else value for value in values.to_list()])
    distinct = values.unique(maintain_order=True).to_list()
    present = [value for value in distinct if not is_missing(value)]
    (codes,) = variable.encode(present)
    # Missing values match nothing and get the default: the code of the missing category, or an error.
    default = -1 if len(present) == len(distinct) else int(variable.encode([None])[0][0])
    coded = values.replace_strict(present, codes.tolist(), default=default, return_dtype=nw.Int64)
    return (narrow(np.asarray(coded.to_numpy()), variable.sizes[0]),)


def _encode_type(variable: Variable, values: nw.Series[Any]) -> Codes | None:
    """Codes of a column of a pandas or polars frame by its type; None for other types, and if a value is refused."""
    native: Any = values.to_native()
    if values.implementation.is_pandas() and _holds_arrow(native.dtype):
        return _encode_arrow_type(variable, pyarrow().chunked_array(native.array.__arrow_array__()).combine_chunks())
    if values.implementation.is_pandas() and native.dtype.kind == "O":
        return _encode_pandas(variable, native) if isinstance(variable, Attribute) else None
    if values.dtype.is_integer() or values.dtype == nw.Boolean:
        return _encode_integers(variable, values)
    if values.implementation.is_polars() and isinstance(variable, Attribute):
        return _encode_polars(variable, native)
    return None


def _encode_integers(variable: Variable, values: nw.Series[Any]) -> Codes | None:
    """Codes of a column of integers or booleans; None if one is refused."""
    if not _has_nulls(values):
        return _find_integers(variable, values.to_numpy())
    missing = getattr(variable, "missing", None)
    if missing is None:
        return None
    if isinstance(missing, bool) == (values.dtype == nw.Boolean) and missing in range(ANY_INTEGER):
        return _find_integers(variable, _filled(values, missing))
    absent = values.is_null().to_numpy()
    (code,) = variable.as_report().encode([missing])[0]
    if absent.all():
        return np.full(len(values), code)
    # The first value that there is stands in for the missing ones, whose codes are then replaced.
    codes = _find_integers(variable, _filled(values, values[int(absent.argmin())]))
    return None if codes is None else np.where(absent, code, codes)


def _filled(values: nw.Series[Any], value: Any) -> NDArray[Any]:
    """Array of integers or booleans with a value in place of missing ones."""
    native: Any = values.to_native()
    if values.implementation.is_pandas():
        return np.asarray(native.array.to_numpy(dtype=native.dtype.numpy_dtype, na_value=value))
    return values.fill_null(value).to_numpy()


def _has_nulls(values: nw.Series[Any]) -> bool:
    native: Any = values.to_native()
    if values.implementation.is_pandas() and isinstance(native.dtype, np.dtype):
        return False  # integers and booleans of numpy cannot be missing
    return bool(values.null_count())


def _find_integers(variable: Variable, values: NDArray[Any]) -> Codes | None:
    """Codes of integers or booleans by a table of the integers that have one; None if one of them is refused."""
    if values.dtype.kind not in "biu" or values.ndim != 1:
        return None
    size = variable.sizes[0]
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    if isinstance(variable, Attribute):
        first, table = variable.integer_table
        return look_up_codes(table, values, size, first)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if not isinstance(variable, Binned) or high - low > len(values) or max(-low, high) > LARGEST_LABEL:
        return None
    try:
        (table,) = variable.encode(np.arange(low, high + 1))
    except SottovoceError:
        return None
    return look_up_codes(table, values, size, low)


def _codes_at(variable: Attribute, labels: Sequence[Any], positions: NDArray[Any]) -> Codes | None:
    """Codes of the labels at these positions, of which -1 is a missing value; None if one of them is refused."""
    if len(positions) and positions.min() < 0:
        return look_up_codes(variable.code_table([None, *labels]), positions, variable.sizes[0], first=-1)
    return look_up_codes(variable.code_table(labels), positions, variable.sizes[0])


def _holds_arrow(kind: Any) -> bool:
    """Whether a type of pandas stores its values as Arrow arrays."""
    return hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", None) == "pyarrow"


def _encode_pandas(variable: Attribute, values: Any) -> Codes | None:
    """Codes of a categorical series, or of one of objects; pandas finds their distinct values if some are missing."""
    if values.dtype == "category":
        return _codes_at(variable, values.array.categories.tolist(), values.array.codes)
    codes = variable.find(values.to_numpy())
    if codes is not None:
        return codes
    try:
        positions, distinct = values.factorize()
    except TypeError:  # a list or another value that cannot be a label, and is refused
        return variable.encode(values.tolist())[0]
    return _codes_at(variable, distinct.tolist(), positions)


def _encode_polars(variable: Attribute, values: Any) -> Codes | None:
    """Codes of a categorical series, or of one of text, by the numbers that polars gives to the labels."""
    polars, kind = sys.modules["polars"], values.dtype
    if kind == polars.String:
        numbered = values.cast(polars.Enum(variable.texts), strict=False)
        return _encode_polars(variable, numbered) if numbered.null_count() == values.null_count() else None
    numbers = values.to_physical() if kind in (polars.Enum, polars.Categorical) else None
    if kind == polars.Enum:
        labels = [*kind.categories.to_list(), None]
        return _codes_at(variable, labels, _without_nulls(numbers, len(labels) - 1))
    return None if numbers is None else _encode_polars_categories(variable, values, numbers)


def _without_nulls(numbers: Any, missing: int) -> NDArray[Any]:
    """Array of a polars series of integers, with a number for missing ones."""
    return np.asarray((numbers.fill_null(missing) if numbers.null_count() else numbers).to_numpy())


def _encode_polars_categories(variable: Attribute, values: Any, numbers: Any) -> Codes | None:
    """Codes of a series of a type that numbers labels in the order in which the whole process met them.

    The label of a number is read from a row that has it; the first rows have almost all of them.
    """
    last, size = numbers.max(), variable.sizes[0]
    if last is None or last >= MOST_INTEGERS:
        return None
    positions, unread = _without_nulls(numbers, last + 1), size + 1
    table = np.full(last + 2, unread, np.min_scalar_type(unread))
    rows = np.arange(min(len(positions), ROWS_READ_FIRST))
    while len(rows):
        found, first = np.unique(positions[rows], return_index=True)
        table[found] = variable.code_table(values[rows[first]].to_list())
        codes = look_up(table, positions)
        rows = np.flatnonzero(codes == unread) if codes.max() == unread else rows[:0]
    return None if codes.max() == size else narrow(codes, size)


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
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu" and not isinstance(values, np.ma.MaskedArray):
        return set(np.unique(values).tolist())
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


def look_up(table: NDArray[Any], positions: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Entries of a table whose positions start at `first`; an `IndexError` if it lacks one of them.

    >>> look_up(np.array([7, 5, 8]), np.array([2, 0, 2], np.uint8))
    array([8, 7, 8])
    """
    if not len(positions):
        return np.empty(0, table.dtype)
    if positions.min() < first or positions.max() >= first + len(table):
        raise IndexError
    numbers = table.dtype.kind in "biu"
    if numbers and np.array_equal(table, np.arange(len(table)) + table[0]) and (first == 0 or table.dtype != bool):
        return _counted(table, positions, first)
    loops = kernels("sottovoce.tables._kernels") if numbers and len(positions) >= BULK_ROWS else None
    if loops is None:
        return _look_up_in_blocks(table, positions, first)
    entries = np.empty(len(positions), table.dtype)
    native = read_only(positions.astype(positions.dtype.newbyteorder("="), copy=False))
    loops.look_up(read_only(table), native, np.int64(first), entries)
    return entries


def look_up_codes(table: Codes, positions: NDArray[Any], size: int, first: int = 0) -> Codes | None:
    """Codes in a table such as `Attribute.code_table`; None if it lacks a position, or a code is not below `size`.

    >>> look_up_codes(np.array([0, 2, 1]), np.array([0, 2, 2]), 2), look_up_codes(np.array([0, 2]), np.array([1]), 2)
    (array([0, 1, 1], dtype=uint8), None)
    """
    try:
        codes = look_up(table, positions, first)
    except IndexError:
        return None
    return None if len(codes) and codes.max() >= size else narrow(codes, size)


def _counted(table: NDArray[Any], positions: NDArray[Any], first: int) -> NDArray[Any]:
    """Entries that count upwards: the positions shifted, modulo the range of the entries' type, which holds all."""
    entries = positions.astype(table.dtype)
    if int(table[0]) != first:
        entries += np.int64(int(table[0]) - first).astype(table.dtype)
    return entries


def _look_up_in_blocks(table: NDArray[Any], positions: NDArray[Any], first: int) -> NDArray[Any]:
    if table.dtype.kind not in "biu" and not first:  # text, which is then copied once
        return table.take(positions)
    entries = np.empty(len(positions), table.dtype)
    for start in range(0, len(positions), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        entries[rows] = table.take(positions[rows].astype(np.int64, copy=False) - first)
    return entries
