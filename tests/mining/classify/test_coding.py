"""Records as codes, whatever holds them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mining.classify.coding import coded, encode_array, is_array
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema

SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), Attribute("c", range(3))])


def test_every_kind_gives_the_same_codes(tmp_path):
    table = {"a": [True, False], "b": ["z", "x"], "c": [2, 0]}
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "table.csv", index=False)
    without = {name: table[name] for name in ("a", "c")}
    rows = [[True, "z", 2], [False, "x", 0]]
    found = [
        coded(table, SCHEMA),
        coded(frame, SCHEMA),
        coded(pa.table(table), SCHEMA),
        coded(tmp_path / "table.csv", SCHEMA),
        coded(str(tmp_path / "table.csv"), SCHEMA),
        coded(np.array(rows, object), SCHEMA),
        coded(rows, SCHEMA),
        coded(without, SCHEMA, {"b": np.array(["z", "x"])}),
        coded([[1, 2], [0, 0]], SCHEMA, {"b": ["z", "x"]}),
        coded([[1, 2], [0, 0]], SCHEMA, {"b": [["z"], ["x"]]}),
    ]
    for columns in found:
        assert [codes.tolist() for codes in columns] == [[1, 0], [2, 0], [2, 0]]
    assert [is_array(kind) for kind in (table, frame, pa.table(table), "path", rows)] == [False] * 4 + [True]


def test_whole_numbers_that_are_their_own_codes():
    assert encode_array(SCHEMA["c"], np.array([2, 0, 1]))[0].dtype == np.uint8
    with pytest.raises(SottovoceError, match="c must be one of its categories"):
        encode_array(SCHEMA["c"], np.array([3, 0]))
    with pytest.raises(SottovoceError, match="c must be one of its categories"):
        encode_array(SCHEMA["c"], np.array([-1, 0]))


def test_columns_beside_a_table_must_fit():
    with pytest.raises(SottovoceError, match="y must have a value for each of the 2 rows"):
        coded({"a": [True, False], "c": [1, 2]}, SCHEMA, {"b": ["x"]})
    with pytest.raises(SottovoceError, match="X must have rows of 3 values"):
        coded([True, False], SCHEMA)
