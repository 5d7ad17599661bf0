"""Spark DataFrames: counted by Spark's group-by, or part by part where the rows are; only counts travel.

Work on a part runs in Spark's Python workers, in which this package must be installed. Its result comes back pickled,
one value for each partition.
"""

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.tables.arrow_source import MOST_GROUPS, ArrowSource, GroupedSource, different_names
from sottovoce.tables.parquet import joined_batches
from sottovoce.tables.source import TIMES, Source
from sottovoce.tables.values import pyarrow

T = TypeVar("T")

MOST_LETTERS = 300
"""Longest reason of Spark that an error repeats."""

PARTS_PER_CORE = 4
"""Most parts for each core of the cluster: as many results come back to the driver."""


class SparkSource(ArrowSource):
    """A Spark DataFrame, whose rows have no order that could be relied on.

    Columns are renamed while Spark works on them, so that any name will do.
    """

    rows = None
    ordered = False
    remote = True

    def __init__(self, frame: Any) -> None:
        """Ask for the types of the columns."""
        check_installed("a Spark DataFrame", "spark", "pyarrow", "pandas")
        from pyspark.sql.pandas.types import to_arrow_schema

        if type(frame).__module__.startswith("pyspark.sql.connect"):
            rule = "must be a DataFrame of a classic Spark session, which runs Python functions on its parts"
            raise SottovoceError("table", rule, Words("one of Spark Connect"))
        self._frame = frame
        # Newer versions ask for the zone of timestamps, of which only the type matters here.
        zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
        with spark_errors():
            self.types = to_arrow_schema(frame.schema, **zone)
        self.names = different_names("table", self.types.names)

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Bring the rows to the driver, partition after partition: for what cannot be counted where they are."""
        with spark_errors():
            with quiet():
                packed = self.columns(names).mapInArrow(packed_batches, "rows binary").toLocalIterator()
            batches = (pickle.loads(bytes(row["rows"])) for row in packed)  # noqa: S301  # from our own workers
            yield from joined_batches((batch.rename_columns(list(names)) for batch in batches), rows)

    def grouped(self, names: Sequence[str]) -> GroupedSource | None:
        """Group by these columns, unless they hold lists or there are too many combinations."""
        if not self.is_flat(names):
            return None
        with spark_errors():
            frame = self.columns(names)
            groups = frame.groupBy(*frame.columns).count().limit(MOST_GROUPS + 1).toArrow()
        return None if len(groups) > MOST_GROUPS else GroupedSource(groups.rename_columns([*names, TIMES]))

    def map_parts(self, names: Sequence[str], work: Callable[[Source], T]) -> Iterator[T]:
        """Work in each partition, in Spark's workers; an error there is raised here."""
        types = pyarrow().schema([self.types.field(name) for name in names])
        most = PARTS_PER_CORE * self._frame.sparkSession.sparkContext.defaultParallelism
        run = partial(packed_result, types=types, work=work)
        with spark_errors(), quiet():
            rows = self.columns(names).coalesce(most).mapInArrow(run, "result binary").collect()
        results = [pickle.loads(bytes(row["result"])) for row in rows]  # noqa: S301  # from our own workers
        for result in results:
            if isinstance(result, _Refused):
                raise SottovoceError(result.parameter, result.rule, Words(result.value))
        yield from results or [work(SparkPart([], types))]

    def count_rows(self) -> int:
        """Let Spark count."""
        with spark_errors():
            return int(self._frame.count())

    def columns(self, names: Sequence[str]) -> Any:
        """These columns, under names that are safe."""
        places = [self.names.index(name) for name in names]
        renamed = self._frame.toDF(*(f"c{place}" for place in range(len(self.names))))
        return renamed.select(*(f"c{place}" for place in places))


class SparkPart(ArrowSource):
    """One partition in a worker, whose rows can be read once."""

    rows = None
    ordered = False
    may_be_empty = True

    def __init__(self, batches: Iterable[Any], types: Any) -> None:
        """Keep the record batches, whose columns have these names and types."""
        self._rest = iter(batches)
        self.types, self.names = types, tuple(types.names)

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Batches of about this size: Spark's are small."""
        named = (batch.rename_columns(list(self.names)) for batch in self._rest)
        return joined_batches((batch.select(list(names)) for batch in named), rows)

    def value_counts(self, name: str) -> Iterator[tuple[Any, int]]:
        """Nothing: the rows are gone, and other parts have more of them."""
        return iter(())


@dataclass(frozen=True)
class _Refused:
    """An error of a worker, which is raised on the driver."""

    parameter: str
    rule: str
    value: str


def packed_result(batches: Iterable[Any], types: Any, work: Callable[[Source], Any]) -> Iterator[Any]:
    """Yield a record batch with the pickled result of work on a partition, or what was wrong with its rows."""
    try:
        result = work(SparkPart(batches, types))
    except SottovoceError as reason:
        value = str(reason).removeprefix(f"{reason.parameter} {reason.rule}. Got ").removesuffix(" instead.")
        result = _Refused(reason.parameter, reason.rule, value)
    yield _packed("result", result)


def packed_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a record batch for each of a partition, which is pickled in it."""
    return (_packed("rows", batch) for batch in batches)


def _packed(name: str, value: Any) -> Any:
    arrow = pyarrow()
    return arrow.record_batch({name: arrow.array([pickle.dumps(value)], arrow.binary())})


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn what Spark says about a job that fails into an error of the table."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as reason:
        raise SottovoceError("table", job_rule(first_reason(str(reason))), Words("a failed job")) from None


def job_rule(reason: str) -> str:
    """Rule that a failed job breaks.

    >>> job_rule("No module named 'sottovoce'")
    'must be read by workers in which sottovoce is installed, as on the driver (PYSPARK_PYTHON names their Python)'
    """
    if "No module named 'sottovoce" in reason:
        there = "workers in which sottovoce is installed, as on the driver"
        return f"must be read by {there} (PYSPARK_PYTHON names their Python)"
    return f"must be a Spark DataFrame whose partitions can all be read ({reason})"


def first_reason(text: str) -> str:
    r"""First line of the reason in what Spark says about a job that failed.

    >>> first_reason("Thrown from the worker:\nTraceback (most recent call last):\n  File x\nValueError: boom\nmore")
    'ValueError: boom'
    >>> first_reason("An error occurred while calling o1.collect.\n: Job aborted\n at x.y")
    'Job aborted'
    """
    lines = text.splitlines() or ["no reason given"]
    starts = [number for number, line in enumerate(lines) if line.startswith("Traceback")]
    after = lines[starts[0] + 1 :] if starts else lines[lines[0].startswith("An error occurred while calling") :]
    first = next((line for line in after if line.strip() and not line.startswith(" ")), lines[0])
    return first.removeprefix(": ")[:MOST_LETTERS]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence a warning of pandas 3: `mapInArrow` asks for pandas, but does not use it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield
