"""A survey's server under load: reports, admissions, a minute of both, a page of results, and what a phone computes.

Each server is a process of its own, on loopback, and the next process keeps its connections busy. Those that are
compared take short turns, and the median turn of each counts, because a shared machine is at times half as fast as at
others. `SOTTOVOCE_SURVEY_SECONDS` sets how long a turn lasts, `SOTTOVOCE_SURVEY_TURNS` how many each of them has,
`SOTTOVOCE_SURVEY_MINUTE` how many seconds the long load takes, and `SOTTOVOCE_SURVEY_REPORTS` how many reports there
are results of. Without PostgreSQL or Chromium on this machine, their rows are left out.
"""

from collections.abc import Iterator

from benchmarks.measure import Row
from benchmarks.survey import admissions, long_load, phone, reports, results_page
from benchmarks.survey.load import Site
from benchmarks.survey.postgres import postgres_databases


def rows() -> Iterator[Row]:
    """Rows of every part."""
    with postgres_databases() as new_database:
        site = Site(new_database)
        yield from reports.rows(site)
        yield from admissions.rows(site)
        yield from long_load.rows(site)
        yield from results_page.rows(site)
    yield from phone.rows()
