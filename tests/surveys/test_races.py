"""Many at the same moment: one invitation admits once, one credential reports once, and no report is doubled."""

import asyncio
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait

import msgspec
import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES
from sottovoce.surveys.client.client import AdmissionRequest, Credential, seal_report
from sottovoce.surveys.collect import store as store_module
from sottovoce.surveys.collect.app_state import AppState, utc_now
from sottovoce.surveys.collect.entries import Entry, Outcome
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.drill.respondents import Connection
from tests.surveys.load import servers, stored

CLIENTS = 200
REPORT = bytes([0] * 6 + [1, 1] + [0] * 7)
OTHER = bytes([1] + [0] * 5 + [1, 1] + [0] * 7)


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.slow), "postgres"])
def shared_database(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "surveys.db")
    return request.getfixturevalue("postgres").database()


async def race(addresses, path, bodies):
    """Send all bodies at the same moment, each by a client of its own, to the servers in turn."""
    clients = [Connection(addresses[place % len(addresses)]) for place in range(len(bodies))]
    warm = msgspec.json.encode({})
    await asyncio.gather(*(client.post(path, warm) for client in clients))  # everybody is connected
    try:
        return await asyncio.gather(*(client.post(path, body) for client, body in zip(clients, bodies, strict=True)))
    finally:
        for client in clients:
            await client.close()


