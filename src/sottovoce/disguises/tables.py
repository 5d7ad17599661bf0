"""Disguise a column, a frame or a file of truths."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from sottovoce.checks import Progress
from sottovoce.disguises.bit_noise import disguised_bitsets
from sottovoce.disguises.records import disguise_codes, flipped_items, single_attribute_plan
from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.mechanisms.coins import Randomness, RandomWords, random_words
from sottovoce.mechanisms.flips import Flips
from sottovoce.plans.plan import Plan, check_plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.csv_file import STANDARD_STREAM
from sottovoce.tables.parallel import Ahead, pipeline
from sottovoce.tables.plan_file import refuse_disguised
from sottovoce.tables.public_columns import PublicReader
from sottovoce.tables.sink import FrameSink, Sink, file_sink
from sottovoce.tables.source import BATCH_ROWS, Drop, Source, check_columns, open_source
from sottovoce.tables.sparse_rows import csr_batches, rebatched

MOST_BITS = 2**30
"""Most bits of a batch of item sets: 128 MiB."""


@dataclass(frozen=True)
class Written:
    """Number of rows that were disguised, and of combinations of public categories that fewer than five rows hold."""

    rows: int
    small_combinations: int
    small_combinations_text: str
    """A sentence about them for people; empty if there are none."""


def disguise_batches(
    source: Source, plan: Plan, words: RandomWords, sink: Sink, public: PublicReader | None, ahead: Ahead[Any] = iter
) -> Iterator[int]:
    """Disguise and write batch by batch, and yield the number of rows of each; `ahead` makes the stages overlap.

    Only one thread draws random words, batch after batch: a seed gives the same reports whether stages overlap or not.
    """
    basket = flipped_items(plan)
    if basket is not None:
        yield from _baskets(source, *basket, words, sink, ahead)
        return
    truths = ahead(
        (columns, public.read(source, values) if public else ())
        for columns, values in source.coded_with(plan.schema, plan.public_names)
    )
    for columns, values in ahead((disguise_codes(columns, plan, words), values) for columns, values in truths):
        sink.write(columns, values)
        yield len(columns[0])


def _baskets(
    source: Source, variable: ItemSet, flips: Flips, words: RandomWords, sink: Sink, ahead: Ahead[Any]
) -> Iterator[int]:
    """Disguise one item set as sparse rows: most of a thousand items are in no basket."""
    rows = max(1, min(BATCH_ROWS, MOST_BITS // len(variable.items)))
    truths = ahead(rebatched(csr_batches(source, variable), rows))
    for reports in ahead(disguised_bitsets(batch, flips, words).to_csr() for batch in truths):
        sink.write_transactions(variable, reports)
        yield len(reports[0]) - 1


def disguise_file(
    truths: str | Path,
    reports: str | Path,
    plan: Plan,
    *,
    rng: Randomness = None,
    drop: Drop = (),
    overwrite: bool = False,
    again: bool = False,
    progress: Progress | None = None,
) -> int:
    """Disguise a CSV or Parquet file into another, and return the number of rows.

    The file of reports appears when all reports are written and on disk, or not at all. A Parquet file carries the
    plan in its metadata, a CSV file in `NAME.plan.json` beside it; "-" is standard input or output, as CSV. Every
    column must be named by the plan or in `drop` ("others": all that the plan does not name), which leaves it out.
    Public columns of the plan follow the reports as they are; a `SottovoceWarning` says how many combinations of their
    categories fewer than five rows hold. A file that carries a plan is refused unless `again` is true.
    """
    options: dict[str, Any] = {"drop": drop, "overwrite": overwrite, "again": again, "progress": progress}
    written = write_disguised(truths, reports, plan, rng=rng, **options)
    if written.small_combinations:
        warnings.warn(written.small_combinations_text, SottovoceWarning, stacklevel=2)
    return written.rows


def write_disguised(
    truths: str | Path,
    reports: str | Path,
    plan: Plan,
    *,
    rng: Randomness = None,
    drop: Drop = (),
    overwrite: bool = False,
    again: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Disguise a file as `disguise_file` does; return small combinations of public categories instead of a warning."""
    if str(truths) != STANDARD_STREAM and Path(truths).resolve() == Path(reports).resolve():
        raise SottovoceError("output", "must be another file than the input", str(reports))
    source = _opened(str(truths), plan, drop, again=again)
    words, done, public = random_words(rng), 0, PublicReader(plan.public)
    numbers = {name: source.number_type(name) for name in plan.public_names}
    with file_sink(reports, plan, overwrite=overwrite, numbers=numbers) as sink, pipeline() as threads:
        # A stream that may block is read by this thread, which an interrupt can wake.
        ahead = iter if source.waits else threads
        for rows in disguise_batches(source, plan, words, sink, public, ahead):
            done += rows
            if progress is not None:
                progress(done, source.rows)
    return Written(done, public.small_combinations, public.small_combinations_text)


def _opened(table: Any, plan: Plan, drop: Drop, *, again: bool) -> Source:
    """Open a table of truths; refuse reports, and columns that are missing or not in the plan."""
    check_plan(plan)
    source = open_source(table)
    if not again and source.mark is not None:
        refuse_disguised(source, plan)
    check_columns(plan, source, drop)
    return source


def disguise_frame(table: Any, plan: Plan, rng: Randomness = None, *, drop: Drop = (), again: bool = False) -> Any:
    """Disguise a pandas, polars or Arrow table, or a mapping of columns, and return the same kind.

    Of a mapping, arrays come back as arrays of labels, lists as lists; sets of items are lists of lists. Categorical
    columns keep their categories if these are all that can be reported, else they get those of the plan.

    Every column must be named by the plan or in `drop` ("others": all that the plan does not name), which leaves it
    out. The order of rows is kept; a pandas index is not, since it may name people. Pass a seed or a generator as
    `rng` for experiments only.

    Public columns of the plan follow the reports as they are (a binned number as its bin); a `SottovoceWarning` says
    how many combinations of their categories fewer than five rows hold. A pandas frame is returned with the plan's
    hash in `attrs["sottovoce.plan"]`, an Arrow table with the plan in its metadata; a table with such a mark was
    disguised already and is refused unless `again` is true.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> disguise_frame({"evaded tax": [True, False, False, False]}, plan, rng=1)
    {'evaded tax': [True, False, True, True]}
    """
    source = _opened(table, plan, drop, again=again)
    sink, public = FrameSink(plan, source), PublicReader(plan.public) if plan.public else None
    for _ in disguise_batches(source, plan, random_words(rng), sink, public):
        pass
    if public:
        public.warn()
    return sink.native()


def disguise_column(
    values: Iterable[Any], plan: Plan, attribute: str | None = None, rng: Randomness = None, *, again: bool = False
) -> Any:
    """Disguise one column, whose attribute must not share its coins with another.

    A pandas or polars series or a chunked Arrow array is returned as the same kind, any other sequence as a list. A
    column of a frame that was disguised already is refused unless `again` is true.
    """
    check_plan(plan)
    alone = single_attribute_plan(plan, attribute)
    (name,) = alone.schema.names
    (report_name,) = alone.report_schema.names
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        frame = series.alias(name).to_frame().to_native()
        reports = nw.from_native(disguise_frame(frame, alone, rng, again=again), eager_only=True)
        return reports[report_name].to_native()
    listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return disguise_frame({name: listed}, alone, rng)[report_name]
