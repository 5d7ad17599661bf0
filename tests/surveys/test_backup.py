"""A backup has everything that it should, shows no order, and is restored completely or not at all."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from sottovoce.errors import SottovoceError
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect import backup as backup_module
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.backup import COPIED, Backup, back_up, check_intact, restore
from sottovoce.surveys.collect.database import (
    account_links,
    accounts,
    drafts,
    inbox,
    level,
    levels_of,
    new_engine,
    reading,
    sessions,
    surveys,
    truths,
    writing,
)
from sottovoce.surveys.collect.entries import Entry, Outcome, tables_of_reports
from sottovoce.surveys.collect.inbox import count
from sottovoce.surveys.collect.row_copies import CHUNK
from sottovoce.surveys.collect.store import Store, opened
from sottovoce.surveys.definition.presentation import Logo, Presentation
from sottovoce.surveys.links import token_hash
from sottovoce.surveys.results import survey_results
from tests.surveys.conftest import freeze_as_0_1
from tests.surveys.linking import Values, look_at_sqlite, right, sqlite_traces
from tests.surveys.sqlite_pages import cells, free_pages, pages, tables
from tests.surveys.test_races import Paused, waits

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
BLINDED = b"b" * 32


@pytest.fixture
def database_of(request, tmp_path):
    """Names of databases of a kind that do not exist yet, or are empty."""

    def named(kind, name="restored"):
        return str(tmp_path / f"{name}.db") if kind == "sqlite" else request.getfixturevalue("postgres").database()

    return named


def parts_of(entries, size):
    return [entries[start : start + size] for start in range(0, len(entries), size)]


def filled(database, draft, open_survey, old_survey, *, people=300, seed=1):
    """Fill a database with something of everything, and with reports in the inbox and in several levels."""
    rng = random.Random(seed)  # noqa: S311  # repeatable
    with closing(Store(database, batch=20, capacity=60)) as store:
        shown = replace(open_survey, title={"en": "With a logo"}, presentation=Presentation(logo=Logo.of(PICTURE)))
        invited, plain, logo, ended = (
            store.freeze(each) for each in (draft, open_survey, shown, replace(open_survey, title={"en": "Closed"}))
        )
        freeze_as_0_1(store, old_survey)
        tokens = [token_hash(invited.hash, token) for token in store.invite(invited, 30)]
        for token in tokens[:10]:
            assert store.admit(invited.id, token, BLINDED) is Admission.ADMITTED
        old = [token_hash(old_survey.hash, token) for token in store.invite(old_survey, 5)]
        reports = simulate_respondents(plain, people, np.random.default_rng(seed)).reports()
        names = [plain.id, plain.id, invited.id, logo.id, ended.id]
        entries = [Entry(rng.choice(names), rng.randbytes(16), each, receipt=rng.randbytes(8)) for each in reports]
        entries += [Entry(old_survey.id, rng.randbytes(16), reports[0], token) for token in old[:3]]
        for part in parts_of(entries, 47):
            assert set(store.commit(part)) == {Outcome.STORED}
            store.tidy()
        store.close_survey(ended.id)
        for part in parts_of([Entry(plain.id, rng.randbytes(16), report) for report in reports[:50]], 30):
            store.tidy()
            store.commit(part)
        with writing(store.engine) as connection:
            connection.execute(
                insert(accounts), {"name": "Ängström", "password": "$argon2id$", "role": "owner", "failures": 3}
            )
            connection.execute(insert(sessions), {"hash": b"s" * 32, "account": "Ängström", "ends": 2**31 - 1})
            connection.execute(insert(account_links), {"hash": b"l" * 32, "role": "owner", "ends": 2**31 - 1})
            connection.execute(insert(truths), {"survey": plain.id, "shares": "{}"})
            row = {"id": "d" * 16, "definition": "title: Ü\n", "planned": 1, "revision": 2, "editor": "x"}
            connection.execute(insert(drafts), {**row, "logo": PICTURE, "frozen": plain.id})
    return tokens


@pytest.fixture
def fill(draft, open_survey, old_survey, secret_key, monkeypatch):
    monkeypatch.setattr(type(secret_key), "generate", lambda: secret_key)
    return lambda database, **settings: filled(database, draft, open_survey, old_survey, **settings)


def content(database):
    """All rows that a backup keeps, and the numbers of those that it does not."""
    with closing(Store(database)) as store, reading(store.engine) as connection:
        rows = {table.name: sorted(map(tuple, connection.execute(select(table))), key=repr) for table in COPIED}
        parts = [connection.execute(select(table)) for table in tables_of_reports(levels_of(connection))]
        rows["reports"] = sorted(tuple(row) for part in parts for row in part)
        return rows, {table.name: count(connection, table) for table in (sessions, account_links)}


def estimates(database):
    """Estimates of every survey with reports, in all digits."""
    with closing(Store(database)) as store:
        listed = [(store.select(name), store.reports(name)) for name in store.surveys()]
    return {
        survey.id: repr(survey_results(replace(survey, minimum=2), reports)) for survey, reports in listed if reports
    }


def backed_up(database, path, **settings):
    with closing(Store(database)) as store:
        return back_up(store, path, **settings)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("sqlite", "postgres"),
        ("postgres", "sqlite"),
        pytest.param("sqlite", "sqlite", marks=pytest.mark.slow),
        pytest.param("postgres", "postgres", marks=pytest.mark.slow),
    ],
)
def test_everything_is_restored_from_and_to_either_database(source, target, database_of, tmp_path, fill):
    origin, new, file = database_of(source, "surveys"), database_of(target), tmp_path / "backup.db"
    tokens = fill(origin)
    with closing(Store(origin)) as store, reading(store.engine) as connection:
        sizes = [count(connection, table) for table in tables_of_reports(levels_of(connection))]
    assert sum(size > 0 for size in sizes) >= 3
    steps = []
    made = backed_up(origin, file, progress=lambda done, total: steps.append((done, total)))
    assert made == Backup(surveys=5, reports=353, invitations=32, accounts=1, drafts=1)
    assert file.stat().st_mode & 0o777 == 0o600
    assert all(now > before for (before, _), (now, _) in pairwise(steps))
    assert steps[-1][0] == steps[-1][1] > 4 * 353
    steps.clear()
    assert restore(file, new, progress=lambda done, total: steps.append((done, total))) == made
    assert steps[-1][0] == steps[-1][1] > 3 * 353
    before, left_out = content(origin)
    assert left_out == {"sessions": 1, "account_links": 1}
    assert content(new) == (before, {"sessions": 0, "account_links": 0})
    assert len(estimates(origin)) == 5
    assert estimates(new) == estimates(origin)
    names = {
        "backup.db",
        *({"surveys.db"} if source == "sqlite" else ()),
        *({"restored.db"} if target == "sqlite" else ()),
    }
    assert {path.name for path in tmp_path.iterdir()} == names
    with closing(Store(new)) as store:
        survey = next(survey for survey in map(store.select, store.surveys()) if survey.admission is not None)
        spent, unspent = tokens[0], tokens[-1]
        assert [store.admit(survey.id, spent, each) for each in (BLINDED, b"c" * 32)] == [
            Admission.ADMITTED,
            Admission.SPENT,
        ]
        assert store.admit(survey.id, unspent, b"c" * 32) is Admission.ADMITTED
        assert store.check() == []
        assert store.tidy()


def test_a_file_that_is_restored_is_its_owners_alone(database, fill, tmp_path):
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    assert (tmp_path / "restored.db").stat().st_mode & 0o777 == 0o600


def test_databases_with_little_in_them(database, draft, tmp_path):
    assert backed_up(database, tmp_path / "empty.db") == Backup(0, 0, 0, 0, 0)
    restore(tmp_path / "empty.db", tmp_path / "restored.db")
    assert content(str(tmp_path / "restored.db")) == content(database)
    with closing(Store(database)) as store:
        frozen = store.freeze(draft)
        made = back_up(store, tmp_path / "surveys only.db")  # a path may have spaces
    assert made == Backup(1, 0, 0, 0, 0)
    restore(str(tmp_path / "surveys only.db"), f"sqlite:///{tmp_path}/more.db")
    with closing(Store(tmp_path / "more.db")) as store:
        assert store.secret_key(frozen).public == frozen.admission
    with closing(Store("sqlite://")) as store:
        assert back_up(store, tmp_path / "empty.db", overwrite=True) == Backup(0, 0, 0, 0, 0)


def test_a_database_of_0_1(tmp_path):
    fixture = Path(__file__).parent.parent / "fixtures" / "0.1" / "surveys" / "surveys.db"
    database = str(shutil.copy(fixture, tmp_path / "surveys.db"))
    made = backed_up(database, tmp_path / "backup.db")
    assert made.surveys == 2
    assert made.reports > 0
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    assert content(str(tmp_path / "restored.db")) == content(database)


def test_reports_are_restored_to_a_table_with_room(database, fill, tmp_path, monkeypatch):
    """Else the first move would write all of them again."""
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    monkeypatch.setattr(backup_module, "level_with_room", lambda reports: reports // 50)
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    with closing(Store(tmp_path / "restored.db")) as store:
        with reading(store.engine) as connection:
            sizes = [count(connection, table) for table in tables_of_reports(levels_of(connection))]
        assert sizes == [0, 0, 0, 0, 153]
        assert store.tidy()
    assert content(str(tmp_path / "restored.db"))[0] == content(database)[0]


def test_more_rows_than_are_held_in_memory(database, open_survey, tmp_path):
    with closing(Store(database)) as store:
        store.freeze(open_survey)
        for _ in range(5):
            store.commit([Entry(open_survey.id, os.urandom(16), b"report") for _ in range(CHUNK // 2)])
    assert backed_up(database, tmp_path / "backup.db").reports == 5 * CHUNK // 2
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    assert content(str(tmp_path / "restored.db")) == content(database)


def test_whatever_came_in_any_order_the_file_is_the_same(tmp_path, draft, open_survey, secret_key, monkeypatch):
    """Two databases with the same rows, which came in another order and were moved at other times or not at all."""
    monkeypatch.setattr(type(secret_key), "generate", lambda: secret_key)
    rng = random.Random(1)  # noqa: S311  # repeatable
    entries = [Entry(open_survey.id, rng.randbytes(16), rng.randbytes(15)) for _ in range(400)]
    for name, settings in {"a": {}, "b": {"batch": 7, "capacity": 30}, "c": {"batch": 1}}.items():
        with closing(Store(tmp_path / name, **settings)) as store:
            store.freeze(open_survey)
            store.freeze(draft)
            for part in parts_of(rng.sample(entries, len(entries)), 9):
                store.commit(part)
                if name != "a" and rng.random() < 0.5:
                    store.tidy()
            back_up(store, tmp_path / f"{name}.backup")
    first, second, third = ((tmp_path / f"{name}.backup").read_bytes() for name in "abc")
    assert first == second == third
    assert free_pages(first) == []
    found = [cell for page in tables(first)["reports"] for cell in cells(pages(first)[page - 1])]
    assert len(found) == len(entries)


@pytest.mark.parametrize("seed", range(2))
def test_a_backup_links_nobody(database, draft, secret_key, tmp_path, monkeypatch, seed):
    """Also one that is made while the order of arrival is still in the database."""
    monkeypatch.setattr(type(secret_key), "generate", lambda: secret_key)
    rng = random.Random(seed)  # noqa: S311  # repeatable
    with closing(Store(database)) as store:
        survey = store.freeze(draft)
        tokens = [token_hash(survey.hash, token) for token in store.invite(survey, 40)]
        truth = {token: rng.randbytes(16) for token in tokens}
        for token, key in truth.items():
            assert store.admit(survey.id, token, rng.randbytes(32)) is Admission.ADMITTED
            assert store.commit([Entry(survey.id, key, rng.randbytes(15))]) == [Outcome.STORED]
        back_up(store, tmp_path / "backup.db")
        in_order = look_at_sqlite(database)
    values = Values(truth, truth.values())
    assert right(sqlite_traces([in_order], values).best(tokens)[1], truth) == 40
    traces = sqlite_traces([look_at_sqlite(str(tmp_path / "backup.db"))], values)
    assert max(right(guess, truth) for _, _, guess in traces.guesses(tokens)) <= 8


def is_refused(path, tmp_path, expected=None):
    """Restore a file; it is refused, or nothing was lost. Either way nothing else is left."""
    target = tmp_path / "mutated.db"
    try:
        restore(path, target)
    except SottovoceError as reason:
        refused = str(reason)
    else:
        refused = None
    if refused is not None:
        assert refused.startswith("backup must ")
        assert not [found for found in tmp_path.iterdir() if found.name.startswith((".", "mutated"))]
        return True
    assert content(str(target)) == expected
    target.unlink()
    return False


def test_a_backup_that_is_cut_off_is_refused(database, fill, tmp_path):
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    whole, cut = (tmp_path / "backup.db").read_bytes(), tmp_path / "cut.db"
    for length in {*range(0, len(whole), 997), *range(0, len(whole), 4096), len(whole) // 2, len(whole) - 1}:
        cut.write_bytes(whole[:length])
        assert is_refused(cut, tmp_path), length
    starts = range(4096, len(whole), 4096)
    lost = [whole[:start] + bytes(4096) + whole[start + 4096 :] for start in starts]
    restore(tmp_path / "backup.db", tmp_path / "whole.db")
    expected = content(str(tmp_path / "whole.db"))
    refused = sum(cut.write_bytes(pages) and is_refused(cut, tmp_path, expected) for pages in lost)
    assert refused >= len(starts) - 1  # the index of definitions is not read, but made again


@pytest.mark.parametrize("number", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_a_flipped_byte_changes_nothing_unnoticed(number, database, fill, tmp_path):
    """It is refused, unless it lies where nothing is read."""
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    restore(tmp_path / "backup.db", tmp_path / "whole.db")
    expected, rng = content(str(tmp_path / "whole.db")), random.Random(1)  # noqa: S311  # repeatable
    whole, flipped = (tmp_path / "backup.db").read_bytes(), tmp_path / "flipped.db"
    refused = 0
    for place in [*range(0, 100, 4000 // number), *rng.sample(range(100, len(whole)), number)]:
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.randrange(8)
        flipped.write_bytes(changed)
        refused += is_refused(flipped, tmp_path, expected)
    assert refused > number / 4


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


WRONG = {
    "another row": ("UPDATE reports SET report = x'00'", "damaged or cut off (reports with other rows than were"),
    "a row less": ("DELETE FROM truths", "damaged or cut off (truths with other rows than were written)"),
    "another type": ("UPDATE surveys SET secret = 99999999999", "damaged or cut off (surveys with other rows than"),
    "a newer format": ("UPDATE backup SET format = 2", "must have format version 1: this one was written by a newer"),
    "a newer layout": ("UPDATE backup SET layout = 3", "must have layout version 2: this one was written by a newer"),
    "no version": ("UPDATE backup SET layout = 0", "damaged or cut off (layout version 0)"),
    "no number": ("UPDATE backup SET format = 'x'", "damaged or cut off (format version 'x')"),
    "nothing about it": ("DELETE FROM backup", "damaged or cut off (No row was found"),
    "no contents": ("DELETE FROM contents WHERE name = 'reports'", "damaged or cut off (its table of contents)"),
    "no counts": ("UPDATE contents SET rows = 'many'", "damaged or cut off (its table of contents)"),
    "no table": ("DROP TABLE truths", "damaged or cut off (no such table: truths)"),
    "no text": ("UPDATE drafts SET editor = CAST(x'ff' AS TEXT)", "damaged or cut off (Could not decode to UTF-8"),
}


@pytest.mark.parametrize(
    ("kind", "target"),
    [*((kind, "sqlite") for kind in WRONG), ("another row", "postgres"), ("a newer format", "postgres")],
)
def test_changed_backups_and_newer_ones_are_refused(kind, target, database, database_of, fill, tmp_path):
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    statement, message = WRONG[kind]
    change(tmp_path / "backup.db", statement)
    before, new = (tmp_path / "backup.db").read_bytes(), database_of(target)
    with pytest.raises(SottovoceError) as refused:
        restore(tmp_path / "backup.db", new)
    assert message in str(refused.value)
    assert str(refused.value).startswith("backup must ")
    assert (tmp_path / "backup.db").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"surveys.db", "backup.db"}
    if target == "postgres":
        engine = new_engine(backup_module.database_url(new))
        with reading(engine) as connection:
            assert backup_module.inspect(connection).get_table_names() == []
        engine.dispose()


def test_other_files_are_no_backups(database, tmp_path):
    Store(database).close()
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("SQLite format 3, and so on" * 100)
    change(tmp_path / "other", "CREATE TABLE backup (format, layout)")
    for name in ("empty", "text", "other", "surveys.db"):
        with pytest.raises(
            SottovoceError, match=r"backup must be a file that `sottovoce survey backup` wrote\. Got an"
        ):
            restore(tmp_path / name, tmp_path / "restored.db")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.db"):
        restore(tmp_path / "nowhere.db", tmp_path / "restored.db")
    assert not (tmp_path / "restored.db").exists()


def test_a_backup_is_no_database(database, tmp_path):
    backed_up(database, tmp_path / "backup.db")
    before = (tmp_path / "backup.db").read_bytes()
    with pytest.raises(
        SottovoceError, match=r"db must be a database; `sottovoce survey restore` makes one .* a backup"
    ):
        Store(tmp_path / "backup.db")
    assert (tmp_path / "backup.db").read_bytes() == before


def test_only_a_new_database_is_restored_into(database, database_of, postgres, tmp_path, monkeypatch):
    file = tmp_path / "backup.db"
    backed_up(database, file)
    with pytest.raises(SottovoceError, match=r"db must not exist yet: .* Got '.*surveys.db'"):
        restore(file, database)
    (tmp_path / "new.db-wal").touch()
    with pytest.raises(SottovoceError, match=r"db must not exist yet: .* Got '.*new.db-wal'"):
        restore(file, tmp_path / "new.db")
    with pytest.raises(SottovoceError, match="db must be in a folder that exists"):
        restore(file, tmp_path / "nowhere" / "new.db")
    for url in ("sqlite://", "sqlite:///file:new.db?uri=true"):
        with pytest.raises(SottovoceError, match="db must be the path of a new SQLite file"):
            restore(file, url)
    used = postgres.database()
    Store(used).close()
    with pytest.raises(SottovoceError, match=r"db must be empty: .* Got one with account_links, .*, truths instead"):
        restore(file, used)
    with pytest.raises(SottovoceError, match=r"db must be a database that can be filled \(.*Got 'postgresql"):
        restore(file, "postgresql+psycopg://nobody:secret@127.0.0.1:1/none")
    monkeypatch.setattr(backup_module, "_fill", lambda *_: Store(tmp_path / "late.db").close())
    with pytest.raises(SottovoceError, match=r"db must not exist yet: .* Got '.*late.db'"):
        restore(file, tmp_path / "late.db")
    assert {path.name for path in tmp_path.iterdir()} == {"backup.db", "late.db", "new.db-wal", "surveys.db"}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_restore_that_fails_leaves_nothing(kind, database, database_of, fill, tmp_path, monkeypatch):
    """Here the target stores other rows than it was given."""
    fill(database, people=100)
    backed_up(database, tmp_path / "backup.db")
    new, writer = database_of(kind), backup_module.row_writer
    with monkeypatch.context() as patched:
        patched.setattr(
            backup_module,
            "row_writer",
            lambda *place: lambda name, rows: writer(*place)(name, rows[name == "reports" :]),
        )
        with pytest.raises(SottovoceError, match="db must hold exactly the rows of the backup"):
            restore(tmp_path / "backup.db", new)
        with pytest.raises(SottovoceError, match=r"output must hold exactly|backup must be whole"):
            backed_up(database, tmp_path / "second.db")
    assert {path.name for path in tmp_path.iterdir()} == {"surveys.db", "backup.db"}
    restore(tmp_path / "backup.db", new)  # the database is still empty
    assert content(new)[0] == content(database)[0]


def test_an_older_file_is_replaced_only_if_it_is_asked_for(database, tmp_path):
    file = tmp_path / "backup.db"
    file.write_text("older")
    with pytest.raises(SottovoceError, match="output must not exist yet"):
        backed_up(database, file)
    assert file.read_text() == "older"
    backed_up(database, file, overwrite=True)
    restore(file, tmp_path / "restored.db")
    (tmp_path / "link.db").symlink_to(database)
    for path in (database, tmp_path / "link.db"):
        with pytest.raises(SottovoceError, match="output must be another file than the database"):
            backed_up(database, path, overwrite=True)
    assert content(database)[0]["surveys"] == []


def spoil(store, survey, **values):
    with writing(store.engine) as connection:
        connection.execute(update(surveys).where(surveys.c.id == survey.id).values(**values))


def test_what_is_wrong_with_the_database_is_told(store, survey, open_survey, tmp_path):
    """It is copied nevertheless, but no older backup, which may be better, is replaced."""
    file = tmp_path / "backup.db"
    shown = store.freeze(replace(open_survey, title={"en": "Logo"}, presentation=Presentation(logo=Logo.of(PICTURE))))
    back_up(store, file)
    spoil(store, survey, secret=None)
    (remark,) = back_up(store, tmp_path / "second.db").remarks
    assert remark.startswith(f"survey {survey.id} must have the secret key of its document")
    with pytest.raises(SottovoceError, match=r"output must be a new file: an older backup is not replaced while"):
        back_up(store, file, overwrite=True)
    store.close_survey(survey.id)  # nobody is admitted any more
    spoil(store, shown, logo=PICTURE + b"!")
    assert [remark.partition(".")[0] for remark in back_up(store, tmp_path / "third.db").remarks] == [
        f"survey {shown.id} must have the logo of its document"
    ]
    spoil(store, shown, logo=PICTURE, document=replace(shown, minimum=7).document)
    spoil(store, open_survey, document=b"{}")
    remarks = back_up(store, tmp_path / "fourth.db").remarks
    assert sorted(remark[:30] for remark in remarks) == sorted(
        [f"survey {shown.id} must have the id of its document"[:30], "survey must be a complete survey document"[:30]]
    )
    restore(tmp_path / "fourth.db", tmp_path / "restored.db")
    assert content(str(tmp_path / "restored.db"))[0] == content(str(tmp_path / "surveys.db"))[0]


def test_a_file_in_which_sqlite_finds_a_mistake(tmp_path):
    change(tmp_path / "bad.db", "CREATE TABLE t (a UNIQUE)", "INSERT INTO t VALUES ('first'), ('second')")
    whole = (tmp_path / "bad.db").read_bytes()
    (tmp_path / "bad.db").write_bytes(whole.replace(b"second", b"decond"[::1], 1))
    engine = new_engine(backup_module.database_url(tmp_path / "bad.db"))
    with reading(engine) as connection, pytest.raises(SottovoceError, match="backup must be intact once it is written"):
        check_intact(connection)
    engine.dispose()


def test_a_database_that_fails_is_named_and_nothing_is_left(store, survey, tmp_path):
    store.commit([Entry(survey.id, b"k" * 16, b"report")])
    with writing(store.engine) as connection:
        connection.exec_driver_sql("DROP TABLE drafts")
    with pytest.raises(SottovoceError, match=r"db must be a database that can be read \(no such table: drafts\)"):
        back_up(store, tmp_path / "backup.db")
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("surveys.db")]


LIMITED = """
import signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from sottovoce.surveys.collect.backup import back_up, restore
from sottovoce.surveys.collect.store import opened
if sys.argv[1] == "restore":
    restore(sys.argv[2], "new.db")