@pytest.mark.slow
def test_one_invitation_and_one_credential(shared_database, draft, finished):
    store = Store(shared_database)
    survey = store.freeze(draft)
    (token,) = store.invite(survey, 1)
    key = survey.admission
    values = [i.to_bytes(CREDENTIAL_BYTES) for i in range(CLIENTS)]
    blinded = [key.blind(value) for value in values]
    with servers(shared_database, 2) as addresses:

        def sent(route, bodies):
            return finished(race(addresses, f"/s/{survey.id}/{route}", [msgspec.json.encode(body) for body in bodies]))

        replies = sent("admission", [AdmissionRequest(token, each.message.hex()) for each in blinded])
        assert Counter(reply.status for reply in replies) == {200: 1, 409: CLIENTS - 1}
        (winner,) = [place for place, reply in enumerate(replies) if reply.status == 200]
        assert {reply.content["error"] for reply in replies if reply.status == 409} == {"spent"}

        # The one that was admitted asks again and again, and gets one signature.
        replies = sent("admission", [AdmissionRequest(token, blinded[winner].message.hex())] * CLIENTS)
        (signature,) = {reply.content["signature"] for reply in replies}
        signed = key.finalize(values[winner], bytes.fromhex(signature), blinded[winner].inverse)
        assert store.counts(survey.id)["admitted"] == 1

        # Under one credential, half of the clients send one report, and half another one.
        credential = Credential(values[winner], signed)
        sealed = [seal_report(survey.hash, report, credential=credential).body for report in (REPORT, OTHER)]
        replies = sent("reports", [msgspec.Raw(sealed[place // 2 % 2]) for place in range(CLIENTS)])
        assert Counter(reply.status for reply in replies) == {201: 1, 200: CLIENTS // 2 - 1, 409: CLIENTS // 2}
        assert {reply.content["error"] for reply in replies if reply.status == 409} == {"other_report"}
    assert list(stored(shared_database).values()) == [1]
    assert store.counts(survey.id)["reports"] == 1
    store.close()


def test_those_who_come_first_wait_for_one_of_them_to_read_the_secret_key(store, survey, finished, monkeypatch):
    """Reading it checks it, which takes longer than a signature: 200 at once would keep everybody waiting."""
    read, calls = store.secret_key, []
    monkeypatch.setattr(store, "secret_key", lambda asked: calls.append(asked) or read(asked))

    async def ask():
        state = AppState(store, None, None, utc_now)
        return await asyncio.gather(*(state.secret_key(survey) for _ in range(20)))

    assert len(finished(ask())) == 20
    assert len(calls) == 1


class Paused:
    """Lets a store wait before its first statement of some kind, until it is told to go on."""

    def __init__(self, store, beginning):
        self._beginning, self._go_on, self.reached = beginning, threading.Event(), threading.Event()
        event.listen(store._engine, "before_cursor_execute", self._pause)

    def _pause(self, _connection, _cursor, statement, *_):
        if statement.strip().startswith(self._beginning) and not self.reached.is_set():
            self.reached.set()
            assert self._go_on.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._go_on.set()


@pytest.fixture
def stores(postgres, open_survey):
    """Three servers over one database, the first of which is slow and the last moves reports."""
    url = postgres.database()
    opened = [Store(url, batch=1) for _ in range(3)]
    opened[0].freeze(open_survey)
    yield url, *opened
    for store in opened:
        store.close()


def waits(postgres, url, future):
    """Return whether somebody waits for a lock, not whether something has already happened."""
    with postgres.superuser(url) as connection:
        of_database = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        waiting = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND {of_database}"  # noqa: S608  # no value in it
        while not future.done() and not connection.execute(waiting).fetchone()[0]:
            time.sleep(0.01)
    return not future.done()


def test_the_mover_waits_for_a_report_that_is_on_its_way(stores, open_survey, postgres):
    """A client sends twice, to two servers. The first looks, finds nothing, and is slow to store the report; meanwhile
    the second stores it. Moved now, it would lie where the first one does not collide with it.
    """
    url, slow, fast, mover = stores
    entry = Entry(open_survey.id, b"k" * 16, b"report")
    with ThreadPoolExecutor(2) as pool:
        with Paused(slow, "INSERT INTO inbox") as pause:
            first = pool.submit(slow.commit, [entry])
            assert pause.reached.wait(60)
            assert fast.commit([entry]) == [Outcome.STORED]
            move = pool.submit(mover.tidy)
            assert waits(postgres, url, move)
        assert first.result() == [Outcome.REPEATED]
        move.result()
    assert list(stored(url).values()) == [1]


@pytest.mark.parametrize("locked", [True, False])
def test_a_report_that_comes_during_a_move_is_not_lost(stores, open_survey, postgres, locked, monkeypatch):
    """The mover copies the inbox and drops it. A writer that takes no lock loses what it stores in between."""
    url, slow, _, mover = stores
    if not locked:
        monkeypatch.setattr(store_module, "lock_reports", lambda _connection: None)
    assert mover.commit([Entry(open_survey.id, b"j" * 16, b"before")]) == [Outcome.STORED]
    with ThreadPoolExecutor(2) as pool:
        with Paused(slow, "INSERT INTO inbox") as pause:
            first = pool.submit(slow.commit, [Entry(open_survey.id, b"k" * 16, b"during")])
            assert pause.reached.wait(60)
            move = pool.submit(mover.tidy)
            assert waits(postgres, url, move)
        assert first.result() == [Outcome.STORED]
        move.result()
    assert sorted(stored(url).values()) == ([1, 1] if locked else [1])


def test_a_report_that_waits_for_the_mover_is_not_doubled(stores, open_survey, postgres):
    """What is sent again during a move is found where it was moved to."""
    url, other, _, mover = stores
    entry = Entry(open_survey.id, b"k" * 16, b"report")
    assert other.commit([entry]) == [Outcome.STORED]
    with ThreadPoolExecutor(2) as pool:
        with Paused(mover, "ALTER TABLE inbox_new") as pause:
            move = pool.submit(mover.tidy)
            assert pause.reached.wait(60)
            again = pool.submit(other.commit, [entry])
            assert waits(postgres, url, again)
        assert again.result() == [Outcome.REPEATED]
        move.result()
    assert list(stored(url).values()) == [1]


def test_a_backup_does_not_hold_up_reports(stores, open_survey, postgres):
    """A dump keeps all tables as they are while it lasts; the mover gives up, and tries again in the next pause."""
    url, server, _, mover = stores
    assert mover.commit([Entry(open_survey.id, b"j" * 16, b"before")]) == [Outcome.STORED]
    with postgres.superuser(url) as backup, ThreadPoolExecutor(2) as pool:
        with backup.transaction():
            backup.execute("LOCK TABLE inbox, reports_0 IN ACCESS SHARE MODE")  # as pg_dump does
            move = pool.submit(mover.tidy)
            assert waits(postgres, url, move)
            report = pool.submit(server.commit, [Entry(open_survey.id, b"k" * 16, b"during")])
            done, _ = wait([report], timeout=120)
        assert done
        assert report.result() == [Outcome.STORED]
        with pytest.raises(OperationalError, match="lock timeout"):
            move.result()
    assert mover.tidy()
    assert sorted(stored(url).values()) == [1, 1]
