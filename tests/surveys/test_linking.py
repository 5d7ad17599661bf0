"""Nobody who reads the database, not even its superuser, can tell whose report is whose."""

import asyncio
import os
import random
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from math import sqrt

import psycopg
import pytest
from sqlalchemy.engine import make_url

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect import admissions as admissions_module
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.entries import Entry, Outcome
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.collect.writer import Writer
from sottovoce.surveys.links import token_hash
from tests.surveys.linking import (
    Values,
    look_at_postgres,
    look_at_sqlite,
    postgres_traces,
    right,
    sqlite_traces,
)
from tests.surveys.sqlite_pages import cells, free_pages, pages, remains, tables

PEOPLE = 40

# What 0.1 did: a spent invitation is deleted and its report stored in the same transaction.
OLD_TABLES = """
CREATE TABLE invitations (survey VARCHAR(16), token BYTEA, PRIMARY KEY (survey, token));
CREATE TABLE reports (survey VARCHAR(16), key BYTEA, report BYTEA NOT NULL, PRIMARY KEY (survey, key));
"""
ISSUE = "INSERT INTO invitations VALUES (%s, %s)"
SPEND = "DELETE FROM invitations WHERE token = %s"
STORE = "INSERT INTO reports VALUES (%s, %s, %s)"
SURVEY = "0123456789abcdef"


def drawn(seed):
    """Hashes of invitations in the order of admission, and the keys of their reports."""
    rng = random.Random(seed)  # noqa: S311  # chance that can be repeated
    return {rng.randbytes(32): rng.randbytes(16) for _ in range(PEOPLE)}


def plain(url):
    return psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))


def for_sqlite(statements):
    return statements.replace("%s", "?").replace("BYTEA", "BLOB").replace("));", ")) WITHOUT ROWID;")


def answer_as_before(connection, truth, dialect=str):
    """Let everybody answer as under 0.1, each in a transaction of its own."""
    for token, key in truth.items():
        connection.execute(dialect(SPEND), (token,))
        connection.execute(dialect(STORE), (SURVEY, key, os.urandom(15)))
        connection.commit()


@pytest.fixture
def old_postgres(postgres):
    """Who answered with which key, and looks before anybody, after the first and after everybody."""
    url, truth = postgres.database(), drawn(1)
    (first, *others) = [{token: key} for token, key in truth.items()]
    with plain(url) as connection:
        connection.execute(OLD_TABLES)
        for token in sorted(truth):
            connection.execute(ISSUE, (SURVEY, token))
        connection.commit()
        looks = [look_at_postgres(postgres, url)]
        answer_as_before(connection, first)
        looks.append(look_at_postgres(postgres, url))
        for other in others:
            answer_as_before(connection, other)
    return truth, [*looks, look_at_postgres(postgres, url)]


def counts(traces, truth, admitted=()):
    return {trace: right(guess, truth) for _, trace, guess in traces.guesses(admitted)}


def most(linked, *words):
    """Most right pairs of the guesses from certain traces."""
    return max(number for trace, number in linked.items() if all(word in trace for word in words))


def test_postgres_gave_away_everybody_under_the_old_protocol(old_postgres):
    truth, looks = old_postgres
    traces = postgres_traces(looks[-1:], Values(truth, truth.values()))
    trace, guess = traces.best()
    assert "transaction" in trace
    assert right(guess, truth) == PEOPLE
    linked = counts(traces, truth)
    assert linked["nearest transaction before"] == PEOPLE
    # The order of arrival, which ctid, pages, dumps and files tell, is enough for whoever knows the order of admission.
    linked = counts(traces, truth, list(truth))
    for trace in ("look 1, reports, ctid", "look 1, reports_pkey, place on its pages", "look 1, file", "look 1, dump"):
        assert most(linked, "known x", trace) == PEOPLE


def test_two_dumps_gave_away_who_answered_between_them(old_postgres):
    truth, looks = old_postgres
    traces = postgres_traces(looks[:2], Values(truth, truth.values()))
    assert traces.groupings["dumps"] == [(frozenset(list(truth)[:1]), frozenset(list(truth.values())[:1]))]