else:
    with opened(sys.argv[2]) as store:
        back_up(store, "new.db")
"""


@pytest.mark.parametrize("limit", [0, 30_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (3_000, 60_000))])
@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_full_disk_leaves_nothing(command, limit, database, fill, tmp_path):
    """RLIMIT_FSIZE stands for the full disk: writing beyond it fails, as root too."""
    fill(database, people=700)
    backed_up(database, tmp_path / "backup.db")
    assert (tmp_path / "backup.db").stat().st_size > 64_000
    (tmp_path / "room").mkdir()
    source = {"backup": database, "restore": str(tmp_path / "backup.db")}[command]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, command, source],
        cwd=tmp_path / "room",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "sottovoce.errors.SottovoceError: " in done.stderr
    assert list((tmp_path / "room").iterdir()) == []


def test_a_disk_that_fills_up_is_told(database, fill, tmp_path, monkeypatch):
    fill(database, people=100)

    def full(*_):
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr(backup_module, "row_writer", lambda *_: full)
    with pytest.raises(SottovoceError, match=r"output must be a file that can be written \(database or disk is full\)"):
        backed_up(database, tmp_path / "backup.db")
    assert {path.name for path in tmp_path.iterdir()} == {"surveys.db"}


def test_an_interrupted_backup_leaves_nothing(database, fill, tmp_path):
    fill(database, people=100)

    def interrupt(done, total):
        if done > total * 0.6:  # while it is restored
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        backed_up(database, tmp_path / "backup.db", progress=interrupt)
    assert {path.name for path in tmp_path.iterdir()} == {"surveys.db"}


@contextmanager
def running_backup(store, path):
    """Run a backup that has begun to read when the block begins, and goes on when the block ends."""
    with ThreadPoolExecutor(1) as pool:
        with Paused(store, "SELECT accounts.name") as pause:
            made = pool.submit(back_up, store, path)
            assert pause.reached.wait(60)
            yield made
        made.result()


@pytest.fixture
def three_stores(request, tmp_path, open_survey, database_of):
    """Make three stores of one database, as of two servers and a backup."""
    made = []

    def of(kind):
        database = database_of(kind, "surveys")
        made.extend(Store(database, batch=1) for _ in range(3))
        made[0].freeze(open_survey)
        return database, *made

    yield of
    for store in made:
        store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_reports_arrive_during_a_backup(kind, three_stores, open_survey, tmp_path):
    """None of them waits; they are tidied up later, and the backup has those from before it."""
    _, server, mover, reader = three_stores(kind)
    name = open_survey.id
    for key in (b"a" * 16, b"b" * 16):
        server.commit([Entry(name, key, b"before")])
        assert server.tidy() or kind == "sqlite"
    server.commit([Entry(name, b"c" * 16, b"before")])
    with running_backup(reader, tmp_path / "backup.db"):
        assert server.commit([Entry(name, b"d" * 16, b"during")]) == [Outcome.STORED]
        for store in (server, mover):
            assert not store.tidy()  # SQLite moves reports, but cannot empty its log
        assert server.commit([Entry(name, b"e" * 16, b"during")]) == [Outcome.STORED]
        assert mover.counts(name)["reports"] == 5
    assert reader.tidy()
    with reading(reader.engine) as connection:
        assert (count(connection, inbox), count(connection, level(0))) == (0, 5)
        if kind == "postgres":  # the next one gets an ordinary connection
            assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    with closing(Store(tmp_path / "restored.db")) as restored:
        assert restored.reports(name) == [b"before"] * 3


def test_a_backup_waits_for_a_move_and_sees_what_was_moved(three_stores, open_survey, postgres, tmp_path):
    """A snapshot from before the move's end would see the new tables without their rows."""
    database, server, mover, reader = three_stores("postgres")
    server.commit([Entry(open_survey.id, b"a" * 16, b"report")])
    assert server.tidy()
    server.commit([Entry(open_survey.id, b"b" * 16, b"report")])
    with ThreadPoolExecutor(2) as pool:
        with Paused(mover, "ALTER TABLE inbox_new") as pause:
            move = pool.submit(mover.tidy)
            assert pause.reached.wait(60)
            made = pool.submit(back_up, reader, tmp_path / "backup.db")
            assert waits(postgres, database, made)
        assert move.result()
        assert made.result().reports == 2
    restore(tmp_path / "backup.db", tmp_path / "restored.db")
    assert content(str(tmp_path / "restored.db"))[0] == content(database)[0]


