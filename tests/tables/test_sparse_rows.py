"""Columns of sets as sparse rows, from any table."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables import source as sources
from sottovoce.tables import sparse_rows
from sottovoce.tables.source import open_source
from sottovoce.tables.sparse_rows import csr_batches

BASKET = ItemSet("basket", ["ale", "bread", "cheese"])
LISTS = [["bread"], [], ["cheese", "ale", "ale"], ["ale", "bread"]]
EXPECTED = [[1], [], [0, 2], [0, 1]]


def rows(table) -> list[list[int]]:
    return [
        part.tolist()
        for indptr, indices in csr_batches(open_source(table), BASKET)
        for part in np.split(indices, indptr[1:-1])
    ]


@pytest.mark.parametrize(
    "table",
    [
        {"basket": LISTS},
        {"basket": ["bread", "", "cheese;ale", "ale;bread"]},
        pd.DataFrame({"basket": LISTS}),
        pa.table({"basket": LISTS}),
        pa.table({"basket": pa.array(LISTS, pa.large_list(pa.string()))}),
        pa.table({"basket": pa.array(LISTS, pa.list_(pa.dictionary(pa.int32(), pa.string())))}),
        pa.table({"basket": pa.chunked_array([LISTS[:2], LISTS[2:]])}),
        pa.table({"basket": ["bread", "", "cheese;ale", "ale;bread"]}),
        pa.table({"basket": [["ale"], *LISTS]}).slice(1),
        pl.DataFrame({"basket": LISTS}),
        pl.DataFrame({"basket": [["ale"], *LISTS]})[1:],
        pl.DataFrame({"basket": LISTS}, schema={"basket": pl.List(pl.Categorical)}),
        pl.DataFrame({"basket": ["bread", "", "cheese;ale", "ale;bread"]}),
    ],
)
def test_tables_of_all_kinds(table):
    assert rows(table) == EXPECTED


def test_lists_of_polars_without_pyarrow(monkeypatch):
    monkeypatch.setattr(sparse_rows, "find_spec", lambda _: None)
    assert rows(pl.DataFrame({"basket": LISTS})) == EXPECTED


@pytest.mark.parametrize(("rows_at_once", "batches"), [(1, [1] * 9), (3, [2, 2, 2, 3]), (7, [6, 3]), (99, [9])])
@pytest.mark.parametrize("limit", [1, 2**20])
def test_text_in_several_row_groups(rows_at_once, batches, limit, tmp_path, monkeypatch):
    """Each row group has a dictionary of its own, or none past the limit; batches join as many as they may."""
    lists = [["bread"], ["ale"], [], [], ["cheese"], ["ale", "cheese"], ["bread"], ["ale", "bread", "cheese"], []]
    options = {"row_group_size": 2, "dictionary_pagesize_limit": limit, "write_batch_size": 1}
    pq.write_table(pa.table({"basket": lists}), tmp_path / "t.parquet", **options)
    monkeypatch.setattr(sources, "BATCH_ROWS", rows_at_once)
    found = list(csr_batches(open_source(tmp_path / "t.parquet"), BASKET))
    assert [len(indptr) - 1 for indptr, _ in found] == batches
    assert rows(tmp_path / "t.parquet") == [[BASKET.items.index(item) for item in each] for each in lists]


@pytest.mark.parametrize("values", [[1, 2, 2, 3], [1, 2**40, 2**40, -5]])
def test_whole_numbers(values):
    """A narrow range is looked up in a table, a wide one in a dictionary; the order of the universe is kept."""
    variable = ItemSet("basket", sorted(set(values), reverse=True))
    table = pa.table({"basket": pa.array([values[:2], [], values[2:]], pa.list_(pa.int64()))})
    ((indptr, indices),) = csr_batches(open_source(table), variable)
    found = [sorted(variable.items[i] for i in part) for part in np.split(indices, indptr[1:-1])]
    assert found == [sorted(values[:2]), [], sorted(values[2:])]
    assert all((np.diff(part) > 0).all() for part in np.split(indices, indptr[1:-1]))


def test_whole_numbers_that_are_missing_or_unknown():
    numbers = ItemSet("basket", [1, 2])
    for lists in ([[1, None]], [[1, 7]]):
        table = open_source(pa.table({"basket": pa.array(lists, pa.list_(pa.int64()))}))
        with pytest.raises(SottovoceError, match=r"^basket must be one of its categories"):
            list(csr_batches(table, numbers))


@pytest.mark.parametrize("lists", [False, True], ids=["texts", "lists"])
def test_bytes_that_are_no_text_are_refused(lists):
    flat = pa.array([b"ale", b"\xff"]).view(pa.string())
    values = pa.ListArray.from_arrays([0, 1, 2], flat) if lists else flat
    with pytest.raises(SottovoceError, match=r"^basket must hold UTF-8 where it says that it is text"):
        rows(pa.table({"basket": values}))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"other": LISTS}, r"^table must have the column 'basket'\. Got a table with the column 'other'"),
        ({"basket": []}, r"^table must have at least one row"),
        ({"basket": [["dates"]]}, r"^basket must be one of its categories .* Got 'dates'"),
        (pa.table({"basket": [["ale"], None]}), r"^basket must be a collection of items"),
        (pa.table({"basket": [["dates"]]}), r"^basket must be one of its categories .* Got 'dates'"),
        (pl.DataFrame({"basket": [["ale"], None]}), r"^basket must be a collection of items"),
        (pl.DataFrame({"basket": [["dates"]]}), r"^basket must be one of its categories .* Got 'dates'"),
    ],
)
def test_refused(table, message):
    with pytest.raises(SottovoceError, match=message):
        rows(table)


def test_narwhals_frames():
    assert rows(nw.from_native(pa.table({"basket": LISTS}))) == EXPECTED


def test_rows_in_order_are_left_as_they_are():
    indptr, indices = np.array([0, 2, 3]), np.array([0, 2, 1], np.int32)
    kept = sparse_rows.sorted_rows(indptr, indices, items=3)
    assert kept[0] is indptr
    assert kept[1] is indices
