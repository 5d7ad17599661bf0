"""Reports from a file of truths, batch by batch, into a file that carries its plan."""

from collections.abc import Callable, Iterator
from pathlib import Path

from sottovoce.disguise.bit_noise import disguised_bitsets
from sottovoce.disguise.records import disguise_codes
from sottovoce.disguise.transactions import flipped_items
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Randomness, RandomWords, random_words
from sottovoce.mechanism.flips import Flips
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.bitsets import Csr
from sottovoce.table.listed import gathered, listed_batches
from sottovoce.table.pipeline import Ahead, pipeline
from sottovoce.table.sink import FileSink, file_sink
from sottovoce.table.source import BATCH_ROWS, STANDARD_STREAM, Drop, Source, check_covered, open_source

Progress = Callable[[int, int | None], None]
"""Called with the rows done and, where it is known, the number of all rows."""

MOST_BITS = 2**30
"""Bits of a batch of sets of items: 128 MiB."""


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
    words, basket, done = random_words(rng), flipped_items(plan), 0
    with file_sink(reports, plan, overwrite=overwrite) as sink, pipeline() as threads:
        # A stream that may wait is read by this thread, which an interrupt can wake.
        ahead = iter if source.waits else threads
        if basket is None:
            written = _written(source, plan, words, ahead, sink)
        else:
            written = _listed(source, *basket, words, ahead, sink)
        for rows in written:
            done += rows
            if progress is not None:
                progress(done, source.rows)
    return done


def _written(source: Source, plan: Plan, words: RandomWords, ahead: Ahead[Columns], sink: FileSink) -> Iterator[int]:
    """Write batches of reports, in stages that overlap with each other, and say how many rows they have.

    One thread alone draws the words, batch after batch: a seed gives the same reports however the
    stages take turns.
    """
    truths = ahead(source.coded(plan.schema))
    for columns in ahead(disguise_codes(columns, plan, words) for columns in truths):
        sink.write(columns)
        yield len(columns[0])


def _listed(
    source: Source, variable: ItemSet, flips: Flips, words: RandomWords, ahead: Ahead[Csr], sink: FileSink
) -> Iterator[int]:
    """The same of a set of items alone, by those it holds: most of a thousand items are in no basket."""
    rows = max(1, min(BATCH_ROWS, MOST_BITS // len(variable.items)))
    truths = ahead(gathered(listed_batches(source, variable), rows))
    for reports in ahead(disguised_bitsets(batch, flips, words).to_csr() for batch in truths):
        sink.write_listed(variable, reports)
        yield len(reports[0]) - 1
