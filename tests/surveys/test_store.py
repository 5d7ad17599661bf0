"""The store and its writer: once is once, a batch is a batch, and nothing links an invitation to a report."""

import asyncio
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect import store as store_module
from sottovoce.surveys.collect import writer as writer_module
from sottovoce.surveys.collect.store import Entry, Outcome, Store
from sottovoce.surveys.collect.writer import BusyError, Writer
from sottovoce.surveys.links import token_hash

STORED, REPEATED = Outcome.STORED, Outcome.REPEATED
OTHER, UNINVITED = Outcome.OTHER_REPORT, Outcome.NO_INVITATION


def invited(store, survey, count):
    return [token_hash(survey.hash, token) for token in store.invite(survey, count)]


def test_surveys_are_kept_for_good(store, survey, open_survey, database):
    store.freeze(survey)
    assert store.surveys() == sorted([survey.id, open_survey.id])
    assert store.survey(survey.id) == survey
    assert store.survey("0" * 16) is None
    assert Store(f"sqlite:///{database}").survey(survey.id) == survey


def test_another_survey_of_the_same_id_is_refused(store, survey):
    class Twin:
        id, document = survey.id, b"other"

    with pytest.raises(SottovoceError, match="must have an id that no other survey in the database has"):
        store.freeze(Twin())


def test_a_new_database_is_its_owners_alone(store, database):
    assert Path(database).stat().st_mode & 0o777 == 0o600
    assert Store("sqlite://").surveys() == []


def test_invitations_are_counted_and_stored_hashed(store, survey, open_survey, database):
    tokens = store.invite(survey, 3)
    assert len(set(tokens)) == 3
    assert store.counts(survey.id) == {"issued": 3, "unspent": 3, "reports": 0}
    store.close()
    content = Path(database).read_bytes()
    for token in tokens:
        assert token.encode() not in content
        assert token_hash(survey.hash, token) in content
    with pytest.raises(SottovoceError, match="invitation must be single"):
        store.invite(open_survey, 1)


def test_one_batch_decides_in_order(store, survey, open_survey):
    first, second, third = invited(store, survey, 3)
    here, there = survey.id, open_survey.id
    batch = [
        (Entry(here, b"a", b"1", first), STORED),
        (Entry(here, b"a", b"1", first), REPEATED),
        (Entry(here, b"a", b"2", first), OTHER),
        (Entry(here, b"b", b"1", first), UNINVITED),
        (Entry(here, b"c", b"1", b"never issued"), UNINVITED),
        (Entry(here, b"c", b"1", second), UNINVITED),
        (Entry(there, b"a", b"3"), STORED),
        (Entry(there, b"d", b"4"), STORED),
    ]
    assert store.commit([entry for entry, _ in batch]) == [outcome for _, outcome in batch]
    assert store.commit([Entry(here, b"a", b"1", first), Entry(here, b"c", b"5", second)]) == [REPEATED, STORED]
    assert store.commit([Entry(here, b"e", b"6", third)]) == [STORED]
    assert store.reports(here) == [b"1", b"5", b"6"]
    assert store.counts(here) == {"issued": 3, "unspent": 0, "reports": 3}


def test_an_invitation_is_of_one_survey(store, survey, open_survey):
    (token,) = invited(store, survey, 1)
    assert store.commit([Entry(open_survey.id, b"a", b"1", token)]) == [UNINVITED]


def test_reports_lie_in_the_order_of_their_keys_and_spent_invitations_are_overwritten(store, survey, database):
    tokens = invited(store, survey, 40)
    keys = [os.urandom(16) for _ in tokens]
    for number, (key, token) in enumerate(zip(keys, tokens, strict=True)):
        store.commit([Entry(survey.id, key, bytes([number]), token)])
    store.tidy()
    assert not Path(f"{database}-wal").exists() or Path(f"{database}-wal").stat().st_size == 0
    with sqlite3.connect(database) as plain:
        rows = plain.execute("SELECT key, report FROM reports").fetchall()
        columns = {
            row[1]
            for table in ("surveys", "invitations", "reports")
            for row in plain.execute(f"PRAGMA table_info({table})")
        }
    plain.close()
    assert [key for key, _ in rows] == sorted(keys)
    assert columns == {"id", "document", "issued", "survey", "token", "key", "report"}
    content = Path(database).read_bytes()
    assert not any(token in content for token in tokens)


