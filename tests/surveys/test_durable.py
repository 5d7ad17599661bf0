"""A server or database that is killed under load, again and again, loses and doubles no report that was acknowledged.

Devices do what the page does: they are admitted where that is needed, and send the same bytes until these are
acknowledged. Servers move reports all the time, so kills also hit moves.
"""

import asyncio
import random
from collections import Counter, deque
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.drill.respondents import Connection, Respondent
from tests.surveys.crash import Recorder, tear
from tests.surveys.load import end, start, stored

pytestmark = pytest.mark.slow
CONNECTIONS = 32
LOAD = 2500
"""Reports that are acknowledged before a server is killed, in the middle of others."""

INVITED = 25
"""How many of them are of people with an invitation."""


async def proceed(respondent, connection):
    """Send what is to be sent next; return whether the report was acknowledged."""
    while not respondent.acknowledged:
        reply = await connection.post(*respondent.next_request())
        assert reply.status in (200, 201, 503), reply  # never "spent": the same message may be sent again
        respondent.take(reply, 0.0)
        assert respondent.refused is None, reply
        if reply.status == 503:
            return False
    return True


def row_of(respondent):
    """Row in which the database must store the report."""
    return respondent.survey.id, respondent.key, respondent.report


class Load:
    """Devices that keep a server busy."""

    def __init__(self, database, draft, open_survey, people):
        store = Store(database)
        rng = np.random.default_rng(1)
        open_survey, invited = store.freeze(open_survey), store.freeze(draft)
        reports = simulate_respondents(open_survey, people, rng).reports()
        tokens = iter(store.invite(invited, people * INVITED // LOAD))
        every = LOAD // INVITED
        self.devices = [
            Respondent(place, open_survey, report)
            if place % every
            else Respondent(place, invited, report, next(tokens))
            for place, report in enumerate(reports)
        ]
        store.close()
        self._waiting = deque(self.devices)
        self._acknowledged, self._until = 0, None

    async def drive(self, address, strike):
        """Keep connections busy; after some acknowledged reports let something happen; go on if the server does."""
        self._until, struck_after = None, self._acknowledged + LOAD
        clients = [asyncio.create_task(self._client(address)) for _ in range(CONNECTIONS)]
        while self._acknowledged < struck_after and not any(client.done() for client in clients):
            await asyncio.sleep(0.001)
        await asyncio.to_thread(strike)
        self._until = self._acknowledged + LOAD // 10
        await asyncio.gather(*clients)

    async def _client(self, address):
        connection = Connection(address)
        while self._until is None or self._acknowledged < self._until:
            device = self._waiting.popleft()
            try:
                acknowledged = await proceed(device, connection)
            except (OSError, EOFError):
                self._waiting.appendleft(device)
                break
            if acknowledged:
                self._acknowledged += 1
            else:
                self._waiting.appendleft(device)
                await asyncio.sleep(0.05)
        await connection.close()

    def check(self, database):
        """Every acknowledged report is there, none twice, and nothing is there that nobody sent."""
        found = stored(database)
        acknowledged = {row_of(device) for device in self.devices if device.acknowledged}
        assert acknowledged <= found.keys()
        assert found.keys() <= {row_of(device) for device in self.devices if device.sealed is not None}
        assert set(Counter((survey, key) for survey, key, _ in found.elements()).values()) == {1}
        return len(acknowledged)

    async def check_admissions(self, address):
        """Whoever was admitted gets the same signature again, and nobody is admitted with another message."""
        connection = Connection(address)
        admitted = [device for device in self.devices if device.signature is not None]
        for device in admitted:
            path = f"/s/{device.survey.id}/admission"
            reply = await connection.post(path, device.admission())
            assert (reply.status, reply.content) == (200, {"signature": device.signature})
            other = device.blind().message
            assert (await connection.post(path, device.admission(other))).status == 409
        await connection.close()
        return len(admitted)


@pytest.fixture
def recorder():
    with TemporaryDirectory(prefix="sv-synced-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's user must enter it
        yield Recorder(Path(folder))


@pytest.fixture
def start_server():
    """Start servers, none of which outlives the test."""
    processes = []

    def begin(database, **settings):
        process, address = start(database, **settings)
        processes.append(process)
        return process, address

    yield begin
    for process in processes:
        if process.poll() is None:
            end(process, kill=True)


KILLS = {"sqlite": 9, "postgres": 5}


@pytest.mark.parametrize("kind", KILLS)
def test_a_killed_server_loses_nothing(kind, request, tmp_path, draft, open_survey, finished, recorder, start_server):
    """SQLite's files also lose what was not synced: the machine may lose power at the same moment."""
    database = str(tmp_path / "surveys.db") if kind == "sqlite" else request.getfixturevalue("postgres").database()
    load, rng = Load(database, draft, open_survey, (KILLS[kind] + 1) * LOAD), random.Random(1)  # noqa: S311
    for _ in range(KILLS[kind]):
        recorder.forget()
        process, address = start_server(database, environment=recorder.environment)

        def kill(process=process):
            if kind == "sqlite":
                recorder.freeze(lambda: [process.pid])
            end(process, kill=True)

        finished(load.drive(address, kill))
        for path, writes in recorder.unsynced().items():
            tear(path, writes, rng)
        load.check(database)
    assert load.check(database) >= KILLS[kind] * LOAD
    process, address = start_server(database)
    assert finished(load.check_admissions(address)) >= KILLS[kind] * INVITED // 2
    end(process)


@pytest.fixture
def recorded_postgres(postgres, recorder):
    """PostgreSQL while everything that it writes to its log is recorded."""
    postgres.stop()
    postgres.environment = recorder.environment
    postgres.start()
    yield postgres
    postgres.environment = {}
    postgres.stop()
    postgres.start()


def test_a_killed_database_loses_nothing(recorded_postgres, draft, open_survey, finished, recorder, start_server):
    """PostgreSQL stops without writing anything more, or loses power and what it had not synced of its log.

    The survey's server lives on, refuses reports meanwhile, and takes them as soon as the database is back.
    """
    postgres, strikes = recorded_postgres, 6
    database = postgres.database()
    load, rng = Load(database, draft, open_survey, (strikes + 1) * LOAD), random.Random(1)  # noqa: S311
    process, address = start_server(database)
    for mode in ["immediate", "kill"] * (strikes // 2):

        def strike(mode=mode):
            if mode == "kill":
                recorder.freeze(postgres.processes)
            postgres.stop(mode)
            for path, writes in recorder.unsynced().items():
                tear(path, writes, rng)
            recorder.forget()
            postgres.start()

        finished(load.drive(address, strike))
    end(process)
    assert load.check(database) >= strikes * LOAD
    process, address = start_server(database)
    assert finished(load.check_admissions(address)) >= strikes * INVITED // 2
    end(process)


@pytest.mark.usefixtures("store")
def test_a_store_opens_after_a_kill(database, start_server):
    process, _ = start_server(database)
    end(process, kill=True)
    assert Store(database).surveys()
