"""Disguising what Arrow, Polars and DuckDB hold, without collecting it."""

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare

import sottovoce as sv
from sottovoce.disguises import engines
from sottovoce.disguises.engines import KeyedDisguise, write_stream
from sottovoce.disguises.keyed_coins import RunKey, disguise_keyed
from sottovoce.disguises.row_ids import check_unique
from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.warner import Warner
from sottovoce.tables.parquet import arrow_schema
from sottovoce.tables.source import open_source

ROWS = 3000
SCHEMA = Schema(
    [boolean("tax"), Attribute("drug", ["never", "once", "often"]), ItemSet("ill", ["flu", "gout", "mumps"])]
)
PLAN = Plan.of(
    SCHEMA,
    {"tax": Warner(p=0.75), "drug": Warner(p=0.6), "ill": Mask(p=0.9)},
    public=[Attribute("region", ["north", "south"]), PublicNumber("weight")],
)


def truths(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(3)
    drugs = np.array(["never", "once", "often"])[rng.integers(0, 3, rows)]
    ill = [
        [item for item, has in zip(["flu", "gout", "mumps"], bits, strict=True) if has]
        for bits in rng.integers(0, 2, (rows, 3))
    ]
    return pa.table(
        {
            "person": pa.array([f"person number {i}" for i in range(rows)], pa.string()),
            "tax": rng.integers(0, 2, rows).astype(bool),
            "drug": pa.array(drugs, pa.string()).dictionary_encode(),
            "ill": pa.array(ill, pa.list_(pa.string())),
            "region": pa.array(np.array(["north", "south"])[rng.integers(0, 2, rows)], pa.string()),
            "weight": pa.array(rng.integers(1, 9, rows), pa.int16()),
        }
    )


def from_arrow(table: pa.Table, folder):
    return pyarrow.dataset.dataset(table)


def from_polars(table: pa.Table, folder):
    return pl.from_arrow(table).lazy()


def from_narwhals(table: pa.Table, folder):
    return nw.from_native(pl.from_arrow(table).lazy())


def from_duckdb(table: pa.Table, folder):
    pq.write_table(table, folder / "truths.parquet")
    return duckdb.connect().read_parquet(str(folder / "truths.parquet"))


LAZY = [from_arrow, from_polars, from_narwhals, from_duckdb]
lazily = pytest.mark.parametrize("lazy", LAZY)


@lazily
def test_reports_are_written_with_their_plan_and_read_back(lazy, tmp_path):
    to, calls = tmp_path / "reports.parquet", []
    reports = sv.disguise(
        lazy(truths(), tmp_path), PLAN, to=to, row_id="person", progress=lambda *step: calls.append(step)
    )
    assert (len(reports), reports.plan) == (ROWS, PLAN)
    assert calls[-1] == (ROWS, ROWS)
    again = sv.read(to)
    assert again.plan == PLAN
    numbers = {"weight": pa.int16()}
    stored = pq.read_table(to)
    wanted = arrow_schema(PLAN.report_schema, "", PLAN.public, numbers)
    assert stored.schema.names == wanted.names == ["tax", "drug", "ill", "region", "weight"]
    assert stored.schema.field("weight").type == pa.int16()
    assert stored.column("region").to_pylist() == truths().column("region").to_pylist()
    assert stored.column("weight").to_pylist() == truths().column("weight").to_pylist()
    assert not any("person" in str(name) for name in stored.schema.names)
    kept = np.mean(np.array(stored.column("tax")) == np.array(truths().column("tax")))
    assert 0.7 < kept < 0.8
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@lazily
def test_reports_are_those_of_keyed_coins(lazy, tmp_path):
    work, to = KeyedDisguise(PLAN, "person", RunKey()), tmp_path / "reports.parquet"
    write_stream(open_source(lazy(truths(), tmp_path)), work, to, overwrite=False, progress=None)
    table = truths()
    codes = [codes for v in PLAN.schema for codes in v.encode(table.column(v.name).to_pylist())]
    expected = PLAN.report_schema.decode(disguise_keyed(codes, table.column("person"), PLAN, work.key))
    stored = pq.read_table(to)
    assert stored.column("drug").to_pylist() == expected["drug"].tolist()
    assert stored.column("ill").to_pylist() == expected["ill"]


def test_a_second_run_is_a_second_report(tmp_path):
    frame = from_polars(truths(), tmp_path)
    first, second = (sv.disguise(frame, PLAN, to=tmp_path / name, row_id="person") for name in ("a.csv", "b.csv"))
    assert first.to_frame("pyarrow") != second.to_frame("pyarrow")


def test_estimates_of_what_was_written(tmp_path):
    plan = sv.plan(Schema([boolean("tax")]), odds=9)
    frame = pl.LazyFrame({"id": range(20_000), "tax": [i % 4 == 0 for i in range(20_000)]})
    estimate = sv.disguise(frame, plan, to=tmp_path / "r.parquet", row_id="id").estimate("tax")
    assert abs(estimate[True] - 0.25) < 5 * estimate.standard_error[1]


def test_reports_of_a_table_of_several_batches_fit_the_channel(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "BATCH_ROWS", 700)
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    frame = pl.LazyFrame({"id": range(20_000), "tax": [False] * 20_000})
    sv.disguise(frame, plan, to=tmp_path / "r.parquet", row_id="id")
    lies = sum(pq.read_table(tmp_path / "r.parquet").column("tax").to_pylist())
    assert chisquare([lies, 20_000 - lies], [5000, 15_000]).pvalue > 1e-6


def test_the_row_id_may_be_public(tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)}, public=[PublicNumber("id")])
    frame = pl.LazyFrame({"id": range(10), "tax": [False] * 10})
    sv.disguise(frame, plan, to=tmp_path / "r.parquet", row_id="id")
    assert pq.read_table(tmp_path / "r.parquet").column("id").to_pylist() == list(range(10))


