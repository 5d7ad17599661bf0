"""Reports from a file of truths, batch by batch, into a file that carries its plan."""

from collections.abc import Callable, Iterator
from pathlib import Path

from sottovoce.disguise.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Randomness, RandomWords, random_words
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns
from sottovoce.table.pipeline import Ahead, pipeline
from sottovoce.table.sink import file_sink
from sottovoce.table.source import STANDARD_STREAM, Drop, Source, check_covered, open_source

Progress = Callable[[int, int | None], None]
"""Called with the rows done and, where it is known, the number of all rows."""


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
    done = 0
    with file_sink(reports, plan, overwrite=overwrite) as sink, pipeline() as ahead:
        # A stream that may wait is read by this thread, which an interrupt can wake.
        for columns in _disguised(source, plan, random_words(rng), iter if source.waits else ahead):
            sink.write(columns)
            done += len(columns[0])
            if progress is not None:
                progress(done, source.rows)
    return done


def _disguised(source: Source, plan: Plan, words: RandomWords, ahead: Ahead[Columns]) -> Iterator[Columns]:
    """Batches of reports, in stages that overlap with each other and with what the caller does.

    One thread alone draws the words, batch after batch: a seed gives the same reports however the
    stages take turns.
    """
    truths = ahead(source.coded(plan.schema))
    return ahead(disguise_codes(columns, plan, words) for columns in truths)
