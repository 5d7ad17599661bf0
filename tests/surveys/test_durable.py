"""A server that is killed under load, again and again, loses no report that it acknowledged."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from sottovoce.surveys.client.client import Client, seal_report
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.links import Link, key_hash

pytestmark = pytest.mark.slow
KILLS = 6
SENDERS = 16
LOAD = 300
"""Acknowledged reports after which the server is killed, in the middle of the others."""


def start(database: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "sottovoce", "survey", "serve", "--port", "0", "--db", database]
    command += ["--per-window", "1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split(" at ")[1].split(". ")[0]


class Sender(threading.Thread):
    """Sends one report after the other until the server is gone; remembers what was acknowledged."""

    def __init__(self, address, survey, tokens) -> None:
        super().__init__()
        self._client = Client(address, timeout=5, sleep=self._pause)
        self._link, self._tokens, self.acknowledged = Link(address, survey.hash), tokens, {}
        self.gone = False

    def _pause(self, _):
        if self.gone:
            raise ConnectionError("the server was killed")

    def run(self) -> None:
        for token in self._tokens:
            report = os.urandom(1)[0] % 3
            seal = seal_report(self._link.hash, bytes([report, *[0] * 5, 1, 1, *[0] * 7]), token)
            try:
                self._client.send(self._link, seal)
            except (ConnectionError, ValueError):
                break
            given = json.loads(seal.body)
            self.acknowledged[key_hash(self._link.hash, bytes.fromhex(given["key"]))] = bytes.fromhex(given["report"])
        self._client.close()


def test_kill_minus_nine_loses_no_acknowledged_report(database, store, survey):
    acknowledged: dict[bytes, bytes] = {}
    for _ in range(KILLS):
        tokens = store.invite(survey, 400 * SENDERS)
        process, address = start(database)
        senders = [Sender(address, survey, tokens[place::SENDERS]) for place in range(SENDERS)]
        for sender in senders:
            sender.start()
        while sum(len(sender.acknowledged) for sender in senders) < LOAD and any(map(Sender.is_alive, senders)):
            time.sleep(0.01)
        for sender in senders:
            sender.gone = True
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for sender in senders:
            sender.join()
            acknowledged |= sender.acknowledged
    stored = _stored(database, survey)
    assert len(acknowledged) >= LOAD * KILLS
    assert acknowledged.items() <= stored.items()
    counts = store.counts(survey.id)
    assert counts["issued"] - counts["unspent"] == counts["reports"] == len(stored)


def _stored(database: str, survey) -> dict[bytes, bytes]:
    import sqlite3

    with sqlite3.connect(database) as plain:
        found = dict(plain.execute("SELECT key, report FROM reports WHERE survey = ?", (survey.id,)).fetchall())
    plain.close()
    return found


def test_a_store_opens_after_a_kill(database, store, survey):
    process, _ = start(database)
    process.kill()
    process.wait()
    process.stdout.close()
    assert Store(database).surveys()
