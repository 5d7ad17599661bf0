"""Disguise a column, a frame or a file of truths."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from sottovoce.disguises.bit_noise import disguised_bitsets
from sottovoce.disguises.records import disguise_codes, single_attribute_plan
from sottovoce.disguises.transactions import flipped_items
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Randomness, RandomWords, random_words
from sottovoce.mechanisms.flips import Flips
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.parallel import Ahead, pipeline
from sottovoce.tables.sink import FrameSink, Sink, file_sink
from sottovoce.tables.source import BATCH_ROWS, STANDARD_STREAM, Drop, FrameSource, Source, check_covered, open_source
from sottovoce.tables.sparse_rows import gathered, listed_batches

MOST_BITS = 2**30
"""Bits of a batch of sets of items: 128 MiB."""
Progress = Callable[[int, int | None], None]
"""Called with the rows done and, where it is known, the number of all rows."""


def disguise_batches(
    source: Source, plan: Plan, words: RandomWords, sink: Sink, ahead: Ahead[Any] = iter
) -> Iterator[int]:
    """Write batches of reports and say how many rows each has; `ahead` lets the stages overlap.

    One thread alone draws the words, batch after batch: a seed gives the same reports however the
    stages take turns.
    """
    basket = flipped_items(plan)
    if basket is not None:
        yield from _baskets(source, *basket, words, sink, ahead)
        return
    truths = ahead(source.coded(plan.schema))
    for columns in ahead(disguise_codes(columns, plan, words) for columns in truths):
        sink.write(columns)
        yield len(columns[0])


def _baskets(
    source: Source, variable: ItemSet, flips: Flips, words: RandomWords, sink: Sink, ahead: Ahead[Any]
) -> Iterator[int]:
    """The same of a set of items alone, by those it holds: most of a thousand items are in no basket."""
    rows = max(1, min(BATCH_ROWS, MOST_BITS // len(variable.items)))
    truths = ahead(gathered(listed_batches(source, variable), rows))
    for reports in ahead(disguised_bitsets(batch, flips, words).to_csr() for batch in truths):
        sink.write_listed(variable, reports)
        yield len(reports[0]) - 1


def disguise_file(
    truths: str | Path,
    reports: str | Path,
    plan: Plan,
    *,
    rng: Randomness = None,
    drop: Drop = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> int:
    """Disguise a CSV or Parquet file into another, and return the number of rows.

    The reports appear under their name when all are written and on disk, or not at all. A Parquet
    file carries the plan in its metadata, a CSV file in `NAME.plan.json` beside it; "-" is
    standard input or output, as CSV. Columns in `drop` are left out ("others": all that the
    plan does not cover); any other must be covered.
    """
    if str(truths) != STANDARD_STREAM and Path(truths).resolve() == Path(reports).resolve():
        raise SottovoceError("output", "must be another file than the input", str(reports))
    source = open_source(str(truths))
    check_covered(plan.schema, source.names, drop)
    words, done = random_words(rng), 0
    with file_sink(reports, plan, overwrite=overwrite) as sink, pipeline() as threads:
        # A stream that may wait is read by this thread, which an interrupt can wake.
        ahead = iter if source.waits else threads
        for rows in disguise_batches(source, plan, words, sink, ahead):
            done += rows
            if progress is not None:
                progress(done, source.rows)
    return done


def disguise_frame(table: Any, plan: Plan, rng: Randomness = None, *, drop: Drop = ()) -> Any:
    """Disguise a pandas, polars or Arrow table, or a mapping of columns; the same kind comes back.

    Every column must be covered by the plan or named in `drop` ("others": all that are not).
    Row order is kept; a pandas index is not, since it may name people. Pass a seed or a generator
    as `rng` for experiments only.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> disguise_frame({"evaded tax": [True, False, False, False]}, plan, rng=1)
    {'evaded tax': [True, False, True, True]}
    """
    source = open_source(table)
    check_covered(plan.schema, source.names, drop)
    sink = FrameSink(plan.report_schema, source)
    for _ in disguise_batches(source, plan, random_words(rng), sink):
        pass
    return sink.native()


def disguise_column(values: Iterable[Any], plan: Plan, attribute: str | None = None, rng: Randomness = None) -> Any:
    """Disguise one column whose attribute shares its coins with no other.

    A pandas or polars series or a chunked Arrow array comes back in kind, any other sequence as a list.
    """
    alone = single_attribute_plan(plan, attribute)
    (name,) = alone.schema.names
    (report_name,) = alone.report_schema.names
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        reports = FrameSource(nw.from_native(disguise_frame(series.alias(name).to_frame().to_native(), alone, rng)))
        return reports.frame[report_name].to_native()
    listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return disguise_frame({name: listed}, alone, rng)[report_name]
