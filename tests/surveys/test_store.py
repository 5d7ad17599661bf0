"""The store and its writer: once is once, a batch is a batch, and nothing links an invitation to a report."""

import asyncio
import os
import random
import re
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect import admissions
from sottovoce.surveys.collect import database as database_module
from sottovoce.surveys.collect import store as store_module
from sottovoce.surveys.collect import writer as writer_module
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.database import inbox, level, levels_of, reading, surveys, writing
from sottovoce.surveys.collect.entries import Entry, Outcome, _one_by_one
from sottovoce.surveys.collect.inbox import count
from sottovoce.surveys.collect.marks import Mark
from sottovoce.surveys.collect.opening import _prepare_layout
from sottovoce.surveys.collect.store import Store, opened
from sottovoce.surveys.collect.writer import BusyError, Writer
from sottovoce.surveys.links import token_hash

STORED, REPEATED = Outcome.STORED, Outcome.REPEATED
OTHER, UNINVITED = Outcome.OTHER_REPORT, Outcome.NO_INVITATION
REAL_GENERATE = SecretKey.generate


def invited(store, survey, count):
    return [token_hash(survey.hash, token) for token in store.invite(survey, count)]


def test_surveys_are_kept_for_good(store, survey, open_survey, old_survey, database):
    assert store.freeze(survey) == survey
    assert store.surveys() == sorted([survey.id, open_survey.id, old_survey.id])
    assert store.survey(survey.id) == survey
    assert store.survey("0" * 16) is None
    assert Store(f"sqlite:///{database}").survey(survey.id) == survey


def test_a_definition_is_frozen_once_with_a_key_of_its_own(store, draft, survey, open_survey, tmp_path, monkeypatch):
    assert store.freeze(draft) == survey
    assert store.freeze(open_survey) == open_survey
    assert (survey.definition_hash, survey.hash) == (draft.hash, survey.hash)
    assert survey.hash != draft.hash
    monkeypatch.undo()  # keys are drawn again
    other = Store(str(tmp_path / "other.db"))
    frozen = other.freeze(draft)
    assert frozen.definition_hash == survey.definition_hash
    assert frozen.admission != survey.admission
    assert other.secret_key(frozen).public == frozen.admission
    with pytest.raises(SottovoceError, match="survey must be a draft, or in this database"):
        other.freeze(survey)
    with pytest.raises(SottovoceError, match="survey must be a draft, or in this database"):
        store.freeze(frozen)
    other.close()


def test_another_survey_of_the_same_id_is_refused(store, open_survey, monkeypatch):
    monkeypatch.setattr(type(open_survey), "id", open_survey.id)
    with pytest.raises(SottovoceError, match="must have an id that no other survey in the database has"):
        store.freeze(replace(open_survey, minimum=3))


@pytest.mark.parametrize("stored", [None, "other"])
def test_a_secret_key_that_is_missing_or_of_another_survey(store, survey, stored):
    key = None if stored is None else REAL_GENERATE().to_bytes()
    with writing(store._engine) as connection:
        connection.execute(update(surveys).where(surveys.c.id == survey.id).values(secret=key))
    with pytest.raises(SottovoceError, match=r"nobody else can be admitted\. Reports of those who were admitted are"):
        store.secret_key(survey)
    (remark,) = store.check()
    assert remark.startswith(f"survey {survey.id} must have the secret key of its document")
    store.close_survey(survey.id)
    assert store.check() == []


def test_a_survey_that_is_not_there_cannot_be_closed_and_stays_deleted(store, survey):
    with pytest.raises(SottovoceError, match=r"survey must be in the database to be closed\. Got '0123456789abcdef'"):
        store.close_survey("0123456789abcdef")
    for _ in range(2):
        store.delete_survey(survey.id)
    assert survey.id not in store.surveys()


def test_a_database_that_cannot_be_written_is_read(store, survey, database):
    store.commit([Entry(survey.id, b"a", b"1")])
    store.close()
    readable = Store(f"sqlite:///file:{database}?mode=ro&uri=true")
    assert readable.reports(survey.id) == [b"1"]
    with pytest.raises(OperationalError, match="readonly"):
        readable.commit([Entry(survey.id, b"b", b"1")])
    readable.close()


