"""Data larger than memory: 10^8 values through Parquet, their time, and the most memory they ever take.

`SOTTOVOCE_STREAM_VALUES` sets another number of values.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Row

VALUES = int(os.environ.get("SOTTOVOCE_STREAM_VALUES", "100_000_000"))
COLUMNS = 5
GROUP_ROWS = 2**20
LABELS = [f"category {number}" for number in range(10)]
MOST_MEBIBYTES = 512

DISGUISE = """
import sottovoce as sv
labels = [f"category {number}" for number in range(10)]
schema = sv.Schema([sv.Attribute(f"q{number}", labels) for number in range(5)])
plan = sv.plan(schema, odds=100, purpose="split")
call = lambda: sv.disguise("truths.parquet", plan, to="ours.parquet", overwrite=True)
"""
COPY = """
import pyarrow.parquet as pq
def call():
    file = pq.ParquetFile("truths.parquet")
    with pq.ParquetWriter("theirs.parquet", file.schema_arrow) as writer:
        for batch in file.iter_batches(batch_size=2**20):
            writer.write_batch(batch)
"""
WRITE = "from pathlib import Path; from benchmarks.disguise.stream import write_truths; write_truths(Path({folder!r}))"
MEASURE = """
import time
start = time.perf_counter()
call()
seconds = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(seconds, int(status["VmHWM"].split()[0]) / 1024)
"""
"""Peak memory is the kernel's high-water mark of the process itself, which starts anew with the program."""


def rows() -> list[Row]:
    """Disguise a file in a process of its own, and let pyarrow copy the same file in another."""
    with TemporaryDirectory() as folder:
        run_script(["-c", WRITE.format(folder=folder)], Path(__file__).parents[2])
        values = VALUES // COLUMNS * COLUMNS
        seconds, mebibytes = measure(DISGUISE, folder)
        copied, copy_mebibytes = measure(COPY, folder)
        reports = pq.ParquetFile(Path(folder, "ours.parquet")).metadata
    assert reports.num_rows * reports.num_columns == values
    assert mebibytes < MOST_MEBIBYTES
    name = f"{values:.1e} values, Parquet to Parquet"
    return [
        Row(f"{name}, peer copies it", "pyarrow", 1e9 * seconds / values, 1e9 * copied / values, "ns per value"),
        Row(f"{name}, peak memory", "pyarrow", mebibytes, copy_mebibytes, "MiB"),
    ]


def write_truths(folder: Path) -> None:
    """Write random answers, a row group at a time."""
    rng = np.random.default_rng(1)
    labels = pa.array(LABELS)
    schema = pa.schema([pa.field(f"q{number}", pa.string()) for number in range(COLUMNS)])
    left = VALUES // COLUMNS
    with pq.ParquetWriter(folder / "truths.parquet", schema) as writer:
        while left > 0:
            count = min(left, GROUP_ROWS)
            codes = rng.integers(0, len(LABELS), (COLUMNS, count), dtype=np.int32)
            writer.write_table(pa.Table.from_arrays([labels.take(pa.array(c)) for c in codes], schema=schema))
            left -= count


def measure(script: str, folder: str) -> tuple[float, float]:
    """Seconds, and peak memory in MiB, of a fresh interpreter that runs a script."""
    seconds, mebibytes = map(float, run_script(["-c", script + MEASURE], folder).split())
    return seconds, mebibytes


def run_script(arguments: list[str], folder: str | Path) -> str:
    """Run an interpreter in a folder, and return what it prints."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603  # our own interpreter
