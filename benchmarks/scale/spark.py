"""Frequent itemsets from disguised transactions in Spark, beside memory, and beside Spark's FPGrowth on the truth.

T10I4D100K in Parquet; Spark runs in local mode on all cores, and only counts leave its workers.
`SOTTOVOCE_SCALE_BASKETS` repeats the transactions so many times; FPGrowth, run once, then takes that much longer.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from benchmarks.itemsets.data import Case, case
from benchmarks.measure import Row, best_seconds
from sottovoce.tables.bitsets import Csr

REPEATED = int(os.environ.get("SOTTOVOCE_SCALE_BASKETS", "1"))
MIN_SUPPORT = 0.005
PARTS = 8


def rows() -> Iterator[Row]:
    """Time of our search in Spark, in memory, and of FPGrowth in Spark; the sets found are the same integers."""
    data = case("T10I4D100K", REPEATED)
    with TemporaryDirectory() as folder, _Session() as spark:
        for name, transactions in (("disguised", data.disguised), ("truth", data.original)):
            _write(Path(folder, name), data, transactions)
        remote = spark.read.parquet(str(Path(folder, "disguised"))).repartition(PARTS).cache()
        truth = spark.read.parquet(str(Path(folder, "truth"))).repartition(PARTS).cache()
        count = remote.count() + truth.count()
        found: dict[str, Any] = {}

        def ours() -> None:
            found["spark"] = sv.Reports(remote, data.coins).itemsets(MIN_SUPPORT)

        def in_memory() -> None:
            found["memory"] = sv.Reports(data.disguised, data.coins).itemsets(MIN_SUPPORT)

        def fp_growth() -> None:
            from pyspark.ml.fpm import FPGrowth

            model = FPGrowth(itemsCol=data.items.name, minSupport=MIN_SUPPORT).fit(truth)
            found["fp"] = model.freqItemsets.count()

        seconds, memory = best_seconds(ours, in_memory, rounds=3)
        (peer,) = best_seconds(fp_growth, rounds=1)
    assert found["spark"].to_rows() == found["memory"].to_rows()
    title = f"itemsets at {MIN_SUPPORT} of {count // 2:.0e} disguised transactions in Spark"
    yield Row(f"{title}, beside FPGrowth on the truth", "Spark's FPGrowth", seconds, peer, "s")
    yield Row(f"{title}, beside memory", "ours in memory", seconds, memory, "s")


class _Session:
    """A quiet Spark session in local mode that is stopped at the end."""

    def __enter__(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        quiet = {"spark.ui.enabled": "false", "spark.driver.memory": "6g", "spark.ui.showConsoleProgress": "false"}
        builder = SparkSession.builder.master("local[*]").appName("sottovoce scale")
        for key, value in quiet.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        return self.session

    def __exit__(self, *_: object) -> None:
        self.session.stop()


def _write(folder: Path, data: Case, transactions: Csr) -> None:
    """Write transactions as lists, in as many files as there are parts."""
    folder.mkdir()
    starts, indices = transactions
    items = pa.array(data.items.items)
    count = len(starts) - 1
    for part in range(PARTS):
        first, last = part * count // PARTS, (part + 1) * count // PARTS
        values = items.take(pa.array(indices[starts[first] : starts[last]]))
        lists = pa.ListArray.from_arrays(pa.array((starts[first : last + 1] - starts[first]).astype("int32")), values)
        pq.write_table(pa.table({data.items.name: lists}), folder / f"{part}.parquet")
