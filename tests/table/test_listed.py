"""Columns of sets as sparse rows, from any table."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.schema.item_set import ItemSet
from sottovoce.table import listed
from sottovoce.table.listed import listed_batches
from sottovoce.table.source import open_source

BASKET = ItemSet("basket", ["ale", "bread", "cheese"])
LISTS = [["bread"], [], ["cheese", "ale", "ale"], ["ale", "bread"]]
EXPECTED = [[1], [], [0, 2], [0, 1]]


def rows(table) -> list[list[int]]:
    return [
        part.tolist()
        for indptr, indices in listed_batches(open_source(table), BASKET)
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
    ],
)
def test_tables_of_all_kinds(table):
    assert rows(table) == EXPECTED


def test_wide_universes_are_coded_in_parts(monkeypatch):
    monkeypatch.setattr(listed, "BATCH_VALUES", 3)
    assert rows({"basket": LISTS}) == EXPECTED
    assert len(list(listed_batches(open_source({"basket": LISTS}), BASKET))) == 4


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"other": LISTS}, r"^table must have the columns \['basket'\]"),
        ({"basket": []}, r"^table must have at least one row"),
        ({"basket": [["dates"]]}, r"^basket must be one of its categories .* Got 'dates'"),
        (pa.table({"basket": [["ale"], None]}), r"^basket must be a set of items"),
        (pa.table({"basket": [["dates"]]}), r"^basket must be one of its categories .* Got 'dates'"),
    ],
)
def test_refused(table, message):
    with pytest.raises(SottovoceError, match=message):
        rows(table)


def test_narwhals_frames():
    assert rows(nw.from_native(pa.table({"basket": LISTS}))) == EXPECTED