def test_a_damaged_database_is_not_served(store, database):
    assert store.check() == []
    store.close()
    content = bytearray(Path(database).read_bytes())
    content[4096 * 2 : 4096 * 3] = os.urandom(4096)
    Path(database).write_bytes(content)
    with pytest.raises((SottovoceError, DatabaseError), match=r"db must be intact; restore a backup|malformed"):
        Store(database).check()


def test_a_new_database_is_its_owners_alone(store, database):
    assert Path(database).stat().st_mode & 0o777 == 0o600
    assert Store("sqlite://").surveys() == []


def test_invitations_are_counted_and_stored_hashed(store, survey, open_survey, database):
    tokens = store.invite(survey, 3)
    assert len(set(tokens)) == 3
    assert len(store.invite(survey, 2, replacing=True)) == 2
    assert store.counts(survey.id) == {"issued": 5, "replaced": 2, "unspent": 5, "admitted": 0, "reports": 0}
    assert store.counts("nowhere") == {"issued": 0, "replaced": 0, "unspent": 0, "admitted": 0, "reports": 0}
    store.close()
    content = Path(database).read_bytes()
    for token in tokens:
        assert token.encode() not in content
        assert token_hash(survey.hash, token) in content
    with pytest.raises(SottovoceError, match="invitation must be single"):
        store.invite(open_survey, 1)


def test_an_invitation_is_spent_for_one_message(store, survey, open_survey):
    first, second = invited(store, survey, 2)
    here = survey.id
    assert store.invitation(here, first) is Admission.UNSPENT
    assert store.invitation(here, b"never issued") is Admission.UNKNOWN
    assert [store.admit(here, first, b"b") for _ in range(2)] == [Admission.ADMITTED] * 2
    assert store.admit(here, first, b"c") is Admission.SPENT
    assert store.admit(here, b"never issued", b"b") is Admission.UNKNOWN
    assert store.admit(open_survey.id, second, b"b") is Admission.UNKNOWN
    assert store.invitation(here, first) is Admission.SPENT
    assert store.counts(here) == {"issued": 2, "replaced": 0, "unspent": 1, "admitted": 1, "reports": 0}


def test_invitations_are_withdrawn_unless_they_were_used(store, survey):
    tokens = store.invite(survey, 5)
    first, second, *_ = [token_hash(survey.hash, token) for token in tokens]
    store.admit(survey.id, first, b"b")
    assert store.revoke(survey, tokens[:2]) == (1, 1)
    assert store.invitation(survey.id, second) is Admission.UNKNOWN
    assert store.revoke(survey, ["A" * 22]) == (0, 0)
    assert store.revoke(survey) == (3, 1)
    assert store.admit(survey.id, first, b"b") is Admission.ADMITTED


def test_many_invitations_are_withdrawn_in_parts(store, survey, monkeypatch):
    """PostgreSQL takes at most 65,535 values in a statement."""
    monkeypatch.setattr(admissions, "PART", 3)
    tokens = store.invite(survey, 10)
    store.admit(survey.id, token_hash(survey.hash, tokens[4]), b"b")
    assert store.revoke(survey, []) == (0, 0)
    assert store.revoke(survey, [*tokens[:8], tokens[0]]) == (7, 1)
    assert store.counts(survey.id)["unspent"] == 2


def test_a_closed_survey_takes_nothing_and_forgets_invitations(store, survey, open_survey):
    (token,) = invited(store, survey, 1)
    kept, late = Entry(survey.id, b"a", b"1"), Entry(survey.id, b"b", b"1")
    assert store.commit([kept]) == [STORED]
    store.close_survey(survey.id)
    assert store.is_closed(survey.id)
    assert not store.is_closed(open_survey.id)
    assert store.commit([kept, late, Entry(open_survey.id, b"a", b"1")]) == [REPEATED, Outcome.CLOSED, STORED]
    assert store.admit(survey.id, token, b"b") is store.invitation(survey.id, token) is Admission.CLOSED
    assert store.counts(survey.id) == {"issued": 1, "replaced": 0, "unspent": 0, "admitted": 0, "reports": 1}
    with pytest.raises(SottovoceError, match="survey must not be closed to make invitations"):
        store.invite(survey, 1)


