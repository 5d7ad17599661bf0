"""Servers in processes of their own, and many clients that keep them busy."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import create_engine, text

SERVER = """
import sys
from sottovoce.surveys.collect import writer
from sottovoce.surveys.collect.server import address_of, listen, make_app, serve
from sottovoce.surveys.collect.store import Store

writer.IDLE_SECONDS = writer.UNTIDY_SECONDS = float(sys.argv[2])
listening = listen("127.0.0.1", 0)
app = make_app(Store(sys.argv[1], batch=16, capacity=2000), per_window=None)
print(address_of(listening), flush=True)
serve(app, listening)
"""
"""A server that tidies up often, and soon has reports in tables of several levels."""


def start(database, *, tidy_seconds=0.2, environment=None):
    """Start a server; return its process and its address."""
    command = [sys.executable, "-c", SERVER, database, str(tidy_seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | (environment or {}))
    return process, process.stdout.readline().strip()


def end(process, *, kill=False):
    """End a server, in good order or not."""
    process.kill() if kill else process.terminate()
    process.wait()
    process.stdout.close()


@contextmanager
def servers(database, count, **settings):
    """Run some servers over a database while the block runs; yields their addresses."""
    started = [start(database, **settings) for _ in range(count)]
    try:
        yield [address for _, address in started]
    finally:
        for process, _ in started:
            end(process)


class Reply(NamedTuple):
    status: int
    content: dict


class Connection:
    """A connection to a server, kept open."""

    def __init__(self, address):
        self._parts = urlsplit(address)
        self._streams = None

    async def post(self, path, body):
        """Return the reply to a request; raise `OSError` or `EOFError` if there is none."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        reader, writer = self._streams
        head = f"POST {path} HTTP/1.1\r\nHost: {self._parts.netloc}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", answer)[1])
        return Reply(int(answer.split()[1]), json.loads(await reader.readexactly(length)))

    async def close(self):
        if self._streams is not None:
            self._streams[1].close()
            with suppress(OSError):  # the server may have been killed
                await self._streams[1].wait_closed()


def stored(database):
    """Return how often each report lies in the tables, by its survey, key and content."""
    url = database if "://" in database else f"sqlite:///{database}"
    engine = create_engine(url)
    found = Counter()
    with engine.connect() as connection:
        levels = connection.scalar(text("SELECT levels FROM sottovoce"))
        for table in ["inbox", *(f"reports_{level}" for level in range(levels))]:
            rows = connection.execute(text(f"SELECT survey, key, report FROM {table}"))  # noqa: S608  # our own names
            found.update((survey, bytes(key), bytes(report)) for survey, key, report in rows)
    engine.dispose()
    return found
