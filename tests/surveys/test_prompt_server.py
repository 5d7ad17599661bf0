"""Servers begin and end at once, finish what is under way, and give up what never ends."""

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from sottovoce.surveys.collect.prompt_server import PromptServer
from sottovoce.surveys.collect.server import address_of, configuration, listen, running


class Application:
    """Says hello, at once or when it is let go; starts only if it may."""

    def __init__(self, *, waits: bool = False, starts: bool = True) -> None:
        self._waits = waits
        self._starts = starts
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.stopped = False

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup." + ("complete" if self._starts else "failed")})
            await receive()
            self.stopped = True
            await send({"type": "lifespan.shutdown.complete"})
            return
        self.asked.set()
        while self._waits and not self.let_go.is_set():
            await asyncio.sleep(0.001)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
        await send({"type": "http.response.body", "body": b"hello"})


def ask(address: str) -> bytes:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read()
    finally:
        connection.close()


@pytest.fixture
def waiting():
    """A server with a request under way that is not let go, its thread, and the request's answer."""
    app, listening = Application(waits=True), listen("127.0.0.1", 0)
    server = PromptServer(configuration(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    with ThreadPoolExecutor(1) as pool:
        thread.start()
        server.begun.wait()
        answer = pool.submit(ask, address_of(listening))
        app.asked.wait()
        yield app, server, thread, answer


def test_an_idle_server_ends_without_waiting_for_the_clock(monkeypatch):
    """With a connection kept open by a client, which uvicorn's own server closes after two tenths of a second."""
    paused, sleep = [], asyncio.sleep

    async def recorded(seconds, *given):
        paused.append(seconds)
        await sleep(seconds, *given)

    app = Application()
    monkeypatch.setattr(asyncio, "sleep", recorded)
    with running(app, listen("127.0.0.1", 0)) as address:
        connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"hello"
        assert paused == []
    connection.close()
    assert app.stopped
    assert sum(paused) < 0.1


def test_requests_under_way_are_finished(waiting):
    app, server, thread, answer = waiting
    server.end()
    assert not answer.done()
    app.let_go.set()
    assert answer.result() == b"hello"
    thread.join()
    assert app.stopped


def test_requests_that_do_not_end_in_time_are_given_up(waiting):
    app, server, thread, answer = waiting
    server.config.timeout_graceful_shutdown = 0.01
    server.end()
    thread.join()
    assert answer.exception() is not None or answer.result() == b"Internal Server Error"
    assert app.stopped


def test_a_second_interrupt_waits_for_nothing(waiting):
    app, server, thread, answer = waiting
    for _ in range(2):
        server.handle_exit(signal.SIGINT, None)
    thread.join()
    assert answer.exception() is not None or answer.result() == b"Internal Server Error"
    assert not app.stopped


def test_a_server_may_be_told_to_end_before_it_waits(finished):
    server = PromptServer(configuration(Application()))
    server.end()
    finished(server.main_loop())
    assert server.should_exit


def test_an_application_that_does_not_start_keeps_nobody_waiting(capfd):
    server = PromptServer(configuration(Application(starts=False)))
    with listen("127.0.0.1", 0) as listening, ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(server.run, sockets=[listening]).exception(), SystemExit)
    assert server.begun.is_set()
    assert "startup failed" in capfd.readouterr().err
