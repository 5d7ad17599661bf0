"""Disguise a table that an engine holds: an Arrow dataset, a Polars LazyFrame, a DuckDB relation, a Spark DataFrame.

The engine may compute its rows more than once, in any order. So the coins of a row come from a key of the run and the
row's id (`keyed_coins`), reports are always written, and what comes back reads what was written. Polars, DuckDB and
Arrow hand over a stream of record batches, which is disguised and written here: no optimizer can evaluate it twice, and
it takes a third of the time of a function inside DuckDB, which gets 2,048 rows at a time. Spark sends the work to its
rows (`spark_tasks`).
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sottovoce.checks import Progress
from sottovoce.disguises.keyed_coins import RunKey, check_words, disguise_keyed
from sottovoce.disguises.row_ids import check_unique, id_kind
from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns
from sottovoce.tables.arrow_source import ArrowSource
from sottovoce.tables.csv_file import STANDARD_STREAM
from sottovoce.tables.plan_file import refuse_disguised
from sottovoce.tables.public_columns import PublicReader, PublicValues
from sottovoce.tables.sink import check_new, check_reports_name, file_sink
from sottovoce.tables.source import (
    BATCH_ROWS,
    BATCH_VALUES,
    Batch,
    Drop,
    Source,
    check_columns,
    open_source,
)
from sottovoce.tables.spark_source import SparkSource


@dataclass(frozen=True)
class KeyedDisguise:
    """Everything that turns a batch of truths into reports, wherever the batch is."""

    plan: Plan
    row_id: str
    key: RunKey

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that are read, each once."""
        return tuple(dict.fromkeys((*self.plan.schema.names, *self.plan.public_names, self.row_id)))

    @property
    def batch_rows(self) -> int:
        """Rows of a batch: fewer of a wide table, for its memory to stay the same."""
        return min(BATCH_ROWS, max(1, BATCH_VALUES // len(self.plan.schema.sizes)))

    def reports(self, source: Source, batch: Batch, public: PublicReader) -> tuple[Columns, PublicValues]:
        """Coded reports and public columns of a batch of truths."""
        truths = tuple(codes for v in self.plan.schema for codes in source.encode(v, batch[v.name]))
        passed_on = public.read(source, [batch[name] for name in self.plan.public_names])
        ids: Any = batch[self.row_id]
        return disguise_keyed(truths, ids.to_native(), self.plan, self.key, self.row_id), passed_on


def disguise_lazy(
    data: Any,
    plan: Plan,
    to: Any,
    *,
    row_id: Any,
    drop: Drop = (),
    again: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Disguise a table that an engine holds, write the reports and return a table that reads them.

    `row_id` names a column of whole numbers, text or bytes that differ in all rows, which is checked first. It is left
    out of the reports unless it is a public column of the plan. An Arrow dataset, a LazyFrame or a relation is written
    to the CSV or Parquet file `to`, a Spark DataFrame to the folder `to`, as Parquet files with the plan in
    `plan.json`. All appear when they are complete or not at all. Combinations of public categories that few rows hold
    are warned about, but not by Spark.
    """
    _check_arguments(to, row_id)
    check_words(plan)
    source = cast(ArrowSource, open_source(data))
    if not again and source.mark is not None:
        refuse_disguised(source, plan)
    if row_id not in source.names:
        raise SottovoceError("row_id", f"must name a column of the table ({', '.join(source.names)})", row_id)
    named = (*plan.schema.names, *plan.public_names)
    check_columns(plan, source, drop, row_id=None if row_id in named else row_id)
    id_kind(source.types.field(row_id).type, row_id)
    work = KeyedDisguise(plan, row_id, RunKey())
    if isinstance(source, SparkSource):
        from sottovoce.disguises.spark_tasks import disguise_in_tasks

        return disguise_in_tasks(source, work, to, overwrite=overwrite, progress=progress)
    write_stream(source, work, to, overwrite=overwrite, progress=progress)
    return to


def write_stream(
    source: Source, work: KeyedDisguise, to: str | Path, *, overwrite: bool, progress: Progress | None
) -> None:
    """Disguise batch after batch, and write them to a file that appears when it is complete."""
    plan, done, public = work.plan, 0, PublicReader(work.plan.public)
    numbers = {name: source.number_type(name) for name in plan.public_names}
    check_new(to, overwrite=overwrite)
    rows = check_unique(source, work.row_id, RunKey().ciphers()[0])
    with file_sink(to, plan, overwrite=overwrite, numbers=numbers) as sink:
        for batch in source.batches(work.names, work.batch_rows):
            columns, values = work.reports(source, batch, public)
            sink.write(columns, values)
            done += len(columns[0])
            if progress is not None:
                progress(done, rows)
    if public.small_combinations:
        warnings.warn(public.small_combinations_text, SottovoceWarning, stacklevel=4)


def refuse_rng(rng: Any) -> None:
    """Refuse a seed for a lazy table."""
    if rng is not None:
        rule = "must be left out for a lazy table: its coins come from a secret key that is drawn for one run"
        raise SottovoceError("rng", rule, rng)


def _check_arguments(to: Any, row_id: Any) -> None:
    if not isinstance(row_id, str):
        rule = (
            "must name a column that differs in all rows of a lazy table, whose engine may compute a row twice and "
            "must then toss the same coins: take a key of the table, or write the table with numbered rows first"
        )
        raise SottovoceError("row_id", rule, row_id)
    if not isinstance(to, str | Path) or str(to) in ("", STANDARD_STREAM):
        rule = "must name what the reports of a lazy table are written to, since each reading would be a new report"
        raise SottovoceError("to", rule, to)
    check_reports_name(to)
