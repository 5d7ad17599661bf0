"""Servers in processes of their own, databases with surveys, and connections that always have a request under way."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import IO
from urllib.parse import urlsplit

import numpy as np
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.serialization import load_der_private_key
from sqlalchemy import insert

from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES, SALT_BYTES, SecretKey
from sottovoce.surveys.client.client import Credential, seal_report
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.store import Store, _survey_row
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import Survey

SECONDS = float(os.environ.get("SOTTOVOCE_SURVEY_SECONDS", "1"))
TURNS = int(os.environ.get("SOTTOVOCE_SURVEY_TURNS", "5"))
WARM_UP_SECONDS = 0.2
CONNECTIONS = 64
MOST_PER_SECOND = 8_000
"""Reports prepared for each second: more than the servers take."""

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
LENGTH = re.compile(rb"content-length: (\d+)")
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
class Servers:
    """What is measured: a database, a number of processes over it, and how they commit.

    `signed` reports come with a credential and its signature, others with their invitation, as 0.1 took them.
    """

    database: str = "SQLite"
    processes: int = 1
    mode: str = "grouped"
    signed: bool = True

    def __str__(self) -> str:
        """Return a name for the rows."""
        return f"{self.database}, {self.processes} process" + ("es" if self.processes > 1 else "")


@dataclass(frozen=True)
class Stream:
    """Requests over some connections that each have one under way, and the answers as they come.

    `pause` is the time between an answer and the next request, in seconds. Answers are pairs: when the request was
    sent, and the seconds until its answer.
    """

    requests: Iterator[bytes]
    status: int
    connections: int = CONNECTIONS
    pause: float = 0.0
    answers: list[tuple[float, float]] = field(default_factory=list)

    @property
    def latencies(self) -> list[float]:
        """Milliseconds until each answer."""
        return [1e3 * latency for _, latency in self.answers]


@dataclass(frozen=True)
class Load:
    """What a turn took: microseconds for each request, those of the servers' processors, and a latency in ms."""

    each: float
    processor: float
    p99: float


def middle(loads: Sequence[Load]) -> Load:
    """Return the median of each figure."""
    return Load(*(median(getattr(load, name) for load in loads) for name in ("each", "processor", "p99")))


class Site:
    """The surveys that are measured, and what their respondents send.

    All surveys have one key, and a credential is used once in each of them: a server cannot know that, and there need
    not be a new signature for every report of a minute.
    """

    def __init__(self, new_postgres: Callable[[], str] | None) -> None:
        """Draw a key; `new_postgres` makes a PostgreSQL database, if there is one."""
        self._new_postgres = new_postgres
        self.secret = SecretKey.generate()
        self._draft = survey_from_text(DEFINITION)
        self.old = replace(self._draft, send_interval=0)
        count = int(MOST_PER_SECOND * (SECONDS + WARM_UP_SECONDS))
        self.reports = simulate_respondents(self._draft, count, np.random.default_rng(1)).reports()
        self.credentials = _signed(self.secret, count)

    @property
    def databases(self) -> list[str]:
        """Kinds of databases on this machine."""
        return ["SQLite"] if self._new_postgres is None else ["SQLite", "PostgreSQL"]

    def surveys(self, count: int) -> list[Survey]:
        """Return surveys that differ in their titles."""
        titles = ({"en": f"Benchmark {number}"} for number in range(count))
        return [replace(self._draft, title=title, admission=self.secret.public) for title in titles]

    def signed_reports(self, survey: Survey) -> Iterator[bytes]:
        """Requests that bring reports with credentials."""
        for report, credential in zip(self.reports, self.credentials, strict=True):
            yield post(f"/s/{survey.id}/reports", seal_report(survey.hash, report, credential=credential).body)

    def unsigned_reports(self, tokens: Sequence[str]) -> Iterator[bytes]:
        """Requests that bring reports with invitations."""
        for report, token in zip(self.reports, tokens, strict=True):
            yield post(f"/s/{self.old.id}/reports", seal_report(self.old.hash, report, token).body)

    @contextmanager
    def database(self, kind: str, frozen: Sequence[Survey]) -> Iterator[tuple[str, Store]]:
        """Make a new database with surveys."""
        with TemporaryDirectory() as folder:
            file = str(Path(folder, "surveys.db"))
            place = self._new_postgres() if kind == "PostgreSQL" and self._new_postgres is not None else file
            store = Store(place)
            with writing(store._engine) as connection:
                rows = [_survey_row(each, self.secret if each.admission else None) for each in frozen]
                connection.execute(insert(surveys), rows)
            yield place, store
            store.close()

    def measured(self, servers: Servers) -> Load:
        """Start servers over a new database, send them reports for a turn, and check that all of them were stored."""
        frozen = self.surveys(1)[0] if servers.signed else self.old
        with self.database(servers.database, [frozen]) as (place, store):
            if servers.signed:
                requests = self.signed_reports(frozen)
            else:
                requests = self.unsigned_reports(store.invite(frozen, len(self.reports)))
            with started(servers, place) as running:
                load, sent = running.measured(requests, 201)
            assert servers.mode == "off" or store.counts(frozen.id)["reports"] == sent
        return load