def test_a_deleted_survey_is_gone(store, survey, open_survey, database):
    invited(store, survey, 2)
    report = os.urandom(20)
    store.commit([Entry(survey.id, os.urandom(16), report), Entry(open_survey.id, b"a", b"1")])
    store.delete_survey(survey.id)
    assert store.survey(survey.id) is None
    assert store.is_closed(survey.id)
    assert store.commit([Entry(survey.id, b"b", b"1")]) == [Outcome.CLOSED]
    assert store.reports(open_survey.id) == [b"1"]
    store.close()
    content = Path(database).read_bytes()
    assert report not in content
    assert survey.document[:60] not in content


def test_levels_hold_all_reports_in_any_number(database, store, survey, open_survey):
    """Every report is found once, however often reports were moved, and closing joins all levels."""
    small = Store(database, batch=3, capacity=8)
    rng, keys = random.Random(1), []  # noqa: S311  # repeatable
    for number in range(60):
        name = survey.id if rng.random() < 0.8 else open_survey.id
        entry = Entry(name, rng.randbytes(16), bytes([number]))
        assert small.commit([entry]) == [STORED]
        keys.append(entry)
        if rng.random() < 0.5:
            assert small.tidy()
        assert small.commit([rng.choice(keys)]) == [REPEATED]
        assert small.has(rng.choice(keys))
        assert not small.has(replace(rng.choice(keys), report=b"other"))
    with reading(small._engine) as connection:
        levels = levels_of(connection)
        sizes = [count(connection, level(number)) for number in range(levels)]
    assert levels >= 3
    assert all(size <= 8 << number for number, size in enumerate(sizes))
    for name in (survey.id, open_survey.id):
        mine = sorted((entry.key, entry.report) for entry in keys if entry.survey == name)
        assert small.reports(name) == [report for _, report in mine]
    small.close_survey(survey.id)
    with reading(small._engine) as connection:
        sizes = [count(connection, level(number)) for number in range(levels_of(connection))]
        left = {name for (name,) in connection.execute(select(inbox.c.survey))}
    assert sum(size > 0 for size in sizes) == 1
    assert left <= {open_survey.id}
    assert sum(small.counts(name)["reports"] for name in (survey.id, open_survey.id)) == 60
    small.close()


