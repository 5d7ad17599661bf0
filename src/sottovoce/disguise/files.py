"""Reports from a file of truths, batch by batch, into a file that carries its plan."""

from collections.abc import Callable
from pathlib import Path

from sottovoce.disguise.batches import disguise_batches
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.plan.plan import Plan
from sottovoce.table.pipeline import pipeline
from sottovoce.table.sink import file_sink
from sottovoce.table.source import STANDARD_STREAM, Drop, check_covered, open_source

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
    words, done = random_words(rng), 0
    with file_sink(reports, plan, overwrite=overwrite) as sink, pipeline() as threads:
        # A stream that may wait is read by this thread, which an interrupt can wake.
        ahead = iter if source.waits else threads
        for rows in disguise_batches(source, plan, words, sink, ahead):
            done += rows
            if progress is not None:
                progress(done, source.rows)
    return done
