"""Disguising Spark DataFrames in local mode; `test_spark_retries` has what goes wrong with tasks."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.disguises import spark_tasks
from sottovoce.disguises.engines import KeyedDisguise
from sottovoce.disguises.keyed_coins import RunKey, disguise_keyed
from sottovoce.disguises.spark_tasks import (
    Folder,
    check_unique,
    equal_hashes,
    new_folder,
    report_types,
    spark_schema,
    task,
)
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.warner import Warner
from sottovoce.tables.spark_source import SparkSource, quiet

PLAN = Plan.of(
    Schema([boolean("tax.paid"), Attribute("a `drug`", ["never", "once", "often"]), ItemSet("ill", ["flu", "gout"])]),
    {"tax.paid": Warner(p=0.75), "a `drug`": Warner(p=0.6), "ill": Mask(p=0.9)},
    public=[Attribute("children", [0, 1, 2]), PublicNumber("weight")],
)
ROWS = 1000


def truths(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "person": pa.array([f"person number {i}" for i in range(rows)], pa.string()),
            "tax.paid": rng.integers(0, 2, rows).astype(bool),
            "a `drug`": pa.array(np.array(["never", "once", "often"])[rng.integers(0, 3, rows)], pa.string()),
            "ill": pa.array([["flu", "gout"][: n % 3] for n in range(rows)], pa.list_(pa.string())),
            "children": pa.array(rng.integers(0, 3, rows), pa.int32()),
            "weight": pa.array(rng.random(rows), pa.float32()),
        }
    )


def expected(table: pa.Table, key: RunKey) -> dict:
    codes = [codes for v in PLAN.schema for codes in v.encode(table.column(v.name).to_pylist())]
    return PLAN.report_schema.decode(disguise_keyed(codes, table.column("person"), PLAN, key))


def test_a_frame_is_written_with_its_plan_and_read_back(spark, tmp_path):
    to, calls = tmp_path / "reports", []
    frame = spark.createDataFrame(truths())
    reports = sv.disguise(frame, PLAN, to=to, row_id="person", progress=lambda *step: calls.append(step))
    assert calls == [(ROWS, ROWS)]
    again = sv.read(to)
    assert (again.plan, len(again)) == (PLAN, ROWS)
    table = again.to_frame("pyarrow")
    assert table.schema.names == ["tax.paid", "a `drug`", "ill", "children", "weight"]
    rows = sorted(table.column("weight").to_pylist())
    assert np.allclose(rows, sorted(truths().column("weight").to_pylist()))
    theirs, ours = reports.estimate("a `drug`"), again.estimate("a `drug`")
    assert theirs.value.tolist() == ours.value.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reports"]


def changed(name: str, values) -> pa.Table:
    table = truths(10)
    return table.set_column(table.schema.get_field_index(name), name, values)


NULLS = pa.array(["a", None, "b", None, *"cdefgh"])
REFUSED = {
    "nulls": ({}, changed("person", NULLS), "row_id must have a value in every row of 'person'. Got 2 rows without"),
    "repeated": (
        {},
        changed("person", pa.array([1, 2, 2, 3, 3, 3, 4, 5, 6, 7])),
        r"row_id must differ in all rows, .*'person' repeats. Got 2 ids, such as 2, instead",
    ),
    "unseen": (
        {},
        changed("a `drug`", pa.array(["never"] * 7 + ["daily"] * 3)),
        r"a `drug` must be one of its categories \(never, once, often\). Got 'daily' \(3 rows\) instead",
    ),
    "public": ({}, changed("children", pa.array([0] * 9 + [7])), r"children must be one of .* Got 7 \(1 row\) instead"),
    "weight": ({}, changed("weight", pa.array([None] + [0.5] * 9)), "weight must be a finite number in every row"),
    "floats": ({}, changed("person", pa.array(np.arange(10.0))), "row_id must name a column of whole numbers, text"),
    "a seed": ({"rng": 1}, truths(10), "rng must be left out for a lazy table"),
    "no row id": ({"row_id": None}, truths(10), "row_id must name a column"),
    "no place": ({"to": None}, truths(10), "to must name what the reports of a lazy table are written to"),
    "unnamed": ({}, truths(10).append_column("name", NULLS), "it lacks the column 'name'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_must_be_refused_leaves_nothing_behind(case, spark, tmp_path):
    options, table, message = REFUSED[case]
    with pytest.raises(SottovoceError, match=message):
        sv.disguise(spark.createDataFrame(table), PLAN, **({"to": tmp_path / "out", "row_id": "person"} | options))
    assert list(tmp_path.iterdir()) == []


def test_empty_frames_and_streams_are_refused(spark, tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    empty = spark.createDataFrame([], "id long, tax boolean")
    with pytest.raises(SottovoceError, match="table must have at least one row"):
        sv.disguise(empty, plan, to=tmp_path / "out", row_id="id")
    stream = spark.readStream.format("rate").load().selectExpr("value AS id", "value > 1 AS tax")
    with pytest.raises(SottovoceError, match=r"data must be a table that ends\. Got a stream"):
        sv.disguise(stream, plan, to=tmp_path / "out", row_id="id")


@pytest.mark.parametrize("unfit", ["monotonically_increasing_id()", "uuid()", "cast(1e9 * rand() AS bigint)"])
def test_ids_that_change_are_refused(unfit, spark, tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    frame = spark.range(10).selectExpr(f"{unfit} AS person", "id > 3 AS tax")
    with pytest.raises(SottovoceError, match=r"row_id must be the same when a task is run again, as monotonically_inc"):
        sv.disguise(frame, plan, to=tmp_path / "out", row_id="person")


def test_ids_beside_columns_that_change(spark, tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    beside = spark.range(10).selectExpr("uuid() AS other", "id", "id > 3 AS tax")
    sv.disguise(beside, plan, to=tmp_path / "out", row_id="id", drop=["other"])


def test_folders_are_not_named_as_something_else(spark, tmp_path):
    plan, frame = (
        Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)}),
        spark.range(10).selectExpr("id > 3 AS tax"),
    )
    with pytest.raises(SottovoceError, match=r"^to must be named as CSV or Parquet; DuckDB files are not written"):
        sv.disguise(frame, plan, to=tmp_path / "reports.duckdb", row_id="id")


def test_an_existing_folder_is_kept(spark, tmp_path):
    plan, to = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)}), tmp_path / "out"
    frame = spark.range(10).selectExpr("id", "id > 3 AS tax")
    to.mkdir()
    (to / "precious").write_text("gold")
    with pytest.raises(SottovoceError, match="to must not exist yet"):
        sv.disguise(frame, plan, to=to, row_id="id")
    with pytest.raises(SottovoceError, match="repeats"):
        sv.disguise(frame.union(frame), plan, to=to, row_id="id", overwrite=True)
    assert [path.name for path in to.iterdir()] == ["precious"]
    assert len(sv.disguise(frame, plan, to=f"file://{to}", row_id="id", overwrite=True)) == 10
    assert len(sv.read(to)) == 10
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


class JavaPath(str):
    """A path with the method of Java's."""

    def toString(self):  # noqa: N802
        return str(self)


