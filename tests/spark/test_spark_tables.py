"""Spark DataFrames: the same counts and estimates as in memory, and what fails in a worker is said here.

All tests of Spark are in this file, since a session takes seconds to start.
"""

import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

import sottovoce as sv
from sottovoce.counts.counter import as_counter
from sottovoce.datasets.published import adult
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.graphs.convert import as_graph
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Emask
from sottovoce.tables import spark_source
from sottovoce.tables.source import is_table, open_source
from sottovoce.tables.spark_source import SparkPart, first_reason, packed_batches, packed_result

BASKET = sv.ItemSet("basket", ["ale", "bread", "cheese", "dates"])
BASKETS = sv.Plan.of(Schema([BASKET]), {"basket": Emask(p=0.95, q=0.95)})
COLUMNS = "tax boolean, `dr.ug` string, children int, region string, weight double"


def some_truths(rows=400):
    rng = np.random.default_rng(3)
    tax = rng.random(rows) < 0.4
    return {
        "tax": tax.tolist(),
        "dr.ug": rng.choice(["never", "once", "often"], rows, p=[0.5, 0.3, 0.2]).tolist(),
        "children": np.where(tax, 2, rng.integers(0, 3, rows)).tolist(),
        "region": rng.choice(["north", "south"], rows, p=[0.9, 0.1]).tolist(),
        "weight": rng.choice([0.5, 1.5], rows).tolist(),
    }


PLAN = sv.plan(some_truths(), odds=49, purpose="split", public=["region", "weight"])
REPORTS = sv.disguise(some_truths(), PLAN, rng=1)
LISTS = sv.disguise({"basket": [[["ale", "bread"], ["bread"], [], ["dates"]][row % 4] for row in range(200)]}, BASKETS)


def unpickled(batch, column):
    return pickle.loads(batch.column(column)[0].as_py())  # noqa: S301  # pickled a moment ago


def frame_of(spark, table, schema, parts=3):
    """A DataFrame of which one partition has nearly all rows and one has none."""
    rows = list(zip(*table.values(), strict=True))
    placed = [(0 if place else 1, row) for place, row in enumerate(rows)]
    return spark.sparkContext.parallelize(placed).partitionBy(parts).values().toDF(schema)


@pytest.fixture(scope="module")
def frame(spark):
    return frame_of(spark, REPORTS.table, COLUMNS)


@pytest.fixture(scope="module")
def baskets(spark):
    return frame_of(spark, LISTS.table, "basket array<string>")


class TestWithoutWorkers:
    """What workers and drivers do, in this process."""

    PARTS = (pa.record_batch({"c0": [True, False]}), pa.record_batch({"c0": [True]}))
    TYPES = pa.schema({"tax": pa.bool_()})

    def result(self, work, batches=PARTS):
        (packed,) = packed_result(batches, self.TYPES, work)
        return unpickled(packed, "result")

    def test_a_part_is_read_once_in_larger_batches(self):
        assert self.result(lambda part: [batch["tax"].to_list() for batch in part.batches()]) == [[True, False, True]]
        assert self.result(lambda part: [len(batch["tax"]) for batch in part.batches(["tax"], rows=1)]) == [1, 1, 1]
        assert self.result(lambda part: len(list(part.coded(Schema([boolean("tax")])))), ()) == 0

    def test_errors_of_a_part_come_back(self):
        refused = self.result(lambda part: list(part.coded(Schema([Attribute("tax", ["x", "y"])]))))
        assert (refused.parameter, refused.value) == ("tax", "a column of booleans")
        part = SparkPart([pa.record_batch({"c0": ["a", "z"]})], pa.schema({"q": pa.string()}))
        with pytest.raises(SottovoceError, match=r"^q must be one of its categories \(a, b\)\. Got 'z' instead"):
            list(part.coded(Schema([Attribute("q", ["a", "b"])])))

    def test_rows_are_packed(self):
        packed = list(packed_batches(self.PARTS))
        assert [unpickled(batch, "rows") for batch in packed] == list(self.PARTS)

    def test_reasons_without_words(self):
        assert first_reason("") == "no reason given"

    def test_frames_of_spark_connect_are_refused(self, monkeypatch):
        connected = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
        with pytest.raises(
            SottovoceError, match=r"^table must be a DataFrame of a classic Spark session.*Spark Connect"
        ):
            spark_source.SparkSource(connected)
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtraError, match=r"^a Spark DataFrame needs pandas; .*sottovoce\[spark\]"):
            spark_source.SparkSource(connected)


