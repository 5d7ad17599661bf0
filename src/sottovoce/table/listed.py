"""Columns of item sets as sparse rows: which items each transaction has, batch by batch, never item by item."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.errors import SottovoceError, Words
from sottovoce.schema.item_set import SEPARATOR, ItemSet
from sottovoce.table.arrow import item_numbers, pyarrow
from sottovoce.table.bitsets import Csr, first_wrong
from sottovoce.table.source import Source
from sottovoce.table.values import Values


def listed_batches(source: Source, variable: ItemSet) -> Iterator[Csr]:
    """Items of each transaction by number, ascending and each once; a table without rows is refused.

    >>> from sottovoce.table.source import open_source
    >>> table = open_source({"basket": [["bread"], [], ["bread", "ale"]]})
    >>> list(listed_batches(table, ItemSet("basket", ["ale", "bread"])))
    [(array([0, 1, 1, 3]), array([1, 0, 1], dtype=int32))]
    """
    if variable.name not in source.names:
        raise SottovoceError("table", f"must have the columns {[variable.name]}", Words(f"only {list(source.names)}"))
    found = 0
    for batch in source.batches([variable.name]):
        indptr, indices = _listed(source, variable, batch[variable.name])
        found += len(indptr) - 1
        yield indptr, indices
    if not found:
        raise SottovoceError("table", "must have at least one row", Words("an empty one"))


def gathered(batches: Iterable[Csr], rows: int) -> Iterator[Csr]:
    """The same transactions, so many at a time.

    >>> batches = [(np.array([0, 1, 3]), np.array([5, 6, 7])), (np.array([0, 0]), np.array([], int))]
    >>> [(indptr.tolist(), indices.tolist()) for indptr, indices in gathered(batches, 2)]
    [([0, 1, 3], [5, 6, 7]), ([0, 0], [])]
    """
    lengths, items = np.zeros(0, np.int64), np.zeros(0, np.int32)
    for indptr, indices in batches:
        lengths, items = np.concatenate([lengths, np.diff(indptr)]), np.concatenate([items, indices])
        while len(lengths) >= rows:
            end = int(lengths[:rows].sum())
            yield _of_lengths(lengths[:rows]), items[:end]
            lengths, items = lengths[rows:], items[end:]
    if len(lengths):
        yield _of_lengths(lengths), items


def _of_lengths(lengths: Any) -> Any:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _listed(source: Source, variable: ItemSet, values: Values) -> Csr:
    """Lists of an Arrow or polars column as they lie there, texts split; others value by value."""
    lists = _arrow_lists(source.known(variable, values))
    try:
        if lists is not None:
            listed = _offsets(lists), item_numbers(variable, lists.flatten())
        else:
            listed = variable.listed(values.to_list() if isinstance(values, nw.Series) else values)
    except UnicodeDecodeError as reason:
        rule = f"must hold UTF-8 where it says that it is text ({reason})"
        raise SottovoceError(variable.name, rule, Words("something else")) from None
    return in_order(*listed, len(variable.items))


def in_order(indptr: Any, indices: Any, items: int) -> Csr:
    """Rows whose items ascend, each once; rows that do are left as they are.

    >>> in_order(np.array([0, 3]), np.array([2, 0, 2], np.int32), items=3)
    (array([0, 2]), array([0, 2], dtype=int32))
    """
    if first_wrong(indptr, indices, items) is None:
        return indptr, indices
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    keys = np.unique(rows * items + indices)
    starts = np.searchsorted(keys, np.arange(len(indptr)) * items)
    return starts.astype(np.int64), (keys % items).astype(np.int32)


def _arrow_lists(values: Values) -> Any | None:
    """A column of lists that are all there, as one Arrow array; None if it is something else."""
    if not isinstance(values, nw.Series):
        return None
    if values.implementation.is_pyarrow():
        column = values.to_native()
        flat = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    elif values.implementation.is_polars() and values.dtype == nw.List and find_spec("pyarrow"):
        flat = values.to_arrow()
    else:
        return None
    types = pyarrow().types
    if (types.is_string(flat.type) or types.is_large_string(flat.type)) and not flat.null_count:
        return _split(flat)
    return flat if (types.is_list(flat.type) or types.is_large_list(flat.type)) and not flat.null_count else None


def _split(texts: Any) -> Any:
    """Lists of the items of each text, none where it is empty."""
    arrow = pyarrow()
    lists = arrow.compute.split_pattern(texts, SEPARATOR)
    empty = arrow.compute.equal(texts, "").to_numpy(zero_copy_only=False)
    lengths = np.diff(lists.offsets.to_numpy())
    items = lists.flatten().filter(arrow.array(~np.repeat(empty, lengths)))
    return arrow.ListArray.from_arrays(_of_lengths(np.where(empty, 0, lengths)).astype(np.int32), items)


def _offsets(lists: Any) -> Any:
    """Where each list starts and ends among the items of them all."""
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0]
