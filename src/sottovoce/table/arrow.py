"""Codes of Arrow columns, and Arrow columns of codes: by dictionary, never value by value."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.schema.binned import Binned
from sottovoce.schema.cells import Codes, Columns
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.variable import Variable

MOST_INTEGERS = 2**20
"""Range of integers that is looked up in a table."""


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
