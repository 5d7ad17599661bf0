"""Arrow columns by their dictionaries: the codes and the refusals that values one by one would give."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables import source as sources
from sottovoce.tables.parquet import array_of_sets
from sottovoce.tables.source import open_source
from sottovoce.tables.values import encode_arrow

DRUG = Attribute("drug", ["never", "once", "silent"], missing="silent")
AGE = Binned("age", [18, 40, 65], closed="left", missing="no answer")
BASKET = ItemSet("basket", ["ale", "bread", "cheese"])
LISTS = [["bread"], [], ["cheese", "ale", "ale"]]


@pytest.mark.parametrize(
    ("variable", "column"),
    [
        (DRUG, pa.array(["once", None, "never", "once"])),
        (DRUG, pa.array(["once", None, "never"], pa.large_string())),
        (DRUG, pa.array(["once", None, "never"]).dictionary_encode()),
        (DRUG, pa.array(["once", None, "never"]).dictionary_encode("encode")),
        (DRUG, pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int8()), ["never", "once", "unheard of"])),
        (DRUG, pa.array([], pa.string())),
        (boolean("b"), pa.array([True, False, False])),
        (boolean("b"), pa.array(["true", "FALSE", "False"])),
        (Attribute("n", [1, 2, 3]), pa.array([3, 1, 2], pa.int16())),
        (Attribute("n", [1, 2, 3]), pa.array([3.0, 1.0, 2.0])),
        (Attribute("n", [1, 2, 3]), pa.array(["3", "1"])),
        (Attribute("n", [1, 2], missing=2), pa.array([1.0, float("nan"), None])),
        (AGE, pa.array([18, None, 64], pa.uint8())),
        (AGE, pa.array([18.0, float("nan"), 64.5], pa.float32())),
        (AGE, pa.array(["18", None, "4e1"])),
        (AGE, pa.array([Decimal("18.50"), None])),
        (BASKET, pa.array(LISTS)),
        (BASKET, pa.array([["zero"], *LISTS])[1:]),
        (BASKET, pa.array(LISTS, pa.large_list(pa.string()))),
        (BASKET, pa.array(LISTS, pa.list_(pa.dictionary(pa.int8(), pa.string())))),
        (BASKET, pa.array([["ale", "bread"]], pa.list_(pa.string(), 2))),
        (BASKET, pa.array(["bread", "", "cheese;ale"])),
    ],
    ids=str,
)
def test_codes_are_those_of_the_values(variable, column):
    expected = [codes.tolist() for codes in variable.encode(column.to_pylist())]
    for chunks in ([column], [column[:1], column[1:]], [column, column[:0]]):
        found = encode_arrow(variable, pa.chunked_array(chunks))
        assert [codes.tolist() for codes in found] == expected
        assert {codes.dtype.name for codes in found} == {"uint8"}


@pytest.mark.parametrize(
    ("variable", "column"),
    [
        (DRUG, pa.array(["once", "daily", "hourly"])),
        (Attribute("drug", ["never", "once"]), pa.array(["once", None])),
        (DRUG, pa.array([{"drug": "once"}])),
        (DRUG, pa.array([["once"]])),
        (AGE, pa.array([18, 17])),
        (AGE, pa.array(["18", "old"])),
        (Binned("age", [18, 40, 65], closed="left"), pa.array([18, None])),
        (BASKET, pa.array([["ale"], ["wine"]])),
        (BASKET, pa.array([["ale"], None])),
        (BASKET, pa.array([["ale", None]])),
        (BASKET, pa.array([3])),
    ],
    ids=str,
)
def test_refusals_are_those_of_the_values(variable, column):
    with pytest.raises(SottovoceError) as expected:
        variable.encode(column.to_pylist())
    with pytest.raises(SottovoceError) as found:
        encode_arrow(variable, pa.chunked_array([column]))
    assert str(found.value) == str(expected.value)


def test_more_labels_than_the_dictionary_can_number_with_a_missing_one():
    """Signed bytes number 127 labels and no more; the missing value needs another number."""
    labels = [f"label {n}" for n in range(128)]
    column = pa.DictionaryArray.from_arrays(pa.array([127, None, 0], pa.int8()), labels)
    (codes,) = encode_arrow(Attribute("a", labels, missing="label 5"), pa.chunked_array([column]))
    assert codes.tolist() == [127, 5, 0]


@pytest.mark.parametrize("items", [["ale", "bread", "cheese"], [1, 2, 3], [3, 1, 2]])
def test_sets_become_lists_in_the_order_of_the_universe(items):
    variable = ItemSet("basket", items)
    columns = variable.encode([[items[2], items[0]], [], [items[1]]])
    kind = pa.list_(pa.string() if items[0] == "ale" else pa.int64())
    assert array_of_sets(variable, columns, kind).to_pylist() == variable.decode(columns)
    nobody = tuple(codes[:0] for codes in columns)
    assert array_of_sets(variable, nobody, kind).to_pylist() == []


def test_only_the_columns_asked_for_are_read_from_parquet(tmp_path):
    """Names with a dot are names, not paths into structures."""
    pq.write_table(pa.table({"a": [1], "a.b": ["x"], "c": [True]}), tmp_path / "t.parquet")
    (batch,) = open_source(tmp_path / "t.parquet").batches(["a", "c"])
    assert {name: values.to_list() for name, values in batch.items()} == {"a": [1], "c": [True]}


def test_wide_tables_come_in_fewer_rows(monkeypatch):
    """Twelve values at a time are four rows of a universe of three."""
    monkeypatch.setattr(sources, "BATCH_VALUES", 12)
    source = open_source({"basket": [["ale"]] * 10})
    assert [len(columns[0]) for columns in source.coded(Schema([BASKET]))] == [4, 4, 2]


def test_parquet_with_two_columns_of_one_name_is_refused(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(SottovoceError, match=r"t\.parquet must have different column names\. Got \['a', 'a'\]"):
        open_source(tmp_path / "t.parquet")


def test_text_that_is_none_is_refused(tmp_path):
    """Latin-1 bytes that a file declares to be text."""
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array(["Müller".encode("latin-1")]).buffers())
    pq.write_table(pa.table({"drug": broken}), tmp_path / "t.parquet")
    with pytest.raises(SottovoceError, match=r"t\.parquet must hold UTF-8 in its text columns"):
        list(open_source(tmp_path / "t.parquet").coded(Schema([DRUG])))
