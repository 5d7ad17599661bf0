"""The parts of the drill: its server, its proxy, its databases, its respondents, and what scenarios share."""

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

import pytest
from sqlalchemy import delete
from sqlalchemy.engine import make_url

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import utc_now
from sottovoce.surveys.collect.database import inbox, writing
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.drill import faults as faults_module
from sottovoce.surveys.drill import server as server_module
from sottovoce.surveys.drill import state as state_module
from sottovoce.surveys.drill.proxy import Proxy, Weather
from sottovoce.surveys.drill.respondents import Connection, Crowd, Reply
from sottovoce.surveys.drill.scratch import PostgresScratch, new_scratch
from sottovoce.surveys.drill.server import APPLICATION, Controls, Server, find_application
from tests.surveys.conftest import found_in

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
    assert found_in(drill) == [
        "respondent 1 was refused: status 403, signature",
        "respondent 2 was not served within 0.05 s after the last fault",
    ]


def test_replies_are_looked_at(drill):
    (respondent,) = drill.new_respondents(1)
    drill._look_at_reply(respondent, Reply(500, {"reason": "Traceback (most recent call last)"}))
    assert not drill.expect(Reply(200, ["x"]), {409: None}, "it was not refused")
    assert not drill.expect(Reply(409, {"error": "spent"}), {409: "other_report"}, "it was not refused")
    assert found_in(drill) == [
        "respondent 1 got status 500: status 500, reason",
        "respondent 1 got a traceback",
        "it was not refused; the reply: status 200, something else",
        "it was not refused; the reply: status 409, spent",
    ]
    drill.note("broken", found_in(drill)[0])
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
    assert found_in(drill) == [
        "a server ended by itself",
        "a server did not stop when it was asked to, and had to be killed",
    ]
    finished(drill.close())
    assert drill.servers == []


def test_a_survey_that_is_not_shown_during_an_outage_is_found(drill, finished, monkeypatch):
    monkeypatch.setattr(faults_module, "LOOK_SECONDS", 0.05)
    drill.servers = [Stub()]
    finished(faults_module._look(drill, time.monotonic() + 0.2))  # a busy machine takes a moment to begin
    assert set(found_in(drill)) == {"the survey was not shown within 0.05 s of an outage of the database"}


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
