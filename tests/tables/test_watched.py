"""A watched table reads as the table does, and tells how far."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.budget import new_plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import BATCH_ROWS, WatchedSource, open_source

SCHEMA = Schema([boolean("a")])


@pytest.mark.parametrize("kind", ["mapping", "csv"])
def test_batches_are_those_of_the_table_and_are_counted(tmp_path, kind):
    rows = [row % 3 == 0 for row in range(BATCH_ROWS + 5)]
    table = {"a": rows}
    if kind == "csv":
        table = str(tmp_path / "a.csv")
        (tmp_path / "a.csv").write_text("a\n" + "\n".join(map(str, rows)) + "\n")
    told = []
    watched = WatchedSource(table, lambda *done: told.append(done))
    (codes,) = (np.concatenate(parts) for parts in zip(*watched.coded(SCHEMA), strict=True))
    assert codes.tolist() == rows
    assert told[-1] == (len(rows), len(rows) if kind == "mapping" else None)
    assert len(told) > 1
    assert open_source(watched) is watched


def test_it_may_be_estimated_from():
    plan = new_plan(SCHEMA, odds=3)
    table = {"a": [True] * 40 + [False] * 60}
    found = estimate_proportions(WatchedSource(table, lambda *done: None), plan, "a")
    assert found.value.tolist() == estimate_proportions(table, plan, "a").value.tolist()


def test_missing_columns_are_named():
    with pytest.raises(SottovoceError, match=r"^table must have the columns \['a'\]\. Got only \['b'\] instead"):
        next(WatchedSource({"b": [1]}, lambda *done: None).coded(SCHEMA))