class Files(dict):
    """A file system that cannot rename some folders."""

    fixed = ""

    def exists(self, path):
        return path in self

    def rename(self, old, new):
        if old != self.fixed:
            self[new] = self.pop(old)
        return old != self.fixed

    def delete(self, path, all_of_it):
        self.pop(path, None)


@pytest.mark.parametrize("fixed", ["out", ".part", ""])
def test_a_folder_that_cannot_appear_leaves_the_old_one(fixed):
    folder, files = Folder.__new__(Folder), Files({"out": "old", ".part": "new"})
    folder._files, folder._final, folder._hidden, folder._old = files, JavaPath("out"), JavaPath(".part"), ".old"
    files.fixed = fixed
    if fixed:
        with pytest.raises(SottovoceError, match=r"to must be a folder whose name can be taken\. Got 'out' instead"):
            folder.appear()
        folder.remove()
        assert files == {"out": "old"}
    else:
        folder.appear()
        assert files == {"out": "new"}


def test_folders_that_cannot_be_written_are_refused(spark, tmp_path):
    for path in ("nowhere://a/b", str(tmp_path / "new")):  # of an unknown file system, and with nothing written
        with (
            pytest.raises(SottovoceError, match="to must be a folder that Spark can write"),
            new_folder(spark, path, overwrite=False),
        ):
            pass
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_in_no_text(spark, capfd):
    source, work = SparkSource(spark.createDataFrame(truths(10))), KeyedDisguise(PLAN, "person", RunKey())
    reports = report_types(PLAN, {})
    run = task(work, truths(0).schema, reports, print)
    with quiet():
        query = source.columns(work.names).mapInArrow(run, spark_schema(reports))
    query.explain(extended=True)
    shown = capfd.readouterr().out + repr(work) + str(query)
    secret = work.key.__reduce__()[1][0]
    assert "MapInArrow" in shown
    assert all(text not in shown for text in (secret.hex(), repr(secret)[2:20], str(list(secret))[1:20]))