@pytest.mark.parametrize("end", ["close_survey", "delete_survey"])
def test_the_end_of_a_survey_waits_for_a_backup_and_holds_up_nobody(end, three_stores, open_survey, postgres, tmp_path):
    database, server, other, reader = three_stores("postgres")
    second = server.freeze(replace(open_survey, title={"en": "Second"}))
    server.commit([Entry(open_survey.id, b"a" * 16, b"report")])
    with ThreadPoolExecutor(1) as pool:
        with running_backup(reader, tmp_path / "backup.db"):
            ended = pool.submit(getattr(other, end), open_survey.id)
            assert waits(postgres, database, ended)
            entries = [Entry(survey.id, b"b" * 16, b"report") for survey in (open_survey, second)]
            assert server.commit(entries) == [Outcome.CLOSED, Outcome.STORED]
        ended.result()
    assert other.counts(open_survey.id)["reports"] == (end == "close_survey")
    assert restore(tmp_path / "backup.db", tmp_path / "restored.db").reports == 1


def test_a_lost_connection_is_no_backup(three_stores, open_survey, postgres, monkeypatch):
    """A mover that cannot know whether somebody makes a backup fails, and tries again later."""
    database, server, mover, _ = three_stores("postgres")
    server.commit([Entry(open_survey.id, b"a" * 16, b"report")])
    with ThreadPoolExecutor(1) as pool:
        with Paused(mover, "LOCK TABLE sottovoce") as pause:
            move = pool.submit(mover.tidy)
            assert pause.reached.wait(60)
            with postgres.superuser(database) as connection:
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'surveyor'")
        with pytest.raises(SQLAlchemyError):
            move.result()
    assert mover.tidy()
    assert server.reports(open_survey.id) == [b"report"]


def test_numbers_are_a_document(database, tmp_path):
    assert asdict(backed_up(database, tmp_path / "backup.db"))["remarks"] == ()
    with opened(database) as store:
        assert store.surveys() == []
