"""Item sets as compressed sparse rows: the numbers of the items of each transaction."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.errors import SottovoceError, Words
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.tables.bitsets import Bitsets, Csr, checked_csr, first_invalid_row
from sottovoce.tables.source import Source, some_rows
from sottovoce.tables.values import Values, item_numbers, pyarrow

KINDS = ("lists", "csr", "sparse", "matrix", "bitsets")
"""Kinds of transactions: see `disguises.transactions.disguise_transactions`."""


def csr_batches(source: Source, variable: ItemSet) -> Iterator[Csr]:
    """Yield batches of the items of each transaction by number, ascending, each once; an empty table is refused.

    >>> from sottovoce.tables.source import open_source
    >>> table = open_source({"basket": [["bread"], [], ["bread", "ale"]]})
    >>> list(csr_batches(table, ItemSet("basket", ["ale", "bread"])))
    [(array([0, 1, 1, 3]), array([1, 0, 1], dtype=int32))]
    """
    source.check_names([variable.name])
    rows = 0
    for batch in source.batches([variable.name]):
        indptr, indices = column_to_csr(source, variable, batch[variable.name])
        rows += len(indptr) - 1
        yield indptr, indices
    if not source.may_be_empty:
        some_rows(rows)


def rebatched(batches: Iterable[Csr], rows: int) -> Iterator[Csr]:
    """Yield the same transactions in batches of `rows`.

    >>> batches = [(np.array([0, 1, 3]), np.array([5, 6, 7])), (np.array([0, 0]), np.array([], int))]
    >>> [(indptr.tolist(), indices.tolist()) for indptr, indices in rebatched(batches, 2)]
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


def column_to_csr(source: Source, variable: ItemSet, values: Values) -> Csr:
    """Items of one column of a batch by number, ascending, each once.

    Arrow and polars lists are read without a copy, text is split, and anything else is read value by value.
    """
    lists = _arrow_lists(source.with_empty_labels(variable, values))
    try:
        if lists is not None:
            listed = _offsets(lists), item_numbers(variable, lists.flatten())
        else:
            listed = variable.encode_sparse(values.to_list() if isinstance(values, nw.Series) else values)
    except UnicodeDecodeError as reason:
        rule = f"must hold UTF-8 where it says that it is text ({reason})"
        raise SottovoceError(variable.name, rule, Words("something else")) from None
    return sorted_rows(*listed, len(variable.items))


def sorted_rows(indptr: Any, indices: Any, items: int) -> Csr:
    """Sort the items of each row and remove duplicates; rows that are sorted already are returned unchanged.

    >>> sorted_rows(np.array([0, 3]), np.array([2, 0, 2], np.int32), items=3)
    (array([0, 2]), array([0, 2], dtype=int32))
    """
    if first_invalid_row(indptr, indices, items) is None:
        return indptr, indices
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    keys = np.unique(rows * items + indices)
    starts = np.searchsorted(keys, np.arange(len(indptr)) * items)
    return starts.astype(np.int64), (keys % items).astype(np.int32)


def _arrow_lists(values: Values) -> Any | None:
    """A column of lists or text without nulls as one Arrow array of lists; None for any other column."""
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
    """Split text into lists of items; empty text is an empty list."""
    arrow = pyarrow()
    lists = arrow.compute.split_pattern(texts, SEPARATOR)
    empty = arrow.compute.equal(texts, "").to_numpy(zero_copy_only=False)
    lengths = np.diff(lists.offsets.to_numpy())
    items = lists.flatten().filter(arrow.array(~np.repeat(empty, lengths)))
    return arrow.ListArray.from_arrays(_of_lengths(np.where(empty, 0, lengths)).astype(np.int32), items)


def _offsets(lists: Any) -> Any:
    """Start and end of each list among the items of all lists."""
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0]


def transactions_to_csr(transactions: Any, items: ItemSet, threads: int | None = None) -> Csr:
    """Numbers of the items of each transaction, ascending, from transactions of any kind.

    >>> transactions_to_csr([["bread"], [], ["bread", "ale"]], ItemSet("basket", ["ale", "bread"]))
    (array([0, 1, 1, 3]), array([1, 0, 1], dtype=int32))
    """
    return rows_of_transactions(transactions, transaction_kind(transactions), items, threads)


def transaction_kind(transactions: Any) -> str:
    """Kind of transactions that were passed."""
    if isinstance(transactions, Bitsets):
        return "bitsets"
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(transactions) and transactions.ndim == 2:
        return "sparse"
    if isinstance(transactions, np.ndarray) and transactions.ndim == 2:
        return "matrix"
    if isinstance(transactions, tuple) and [type(part) for part in transactions] == [np.ndarray] * 2:
        return "csr"
    if isinstance(transactions, Iterable) and not isinstance(transactions, str):
        return "lists"
    raise SottovoceError("transactions", f"must be one of {', '.join(KINDS)}", transactions)


def rows_of_transactions(transactions: Any, kind: str, items: ItemSet, threads: int | None) -> Csr:
    """Numbers of the items of each transaction, ascending."""
    universe = len(items.items)
    if kind == "csr":
        return checked_csr(transactions[0], transactions[1], universe)
    if kind == "lists":
        return checked_csr(*sorted_rows(*items.encode_sparse(transactions), universe), universe)
    width = transactions.items if kind == "bitsets" else transactions.shape[1]
    if width != universe:
        raise SottovoceError("transactions", f"must have a column for each of the {universe} items", width)
    if kind == "bitsets":
        listed: Csr = transactions.to_csr(threads)
        return listed
    if kind == "sparse":
        return _from_scipy(transactions)
    if transactions.dtype != bool:
        raise SottovoceError("transactions", "must be a matrix of booleans", Words(str(transactions.dtype)))
    return Bitsets.from_matrix(transactions).to_csr(threads)


def _from_scipy(matrix: Any) -> Csr:
    """Rows of a sparse matrix; stored zeros are not items."""
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    other = rows.data[rows.data != 1]
    if len(other):
        raise SottovoceError("transactions", "must be a matrix of zeros and ones", other[0])
    return checked_csr(rows.indptr, rows.indices, matrix.shape[1])
