"""The parts of the drill: its server, its proxy, its databases, its respondents, and what its verdict looks at."""

import asyncio
import os
import resource
import socket
import socketserver
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec
import pytest
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.engine import make_url

from sottovoce.errors import SottovoceError
from sottovoce.surveys.blind_rsa import SecretKey, blind_sign
from sottovoce.surveys.collect.app_state import blinded_hash, today, utc_now
from sottovoce.surveys.collect.database import inbox, invitations, layout, writing
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
from sottovoce.surveys.drill import faults as faults_module
from sottovoce.surveys.drill import server as server_module
from sottovoce.surveys.drill import state as state_module
from sottovoce.surveys.drill import verdict as verdict_module
from sottovoce.surveys.drill.drill import Course
from sottovoce.surveys.drill.leaks import LEAST, MOST_DEVIATION, Needles, check_leaks, rank_deviation
from sottovoce.surveys.drill.proxy import Proxy, Weather
from sottovoce.surveys.drill.respondents import Connection, Crowd, Reply
from sottovoce.surveys.drill.scratch import PostgresScratch, SqliteScratch, new_scratch
from sottovoce.surveys.drill.server import APPLICATION, Controls, Server, find_application
from sottovoce.surveys.drill.state import Drill
from sottovoce.surveys.drill.verdict import check_stored
from sottovoce.surveys.links import token_hash


@pytest.fixture
def drill(tmp_path, secret_key, monkeypatch):
    """A drill without servers."""
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    sample = survey_from_text(sample_definition("exams", today()))
    return Drill(SqliteScratch(tmp_path), sample, seed=1, respondents=8, outage=0.1, application=APPLICATION)


@pytest.fixture
def answered(drill, secret_key):
    """Let new respondents be admitted and acknowledged, without a server."""

    def answer(count):
        people = drill.new_respondents(count)
        with drill.store() as store:
            for respondent in people:
                respondent.admission()
                message, token = respondent.blinded.message, token_hash(drill.survey.hash, respondent.token)
                store.admit(drill.survey.id, token, blinded_hash(message))
                respondent.signature = blind_sign(message, secret_key.public.modulus, secret_key.exponent).hex()
                respondent.seal()
                store.commit([entry_of(respondent)])
                respondent.acknowledged_at = time.monotonic()
            store.tidy()
        return people

    return answer


def entry_of(respondent, key=None):
    return Entry(
        respondent.survey.id, key or respondent.key, respondent.report, receipt=bytes.fromhex(respondent.receipt)
    )


def found(drill):
    return [finding.what for finding in drill.findings]


# The server


def test_the_clock_and_the_disk_of_a_server(tmp_path):
    controls, answers, ended = Controls(), [], []
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    lines = ["clock 86400\n", "room 1000000000\n", "room -1\n", "read_only 1\n"]
    controls.follow(lines, answers.append, ended.append)
    assert (answers, ended) == (["done"] * 4, [1])
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == (limits[1], limits[1])
    assert controls.now() > utc_now() + timedelta(hours=23)
    store = Store(str(tmp_path / "s.db"))
    controls.attach(store.engine)
    with pytest.raises(Exception, match="readonly"), writing(store.engine) as connection:
        connection.execute(delete(inbox))
    controls.obey("read_only 0")
    with writing(store.engine) as connection:
        connection.execute(delete(inbox))
    store.close()


def test_a_disk_of_postgres_is_not_the_drills(postgres):
    store, controls = Store(postgres.database()), Controls()
    controls.attach(store.engine)
    controls.obey("read_only 1")
    with writing(store.engine) as connection:
        connection.execute(delete(inbox))
    store.close()


def test_applications_are_found_by_name():
    from sottovoce.surveys.collect.server import make_app

    assert find_application(APPLICATION) is make_app


