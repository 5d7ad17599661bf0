"""Unit costs: processor time and bytes for each respondent, from which docs/planning.md computes what a survey takes.

Three attributes of 16, 2 and 10 categories. Processor time is that of all cores, so it tells how many of them are busy
for how long; waiting for disks comes on top. `SOTTOVOCE_SCALE_UNITS` sets another number of respondents than 10^7.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from benchmarks.disguise.stream import run_script
from benchmarks.measure import Row
from benchmarks.scale.counts import PLAN

RESPONDENTS = int(os.environ.get("SOTTOVOCE_SCALE_UNITS", "10_000_000"))

PREPARE = """
import sottovoce as sv
plan = sv.read_plan("plan.json")
import polars as pl
import duckdb
names = ["region", "evaded tax", "children"]
"""
CALLS = {
    "disguise a Parquet file": 'sv.disguise("truths.parquet", plan, to="reports.parquet", drop=["person"])',
    "disguise a LazyFrame with row ids": (
        'sv.disguise(pl.scan_parquet("truths.parquet"), plan, to="keyed.parquet", row_id="person")'
    ),
    "count our stream": 'sv.read("reports.parquet").counts(names)',
    "count by DuckDB": 'sv.Reports(duckdb.read_parquet("reports.parquet"), plan).counts(names)',
    "count by Polars": 'sv.Reports(pl.scan_parquet("reports.parquet"), plan).counts(names)',
}
TIMED = """
import resource
def seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
start = seconds()
{call}
print(seconds() - start)
"""


def rows() -> Iterator[Row]:
    """Microseconds of a core, and bytes, for each respondent."""
    with TemporaryDirectory() as folder:
        write_truths(Path(folder), RESPONDENTS)
        sv.write_plan(PLAN, Path(folder, "plan.json"))
        for name, call in CALLS.items():
            seconds = float(run_script(["-c", PREPARE + TIMED.format(call=call)], folder))
            yield Row(f"unit cost: {name}", None, 1e6 * seconds / RESPONDENTS, None, "us of a core")
        size = Path(folder, "reports.parquet").stat().st_size
        yield Row("unit cost: a report in Parquet", None, size / RESPONDENTS, None, "bytes")
        tally = "sv.read('reports.parquet').counts(names).save('tally.json')"
        run_script(["-c", PREPARE + tally], folder)
        yield Row("a tally of 320 combinations, of any number of respondents", None, tally_bytes(folder), None, "bytes")
        estimate = TIMED.format(call="sv.Reports(tally).estimate(names)")
        seconds = float(run_script(["-c", PREPARE + "tally = sv.Tally.load('tally.json')\n" + estimate], folder))
        yield Row("estimate 320 joint cells from a tally, of any number of respondents", None, seconds, None, "s")


def tally_bytes(folder: str) -> int:
    """Size of the saved tally."""
    return Path(folder, "tally.json").stat().st_size


def write_truths(folder: Path, rows: int) -> None:
    """Write random answers with a row id, a row group at a time."""
    rng = np.random.default_rng(1)
    regions = pa.array(PLAN.categories_of(["region"])[0])
    kinds = [("person", pa.int64()), ("region", pa.string()), ("evaded tax", pa.bool_()), ("children", pa.int64())]
    with pq.ParquetWriter(folder / "truths.parquet", pa.schema(kinds)) as writer:
        for start in range(0, rows, 2**20):
            count = min(2**20, rows - start)
            codes = [rng.integers(0, size, count) for size in (16, 2, 10)]
            columns = [pa.array(np.arange(start, start + count)), regions.take(pa.array(codes[0]))]
            columns += [pa.array(codes[1] == 1), pa.array(codes[2])]
            writer.write_table(pa.Table.from_arrays(columns, schema=pa.schema(kinds)))