def test_small_combinations_of_public_answers_are_warned_about(tmp_path):
    frame = from_polars(truths(6), tmp_path)
    with pytest.warns(SottovoceWarning, match="combination"):
        sv.disguise(frame, PLAN, to=tmp_path / "r.parquet", row_id="person")


def changed(name: str, values) -> pa.Table:
    table = truths(10)
    return table.set_column(table.schema.get_field_index(name), name, values)


NULLS = pa.array(["a", None, "b", None, *"cdefgh"])
REFUSED = {
    "no row id": ({"row_id": None}, truths(10), "row_id must name a column that differs in all rows of a lazy table"),
    "no such id": (
        {"row_id": "nobody"},
        truths(10),
        r"row_id must name a column of the table \(person, .*\). Got 'nobody'",
    ),
    "no place": ({"to": None}, truths(10), "to must name what the reports of a lazy table are written to"),
    "standard output": ({"to": "-"}, truths(10), "to must name what"),
    "no folder": ({"to": "nowhere/reports.parquet"}, truths(10), "to must be in a folder that exists"),
    "a seed": ({"rng": 1}, truths(10), "rng must be left out for a lazy table: its coins come from a secret key"),
    "unnamed": ({}, truths(10).append_column("name", NULLS), "it lacks the column 'name'"),
    "dropped": ({"drop": ["nobody"]}, truths(10), "drop must name columns of the table"),
    "dropped text": ({"drop": "tax"}, truths(10), "drop must be a list of columns, or 'others' .* Got 'tax'"),
    "dropped number": ({"drop": 5}, truths(10), "drop must be a list of columns, or 'others' .* Got 5"),
    "floats": ({}, changed("person", pa.array(np.arange(10.0))), "row_id must name a column of whole numbers, text"),
    "nulls": ({}, changed("person", NULLS), "row_id must have a value in every row of 'person'. Got 2 rows without"),
    "repeated": (
        {},
        changed("person", pa.array([1, 2, 2, 3, 3, 3, 4, 5, 6, 7])),
        r"row_id must differ in all rows, .*'person' repeats. Got 2 ids, such as [23], instead",
    ),
    "repeated text": (
        {},
        changed("person", pa.array([*"abcdefghi", "a"])),
        r"'person' repeats. Got 1 id, such as 'a', instead",
    ),
    "unseen": (
        {},
        changed("drug", pa.array(["never"] * 7 + ["daily"] * 3)),
        r"drug must be one of its categories \(never, once, often\). Got 'daily' \(3 rows\) instead",
    ),
    "missing": ({}, changed("tax", pa.array([None] + [True] * 9)), r"tax must not be missing .* Got None \(1 row\)"),
    "item": ({}, changed("ill", pa.array([["flu"]] * 9 + [["cold"]])), "ill must be one of its categories .*'cold'"),
    "public": ({}, changed("region", pa.array(["north"] * 9 + ["west"])), r"region must be one of .*'west' \(1 row\)"),
    "weight": ({}, changed("weight", pa.array([None] + [1] * 9)), "weight must be a finite number in every row"),
    "empty": ({}, truths(0), "table must have at least one row"),
}


@lazily
@pytest.mark.parametrize("case", REFUSED)
def test_what_must_be_refused_leaves_nothing_behind(case, lazy, tmp_path):
    options, table, message = REFUSED[case]
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = {"to": folder / "reports.parquet", "row_id": "person"} | options
    with pytest.raises(SottovoceError, match=message):
        sv.disguise(lazy(table, tmp_path), PLAN, **arguments)
    assert list(folder.iterdir()) == []


def test_uuids_are_row_ids(tmp_path):
    storage = pa.array([bytes([number] * 16) for number in range(10)], pa.binary(16))
    table = changed("person", pa.ExtensionArray.from_storage(pa.uuid(), storage))
    plan = Plan.of(SCHEMA.project(["tax"]), {"tax": Warner(p=0.75)})
    options = {"to": tmp_path / "reports.csv", "row_id": "person", "drop": "others"}
    assert len(sv.disguise(from_arrow(table, tmp_path), plan, **options)) == 10