def test_a_move_that_fails_is_tried_again(store, open_survey, monkeypatch):
    store.commit([Entry(open_survey.id, b"a", b"1")])
    with monkeypatch.context() as patched:
        patched.setattr(store_module, "move_reports", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.tidy()
    assert store._arrived
    assert store.tidy()
    assert not store._arrived
    assert store.reports(open_survey.id) == [b"1"]


def test_one_batch_decides_in_order(store, old_survey, open_survey):
    """Surveys frozen by 0.1 spend their invitations with the reports."""
    survey = old_survey
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
    assert store.counts(here) == {"issued": 3, "replaced": 0, "unspent": 0, "admitted": 0, "reports": 3}


def test_an_invitation_is_of_one_survey(store, old_survey, open_survey):
    (token,) = invited(store, old_survey, 1)
    assert store.commit([Entry(open_survey.id, b"a", b"1", token)]) == [UNINVITED]


def test_reports_lie_in_the_order_of_their_keys_and_spent_invitations_are_overwritten(store, old_survey, database):
    survey = old_survey
    tokens = invited(store, survey, 40)
    keys = [os.urandom(16) for _ in tokens]
    for number, (key, token) in enumerate(zip(keys, tokens, strict=True)):
        store.commit([Entry(survey.id, key, bytes([number]), token)])
    store.tidy()
    assert not Path(f"{database}-wal").exists() or Path(f"{database}-wal").stat().st_size == 0
    with sqlite3.connect(database) as plain:
        rows = plain.execute("SELECT key, report FROM inbox").fetchall()
        columns = {
            row[1]
            for table in ("surveys", "invitations", "inbox", "reports_0")
            for row in plain.execute(f"PRAGMA table_info({table})")
        }
    plain.close()
    assert [key for key, _ in rows] == sorted(keys)
    assert columns == {
        *("id", "document", "definition", "secret", "logo", "issued", "replaced", "closed"),
        *("survey", "token", "blinded", "key", "report", "receipt"),
    }
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


def test_whoever_reads_does_not_hold_up_the_tidying(database, store, open_survey):
    """The log stays until the reader is done, and nobody waits for that."""
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        store.commit([Entry(open_survey.id, b"a", b"1")])
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM inbox").fetchone() == (1,)
        store.commit([Entry(open_survey.id, b"b", b"2")])
        assert not store.tidy()
        reader.execute("ROLLBACK")
        assert store.tidy()
    with reading(store._engine) as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10_000


def test_errors_do_not_repeat_reports(store, open_survey):
    with pytest.raises(IntegrityError) as raised, writing(store._engine) as connection:
        connection.execute(insert(inbox), [{"survey": "s", "key": b"a", "report": b"the report"}] * 2)
    assert "the report" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("text.db", "file is not a database"),
        ("", "unable to open database file"),
        ("nowhere/surveys.db", "No such file or directory"),
        ("sqlite+nodriver:///surveys", "Can't load plugin"),
        ("postgresql+psycopg://user:secret@127.0.0.1:1/surveys", "refused"),
    ],
)
def test_databases_that_cannot_be_opened(tmp_path, name, reason):
    (tmp_path / "text.db").write_text("This is a text and not a database.")
    database = name if "://" in name else str(tmp_path / name)
    with pytest.raises(SottovoceError, match=rf"db must be a database that can be opened \(.*{reason}") as refused:
        Store(database)
    assert "secret" not in str(refused.value)


def test_the_driver_of_postgres_is_named_if_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"needs psycopg; .* pip install 'sottovoce\[postgres\]'"):
        Store("postgresql://user:secret@host/surveys")


@pytest.mark.parametrize("url", ["foo://user:secret@surveys", "mysql://user:secret@host/surveys"])
def test_other_kinds_of_databases_are_refused(url):
    with pytest.raises(
        SottovoceError, match="db must be an SQLite file or the URL of a PostgreSQL database"
    ) as refused:
        Store(url)
    assert "secret" not in str(refused.value)


def test_two_servers_create_the_tables_of_one_database(store):
    with writing(store._engine) as connection:
        _prepare_layout(connection)  # as the second one, which found none before the first had made them
    assert store.surveys()


def test_errors_while_a_database_is_used_name_it(database, store):
    with pytest.raises(SottovoceError, match=r"db must be a database that can be used \(no such table: gone\)"):
        _use_missing_table(database)


def _use_missing_table(database):
    with opened(database) as again, reading(again._engine) as connection:
        connection.exec_driver_sql("SELECT * FROM gone")


def test_databases_of_other_programs_and_newer_versions_are_refused(tmp_path, database, store):
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as plain:
        plain.execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(SottovoceError, match=r"must be a database of Sottovoce's surveys, or an empty one.*songs"):
        Store(str(other))
    store.close()
    with closing(sqlite3.connect(database)) as plain, plain:
        plain.execute("UPDATE sottovoce SET version = 3")
    with pytest.raises(SottovoceError, match=r"was written by a newer version of Sottovoce\. Got 3 instead"):
        Store(database)


def test_threads_wait_in_line_but_not_for_ever(store, monkeypatch):
    written, line = [], store._engine.get_execution_options()["line"]

    def write(number):
        with writing(store._engine):
            written.append(number)

    with ThreadPoolExecutor(8) as pool, line:
        for number in range(8):
            pool.submit(write, number)
        time.sleep(0.1)
        assert written == []
        monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.01)
        write("impatient")
        line.release()
        pool.shutdown()
        line.acquire()
    assert written[0] == "impatient"
    assert sorted(written[1:]) == list(range(8))


class Commits:
    """Records batches, and waits for a signal with the first."""

    def __init__(self) -> None:
        self.batches = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, entries):
        self.batches.append([entry.key for entry in entries])
        self.begun.set()
        self.go.wait(120)
        if entries[0].key == b"bad":
            raise OperationalError("insert", {}, Exception("disk full\n\tIs there another disk?"))
        return [STORED] * len(entries)