def _signed(secret: SecretKey, count: int) -> list[Credential]:
    """Return credentials with signatures as admissions give them, but without blinding, which is faster."""
    key, padding = load_der_private_key(secret.to_bytes(), None), PSS(MGF1(SHA384()), SALT_BYTES)
    assert isinstance(key, RSAPrivateKey)
    values = [os.urandom(CREDENTIAL_BYTES) for _ in range(count)]
    return [Credential(value, key.sign(value, padding, SHA384())) for value in values]


def post(path: str, body: bytes) -> bytes:
    """Return a request as it is sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Running:
    """Servers that run."""

    def __init__(self, processes: "Sequence[subprocess.Popen[str]]") -> None:
        """Read the servers' addresses, which they print when they listen."""
        self._processes = processes
        self.tidied: list[tuple[float, float]] = []  # when each began to tidy up, and for how many seconds
        self.addresses = [_lines(process).readline().strip() for process in processes]

    def measured(self, requests: Iterator[bytes], status: int, connections: int = CONNECTIONS) -> tuple[Load, int]:
        """Send requests for a turn, after a few that load what is needed; return also how many there were in all."""
        first, stream = (Stream(requests, status, connections) for _ in range(2))
        self.send([first], WARM_UP_SECONDS)
        used, start = self._processor(), perf_counter()
        self.send([stream], SECONDS)
        count = len(stream.answers) / 1e6
        p99 = float(np.quantile(stream.latencies, 0.99))
        load = Load((perf_counter() - start) / count, (self._processor() - used) / count, p99)
        return load, len(first.answers) + len(stream.answers)

    def send(self, streams: Sequence[Stream], seconds: float, watch: Callable[[], None] | None = None) -> None:
        """Send requests for some time, over connections to each of the servers in turn; call `watch` every second."""
        asyncio.run(self._send(streams, perf_counter() + seconds, watch))

    async def _send(self, streams: Sequence[Stream], until: float, watch: Callable[[], None] | None) -> None:
        loop, ended = asyncio.get_running_loop(), []
        for stream in streams:
            for number in range(stream.connections):
                address = urlsplit(self.addresses[number % len(self.addresses)])
                place = address.hostname or "", address.port or 0
                _, sender = await loop.create_connection(partial(Sender, stream, until), *place)
                ended.append(sender.ended)
        watching = None if watch is None else asyncio.create_task(_call_every_second(watch))
        await asyncio.gather(*ended)
        if watching is not None:
            watching.cancel()

    def _processor(self) -> float:
        """Seconds of a processor that the servers have used."""
        parts = [Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split() for each in self._processes]
        return sum(int(part[11]) + int(part[12]) for part in parts) / TICKS

    def memory(self) -> float:
        """Resident memory of the servers and the processes that they have started, in MiB."""
        pids = [each.pid for each in self._processes]
        for pid in tuple(pids):
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += map(int, path.read_text().split())
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * PAGE / 2**20

    def end(self) -> None:
        """End the servers, and read what they have printed."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            printed, _ = process.communicate()
            for line in printed.splitlines():
                start, seconds = map(float, line.split())
                self.tidied.append((start, seconds))


async def _call_every_second(watch: Callable[[], None]) -> None:
    while True:
        watch()
        await asyncio.sleep(1)


def _lines(process: "subprocess.Popen[str]") -> IO[str]:
    assert process.stdout is not None
    return process.stdout


@contextmanager
def started(servers: Servers, database: str) -> Iterator[Running]:
    """Run servers over a database while the block runs."""
    command, root = [sys.executable, "-m", "benchmarks.survey", servers.mode, database], Path(__file__).parents[2]
    running = Running(
        [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)  # noqa: S603  # our own interpreter
            for _ in range(servers.processes)
        ]
    )
    try:
        yield running
    finally:
        running.end()


class Sender(asyncio.Protocol):
    """A connection that sends a request, waits for the answer, and sends the next one, until the time is over."""

    def __init__(self, stream: Stream, until: float) -> None:
        """Send nothing yet."""
        self._stream, self._until = stream, until
        self._received, self._sent = b"", 0.0
        self._loop = asyncio.get_running_loop()
        self.ended = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = perf_counter()
        request = next(self._stream.requests, None) if self._sent < self._until else None
        if request is None:
            self._transport.close()
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take an answer once it is there as a whole."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = LENGTH.search(head) if end else None
        if length is None or len(body) < int(length[1]):
            return
        if not head.startswith(b"HTTP/1.1 %d" % self._stream.status):
            self.ended.set_exception(RuntimeError(self._received.decode()))
            self._transport.close()
            return
        self._received = b""
        self._stream.answers.append((self._sent, perf_counter() - self._sent))
        if self._stream.pause:
            self._loop.call_later(self._stream.pause, self._send)
        else:
            self._send()

    def connection_lost(self, _reason: Exception | None) -> None:
        """The time is over, or the server has hung up."""
        if not self.ended.done():
            self.ended.set_result(None)