def test_a_batch_is_tried_again_when_another_server_was_faster(store, open_survey, monkeypatch):
    calls = []

    def overtaken(connection, survey, entries):
        calls.append(survey)
        if len(calls) < 3:
            raise IntegrityError("insert", {}, Exception("unique"))
        return [STORED] * len(entries)

    monkeypatch.setattr(store_module, "store_entries", overtaken)
    assert store.commit([Entry(open_survey.id, b"a", b"1")]) == [STORED]
    assert len(calls) == 3

    def always(connection, survey, entries):
        raise IntegrityError("insert", {}, Exception("unique"))

    monkeypatch.setattr(store_module, "store_entries", always)
    with pytest.raises(IntegrityError):
        store.commit([Entry(open_survey.id, b"a", b"1")])


def test_other_databases_are_left_to_tidy_themselves(store, monkeypatch):
    monkeypatch.setattr(store._engine.dialect, "name", "other")
    monkeypatch.setattr(store._engine, "connect", lambda: pytest.fail("nothing to do"))
    assert store.tidy()
    monkeypatch.undo()


def test_whoever_reads_does_not_hold_up_the_tidying(database, store, open_survey):
    """The log stays until the reader is done, and nobody waits for that."""
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        store.commit([Entry(open_survey.id, b"a", b"1")])
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM reports").fetchone() == (1,)
        store.commit([Entry(open_survey.id, b"b", b"2")])
        assert not store.tidy()
        reader.execute("ROLLBACK")
        assert store.tidy()
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10_000


def test_errors_do_not_repeat_reports(store, open_survey):
    with pytest.raises(IntegrityError) as raised:
        store._commit([Entry("nowhere", b"a", b"the report")])
    assert "the report" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("text.db", "file is not a database"),
        ("", "unable to open database file"),
        ("nowhere/surveys.db", "No such file or directory"),
        ("foo://user:secret@surveys", "Can't load plugin"),
        ("sqlite+nodriver:///surveys", "Can't load plugin"),
    ],
)
def test_databases_that_cannot_be_opened(tmp_path, name, reason):
    (tmp_path / "text.db").write_text("This is a text and not a database.")
    database = name if "://" in name else str(tmp_path / name)
    with pytest.raises(SottovoceError, match=rf"db must be a database that can be opened \(.*{reason}") as refused:
        Store(database)
    assert "secret" not in str(refused.value)


def test_an_engine_of_another_kind_gets_no_pragmas(monkeypatch):
    from sottovoce.surveys.collect import store

    listened = []
    monkeypatch.setattr(
        store, "create_engine", lambda url, **_: type("E", (), {"dialect": type("D", (), {"name": "other"})})()
    )
    monkeypatch.setattr(store.event, "listen", lambda *args: listened.append(args))
    monkeypatch.setattr(store.metadata, "create_all", lambda engine: None)
    store.open_engine("postgresql://example.org/surveys")
    assert listened == []


class Commits:
    """Records batches, and waits for a signal with the first."""

    def __init__(self) -> None:
        self.batches = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, entries):
        self.batches.append([entry.key for entry in entries])
        self.begun.set()
        self.go.wait(10)
        if entries[0].key == b"bad":
            raise OperationalError("insert", {}, Exception("disk full"))
        return [STORED] * len(entries)


def entry(key: bytes) -> Entry:
    return Entry("s", key, b"1")


