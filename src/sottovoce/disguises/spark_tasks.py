"""Disguise a Spark DataFrame in tasks, which Spark may run again or twice at once: the reports are the same.

Each task turns its record batches of truths into record batches of reports (`mapInArrow`) and writes them as Parquet.
Spark keeps what one attempt of each task wrote; what other attempts computed was the same. Key and plan travel to the
tasks in the function itself, not in the text of the query.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from sottovoce.checks import Progress
from sottovoce.disguises.engines import KeyedDisguise
from sottovoce.disguises.row_ids import MOST_COMPARED, missing_ids, repeated_ids
from sottovoce.errors import SottovoceError, Words, value_text
from sottovoce.plans.document import plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Variable
from sottovoce.tables.arrow_source import PLAN_FILE
from sottovoce.tables.parquet import arrow_schema, arrow_table
from sottovoce.tables.public_columns import PublicReader
from sottovoce.tables.source import Source, some_rows
from sottovoce.tables.spark_source import SparkPart, SparkSource, first_reason, quiet, spark_errors
from sottovoce.tables.values import pyarrow

Task = Callable[[Iterable[Any]], Iterator[Any]]
"""Function from the record batches of a partition to record batches of reports."""

Refusal = tuple[str, str, str]
"""Parameter, rule and value of an error about the rows of a task, as text, which travels."""


def disguise_in_tasks(
    source: SparkSource, work: KeyedDisguise, to: str | Path, *, overwrite: bool, progress: Progress | None
) -> Any:
    """Write the reports of a DataFrame to the folder `to`, and return the DataFrame that reads them."""
    plan, ids = work.plan, source.columns([work.row_id])
    session = ids.sparkSession
    check_frame(ids)
    with new_folder(session, str(to), overwrite=overwrite) as folder:
        with spark_errors(), quiet():
            rows = check_unique(ids, work.row_id)
        reports = report_types(plan, {name: source.number_type(name) for name in plan.public_names})
        refusals = session.sparkContext.accumulator([], _first_refusal())
        truths = pyarrow().schema([source.types.field(name) for name in work.names])
        run = task(work, truths, reports, refusals.add)
        with spark_errors(), quiet():
            source.columns(work.names).mapInArrow(run, spark_schema(reports)).write.parquet(folder.hidden)
        for refusal in refusals.value:
            raise _counted(refusal, source, plan)
        folder.write(PLAN_FILE, plan_to_text(plan).encode())
    if progress is not None:
        progress(rows, rows)
    return read_folder(session, to)


def read_folder(session: Any, path: str | Path) -> Any:
    """DataFrame of the Parquet files of a folder, which also holds the plan."""
    return session.read.option("pathGlobFilter", "*.parquet").parquet(str(path))


def check_frame(frame: Any) -> None:
    """Refuse a stream, and ids that another attempt of a task would not repeat."""
    if frame.isStreaming:
        raise SottovoceError("data", "must be a table that ends", Words("a stream"))
    if not frame._jdf.queryExecution().optimizedPlan().deterministic():
        rule = (
            "must be the same when a task is run again, as monotonically_increasing_id(), uuid() and rand() are not; "
            "write the table with its ids first and read it again"
        )
        raise SottovoceError("row_id", rule, Words("a column that depends on one of these"))


def check_unique(frame: Any, name: str) -> int:
    """Refuse a frame of one column in which ids are missing or repeated; return the number of rows.

    64-bit hashes of the ids are shuffled once, so that equal ones meet, and sorted; ids with equal hashes are compared.
    That takes a third of the time of Spark's group-by.
    """
    from pyspark.sql import functions as f

    ids = frame.toDF("id").select(f.xxhash64("id").alias("hash"), "id")
    hashed = ids.select("hash", f.col("id").isNull().alias("missing")).repartition("hash")
    found = hashed.mapInArrow(equal_hashes, "rows bigint, missing bigint, equal array<bigint>").collect()
    rows, missing = (sum(row[column] for row in found) for column in ("rows", "missing"))
    some_rows(rows)
    if missing:
        raise missing_ids(name, missing)
    equal = [value for row in found for value in row["equal"]]
    if equal:
        suspects = ids.where(f.col("hash").isin(equal)) if len(equal) <= MOST_COMPARED else ids
        groups = suspects.groupBy("id").agg(f.count(f.lit(1)).alias("times")).where("times > 1")
        repeated, example = groups.agg(f.count(f.lit(1)), f.min("id")).first()
        if repeated:
            raise repeated_ids(name, repeated, example)
    return int(rows)


def equal_hashes(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the number of rows of a partition, of those without an id, and hashes that several rows have."""
    arrow, missing, parts = pyarrow(), 0, [np.zeros(0, np.int64)]
    for batch in batches:
        parts.append(batch.column(0).to_numpy())
        missing += batch.column(1).true_count
    hashes = np.concatenate(parts)
    hashes.sort()
    equal = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])[: MOST_COMPARED + 1]
    columns = {"rows": [len(hashes)], "missing": [missing], "equal": [equal.tolist()]}
    types = arrow.schema({"rows": arrow.int64(), "missing": arrow.int64(), "equal": arrow.list_(arrow.int64())})
    yield arrow.RecordBatch.from_pydict(columns, types)


def report_types(plan: Plan, numbers: Mapping[str, Any]) -> Any:
    """Arrow types of reports in Spark, which has no dictionaries."""
    arrow = pyarrow()
    types = arrow_schema(plan.report_schema, plan_to_text(plan), plan.public, numbers).remove_metadata()
    plain = [f.with_type(arrow.string()) if arrow.types.is_dictionary(f.type) else f for f in types]
    return arrow.schema(plain)


