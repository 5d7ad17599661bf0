"""Schemas from tables: what is read off, and what must be said by hand."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.infer import infer_columns, infer_schema
from sottovoce.tables.source import open_source

TABLE = {
    "sex": ["m", "f", "f"],
    "children": [2, 0, 0],
    "tax": [True, True, True],
    "age": [20.5, 35, 50],
    "basket": [["ale"], [], ["bread", "ale"]],
}
FRAMES = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_become_variables(kind):
    schema = infer_schema(FRAMES[kind](TABLE), bins={"age": [18, 40, 99]})
    assert list(schema) == [
        Attribute("sex", ["f", "m"]),
        Attribute("children", [0, 2]),
        boolean("tax"),
        Binned("age", [18, 40, 99], closed="left"),
        ItemSet("basket", ["ale", "bread"]),
    ]


def test_declared_categories_are_taken_from_the_type():
    frame = pl.DataFrame({"drug": ["once"]}, schema={"drug": pl.Enum(["never", "once", "often"])})
    assert infer_schema(frame)["drug"].categories == ("never", "once", "often")
    declared = pd.Categorical(["once"], categories=["often", "never", "once"], ordered=True)
    assert infer_schema(pd.DataFrame({"drug": declared}))["drug"].categories == ("often", "never", "once")


def test_csv_text_becomes_what_it_says(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,b,zip,word\n1,true,01,x\n-2,False,02,y\n1,true,01,x\n")
    schema = infer_schema(path)
    assert [v.categories for v in schema] == [(-2, 1), (False, True), ("01", "02"), ("x", "y")]


def test_sets_that_are_written_as_text(tmp_path):
    """Items as they are named, numbers as numbers; lists are sets whether they are named or not."""
    (tmp_path / "t.csv").write_text("basket,pages\nbread;ale,30\n,7;30\n")
    schema = infer_schema(tmp_path / "t.csv", sets=["basket", "pages"])
    assert schema.variables == (ItemSet("basket", ["ale", "bread"]), ItemSet("pages", [7, 30]))
    table = {"basket": ["ale;bread", None], "pages": [[30], [7, 30]]}
    assert infer_schema(table, sets=["basket", "pages"]).variables == schema.variables


def test_chosen_columns_only():
    assert infer_schema(TABLE, columns=["tax", "sex"]).names == ("tax", "sex")


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars"])
def test_missing_values_need_a_category(kind):
    table = FRAMES[kind]({"drug": ["a", None, "b"], "n": [1.0, 2.0, None]})
    with pytest.raises(SottovoceError, match=r"^column 'drug' must have no missing values, unless"):
        infer_schema(table)
    schema = infer_schema(table, missing="silent")
    assert schema["drug"] == Attribute("drug", ["a", "b", "silent"], missing="silent")
    assert schema["n"] == Attribute("n", ["1", "2", "silent"], missing="silent")


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "arrow"])
def test_a_schema_reads_the_table_it_was_inferred_from(kind):
    table = FRAMES[kind]({"n": [3, None, 1], "b": [True, None, False], "s": ["x", None, "y"]})
    schema = infer_schema(table, missing="silent")
    (codes,) = open_source(table).coded(schema)
    assert [c.tolist() for c in codes] == [[1, 2, 0], [1, 2, 0], [0, 2, 1]]


def test_missing_cells_of_csv(tmp_path):
    (tmp_path / "t.csv").write_text("drug,n\na,1\n,2\n")
    assert infer_schema(tmp_path / "t.csv", missing="silent")["drug"].categories == ("a", "silent")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["x"] * 3, "must take at least two values"),
        ([0.5, 1.5, 2.5], "must hold text, integers or booleans of one kind; cut other numbers into bins"),
        ([1, "x", 2], "must hold text, integers or booleans of one kind"),
        ([dt.date(2020, 1, 1)] * 3, "must hold text, integers or booleans of one kind"),
        (list(range(200)), "must take at most 100 different values, or be cut into bins"),
    ],
)
def test_columns_that_need_a_decision(column, message):
    with pytest.raises(SottovoceError, match=rf"^column 'c' {message}"):
        infer_schema({"c": column})


def test_unknown_columns_are_refused():
    with pytest.raises(SottovoceError, match=r"^columns must be columns of the table \(a\)\. Got \['b'\] instead"):
        infer_schema({"a": [1, 2]}, columns=["b"])
    with pytest.raises(SottovoceError, match=r"^bins must be columns of the table"):
        infer_schema({"a": [1, 2]}, bins={"b": [0, 1, 2]})


def test_numpy_columns():
    assert infer_schema({"a": np.array([3, 1, 3])})["a"].categories == (1, 3)


@pytest.mark.parametrize("kind", FRAMES)
def test_public_columns_are_inferred(kind):
    rows = 30
    table = {
        "tax": [True, False] * 15,
        "region": ["north", "south"] * 15,
        "weight": [0.5, 1.5] * 15,
        "size": list(range(rows)),
        "one": [1] * rows,
        "level": [1, 2] * 15,
        "age": [20.5, 60] * 15,
    }
    public = ["weight", "region", "size", "one", "level", "age"]
    schema, found = infer_columns(FRAMES[kind](table), public=public, bins={"age": [0, 40, 99]})
    assert schema.variables == (boolean("tax"),)
    assert found == (
        PublicNumber("weight"),
        Attribute("region", ["north", "south"]),
        PublicNumber("size"),
        PublicNumber("one"),
        Attribute("level", [1, 2]),
        Binned("age", [0, 40, 99], closed="left"),
    )


def test_public_columns_of_a_csv_file_are_inferred(tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 25)
    lines = [f"{i % 2},{i},{i % 3 / 2},word{i % 2}" for i in range(60)]
    (tmp_path / "t.csv").write_text("tax,size,weight,word\n" + "\n".join(lines) + "\n")
    schema, found = infer_columns(tmp_path / "t.csv", public=["size", "weight", "word"])
    assert schema.names == ("tax",)
    assert found == (PublicNumber("size"), PublicNumber("weight"), Attribute("word", ["word0", "word1"]))
    (tmp_path / "t.csv").write_text("tax,size,weight,word\n" + "\n".join([*lines, "1,much,1,x"]) + "\n")
    with pytest.raises(SottovoceError, match=r"^size must be a finite number in every row\. Got 'much'"):
        infer_columns(tmp_path / "t.csv", public=["size", "weight", "word"])


def test_public_columns_that_cannot_be_inferred():
    table = {"tax": [True, False], "pets": [["cat"], []], "name": ["x", "y"], "one": ["a", "a"]}
    with pytest.raises(SottovoceError, match=r"^public must be attributes with categories"):
        infer_columns(table, columns=["tax"], public=["pets"])
    with pytest.raises(SottovoceError, match=r"^column 'one' must take at least two values"):
        infer_columns(table, columns=["tax"], public=["one"])
    with pytest.raises(SottovoceError, match=r"^public must be columns of the table \(tax, .*Got \['town'\]"):
        infer_columns(table, public=["town"])
    with pytest.raises(SottovoceError, match=r"^public must be a list of names\. Got 'name'"):
        infer_columns(table, public="name")
    with pytest.raises(SottovoceError, match=r"^public must name each column once"):
        infer_columns(table, columns=["tax"], public=["name", "name"])
    many = {"tax": [True] * 200, "name": [f"person {i}" for i in range(200)]}
    with pytest.raises(SottovoceError, match=r"^column 'name' must take at most 100 different values"):
        infer_columns(many, public=["name"])
    schema, found = infer_columns(table, columns=["tax", "name"], public=["name"])
    assert (schema.names, [column.name for column in found]) == (("tax",), ["name"])


@pytest.mark.parametrize("record", [{"n": 1}, [{"n": 1}]])
def test_columns_of_records_are_refused(record):
    arrow = pa.table({"a": [record, record]})
    for table in (arrow, arrow.to_pandas(), pl.from_arrow(arrow), pl.from_arrow(arrow).lazy(), {"a": [record]}):
        with pytest.raises(
            SottovoceError, match=r"^column 'a' must hold text, integers or booleans .* Got records, or"
        ):
            infer_schema(table)
