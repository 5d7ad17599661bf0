"""Ten million disguised transactions in a Parquet file: the time to mine them, and the most memory it ever takes.

`SOTTOVOCE_STREAM_TRANSACTIONS` sets another number, in steps of 100,000.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.itemsets.data import case
from benchmarks.measure import Row
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.plans.document import plan_to_text
from sottovoce.tables.parquet import arrow_schema

TRANSACTIONS = int(os.environ.get("SOTTOVOCE_STREAM_TRANSACTIONS", "10_000_000"))
SUPPORT = 0.005
MOST_MEBIBYTES = 2048

MINE = """
import sys, time
import sottovoce as sv
from sottovoce.counts import transactions
transactions.MOST_HELD = int(sys.argv[2])
start = time.perf_counter()
found = sv.read(sys.argv[1]).itemsets(float(sys.argv[3]), target="table")
seconds = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(seconds, int(status["VmHWM"].split()[0]) / 1024, len(found), found.respondents)
"""
"""Peak memory is the kernel's high-water mark of the process itself, which starts anew with the program."""


def rows() -> list[Row]:
    """Bits kept where they fit in a gibibyte, and read anew for each length."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "disguised.parquet")
        written = write(path)
        kept = _measure(path, 2**30)
        again = _measure(path, 0)
    assert kept[2:] == again[2:]
    assert kept[3] == written
    assert max(kept[1], again[1]) < MOST_MEBIBYTES
    name = f"{written / 1e6:g}M transactions from Parquet, {100 * SUPPORT:g} %"
    return [
        Row(f"{name}, bits kept", None, kept[0], None, "seconds"),
        Row(f"{name}, bits kept, peak memory", None, kept[1], None, "MiB"),
        Row(f"{name}, a pass for each length", None, again[0], None, "seconds"),
        Row(f"{name}, a pass for each length, peak memory", None, again[1], None, "MiB"),
    ]


def write(path: Path) -> int:
    """T10I4D100K under other coins again and again."""
    data = case("T10I4D100K", 1)
    types = arrow_schema(data.coins.report_schema, plan_to_text(data.coins))
    labels, written = np.array(data.items.items), 0
    with pq.ParquetWriter(path, types) as writer:
        while written < TRANSACTIONS:
            indptr, indices = disguise_transactions(data.original, data.coins, rng=written)
            lists = pa.ListArray.from_arrays(pa.array(indptr, pa.int32()), pa.array(labels[indices]))
            writer.write_table(pa.Table.from_arrays([lists], schema=types))
            written += len(indptr) - 1
    return written


def _measure(path: Path, held: int) -> tuple[float, ...]:
    """Seconds, peak memory in MiB, sets found and transactions read, of a fresh interpreter."""
    command = [sys.executable, "-c", MINE, str(path), str(held), str(SUPPORT)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own interpreter
    return tuple(map(float, done.stdout.split()))
