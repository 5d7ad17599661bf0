"""Joint counts of three attributes from reports in a Parquet file: streamed, by DuckDB and by Polars.

Every call runs in a process of its own, for its peak memory, beside the bare group-by of the engine in the same run;
the peer of our own stream is DuckDB. `SOTTOVOCE_SCALE_ROWS` sets another number of rows than 10^8.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from benchmarks.disguise.stream import measure
from benchmarks.measure import Row
from sottovoce.plans.document import plan_to_text
from sottovoce.tables.parquet import PLAN_KEY

ROWS = int(os.environ.get("SOTTOVOCE_SCALE_ROWS", "100_000_000"))
GROUP_ROWS = 2**20
MOST_MEBIBYTES = 1024
SLOPE_FROM = 10**5
FEW = 2 * GROUP_ROWS

SCHEMA = sv.Schema(
    [
        sv.Attribute("region", [f"region {number}" for number in range(16)]),
        sv.boolean("evaded tax"),
        sv.Attribute("children", range(10)),
    ]
)
PLAN = sv.plan(SCHEMA, odds=100, purpose="split")

STREAM = """
import sottovoce as sv
def count(path):
    return sv.read(path).counts(["region", "evaded tax", "children"])
"""
DUCKDB = """
import duckdb
import sottovoce as sv
plan = sv.read_plan("reports.parquet")
def count(path):
    return sv.Reports(duckdb.connect().read_parquet(path), plan).counts(["region", "evaded tax", "children"])
"""
BARE_DUCKDB = """
import duckdb
def count(path):
    names = 'region, "evaded tax", children'
    return duckdb.connect().read_parquet(path).aggregate(f"{names}, count(*)", names).fetchall()
"""
POLARS = """
import polars as pl
import sottovoce as sv
plan = sv.read_plan("reports.parquet")
def count(path):
    return sv.Reports(pl.scan_parquet(path), plan).counts(["region", "evaded tax", "children"])
"""
BARE_POLARS = """
import polars as pl
def count(path):
    names = ["region", "evaded tax", "children"]
    return pl.scan_parquet(path).group_by(names).len().collect(engine="streaming")
"""
WARM = """
count("few.parquet")
call = lambda: count("reports.parquet")
"""
"""A first call on few rows: imports and compiled loops are loaded before the clock starts, ours and the peers'."""

PAIRS = (
    ("our stream", STREAM, "DuckDB", BARE_DUCKDB),
    ("DuckDB", DUCKDB, "DuckDB", BARE_DUCKDB),
    ("Polars", POLARS, "Polars", BARE_POLARS),
)


def rows() -> Iterator[Row]:
    """Time and peak memory of each back end, and the slope of our stream over the number of rows."""
    with TemporaryDirectory() as folder:
        write_reports(Path(folder, "reports.parquet"), ROWS)
        for name, ours, peer_name, peer in PAIRS:
            (seconds, mebibytes), (bare, bare_mebibytes) = (_best(script, folder) for script in (ours, peer))
            title = f"joint counts of 3 attributes, {ROWS:.0e} rows of Parquet, {name}"
            yield Row(title, f"bare group-by of {peer_name}", seconds, bare, "s")
            yield Row(f"{title}, peak memory", f"bare group-by of {peer_name}", mebibytes, bare_mebibytes, "MiB")
            assert mebibytes < MOST_MEBIBYTES
    size = SLOPE_FROM
    while size <= ROWS:
        with TemporaryDirectory() as folder:
            write_reports(Path(folder, "reports.parquet"), size)
            seconds, _ = _best(STREAM, folder)
        yield Row(f"slope: joint counts of 3 attributes, {size:.0e} rows, our stream", None, seconds, None, "s")
        size *= 10


def write_reports(path: Path, rows: int) -> None:
    """Write random reports, a row group at a time; counting does not ask where they come from."""
    rng = np.random.default_rng(1)
    regions = pa.array(PLAN.categories_of(["region"])[0])
    kinds = [("region", pa.string()), ("evaded tax", pa.bool_()), ("children", pa.int64())]
    schema = pa.schema(kinds, metadata={PLAN_KEY: plan_to_text(PLAN).encode()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP_ROWS):
            count = min(GROUP_ROWS, rows - start)
            codes = [rng.integers(0, size, count) for size in (16, 2, 10)]
            columns = [regions.take(pa.array(codes[0])), pa.array(codes[1] == 1), pa.array(codes[2])]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _best(script: str, folder: str, rounds: int = 3) -> tuple[float, float]:
    """Shortest time and least memory of several runs."""
    write_reports(Path(folder, "few.parquet"), FEW)
    measured = [measure(script + WARM, folder) for _ in range(rounds)]
    return min(seconds for seconds, _ in measured), min(mebibytes for _, mebibytes in measured)