def spark_schema(types: Any) -> Any:
    """Types of reports as Spark calls them."""
    from pyspark.sql import types as spark

    arrow = pyarrow()
    simple = {
        arrow.bool_(): spark.BooleanType(),
        arrow.int8(): spark.ByteType(),
        arrow.int16(): spark.ShortType(),
        arrow.int32(): spark.IntegerType(),
        arrow.int64(): spark.LongType(),
        arrow.float32(): spark.FloatType(),
        arrow.float64(): spark.DoubleType(),
        arrow.string(): spark.StringType(),
    }

    def converted(kind: Any) -> Any:
        return spark.ArrayType(simple[kind.value_type]) if arrow.types.is_list(kind) else simple[kind]

    return spark.StructType([spark.StructField(field.name, converted(field.type), nullable=False) for field in types])


def task(work: KeyedDisguise, truths: Any, reports: Any, refuse: Callable[[list[Refusal]], None]) -> Task:
    """Make the function that Spark runs on each partition, from the Arrow types of truths to those of reports.

    Rows that must be refused end the task, not the job: Spark would try again and fill the log, in vain.
    """

    def disguise(batches: Iterable[Any]) -> Iterator[Any]:
        rest = iter(batches)
        try:
            yield from report_batches(SparkPart(rest, truths), work, reports)
        except SottovoceError as error:
            refuse([(error.parameter, error.rule, value_text(error.value))])
            deque(rest, maxlen=0)  # Spark expects all to be read

    return disguise


def report_batches(part: Source, work: KeyedDisguise, types: Any) -> Iterator[Any]:
    """Record batches of reports of a partition of truths."""
    plan, public = work.plan, PublicReader(work.plan.public)
    numbers = {name: types.field(name).type for name in plan.public_names}
    coded = arrow_schema(plan.report_schema, "", plan.public, numbers)
    for batch in part.batches(work.names, work.batch_rows):
        columns, values = work.reports(part, batch, public)
        table = arrow_table(plan.report_schema, coded, columns, dict(zip(plan.public, values, strict=True)))
        yield from table.cast(types).to_batches()


class Folder:
    """A folder of any file system that Spark knows, which appears under its name when it is complete."""

    def __init__(self, session: Any, path: str) -> None:
        """Find the file system of the path."""
        self._new_path = session._jvm.org.apache.hadoop.fs.Path
        self._final = self._new_path(path)
        self._files = self._final.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        self._hidden, self._old = (self._beside(ending) for ending in ("part", "old"))

    @property
    def hidden(self) -> str:
        """Path of the folder while it is incomplete."""
        return str(self._hidden.toString())

    def exists(self) -> bool:
        """Whether there is something under the final name."""
        return bool(self._files.exists(self._final))

    def write(self, name: str, contents: bytes) -> None:
        """Write a file."""
        stream = self._files.create(self._new_path(self._hidden, name))
        stream.write(bytearray(contents))
        stream.close()

    def appear(self) -> None:
        """Take the final name, in place of what had it."""
        replaced = self.exists() and self._files.rename(self._final, self._old)
        appeared = False
        try:
            # Where there is a folder of that name, Hadoop would move this one into it.
            appeared = not self.exists() and self._files.rename(self._hidden, self._final)
        finally:
            if replaced and not appeared:
                self._files.rename(self._old, self._final)
        if not appeared:
            raise SottovoceError("to", "must be a folder whose name can be taken", self._final.toString())
        self._files.delete(self._old, True)  # noqa: FBT003  # a Java method

    def remove(self) -> None:
        """Remove what is incomplete."""
        self._files.delete(self._hidden, True)  # noqa: FBT003  # a Java method

    def _beside(self, ending: str) -> Any:
        final = self._final.makeQualified(self._files.getUri(), self._files.getWorkingDirectory())
        return self._new_path(final.getParent(), f".{final.getName()}.{token_hex(4)}.{ending}")


@contextmanager
def new_folder(session: Any, path: str, *, overwrite: bool) -> Iterator[Folder]:
    """Yield a folder that appears if the block ends without an error, and leaves nothing behind otherwise."""
    with _folder_errors(path):
        folder = Folder(session, path)
        exists = folder.exists()
    if exists and not overwrite:
        raise SottovoceError("output", "must not exist yet, unless overwriting is asked for", path)
    try:
        yield folder
        with _folder_errors(path):
            folder.appear()
    finally:
        with suppress(SottovoceError, OSError), _folder_errors(path):  # Spark may have died: that is what to tell
            folder.remove()


@contextmanager
def _folder_errors(path: str) -> Iterator[None]:
    """Turn what a file system says into an error of the folder."""
    from py4j.protocol import Py4JError

    try:
        yield
    except Py4JError as reason:
        rule = f"must be a folder that Spark can write ({first_reason(str(reason))})"
        raise SottovoceError("to", rule, path) from None


def _first_refusal() -> Any:
    """Accumulator that keeps the first of all refusals; those of attempts that are run again do not add up."""
    from pyspark.accumulators import AccumulatorParam

    class FirstRefusal(AccumulatorParam[list[Refusal]]):
        def zero(self, value: list[Refusal]) -> list[Refusal]:
            return []

        def addInPlace(self, value1: list[Refusal], value2: list[Refusal]) -> list[Refusal]:  # noqa: N802
            return value1 or value2

    return FirstRefusal()


def _counted(refusal: Refusal, source: SparkSource, plan: Plan) -> SottovoceError:
    """Error about the rows of a task; values of a column that must be refused are counted in all rows."""
    parameter, rule, value = refusal
    error = SottovoceError(parameter, rule, Words(value))
    for variable in (*plan.schema, *plan.public):
        if isinstance(variable, Variable) and variable.name == parameter:
            error = source.refusal(variable, error)
    return error