def test_the_same_counts_and_estimates(frame):
    assert is_table(frame)
    reports = sv.read(frame, PLAN)
    assert repr(reports) == repr(REPORTS)
    assert str(reports.estimate(["tax", "dr.ug"])) == str(REPORTS.estimate(["tax", "dr.ug"]))
    assert str(reports.where(region="south").estimate("tax")) == str(REPORTS.where(region="south").estimate("tax"))


def test_joint_counts_in_the_workers(frame, monkeypatch):
    monkeypatch.setattr(spark_source, "MOST_GROUPS", 0)
    schema = PLAN.report_schema.project(["children", "tax"])
    assert as_counter(frame).contingency(schema).tolist() == as_counter(REPORTS.table).contingency(schema).tolist()
    south = sv.read(frame, PLAN).where(region="south")
    assert len(south) == len(REPORTS.where(region="south"))
    both = south.concat(REPORTS.where(region="north"))
    assert as_counter(both.as_source()).contingency(schema).sum() == 400


def test_rows_come_to_the_driver_where_they_are_needed(frame):
    rows = sorted(zip(*sv.read(frame, PLAN).to_frame("polars").to_dict(as_series=False).values(), strict=True))
    assert rows == sorted(zip(*REPORTS.table.values(), strict=True))


def test_the_same_sets_of_items(baskets):
    reports, held = sv.read(baskets, BASKETS), sv.Reports(LISTS.table, BASKETS)
    assert str(reports.itemsets(0.2)) == str(held.itemsets(0.2))


def test_what_needs_a_fixed_order_is_refused(frame, baskets):
    assert open_source(baskets).grouped(["basket"]) is None
    with pytest.raises(SottovoceError, match=r"^halves must be given with a table whose rows always come in the same"):
        sv.read(baskets, BASKETS).itemsets(0.2, halves=True, rng=1)
    with pytest.raises(SottovoceError, match=r"^weights must be a column of the table, whose rows need not come"):
        sv.read(frame, PLAN).estimate("tax", weights=[1.0, 2.0] * 200)


def test_empty_frames(spark):
    for empty in (spark.createDataFrame([], "basket array<string>"), spark.sql("SELECT array('') AS basket LIMIT 0")):
        with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
            sv.read(empty, BASKETS).supports([["ale"]])


def test_other_columns_may_be_of_any_time(spark, monkeypatch):
    frame = spark.sql("SELECT timestamp '2026-01-01 12:00:00' AS at, date '2026-01-01' AS day, true AS tax")
    older = lambda schema: to_arrow_schema(schema, timezone="UTC")  # noqa: E731  # of Spark 4.0
    for _ in range(2):
        assert open_source(frame).names == ("at", "day", "tax")
        assert open_source(frame).number_type("at") is None
        monkeypatch.setattr("pyspark.sql.pandas.types.to_arrow_schema", older)


def test_errors_of_workers_are_raised_here(spark):
    wrong = spark.createDataFrame([(["ale"],), (["zinc"],)], "basket array<string>")
    with pytest.raises(SottovoceError, match=r"^basket must be one of .*ale, bread, cheese, dates\)\. Got 'zinc' inst"):
        sv.read(wrong, BASKETS).itemsets(0.2)
    drug = Schema([Attribute("drug", ["never", "once"])])
    with pytest.raises(SottovoceError, match=r"^drug must be one of .*\. Got 'daily' \(2 rows\) instead"):
        as_counter(spark.createDataFrame([("daily",), ("once",), ("daily",)], "drug string")).contingency(drug)


@pytest.mark.slow
def test_partitions_that_fail(spark):
    bad = spark.range(4).selectExpr("CASE WHEN id = 3 THEN raise_error('disk is gone') ELSE id END AS tax")
    with pytest.raises(
        SottovoceError, match=r"^table must be a Spark DataFrame whose partitions can all be read \(.*gone"
    ):
        as_counter(bad).contingency(Schema([boolean("tax")]))
    with pytest.raises(SottovoceError, match=r"partitions can all be read \(ZeroDivisionError: division by zero\)"):
        list(open_source(spark.range(4)).map_parts(["id"], lambda part: 1 / 0))


@pytest.mark.slow
def test_workers_without_the_package(spark, monkeypatch):
    class NotThere:
        def __reduce__(self):
            return __import__, ("sottovoce_of_another_machine",)

    absent = NotThere()
    with pytest.raises(SottovoceError, match=r"^table must be read by workers in which sottovoce is installed"):
        list(open_source(spark.range(2)).map_parts(["id"], lambda part: absent))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