def entry(key: bytes) -> Entry:
    return Entry("s", key, b"1")


def test_whatever_came_meanwhile_is_the_next_batch(finished):
    commits = Commits()
    writer = Writer(commits, most=3)

    async def drive():
        first = asyncio.create_task(writer.put(entry(b"0")))
        await asyncio.to_thread(commits.begun.wait, 120)
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


def test_a_commit_waits_for_more_after_a_large_one(finished, monkeypatch):
    monkeypatch.setattr(writer_module, "GATHER_SECONDS", 0.5)
    monkeypatch.setattr(writer_module, "MOST_GATHER_SECONDS", 0.5)
    commits = Commits()
    writer = Writer(commits)

    async def drive():
        first = asyncio.create_task(writer.put(entry(b"0")))
        await asyncio.to_thread(commits.begun.wait, 120)
        others = [asyncio.create_task(writer.put(entry(bytes([65 + i])))) for i in range(2)]
        await asyncio.sleep(0)
        commits.go.set()
        await asyncio.gather(first, *others)
        early = asyncio.create_task(writer.put(entry(b"early")))
        await asyncio.sleep(0.05)
        await asyncio.gather(early, writer.put(entry(b"late")))

    finished(drive())
    writer.close()
    assert commits.batches == [[b"0"], [b"A", b"B"], [b"early", b"late"]]


def test_closing_finishes_what_waits_and_takes_no_more(finished):
    commits = Commits()
    writer = Writer(commits, most=1)

    async def drive():
        waiting = [asyncio.create_task(writer.put(entry(bytes([i])))) for i in range(4)]
        await asyncio.to_thread(commits.begun.wait, 120)
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
        """Two outages: one of three batches, one of a single batch."""
        for failures in (3, 1):
            for _ in range(failures):
                with pytest.raises(BusyError):
                    await writer.put(entry(b"bad"))
            outcome = await writer.put(entry(b"good"))
        return outcome

    assert finished(drive()) is STORED
    writer.close()
    assert [record.getMessage() for record in caplog.records] == [
        "Reports could not be stored: OperationalError disk full"
    ] * 2


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
    assert tidied.wait(120)
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
        released.append(go_on.wait(120))
        return True

    writer = Writer(commits, tidy=tidy)
    assert tidying.wait(120)

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


OTHER_TABLES = {
    "another program": "CREATE TABLE things (x)",
    "the same names": "CREATE TABLE surveys (x); CREATE TABLE invitations (x); CREATE TABLE reports (x)",
    "newer": "CREATE TABLE sottovoce (version, levels); INSERT INTO sottovoce VALUES (3, 1)",
    "older": "CREATE TABLE sottovoce (version, levels); INSERT INTO sottovoce VALUES (1, 1)",
    "no number": "CREATE TABLE sottovoce (version TEXT, levels); INSERT INTO sottovoce VALUES ('x', 1)",
    "no row": "CREATE TABLE sottovoce (version, levels)",
    "half of it": "CREATE TABLE sottovoce (version, levels); INSERT INTO sottovoce VALUES (2, 1)",
}
REFUSALS = {
    "newer": "newer version of Sottovoce. Got 3",
    "older": "must have layout version 2; restore a backup. Got 1",
    "no number": "restore a backup|could not convert|could not be converted",
    "no row": "must have layout version 2; restore a backup. Got None",
    "half of it": "must have all of its tables; account_links, .*inbox, invitations, reports_0, .*truths. Got none",
}


@pytest.mark.parametrize("kind", OTHER_TABLES)
def test_a_refused_file_stays_as_it_was(tmp_path, kind):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OTHER_TABLES[kind])
    before = path.read_bytes()
    with pytest.raises(SottovoceError, match=REFUSALS.get(kind, "db must be a database of Sottovoce's surveys, or an")):
        Store(str(path))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("database", ["", ":memory:", None, 5, "postgresql://u:p@ss:w0rd@h/x", "postgresql://h:port/x"])
