"""A minute of reports, with admissions among them: memory, the longest wait, and the moves of the inbox meanwhile."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil
from time import perf_counter

from benchmarks.measure import Row
from benchmarks.survey.admissions import admission_requests
from benchmarks.survey.load import MOST_PER_SECOND, Running, Servers, Site, Stream, started
from sottovoce.surveys.client.client import Client
from sottovoce.surveys.definition.survey import Survey

SECONDS = float(os.environ.get("SOTTOVOCE_SURVEY_MINUTE", "60"))
EARLY = min(10.0, SECONDS / 2)
"""Seconds after which memory is looked at for the first time: everything is loaded then."""

ADMISSIONS = 10
"""At most so many people are admitted in a second, while others send reports."""


def rows(site: Site) -> Iterator[Row]:
    """One process over SQLite, and two over PostgreSQL."""
    yield from _rows(site, Servers())
    if "PostgreSQL" in site.databases:
        yield from _rows(site, Servers("PostgreSQL", processes=2))


def _rows(site: Site, servers: Servers) -> Iterator[Row]:
    surveys = site.surveys(ceil(SECONDS * MOST_PER_SECOND / len(site.reports)))
    with site.database(servers.database, surveys) as (place, store):
        tokens = store.invite(surveys[0], ceil(SECONDS * ADMISSIONS))
        reports = Stream(chain.from_iterable(map(site.signed_reports, surveys)), 201)
        admissions = Stream(admission_requests(surveys[0], tokens), 200, connections=1, pause=1 / ADMISSIONS)
        memory: list[float] = []
        with started(servers, place) as running:
            _load_surveys(running, surveys)
            start = perf_counter()
            running.send([reports, admissions], SECONDS, lambda: memory.append(running.memory()))
            end = perf_counter()
        tidied = [seconds for at, seconds in running.tidied if at < end]
        assert sum(store.counts(each.id)["reports"] for each in surveys) == len(reports.answers)
        assert store.counts(surveys[0].id)["admitted"] == len(admissions.answers)
    name = f"{SECONDS:g} s of load, {servers}"
    at, late = round(EARLY), start + SECONDS - EARLY
    first, last = (
        sum(start + low <= sent < start + low + EARLY for sent, _ in reports.answers) for low in (0, late - start)
    )
    yield Row(f"{name}: memory at the end", f"after {at} s", memory[-1], memory[min(at, len(memory) - 1)], "MiB")
    yield Row(
        f"{name}: reports in the last {at} s", "in the first", 1e6 * EARLY / last, 1e6 * EARLY / first, "us per report"
    )
    yield Row(f"{name}: longest wait for a report", None, max(reports.latencies), None, "ms")
    yield Row(f"{name}: longest wait for an admission", None, max(admissions.latencies), None, "ms")
    yield Row(f"{name}: longest of {len(tidied)} moves of the inbox", None, 1e3 * max(tidied, default=0.0), None, "ms")


def _load_surveys(running: Running, surveys: Sequence[Survey]) -> None:
    """Let every server read every survey, so that memory does not grow with their number while it is watched."""
    for address in running.addresses:
        client = Client(address)
        for survey in surveys:
            assert client.request("GET", f"/s/{survey.id}/survey.json").status == 200
        client.close()