@pytest.mark.filterwarnings("ignore::sottovoce.errors.SottovoceWarning")
def test_every_question(frame, tmp_path):
    def saved(reports):
        reports.save(tmp_path / "saved.parquet", overwrite=True)
        return sv.read(tmp_path / "saved.parquet").estimate("tax")

    some = {"dr.ug": ["never", "once", "often"], "children": [0, 1, 2]}
    questions = [
        lambda r: r.estimate(),
        *(lambda r, m=method: r.estimate(["tax", "dr.ug"], method=m) for method in ("blue", "em", "simplex", "model")),
        lambda r: r.estimate("tax", by="region"),
        lambda r: r.estimate("tax", strata="region"),
        lambda r: r.test("tax", "dr.ug"),
        lambda r: r.itemsets(0.2, longest=2),
        lambda r: r.itemsets(0.2, model=True),
        lambda r: r.rules(0.2, 0.3, longest=2),
        lambda r: r.classify("tax").predict(some).tolist(),
        lambda r: r.classify("tax", model="tree").predict(some).tolist(),
        lambda r: r.concat(sv.Reports(dict(REPORTS.table), PLAN)).estimate("tax"),
        saved,
    ]
    reports = sv.read(frame, PLAN)
    for ask in questions:
        assert str(ask(reports)) == str(ask(REPORTS))
    weighted = [r.estimate("tax", weights="weight").value for r in (reports, REPORTS)]
    assert np.allclose(*weighted, rtol=1e-12, atol=0)
    assert sv.plan(frame, odds=49, purpose="split", public=["region", "weight"]).schema.names == PLAN.schema.names


@pytest.mark.slow
def test_edges(spark):
    edges = spark.createDataFrame([(0, 1), (1, 2), (0, 3)], "a int, b int").repartition(3)
    assert as_graph(edges, nodes=4).degrees.tolist() == [2, 2, 1, 1]


@pytest.mark.slow
@pytest.mark.usefixtures("data_sets")
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
@pytest.mark.filterwarnings("ignore::sottovoce.errors.SottovoceWarning")
def test_adult_in_every_back_end(spark, back_ends):
    """Estimates, tests, itemsets, rules, naive Bayes and trees of 48,842 people, the same digits everywhere."""
    people = adult()
    names = ["sex", "race", "workclass", "income"]
    truths = {name: np.asarray(people[name]).tolist() for name in names}
    plan = sv.plan(truths, odds=19, purpose="split")
    held = sv.disguise(truths, plan, rng=1)
    table = pa.table(held.table)
    some = {name: values[:50] for name, values in truths.items() if name != "income"}
    questions = [
        lambda r: r.estimate(["sex", "income"], method="em"),
        lambda r: r.test("sex", "income"),
        lambda r: r.itemsets(0.1, longest=3),
        lambda r: r.rules(0.1, 0.6, longest=2),
        lambda r: r.classify("income").predict(some).tolist(),
        lambda r: r.classify("income", model="tree").predict(some).tolist(),
    ]
    expected = [str(ask(held)) for ask in questions]
    frames = back_ends(table) | {"spark": spark.createDataFrame(table).repartition(5)}
    for name, frame in frames.items():
        assert [str(ask(sv.read(frame, plan))) for ask in questions] == expected, name


@pytest.mark.slow
def test_a_million_transactions_in_every_back_end(spark, back_ends):
    """T10I4 as Quest generates it, under the coins of the thesis: the same itemsets as in memory."""
    items, truths = quest_transactions(1_000_000, seed=1)
    plan = sv.Plan.of(Schema([items]), {items.name: Emask(p=0.5051, q=0.9696)})
    ends, codes = disguise_transactions(truths, plan, rng=1)
    labels = pa.array(items.items).take(pa.array(codes))
    table = pa.table({items.name: pa.ListArray.from_arrays(pa.array(ends, pa.int32()), labels)})
    expected = str(sv.Reports((ends, codes), plan).itemsets(0.02, longest=3))
    made = back_ends(table)
    frames = {name: made[name] for name in ("file", "folder", "lazy frame", "relation of files")}
    frames["spark"] = spark.read.parquet(str(made["folder"])).repartition(8)
    for name, frame in frames.items():
        assert str(sv.read(frame, plan).itemsets(0.02, longest=3)) == expected, name