def test_sqlite_gave_away_everybody_under_the_old_protocol(tmp_path):
    database, truth = str(tmp_path / "old.db"), drawn(2)
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA secure_delete=OFF;" + for_sqlite(OLD_TABLES))
        connection.executemany(for_sqlite(ISSUE), [(SURVEY, token) for token in sorted(truth)])
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        answer_as_before(connection, truth, for_sqlite)
        with_log = look_at_sqlite(database)
    values = Values(truth, truth.values())
    trace, guess = sqlite_traces([with_log], values).best()
    assert "commit" in trace
    assert right(guess, truth) == PEOPLE
    without_log = look_at_sqlite(database)
    assert not without_log.logs
    linked = counts(sqlite_traces([without_log], values), truth, list(truth))
    assert most(linked, "known x look 1, reports, place of cells") == PEOPLE
    assert most(linked, "look 1, remains") > 0  # what is deleted but not overwritten is found


def test_pages_are_read_as_sqlite_reads_them(tmp_path):
    """Trees of several levels, long rows, and pages that deleted rows have left."""
    database = tmp_path / "pages.db"
    rows = {os.urandom(32): os.urandom(int(3 ** (place % 9))) for place in range(900)}
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("CREATE TABLE kept (a BLOB PRIMARY KEY, b BLOB) WITHOUT ROWID; CREATE TABLE gone (a);")
        connection.executemany("INSERT INTO kept VALUES (?, ?)", rows.items())
        connection.executemany("INSERT INTO gone VALUES (?)", [(row,) for row in rows.values()])
        connection.execute("DROP TABLE gone")
        connection.commit()
        (unused,) = connection.execute("PRAGMA freelist_count").fetchone()
    file = database.read_bytes()
    of = pages(file)
    found = [cell.payload for page in tables(file)["kept"] for cell in cells(of[page - 1])]
    assert len(found) == len(rows)
    for value, long in rows.items():
        (payload,) = [payload for payload in found if value in payload]
        assert payload[payload.index(value) + 32 :] == long[: len(payload) - payload.index(value) - 32]
    assert len(set(free_pages(file))) == unused > 100
    for page in tables(file)["kept"]:
        live = sum(cell.end - cell.start for cell in cells(of[page - 1]))
        assert live + sum(len(gap) for _, gap in remains(of[page - 1])) == len(of[page - 1])


@dataclass
class Lived:
    """A survey that was answered: whose report is whose, in the order of admission, and what an attacker saw when."""

    store: Store
    survey: object
    truth: dict[bytes, bytes]
    entries: dict[bytes, Entry]
    looks: list
    rng: random.Random

    def __post_init__(self):
        self.values = Values(self.truth, self.truth.values())

    def admit(self, token):
        assert self.store.admit(self.survey.id, token, self.rng.randbytes(32)) is Admission.ADMITTED

    def report(self, tokens, *, pauses=False):
        for token in tokens:
            assert self.store.commit([self.entries[token]]) == [Outcome.STORED]
            if pauses:
                self.store.tidy()

    def answer(self, order, *, pauses=False):
        """Let everybody be admitted and send a report, in the order of admission or in another one."""
        if order == "in order":
            for token in self.truth:
                self.admit(token)
                self.report([token], pauses=pauses)
        else:
            for token in self.truth:
                self.admit(token)
            self.report(self.rng.sample(list(self.truth), PEOPLE), pauses=pauses)


class Attacked:
    """A database of one kind, with surveys that begin, and an attacker."""

    def __init__(self, database, look, traces):
        self._database, self.look, self._traces = database, look, traces
        self._opened = []

    def begin(self, draft, seed, monkeypatch, **settings):
        """Begin a survey in a new database; everything that is drawn follows from the seed."""
        rng = random.Random(seed)  # noqa: S311  # chance that can be repeated
        monkeypatch.setattr(admissions_module, "new_token", lambda: rng.randbytes(11).hex())
        self.name = self._database(seed)
        store = Store(self.name, **settings)
        self._opened.append(store)
        survey = store.freeze(draft)
        tokens = [token_hash(survey.hash, token) for token in store.invite(survey, PEOPLE)]
        entries = {token: Entry(survey.id, rng.randbytes(16), rng.randbytes(15)) for token in tokens}
        truth = {token: entry.key for token, entry in entries.items()}
        return Lived(store, survey, truth, entries, [self.look(self.name)], rng)

    def traces(self, lived):
        return self._traces(lived.looks, lived.values)

    def linked(self, lived):
        """Right pairs of the best guess, and of the guesses from every trace."""
        traces, admitted = self.traces(lived), list(lived.truth)
        _, guess = traces.best(admitted)
        return right(guess, lived.truth), Counter(counts(traces, lived.truth, admitted))

    def end(self):
        while self._opened:
            self._opened.pop().close()