def test_whatever_came_meanwhile_is_the_next_batch(finished):
    commits = Commits()
    writer = Writer(commits, most=3)

    async def drive():
        first = asyncio.create_task(writer.put(entry(b"0")))
        await asyncio.to_thread(commits.begun.wait, 10)
        others = [asyncio.create_task(writer.put(entry(bytes([65 + i])))) for i in range(5)]
        gone = others[0]
        await asyncio.sleep(0)
        gone.cancel()
        commits.go.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    outcomes = finished(drive())
    writer.close()
    assert commits.batches == [[b"0"], [b"A", b"B", b"C"], [b"D", b"E"]]
    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert [outcomes[0], *outcomes[2:]] == [STORED] * 5


def test_closing_finishes_what_waits_and_takes_no_more(finished):
    commits = Commits()
    writer = Writer(commits, most=1)

    async def drive():
        waiting = [asyncio.create_task(writer.put(entry(bytes([i])))) for i in range(4)]
        await asyncio.to_thread(commits.begun.wait, 10)
        closing = asyncio.create_task(asyncio.to_thread(writer.close))
        while not writer._closed:
            await asyncio.sleep(0.001)
        with pytest.raises(BusyError):
            await writer.put(entry(b"late"))
        commits.go.set()
        await closing
        return await asyncio.gather(*waiting)

    assert finished(drive()) == [STORED] * 4
    assert len(commits.batches) == 4


def test_a_failing_disk_is_no_acknowledgement_and_no_end(finished, caplog):
    commits = Commits()
    commits.go.set()
    writer = Writer(commits)

    async def drive():
        with pytest.raises(BusyError):
            await writer.put(entry(b"bad"))
        return await writer.put(entry(b"good"))

    assert finished(drive()) is STORED
    writer.close()
    assert [record.getMessage() for record in caplog.records] == [
        "Reports could not be stored: OperationalError disk full"
    ]


def test_more_than_can_wait_is_turned_away(monkeypatch, finished):
    monkeypatch.setattr(writer_module, "MOST_WAITING", 0)
    writer = Writer(Commits())
    with pytest.raises(BusyError):
        finished(writer.put(entry(b"a")))
    writer.close()


def test_pauses_are_used_to_tidy_up(monkeypatch, finished):
    monkeypatch.setattr(writer_module, "IDLE_SECONDS", 0.01)
    tidied, tries = threading.Event(), []
    commits = Commits()
    commits.go.set()

    def tidy() -> bool:
        """Fail, then find a reader in the way, then succeed."""
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("checkpoint", {}, Exception("disk"))
        if len(tries) == 3:
            tidied.set()
        return len(tries) == 3

    writer = Writer(commits, tidy=tidy)
    assert tidied.wait(10)
    assert finished(writer.put(entry(b"a"))) is STORED
    writer.close()


def test_reports_are_taken_while_the_database_tidies_up(monkeypatch, finished):
    """The event loop of all requests must not wait for the disk."""
    monkeypatch.setattr(writer_module, "IDLE_SECONDS", 0.01)
    tidying, go_on, released = threading.Event(), threading.Event(), []
    commits = Commits()
    commits.go.set()

    def tidy() -> bool:
        tidying.set()
        released.append(go_on.wait(5))
        return True

    writer = Writer(commits, tidy=tidy)
    assert tidying.wait(10)

    async def put() -> object:
        task = asyncio.create_task(writer.put(entry(b"a")))
        await asyncio.sleep(0)  # the task has handed its entry in, if nothing holds it up
        go_on.set()
        return await task

    assert finished(put()) is STORED
    assert released == [True]
    writer.close()


def test_the_log_does_not_grow_old_under_steady_load(monkeypatch, finished):
    monkeypatch.setattr(writer_module, "UNTIDY_SECONDS", -1.0)
    tidied = threading.Event()
    commits = Commits()
    commits.go.set()
    writer = Writer(commits, tidy=lambda: tidied.set() is None)
    assert finished(writer.put(entry(b"a"))) is STORED
    writer.close()
    assert tidied.is_set()
