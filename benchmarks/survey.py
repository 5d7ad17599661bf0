"""Durable reports over HTTP: grouped commits against one commit a report, and against no storage at all.

The same server in a process of its own, on loopback, single-use invitations, 64 connections that always have one report
under way. The three take short turns and the median turn of each counts, because a shared machine is at times half as
fast as at others. `SOTTOVOCE_SURVEY_SECONDS` sets how long a turn lasts.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from urllib.parse import urlsplit

import numpy as np

from benchmarks.measure import Row
from sottovoce.surveys.client.client import seal_report
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.server import address_of, listen, make_app, serve
from sottovoce.surveys.collect.store import BATCH_SIZE, Outcome, Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link

SECONDS = float(os.environ.get("SOTTOVOCE_SURVEY_SECONDS", "2"))
CONNECTIONS = 64
TURNS = 9
MOST_PER_SECOND = 9_000
"""Reports prepared for each second: more than the server takes."""

DEFINITION = """
title: Benchmark
asker: Nobody
purpose: To measure.
until: 2999-12-31
odds: 81:1
questions:
  - {id: a, kind: yes_no, text: A}
  - {id: b, kind: yes_no, text: B}
  - {id: c, kind: single, text: C, answers: [one, two, three, four]}
  - {id: d, kind: single, text: D, answers: [one, two, three, four]}
"""


@dataclass(frozen=True)
class Load:
    """Reports acknowledged in a second, and the latency that 99 % of them stayed below."""

    rate: float
    p99: float


def rows() -> list[Row]:
    """All three servers in turn."""
    survey = survey_from_text(DEFINITION)
    prepared = int(MOST_PER_SECOND * SECONDS)
    reports = simulate_respondents(survey, prepared, np.random.default_rng(1)).reports()
    loads: dict[str, list[Load]] = {"grouped": [], "single": [], "off": []}
    for _ in range(TURNS):
        for mode, found in loads.items():
            found.append(_measured(mode, survey, reports))
    grouped, single, off = (_middle(found) for found in loads.values())
    name = f"{CONNECTIONS} connections, grouped commits"
    ours = 1e6 / grouped.rate
    return [
        Row(f"{name}, against one commit a report", "one commit a report", ours, 1e6 / single.rate, "us per report"),
        Row(f"{name}, against storage switched off", "no storage", ours, 1e6 / off.rate, "us per report"),
        Row(f"{name}, 99 % acknowledged within", "one commit a report", 1e3 * grouped.p99, 1e3 * single.p99, "ms"),
    ]


def _middle(loads: list[Load]) -> Load:
    return Load(median(load.rate for load in loads), median(load.p99 for load in loads))


def _measured(mode: str, survey: Survey, reports: list[bytes]) -> Load:
    with TemporaryDirectory() as folder:
        database = str(Path(folder, "surveys.db"))
        store = Store(database)
        store.freeze(survey)
        tokens = store.invite(survey, len(reports))
        with _server(mode, database) as address:
            link = Link(address, survey.hash)
            seals = [seal_report(survey.hash, report, token) for report, token in zip(reports, tokens, strict=True)]
            acknowledged, latencies, seconds = asyncio.run(_drive(link, iter([seal.body for seal in seals])))
        stored = store.counts(survey.id)["reports"]
        store.close()
    assert mode == "off" or stored == acknowledged
    return Load(acknowledged / seconds, float(np.quantile(latencies, 0.99)))


@contextmanager
def _server(mode: str, database: str) -> Iterator[str]:
    """The server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.survey", mode, database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])  # noqa: S603  # our own interpreter
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


async def _drive(link: Link, bodies: Iterator[bytes]) -> tuple[int, list[float], float]:
    """Keep all connections busy for a while; how many were acknowledged, their latencies, and the time it took."""
    latencies: list[float] = []
    start = perf_counter()
    await asyncio.gather(*(_one(link, bodies, start + SECONDS, latencies) for _ in range(CONNECTIONS)))
    return len(latencies), latencies, perf_counter() - start


async def _one(link: Link, bodies: Iterator[bytes], until: float, latencies: list[float]) -> None:
    parts = urlsplit(link.address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = f"POST {parts.path}/reports HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
    while (sent := perf_counter()) < until and (body := next(bodies, None)) is not None:
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer)
        assert length is not None, answer
        assert answer.startswith(b"HTTP/1.1 201"), answer
        await reader.readexactly(int(length[1]))
        latencies.append(perf_counter() - sent)
    writer.close()
    await writer.wait_closed()


def _serve(mode: str, database: str) -> None:
    """Be the server: print the address, then serve until terminated."""
    listening = listen("127.0.0.1", 0)
    print(address_of(listening), flush=True)
    commit = (lambda entries: [Outcome.STORED] * len(entries)) if mode == "off" else None
    app = make_app(Store(database), per_window=None, commit=commit, most=1 if mode == "single" else BATCH_SIZE)
    serve(app, listening)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