def test_a_server_that_does_not_stop_or_obey_is_killed(tmp_path, monkeypatch):
    first, second = (Server(str(tmp_path / "s.db"), tmp_path) for _ in range(2))
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.05)
    first.freeze()
    assert not first.stop()
    assert not first.runs
    monkeypatch.setattr(server_module, "START_SECONDS", 0.05)
    second.freeze()
    with pytest.raises(SottovoceError, match="server must run and obey the drill"):
        second.tell("clock 1")
    assert not second.runs
    with pytest.raises(ValueError, match="closed file"):
        second.tell("clock 1")


# The proxy


@contextmanager
def echo(path=None):
    """A server that sends back what it gets; yields its port."""

    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            with suppress(ConnectionResetError):
                while part := self.request.recv(1000):
                    self.request.sendall(part)

    kind = socketserver.ThreadingTCPServer if path is None else socketserver.ThreadingUnixStreamServer
    with kind(("127.0.0.1", 0) if path is None else str(path), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def asked(port, words=b"hello", wait=5.0):
    """Send words, and return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        connection.sendall(words)
        return read(connection)


def read(connection):
    """Return what comes; nothing from a connection that was cut, and None if nothing comes in time."""
    try:
        return connection.recv(1000)
    except TimeoutError:
        return None
    except ConnectionResetError:
        return b""


def test_the_weather_of_a_proxy(tmp_path):
    with echo() as port, Proxy(lambda: ("127.0.0.1", port), Random(1)) as proxy:  # noqa: S311
        assert asked(proxy.port) == b"hello"
        proxy.weather = Weather(delay=0.1)
        begun = time.monotonic()
        assert asked(proxy.port) == b"hello"
        assert time.monotonic() - begun > 0.19
        proxy.weather = Weather(stalls=True)
        assert asked(proxy.port, wait=0.2) is None
        proxy.weather = Weather(cut=1)
        assert asked(proxy.port, b"x" * 500) == b""
        proxy.weather = Weather(refuses=True)
        assert asked(proxy.port) == b""
        proxy.weather = Weather()
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as connection:
            connection.sendall(b"x")
            assert connection.recv(1) == b"x"
            proxy.cut_all()
            assert read(connection) == b""
    with Proxy(lambda: ("127.0.0.1", 1), Random(1)) as proxy:  # noqa: S311
        assert asked(proxy.port) == b""


def test_a_proxy_to_a_socket_in_a_folder(tmp_path):
    folder = Path("/tmp") / f"sv-drill-{os.getpid()}"  # noqa: S108  # a socket's path must be short
    folder.mkdir()
    with echo(folder / ".s.PGSQL.5432"), Proxy(lambda: (str(folder), 5432), Random(1)) as proxy:  # noqa: S311
        assert asked(proxy.port) == b"hello"
    (folder / ".s.PGSQL.5432").unlink()
    folder.rmdir()


# The databases


def test_a_scratch_database_is_refused_where_it_cannot_be(tmp_path, postgres):
    def opened(database, folder=None):
        with new_scratch(database, folder, Random(1)):  # noqa: S311
            pass

    with pytest.raises(SottovoceError, match="folder must be a folder"):
        opened(None, tmp_path / "none")
    for database in ("surveys.db", "sqlite:///surveys.db", "mysql://u:secret@h/d"):
        with pytest.raises(SottovoceError, match="db must be the URL of a database on a PostgreSQL server") as error:
            opened(database)
        assert "secret" not in str(error.value)
    url = make_url(postgres.database()).set(drivername="postgresql").render_as_string(hide_password=False)
    with pytest.raises(SottovoceError, match=r"create a scratch database beside it \(permission denied"):
        opened(url)
    opened(None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_private_server_reaches_postgres_through_the_proxy(tmp_path):
    with Proxy(lambda: ("127.0.0.1", 1), Random(1)) as proxy:  # noqa: S311
        by_name = PostgresScratch(
            make_url("postgresql+psycopg://u:p@db.example.org/d?sslmode=require"), tmp_path, proxy
        )
        near = make_url(by_name.server_url)
        assert (near.host, near.port, near.query["hostaddr"]) == ("db.example.org", proxy.port, "127.0.0.1")
        assert near.query["sslmode"] == "require"
        by_socket = PostgresScratch(make_url("postgresql+psycopg://u@/d?host=/run/postgresql"), tmp_path, proxy)
        near = make_url(by_socket.server_url)
        assert (near.host, near.port, dict(near.query)) == ("127.0.0.1", proxy.port, {})


# The respondents


def test_replies_that_are_none_are_refusals(drill, finished):
    """A signature that is not the survey's, a receipt of another report, and something that is no JSON."""
    first, second, third = drill.new_respondents(3)
    first.take(Reply(200, {"signature": "zz"}), 1.0)
    second.take(Reply(200, "signature"), 1.0)
    third.take(Reply(503, {}), 1.0)
    assert [each.settled for each in (first, second, third)] == [True, True, False]
    third.admission()
    third.take(Reply(200, {"signature": "ab" * 256}), 1.0)
    crowd_of(drill, [third], finished)
    assert "signature must be by the key of the survey" in third.refused.content["error"]
    assert any(name == "blind signature" for name, _ in third.secrets())


def crowd_of(drill, people, finished, **settings):
    async def answer():
        async with Crowd(people, lambda: ["http://127.0.0.1:1"], Random(1), patience=0.1, **settings):  # noqa: S311
            await asyncio.sleep(0.05)

    finished(answer())


def test_an_open_survey_admits_nobody(drill, open_survey):
    (respondent,) = drill.new_respondents(1)
    respondent.survey = open_survey
    with pytest.raises(TypeError):
        respondent.blind()
    respondent.token = None
    assert respondent.invitation_hashes == []
    assert respondent.admitted


def test_a_crowd_ends_when_its_block_fails(drill, finished):
    people = drill.new_respondents(2)

    async def fail():
        async with Crowd(people, list, Random(1)) as crowd:  # noqa: S311
            await asyncio.sleep(0.05)
            assert crowd.done == 0
            raise RuntimeError

    with pytest.raises(RuntimeError):
        finished(fail())
    assert not people[0].settled


def test_a_connection_that_was_never_opened_is_closed(finished):
    finished(Connection("http://127.0.0.1:1").close())


# What scenarios share


def test_who_is_not_served_is_named(drill, finished, monkeypatch):
    monkeypatch.setattr(state_module, "PATIENCE", 0.05)
    refused, unserved = drill.new_respondents(2)
    refused.refused = Reply(403, {"error": "signature"})

    async def answer():
        async with drill.answering([refused, unserved], Random(1), through=lambda: ["http://127.0.0.1:1"]):  # noqa: S311
            pass
        return await drill.ask(unserved, "reports", b"", "http://127.0.0.1:1")

    assert finished(answer()).status == 0
    assert found(drill) == [
        "respondent 1 was refused: status 403, signature",
        "respondent 2 was not served within 0.05 s after the last fault",
    ]


def test_replies_are_looked_at(drill):
    (respondent,) = drill.new_respondents(1)
    drill._look_at_reply(respondent, Reply(500, {"reason": "Traceback (most recent call last)"}))
    assert not drill.expect(Reply(200, ["x"]), {409: None}, "it was not refused")
    assert not drill.expect(Reply(409, {"error": "spent"}), {409: "other_report"}, "it was not refused")
    assert found(drill) == [
        "respondent 1 got status 500: status 500, reason",
        "respondent 1 got a traceback",
        "it was not refused; the reply: status 200, something else",
        "it was not refused; the reply: status 409, spent",
    ]
    drill.note("broken", found(drill)[0])
    assert len(drill.findings) == 4


class Stub:
    """Stands for a server process."""

    def __init__(self, *, runs=True, output=b""):
        self.runs, self.output, self.address = runs, output, "http://127.0.0.1:1"

    def kill(self):
        pass

    def stop(self):
        return False


def test_servers_that_end_by_themselves_or_not_at_all_are_found(drill, finished):
    drill.servers = [Stub(runs=False), Stub(), Stub()]
    finished(drill.settle_servers())
    assert len(drill.servers) == 1
    assert found(drill) == [
        "a server ended by itself",
        "a server did not stop when it was asked to, and had to be killed",
    ]
    finished(drill.close())
    assert drill.servers == []


def test_a_survey_that_is_not_shown_during_an_outage_is_found(drill, finished, monkeypatch):
    monkeypatch.setattr(faults_module, "LOOK_SECONDS", 0.05)
    drill.servers = [Stub()]
    finished(faults_module._look(drill, time.monotonic() + 0.01))
    assert found(drill) == ["the survey was not shown within 0.05 s of an outage of the database"]


def test_who_is_asked_to_come_again_in_a_race_does_so(drill, finished, monkeypatch):
    replies = iter([Reply(200, {}), Reply(200, {}), Reply(503, {}), Reply(409, {})])

    async def reply(*_):
        return next(replies)

    (respondent,) = drill.new_respondents(1)
    drill.servers = [Stub()]
    monkeypatch.setattr(Connection, "get", reply)
    monkeypatch.setattr(Connection, "post", reply)
    monkeypatch.setattr(drill, "ask", reply)
    again = iter([Reply(200, {"signature": "ab"})])

    async def ask(*_):
        return next(again)

    monkeypatch.setattr(drill, "ask", ask)
    sent = finished(faults_module._at_once(drill, respondent, "admission", [b"", b""]))
    assert [each.status for each in sent] == [200, 409]


# The verdict


def test_what_is_stored_as_it_should_be_is_no_finding(drill, answered):
    answered(8)
    check_stored(drill)
    check_leaks(drill, at_rest=True)
    assert found(drill) == []


def test_lost_reports_are_found(drill, answered):
    gone, changed, unlisted = answered(3)
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(delete(inbox).where(inbox.c.key == gone.key))
        connection.execute(update(inbox).where(inbox.c.key == changed.key).values(report=b"other"))
        connection.execute(update(inbox).where(inbox.c.key == unlisted.key).values(receipt=None))
    drill.new_respondents(1)
    check_stored(drill)
    kinds = {finding.kind for finding in drill.findings}
    ends = [what.rpartition(", ")[2] for what in found(drill)]
    assert kinds == {"lost"}
    assert ends == ["is not stored", "is stored with other bytes", "is not among the receipts that anybody can check"]


def test_doubled_reports_and_strange_ones_are_found(drill, answered):
    twice, again, third = answered(3)
    with drill.store() as store:
        store.commit([entry_of(again, b"k" * 16)])
        with writing(store.engine) as connection:
            table = store_table(connection)
            row = connection.execute(select(inbox).where(inbox.c.key == twice.key)).mappings().one()
            connection.execute(insert(table), dict(row))
            connection.execute(delete(invitations).where(invitations.c.token == third.invitation_hashes[0]))
    check_stored(drill)
    whats = " | ".join(found(drill))
    assert "the report of respondent 1 is stored 2 times" in whats
    assert f"under the key {(b'k' * 16).hex()}" in whats
    assert f"2 reports are stored with the receipt {again.receipt}" in whats
    assert "invitations are missing or too many" in whats
    assert "5 reports are stored, and 2 invitations spent" in whats


def store_table(connection):
    """The table of reports that were moved."""
    from sottovoce.surveys.collect.database import level

    assert connection.scalar(select(layout.c.levels)) == 1
    return level(0)


def test_invitations_that_nobody_has_used_are_found(drill, answered):
    (respondent,) = answered(1)
    respondent.blinded = None
    check_stored(drill)
    assert found(drill) == ["1 invitations are spent, and 0 respondents asked for that"]


def test_estimates_that_are_not_possible_are_found(drill, answered, monkeypatch):
    answered(2)
    monkeypatch.setattr(verdict_module, "LEAST_ESTIMATED", 0)
    monkeypatch.setattr(verdict_module, "survey_results", lambda *_: (_ for _ in ()).throw(SottovoceError("a", "b", 1)))
    object.__setattr__(drill.respondents[0].survey, "minimum", 1)
    check_stored(drill)
    assert found(drill) == ["nothing can be estimated from the stored reports: a b. Got 1 instead."]


def test_secrets_are_found_wherever_they_are(drill, answered):
    first, second, third = answered(3)
    logged = first.token.encode() + b"\nTraceback (most recent call last):\n  File x\nKeyError: 'x'\n"
    drill.all_servers = [Stub(output=logged)]
    folder = drill.scratch.folder / "temporary"
    folder.mkdir()
    (folder / "spool").write_bytes(b"12345" + second.credential + b"12" + second.credential[:9])
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(text("CREATE TABLE log (line TEXT)"))
        connection.execute(text("INSERT INTO log VALUES (:line)"), {"line": f"from {third.address} at 12:00"})
    check_leaks(drill, at_rest=False)
    assert sorted(set(found(drill)) - {"the address of respondent 3 is in the file surveys.db-wal"}) == [
        "a server wrote a traceback, which may show anything: KeyError: 'x'",
        "the address of respondent 3 is in the file surveys.db",
        "the address of respondent 3 is in the table log",
        "the credential of respondent 2 is in the file spool",
        "the invitation of respondent 1 is in what a server wrote",
    ]
    assert {finding.kind for finding in drill.findings} == {"leaked"}


def test_needles_are_found_by_all_of_their_bytes():
    needles = Needles({b"12345678a": "first", b"12345678bcd": "second"})
    assert needles.within(b"..12345678a") == {"first"}
    assert needles.within(b"12345678") == set()
    assert needles.within(b"1234") == set()
    assert list(needles.places(b"12345678bcd12345678a")) == [(0, b"12345678bcd"), (11, b"12345678a")]


def test_orders_and_links_are_found(drill, answered):
    people = answered(60)
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(text("CREATE TABLE seen (number INTEGER PRIMARY KEY, report BLOB, token BLOB)"))
        for respondent in [*people, *reversed(people)]:  # everybody comes again, which hides nothing
            row = {"report": respondent.key, "token": respondent.invitation_hashes[0]}
            connection.execute(text("INSERT INTO seen (report, token) VALUES (:report, :token)"), row)
    check_leaks(drill, at_rest=True)
    whats = found(drill)
    assert "the table seen holds both invitations and reports" in whats
    told = [what.partition(" tells")[0] for what in whats if "order of arrival" in what]
    assert "the order of first rows of the table seen" in told
    assert "column number in last rows of the table seen" in told
    assert all("seen" in trace or "file" in trace for trace in told)


def test_orders_of_values_that_cannot_be_compared_tell_nothing():
    assert rank_deviation([None, *range(40)], range(41)) == 0
    assert rank_deviation(range(5), range(5)) == 0
    assert rank_deviation(range(LEAST), range(LEAST)) > MOST_DEVIATION  # the fewest that are examined are enough


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"seed": -1}, "seed"),
        ({"respondents": 3}, "respondents"),
        ({"only": ["flood"]}, "only"),
        ({"minutes": -1}, "minutes"),
        ({"outage": 0}, "outage"),
    ],
)
def test_a_course_is_checked(wrong, name):
    with pytest.raises(SottovoceError, match=f"{name} must"):
        Course(**{"seed": 1} | wrong)


def test_bodies_of_other_reports_are_under_the_same_key(answered):
    (respondent,) = answered(1)
    before = msgspec.json.decode(respondent.seal().body)
    respondent.change_report(b"other")
    after = msgspec.json.decode(respondent.seal().body)
    assert after == before | {"report": b"other".hex()}
    assert respondent.report == b"other"
