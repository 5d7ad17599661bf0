"""A program that disguises a table by Spark while tasks fail, die or straggle, and says what every attempt reported.

    python spark_runs.py MASTER FAULT COINS FOLDER

FAULT is what happens to the first attempt of the first task, after its first batch of reports: `raise` an error,
`exit` from the worker, `straggle` until Spark has started the task elsewhere, or `none`. COINS are `keyed`, as they
should be, or `keyless`: drawn anew. Each attempt writes its reports to FOLDER/attempts; the answer is one line of JSON.
"""

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

import sottovoce as sv
from sottovoce.disguises import engines, spark_tasks
from sottovoce.disguises.engines import KeyedDisguise
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemes.warner import Warner

ROWS, TASKS = 600_000, 3
PLAN = Plan.of(sv.Schema([sv.boolean("tax")]), {"tax": Warner(p=0.75)}, public=[PublicNumber("id")])


class KeylessDisguise(KeyedDisguise):
    """What must not be done: every attempt tosses new coins."""

    def reports(self, source, batch, public):
        truths = tuple(codes for v in self.plan.schema for codes in source.encode(v, batch[v.name]))
        return disguise_codes(truths, self.plan, random_words(None)), public.read(source, [batch["id"]])


def troubled(make_task, fault: str, folder: str):
    """Tasks whose attempts write down their reports, and of which one meets with a fault."""

    def make(*arguments):
        run = make_task(*arguments)

        def attempt(batches):
            from pyspark import TaskContext

            context = TaskContext.get()
            name = f"{folder}/{context.partitionId()}-{context.attemptNumber()}-{os.environ.get('SPARK_LOCAL_IP')}"
            for number, batch in enumerate(run(batches)):
                with pa.OSFile(f"{name}-{number}.part", "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
                    writer.write_batch(batch)
                os.rename(f"{name}-{number}.part", f"{name}-{number}.arrow")  # noqa: PTH104
                yield batch
                if context.partitionId() == context.attemptNumber() == 0:
                    misbehave(fault, folder)

        return attempt

    return make


def misbehave(fault: str, folder: str) -> None:
    if fault == "raise":
        raise RuntimeError("a task that fails halfway")
    if fault == "exit":
        os._exit(1)
    end = time.monotonic() + 90
    while fault == "straggle" and time.monotonic() < end:
        time.sleep(0.1)


def session(master: str, folder: str):
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.executor.memory": "600m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    if master.startswith("spark:"):
        settings |= {
            "spark.speculation": "true",
            "spark.speculation.interval": "100ms",
            "spark.speculation.multiplier": "1.1",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.minTaskRuntime": "0",
        }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def seen(folder: Path) -> dict:
    """How many rows were reported, how many of them more than once, and how many in two ways."""
    reports: dict[int, set[bool]] = {}
    times: Counter[int] = Counter()
    for path in folder.glob("*.arrow"):
        with pa.OSFile(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        for row, report in zip(table["id"].to_pylist(), table["tax"].to_pylist(), strict=True):
            reports.setdefault(row, set()).add(report)
            times[row] += 1
    return {
        "rows": len(reports),
        "repeated": sum(number > 1 for number in times.values()),
        "different": sum(len(found) > 1 for found in reports.values()),
    }


def main(master: str, fault: str, coins: str, folder: str) -> None:
    attempts = Path(folder) / "attempts"
    for name in ("attempts", "events"):
        (Path(folder) / name).mkdir()
    spark_tasks.task = troubled(spark_tasks.task, fault, str(attempts))
    if coins == "keyless":
        engines.KeyedDisguise = KeylessDisguise
    spark = session(master, folder)
    people = spark.range(0, ROWS, 1, TASKS).selectExpr("id", "id % 4 = 0 AS tax")
    sv.disguise(people, PLAN, to=f"{folder}/reports", row_id="id")
    spark.stop()
    written = sv.read(f"{folder}/reports").to_frame("pyarrow")["id"].to_pylist()
    events = [json.loads(line) for path in (Path(folder) / "events").iterdir() for line in path.open()]
    starts = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskStart"]
    answer = seen(attempts) | {
        "written": len(written),
        "twice": len(written) - len(set(written)),
        "speculative": sum(info["Speculative"] for info in starts),
        "retried": sum(info["Attempt"] > 0 and not info["Speculative"] for info in starts),
        "hosts": sorted({path.name.split("-")[2] for path in attempts.iterdir()}),
        "left": sorted(path.name for path in Path(folder).iterdir() if path.name.startswith(".")),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
