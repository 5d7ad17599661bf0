"""A table with progress reads as the table does, and calls back with the rows read."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.budget import new_plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.tables.plan_file import read_reports
from sottovoce.tables.source import BATCH_ROWS, ProgressSource, open_source

SCHEMA = Schema([boolean("a")])


@pytest.mark.parametrize("kind", ["mapping", "csv"])
def test_batches_are_those_of_the_table_and_are_counted(tmp_path, kind):
    rows = [row % 3 == 0 for row in range(BATCH_ROWS + 5)]
    table = {"a": rows}
    if kind == "csv":
        table = str(tmp_path / "a.csv")
        (tmp_path / "a.csv").write_text("a\n" + "\n".join(map(str, rows)) + "\n")
    told = []
    watched = ProgressSource(table, lambda *done: told.append(done))
    (codes,) = (np.concatenate(parts) for parts in zip(*watched.coded(SCHEMA), strict=True))
    assert codes.tolist() == rows
    assert told[-1] == (len(rows), len(rows) if kind == "mapping" else None)
    assert len(told) > 1
    assert open_source(watched) is watched


def test_it_may_be_estimated_from():
    plan = new_plan(SCHEMA, odds=3)
    table = {"a": [True] * 40 + [False] * 60}
    found = estimate_proportions(ProgressSource(table, lambda *done: None), plan, "a")
    assert found.value.tolist() == estimate_proportions(table, plan, "a").value.tolist()


def test_missing_columns_are_named():
    with pytest.raises(
        SottovoceError, match=r"^table must have the column 'a'\. Got a table with the column 'b' instead"
    ):
        next(ProgressSource({"b": [1]}, lambda *done: None).coded(SCHEMA))


def test_public_numbers_are_read_through_it(tmp_path):
    (tmp_path / "r.csv").write_text("a,weight\nTrue,1.5\nFalse,2\n")
    plan = new_plan(Schema([boolean("a")]), odds=3, public=[PublicNumber("weight")])
    source = ProgressSource(tmp_path / "r.csv", lambda done, total: None)
    assert read_reports(source, plan)["weight"].tolist() == [1.5, 2]
