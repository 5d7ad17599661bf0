"""Servers in processes of their own, and what they have stored."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import closing, contextmanager

from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.drill.verdict import stored_rows

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


def stored(database):
    """Return how often each report lies in the tables, by its survey, key and content."""
    with closing(Store(database)) as store:
        return Counter((row.survey, row.key, row.report) for row in stored_rows(store))