def test_a_task_gives_the_reports_of_its_rows():
    table, key, refused = truths(), RunKey(), []
    work = pickle.loads(pickle.dumps(KeyedDisguise(PLAN, "person", key)))  # noqa: S301
    types = report_types(PLAN, {"weight": pa.float32()})
    run = task(work, table.select(work.names).schema, types, refused.extend)
    batches = list(run(table.select(work.names).to_batches(max_chunksize=300)))
    found = pa.Table.from_batches(batches, types)
    wanted = expected(table, key)
    assert found.column("a `drug`").to_pylist() == wanted["a `drug`"].tolist()
    assert found.column("ill").to_pylist() == wanted["ill"]
    assert found.column("weight").equals(table.column("weight"))
    assert refused == []
    assert list(run([])) == []


def test_a_task_reads_all_and_refuses_once():
    table, refused = changed("a `drug`", pa.array(["never"] * 7 + ["daily"] * 3)), []
    work = KeyedDisguise(PLAN, "person", RunKey())
    source = iter(table.select(work.names).to_batches(max_chunksize=2))
    run = task(work, table.select(work.names).schema, report_types(PLAN, {"weight": pa.float32()}), refused.extend)
    assert list(run(source)) == []
    assert next(source, None) is None
    assert refused == [("a `drug`", "must be one of its categories (never, once, often)", "'daily'")]


def test_equal_hashes_of_a_partition():
    def found(*columns):
        batches = [pa.record_batch({"hash": pa.array(c, pa.int64()), "missing": [v == 42 for v in c]}) for c in columns]
        (batch,) = equal_hashes(batches)
        return batch.to_pylist()[0]

    assert found() == {"rows": 0, "missing": 0, "equal": []}
    assert found([3, 1], [2, 1, 3, 42]) == {"rows": 6, "missing": 1, "equal": [1, 3]}
    assert len(found(range(2000), range(2000))["equal"]) == 1001


def test_ids_with_equal_hashes_are_compared(spark, monkeypatch):
    from pyspark.sql import functions

    frame = spark.range(10).toDF("id")
    monkeypatch.setattr(functions, "xxhash64", lambda name: functions.col(name) % 2)
    with quiet():
        assert check_unique(frame, "id") == 10
    with quiet(), pytest.raises(SottovoceError, match="Got 3 ids, such as 0, instead"):
        check_unique(frame.union(frame.limit(3)), "id")
    monkeypatch.undo()
    monkeypatch.setattr(spark_tasks, "MOST_COMPARED", 2)
    with quiet(), pytest.raises(SottovoceError, match="Got 3 ids, such as 0, instead"):
        check_unique(frame.union(frame.limit(3)), "id")


def test_a_partition_that_fails_is_an_error_and_leaves_nothing(spark, tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    frame = spark.range(10).selectExpr("id", "if(id = 7, raise_error('no such disk'), true) AS tax")
    with pytest.raises(SottovoceError, match="no such disk"):
        sv.disguise(frame, plan, to=tmp_path / "out", row_id="id")
    assert list(tmp_path.iterdir()) == []
