"""The page of results of ten questions at 100,000 reports: warm, while reports arrive, and what it costs collecting."""

import os
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import cycle, repeat
from statistics import median
from time import perf_counter, sleep
from urllib.parse import urlsplit

import numpy as np

from benchmarks.measure import Row
from benchmarks.survey.load import SECONDS, TURNS, WARM_UP_SECONDS, Running, Servers, Site, Stream, post, started
from sottovoce.surveys.client.client import seal_report
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import BATCH_SIZE, Store
from sottovoce.surveys.dashboard.accounts import Accounts, Role
from sottovoce.surveys.dashboard.visit import COOKIE
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import Survey

REPORTS = int(os.environ.get("SOTTOVOCE_SURVEY_REPORTS", "100000"))
LOOK_SECONDS = 1.0
"""Time between an answer and the next look of somebody who keeps loading the page."""

LONGER = 4
"""How much longer than others these turns are, so that somebody looks several times in each."""

DEFINITION = """
title: Benchmark
asker: Nobody
purpose: To measure.
until: 2999-12-31
invitation: open
odds: 81:1
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: b, kind: yes_no, text: B}
  - {id: c, kind: single, text: C, answers: [one, two, three, four]}
  - {id: d, kind: single, text: D, answers: [one, two, three, four]}
  - {id: e, kind: yes_no, text: E, decline: true}
  - {id: f, kind: scale, text: F, steps: 5, ends: [low, high], wanted: mean}
  - {id: g, kind: scale, text: G, steps: 5, ends: [low, high], wanted: trend}
  - {id: h, kind: single, text: H, answers: [one, two, three]}
  - {id: i, kind: several, text: I, answers: [one, two, three]}
  - {id: j, kind: single, text: J, answers: [one, two, three], public: true}
"""


def rows(site: Site) -> Iterator[Row]:
    """One process over each database."""
    for kind in site.databases:
        yield from _rows(site, Servers(kind))


def _rows(site: Site, servers: Servers) -> Iterator[Row]:
    survey = survey_from_text(DEFINITION)
    reports = simulate_respondents(survey, REPORTS, np.random.default_rng(1)).reports()
    with site.database(servers.database, [survey]) as (place, store):
        for start in range(0, REPORTS, BATCH_SIZE):
            store.commit([Entry(survey.id, os.urandom(16), report) for report in reports[start : start + BATCH_SIZE]])
        store.tidy()
        page = _request(survey, store)
        sent = _sent(survey, reports)
        with started(servers, place) as running:
            _wait_for_results(running, page)
            warm = Stream(repeat(page), 200, connections=1)
            running.send([warm], LONGER * SECONDS)
            running.send([Stream(sent, 201)], WARM_UP_SECONDS)
            alone, beside, looks = [], [], []
            for _ in range(TURNS):
                alone.append(_microseconds(running, Stream(sent, 201)))
                look = Stream(repeat(page), 200, connections=1, pause=LOOK_SECONDS * min(SECONDS, 1))
                beside.append(_microseconds(running, Stream(sent, 201), look))
                looks += look.latencies
    name = f"results page, 10 questions, {REPORTS:,} reports, {servers}"
    yield Row(f"{name}: warm", None, median(warm.latencies), None, "ms")
    yield Row(f"{name}: while reports arrive", None, median(looks), None, "ms")
    yield Row(f"{name}: slowest while reports arrive", None, max(looks), None, "ms")
    looked = f"reports while somebody looks at results, {servers}"
    yield Row(looked, "while nobody does", median(beside), median(alone), "us per report")


def _request(survey: Survey, store: Store) -> bytes:
    """Return the request of a reader who is logged in."""
    accounts = Accounts(store.engine)
    session = accounts.use_link(accounts.new_link(Role.READER), "reader", "correct horse battery")
    assert session is not None
    head = f"GET /research/surveys/{survey.id}/results HTTP/1.1\r\nHost: localhost\r\n"
    return f"{head}Cookie: {COOKIE}={session.id}\r\n\r\n".encode()


def _sent(survey: Survey, reports: list[bytes]) -> Iterator[bytes]:
    """Requests that bring reports, each with a key of its own."""
    for report in cycle(reports):
        yield post(f"/s/{survey.id}/reports", seal_report(survey.hash, report).body)


def _wait_for_results(running: Running, page: bytes) -> None:
    """Load the page until its results are there: before, it asks to be loaded again."""
    path = page.split()[1].decode()
    cookie = page.decode().partition("Cookie: ")[2].strip()
    for address in running.addresses:
        waits = True
        while waits:
            connection = HTTPConnection(urlsplit(address).netloc)
            connection.request("GET", path, headers={"cookie": cookie})
            response = connection.getresponse()
            assert response.status == 200
            waits = response.getheader("refresh") is not None
            connection.close()
            sleep(0.2)


def _microseconds(running: Running, reports: Stream, *others: Stream) -> float:
    """Return the time that each report takes, while others do something else."""
    start = perf_counter()
    running.send([reports, *others], LONGER * SECONDS)
    ended = max(sent + taken for sent, taken in reports.answers)
    return 1e6 * (ended - start) / len(reports.answers)