def test_what_is_no_database(database):
    with pytest.raises(
        SottovoceError, match="db must be an SQLite file or the URL of a PostgreSQL database"
    ) as refused:
        Store(database)
    assert "w0rd" not in str(refused.value)
    assert "port" not in str(refused.value)


def test_a_path_may_be_a_path(tmp_path):
    with closing(Store(tmp_path / "surveys.db")) as store:
        assert store.surveys() == []


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True, None])
def test_a_number_of_invitations(store, survey, count):
    with pytest.raises(SottovoceError, match="count must be a positive whole number"):
        store.invite(survey, count)
    assert store.counts(survey.id)["issued"] == 0


def test_reports_are_read_at_once_and_their_mark_tells_when(store, open_survey):
    """The mark changes with every report, and with other reports of the same number."""
    name = open_survey.id
    assert store.joined_reports(name) == b""
    assert store.mark(name) == (0, b"", b"")
    store.commit([Entry(name, bytes([number]) * 16, bytes([number, 7])) for number in (5, 3, 9)])
    assert store.mark(name) == (3, b"\x03" * 16, b"\x09" * 16)
    store.tidy()
    assert store.mark(name) == (3, b"\x03" * 16, b"\x09" * 16)
    store.commit([Entry(name, b"\x01" * 16, b"\x01\x07")])
    assert store.mark(name).reports == 4
    assert store.may_have_grown(name, Mark(3, b"\x03" * 16, b"\x09" * 16))
    assert not store.may_have_grown(name, Mark(3, b"\x03" * 16, b"\x08" * 16))
    joined = store.joined_reports(name)
    assert sorted(joined[start : start + 2] for start in range(0, 8, 2)) == sorted(store.reports(name))


@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
def test_marks_follow_what_other_processes_move_and_delete(kind, database, postgres, open_survey):
    place = database if kind == "SQLite" else postgres.database()
    with closing(Store(place)) as store, closing(Store(place)) as other:
        name = store.freeze(open_survey).id
        for number in range(1, 4):
            store.commit([Entry(name, bytes([number, part]) * 8, b"1") for part in range(100)])
            assert store.mark(name).reports == other.mark(name).reports == 100 * number
            other._arrived = True
            assert other.tidy()
            assert store.mark(name) == other.mark(name) == (100 * number, b"\x01\x00" * 8, bytes([number, 99]) * 8)
        other.delete_survey(name)
        assert store.mark(name) == (0, b"", b"")
        assert store.counts(name)["reports"] == 0


def test_postgres_looks_up_each_key(postgres, open_survey):
    """Without statistics of new tables, it takes a survey for small, and would read all of it for each commit."""
    with closing(Store(postgres.database())) as store:
        store.freeze(open_survey)
        for moved in (True, False):
            store.commit([Entry(open_survey.id, os.urandom(16), b"1") for _ in range(5_000)])
            if moved:
                store.tidy()
        query = _one_by_one(1).compile(dialect=store.engine.dialect)
        given = dict(query.params) | {"survey": open_survey.id, "keys": [os.urandom(16) for _ in range(64)]}
        with reading(store.engine) as connection:
            plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {query}", given).scalars())
    assert plan.count("Index Scan") == 2
    assert "Seq Scan" not in plan
    assert len(re.findall(r"Index Cond: \(\(\(survey\)::text = .* AND \(key = ", plan)) == 2


def test_a_place_names_the_database_and_shows_no_password(store, postgres):
    assert Store(store.place.url).surveys() == store.surveys()
    kept = Store(postgres.database())
    assert "@" in kept.place.url
    assert "postgres" not in repr(kept.place)
    name = "0" * 16
    kept.commit([Entry(name, os.urandom(16), b"ab")])
    assert kept.joined_reports(name) == b""
    with writing(kept.engine) as connection:
        connection.execute(insert(inbox), [{"survey": name, "key": bytes([n]) * 16, "report": b"ab"} for n in (1, 2)])
    assert kept.joined_reports(name) == b"abab"
    assert kept.mark(name) == (2, b"\x01" * 16, b"\x02" * 16)
    kept.close()