@pytest.mark.parametrize("name", ["reports.duckdb", "reports.duckdb::answers", "reports.json", "reports.ARROW"])
def test_reports_are_not_written_to_what_is_read_as_something_else(name, tmp_path):
    to, plan = tmp_path / name, Plan.of(SCHEMA.project(["tax"]), {"tax": Warner(p=0.75)})
    for write in (
        lambda: sv.disguise(from_polars(truths(10), tmp_path), PLAN, to=to, row_id="person"),
        lambda: sv.disguise({"tax": [True, False]}, plan, to=to),
        lambda: sv.disguise({"tax": [True, False]}, plan).save(to, overwrite=True),
    ):
        with pytest.raises(
            SottovoceError, match=r"^(to|path) must be named as CSV or Parquet; DuckDB files are not written, "
        ):
            write()
    assert list(tmp_path.glob("reports*")) == []


def test_others_may_be_dropped(tmp_path):
    frame = from_polars(truths(100).append_column("name", pa.array(["x"] * 100)), tmp_path)
    for number, drop in enumerate((["name"], ["name", "person"], "others")):
        sv.disguise(frame, PLAN, to=tmp_path / f"{number}.parquet", row_id="person", drop=drop)


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "reports.parquet").mkdir()
    options = {"to": tmp_path / "reports.parquet", "row_id": "person", "overwrite": True}
    with pytest.raises(SottovoceError, match=r"^to must be a file\. Got the folder .*reports\.parquet"):
        sv.disguise(from_polars(truths(10), tmp_path), PLAN, **options)


def test_an_existing_file_is_kept(tmp_path):
    to, frame = tmp_path / "reports.parquet", from_polars(truths(100), tmp_path)
    to.write_text("precious")
    with pytest.raises(SottovoceError, match="to must not exist yet"):
        sv.disguise(frame, PLAN, to=to, row_id="person")
    assert to.read_text() == "precious"
    with pytest.raises(SottovoceError, match="repeats"):
        sv.disguise(pl.concat([frame, frame]), PLAN, to=to, row_id="person", overwrite=True)
    assert to.read_text() == "precious"
    assert len(sv.disguise(frame, PLAN, to=to, row_id="person", overwrite=True)) == 100


def test_reports_are_not_disguised_again(tmp_path):
    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)}, public=[PublicNumber("id")])
    frame = pl.LazyFrame({"id": range(10), "tax": [False] * 10})
    sv.disguise(frame, plan, to=tmp_path / "r.parquet", row_id="id")
    reports = pyarrow.dataset.dataset(tmp_path / "r.parquet")
    with pytest.raises(SottovoceError, match="table must not be disguised already"):
        sv.disguise(reports, plan, to=tmp_path / "again.parquet", row_id="id")
    sv.disguise(reports, plan, to=tmp_path / "again.parquet", row_id="id", again=True)


def test_plans_of_too_many_coins_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "check_words", lambda plan: (_ for _ in ()).throw(SottovoceError("plan", "must", 1)))
    with pytest.raises(SottovoceError, match="plan must"):
        sv.disguise(from_polars(truths(10), tmp_path), PLAN, to=tmp_path / "r.parquet", row_id="person")


def test_row_ids_are_for_lazy_tables():
    with pytest.raises(SottovoceError, match="row_id must be left out unless the table is lazy"):
        sv.disguise({"tax": [True]}, Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)}), row_id="tax")


def narrow(blocks):
    """A cipher of which 64 bits tell few ids apart."""
    return blocks * np.array([0, 1], np.uint64) + np.array([7, 0], np.uint64)


def test_ids_are_compared_in_several_turns_and_in_full():
    cipher = RunKey().ciphers()[0]
    unique, repeated = {"id": pa.array(range(1000))}, {"id": pa.array([*range(1000), *range(0, 1000, 100)])}
    for most in (10, 1000, 2000):
        assert check_unique(open_source(pa.table(unique)), "id", cipher, most) == 1000
        with pytest.raises(SottovoceError, match=r"Got 10 ids, such as \d+00|Got 10 ids, such as 0"):
            check_unique(open_source(pa.table(repeated)), "id", cipher, most)
    assert check_unique(open_source(pa.table(unique)), "id", narrow) == 1000  # all 64 bits are equal, no id is
    with pytest.raises(SottovoceError, match="Got 10 ids"):
        check_unique(open_source(pa.table(repeated)), "id", narrow)


def test_very_many_repeated_ids_are_counted():
    twice = pa.table({"id": pa.array([*range(5000), *range(5000)])})
    with pytest.raises(SottovoceError, match="Got 5000 ids, such as"):
        check_unique(open_source(twice), "id", RunKey().ciphers()[0])