@pytest.fixture(params=["sqlite", "postgres"])
def attacked(request, tmp_path, secret_key, monkeypatch):
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    if request.param == "sqlite":
        found = Attacked(lambda seed: str(tmp_path / f"{seed}.db"), look_at_sqlite, sqlite_traces)
    else:
        cluster = request.getfixturevalue("postgres")
        found = Attacked(lambda _: cluster.database(), lambda url: look_at_postgres(cluster, url), postgres_traces)
    yield found
    found.end()


BY_CHANCE = 12
"""Most right pairs that some of a thousand blind guesses may have, of which each has one or two on average."""

FEW = range(2)
MANY = range(20)


@pytest.mark.parametrize("order", ["in order", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_nobody_is_linked(attacked, draft, order, seeds, monkeypatch):
    """Neither while the survey is open, after a pause, nor when it is closed."""
    of_traces = {"open": Counter(), "closed": Counter()}
    for seed in seeds:
        # Reports come one after the other or with pauses, and are moved in one, in several batches or not at all.
        lived = attacked.begin(draft, seed, monkeypatch, batch=(64, 7, 1)[seed % 3])
        lived.answer(order, pauses=seed % 2 == 0)
        while not lived.store.tidy():
            pass
        for state, linked in of_traces.items():
            if state == "closed":
                lived.store.close_survey(lived.survey.id)
            lived.looks.append(attacked.look(attacked.name))
            best, others = attacked.linked(lived)
            assert best <= 5
            assert max(others.values()) <= BY_CHANCE
            linked.update(others)
        assert len(lived.store.reports(lived.survey.id)) == PEOPLE
        attacked.end()
    for linked in of_traces.values():
        assert_chance(linked, len(seeds))


def assert_chance(linked, surveys, groups=1):
    """No trace links more than blind guessing: one right pair on average in every group that can be told apart."""
    chance = groups * surveys
    trace, most_linked = linked.most_common(1)[0]
    assert most_linked <= chance + 6 * sqrt(chance) + 3, trace


@pytest.mark.slow
@pytest.mark.parametrize("order", ["in order", "random"])
def test_a_dump_in_the_middle_tells_groups_and_no_more(attacked, draft, order, monkeypatch):
    linked = Counter()
    for seed in FEW:
        lived = attacked.begin(draft, seed, monkeypatch)
        for part in (list(lived.truth)[: PEOPLE // 2], list(lived.truth)[PEOPLE // 2 :]):
            for token in part:
                lived.admit(token)
            lived.report(part if order == "in order" else lived.rng.sample(part, len(part)))
            while not lived.store.tidy():
                pass
            lived.looks.append(attacked.look(attacked.name))
        traces = attacked.traces(lived)
        ((_, groups),) = traces.groupings.items()
        assert [(len(tokens), len(keys)) for tokens, keys in groups] == [(PEOPLE // 2, PEOPLE // 2)] * 2
        linked.update(counts(traces, lived.truth, list(lived.truth)))
        attacked.end()
    assert_chance(linked, len(FEW), groups=2)


def test_the_attack_sees_reports_that_were_not_moved(attacked, draft, monkeypatch):
    """Before a pause, order and transactions are there: the attack would have found them."""
    lived = attacked.begin(draft, 1, monkeypatch)
    lived.answer("in order")
    lived.looks.append(attacked.look(attacked.name))
    best, linked = attacked.linked(lived)
    assert best == PEOPLE
    assert most(linked, "nearest") == PEOPLE
    assert most(linked, "known x", "inbox") == PEOPLE


def test_a_server_that_stops_leaves_no_order(attacked, draft, finished, monkeypatch):
    """Nor does it wait for a pause, after which there would be nobody to tidy up."""
    lived = attacked.begin(draft, 1, monkeypatch)
    writer = Writer(lived.store.commit, tidy=lived.store.tidy)

    async def answer():
        for token, entry in lived.entries.items():
            await asyncio.to_thread(lived.admit, token)
            assert await writer.put(entry) is Outcome.STORED

    finished(answer())
    writer.close()
    attacked.end()
    lived.looks.append(attacked.look(attacked.name))
    best, linked = attacked.linked(lived)
    assert best <= 5
    assert_chance(linked, 1)
