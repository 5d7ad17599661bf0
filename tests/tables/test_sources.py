"""Frames and files as coded batches: every kind of table gives the same codes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables import source as sources
from sottovoce.tables.source import open_source

KINDS = {
    "mapping": lambda t: t,
    "arrays": lambda t: {name: np.array(values) for name, values in t.items()},
    "pandas": pd.DataFrame,
    "pandas categorical": lambda t: pd.DataFrame(t).astype({"drug": "category"}),
    "pandas object": lambda t: pd.DataFrame(t).astype({"drug": object}),
    "polars": pl.DataFrame,
    "polars categorical": lambda t: pl.DataFrame(t).with_columns(pl.col("drug").cast(pl.Categorical)),
    "polars enum": lambda t: pl.DataFrame(t).with_columns(pl.col("drug").cast(pl.Enum(["often", "never", "once"]))),
    "arrow": pa.table,
    "arrow dictionary": lambda t: pa.table(t | {"drug": pa.array(t["drug"]).dictionary_encode()}),
}


@pytest.fixture(params=[*KINDS, "csv", "parquet"])
def table(request, truths, tmp_path):
    if request.param == "csv":
        pd.DataFrame(truths).to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv"
    if request.param == "parquet":
        pq.write_table(pa.table(truths), tmp_path / "t.parquet")
        return str(tmp_path / "t.parquet")
    return KINDS[request.param](truths)


def test_every_kind_of_table_gives_the_same_codes(table, schema, truths, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 3)
    source = open_source(table)
    assert source.names == schema.names
    assert source.rows in (4, None)
    batches = list(source.coded(schema))
    assert [len(batch[0]) for batch in batches] == [3, 1]
    codes = [np.concatenate(column).tolist() for column in zip(*batches, strict=True)]
    assert codes == [column.tolist() for column in schema.encode(truths)]


def test_sources_can_be_read_again(table, schema):
    source = open_source(table)
    first, second = ([c.tolist() for c in next(source.coded(schema))] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_unknown_and_missing_values_are_refused_by_name(kind):
    drug = Schema([Attribute("drug", ["never", "once"])])
    with pytest.raises(SottovoceError, match=r"^drug must be one of its categories \(never, once\)\. Got 'daily'"):
        list(open_source(KINDS[kind]({"drug": ["once", "daily"]})).coded(drug))
    with pytest.raises(SottovoceError, match=r"^drug must not be missing"):
        list(open_source(KINDS[kind]({"drug": ["once", None]})).coded(drug))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_missing_values_take_their_category(kind):
    drug = Schema([Attribute("drug", ["never", "once", "silent"], missing="silent")])
    ((codes,),) = open_source(KINDS[kind]({"drug": ["once", None, "never"]})).coded(drug)
    assert codes.tolist() == [1, 2, 0]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_lists_are_sets_of_items(kind):
    basket = Schema([ItemSet("basket", ["ale", "bread"])])
    ((ale, bread),) = open_source(KINDS[kind]({"basket": [["bread"], [], ["ale", "bread"]]})).coded(basket)
    assert (ale.tolist(), bread.tolist()) == ([0, 0, 1], [1, 0, 1])


def test_empty_cells_of_csv_are_missing_or_empty_sets(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("drug,basket\n,ale;bread\nonce,\n")
    schema = Schema([Attribute("drug", ["once", "silent"], missing="silent"), ItemSet("basket", ["ale", "bread"])])
    ((drug, ale, bread),) = open_source(path).coded(schema)
    assert [c.tolist() for c in (drug, ale, bread)] == [[1, 0], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must start with a row of different column names"),
        ("a,a\n1,2\n", "must start with a row of different column names"),
        ("a,\n1,2\n", "must start with a row of different column names"),
        ("a,b\n1,2\n1\n", "must have 2 cells in every row; line 3 has 1"),
        ('a,b\n"1,2\n', "must be CSV in UTF-8"),
    ],
)
def test_malformed_csv_is_refused(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(SottovoceError, match=message):
        list(open_source(path).batches())


def test_csv_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("name\nMüller\n".encode("latin-1"))
    with pytest.raises(SottovoceError, match="must be CSV in UTF-8"):
        list(open_source(tmp_path / "t.csv").batches())


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(SottovoceError, match="must be a Parquet file"):
        open_source(tmp_path / "t.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(
        MissingExtraError, match=r"^Parquet needs pyarrow; install it with: pip install 'sottovoce\[tables\]'"
    ):
        open_source(tmp_path / "t.parquet")


@pytest.mark.parametrize("table", [5, [1, 2], None])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(SottovoceError, match=r"^table must be a pandas, polars or Arrow table, a mapping"):
        open_source(table)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(SottovoceError, match=r"^table must have columns of equal length"):
        open_source({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize("table", [{"a": []}, pd.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.bool_())})])
def test_empty_tables_are_refused(table):
    with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
        list(open_source(table).coded(Schema([boolean("a")])))


def test_empty_files_are_refused(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.bool_())}), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a\n")
    for name in ("t.parquet", "t.csv"):
        with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
            list(open_source(tmp_path / name).coded(Schema([boolean("a")])))


def test_tables_without_a_column_are_refused():
    with pytest.raises(SottovoceError, match=r"^table must have the column 'a'\. Got a table with the column 'b'"):
        list(open_source({"b": [True]}).coded(Schema([boolean("a")])))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame([[1, 2]]), r"^table must have text as column names, not numbers or other values\. Got 0 instead"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"^table must have different column names \(.*'a' 2 times\)"),
        (pa.table([[1], [2]], names=["a", "a"]), r"^table must have different column names \(.*'a' 2 times\)"),
        ({0: [1]}, r"^table must have text as column names, .*\. Got 0 instead"),
        ({"a": 1}, r"^table must have a list or an array as each column; 'a' is\. Got 1 instead"),
        ({"a": "xyz"}, r"^table must have a list or an array as each column; 'a' is\. Got 'xyz' instead"),
        ({"a": {1, 2}}, r"^table must have a list or an array as each column; 'a' is\. Got \{1, 2\} instead"),
    ],
)
def test_column_names_and_columns_that_no_table_can_have(table, message):
    with pytest.raises(SottovoceError, match=message):
        open_source(table)


def test_many_columns_are_shortened_in_errors():
    table = {f"q{i}": [1] for i in range(20)}
    with pytest.raises(
        SottovoceError, match=r"must have the columns 'a', 'b'\. Got a table with the columns 'q0', .* and 8 more"
    ):
        list(open_source(table).coded(Schema([boolean("a"), boolean("b")])))
