"""Whom the server believes about a client's address: trusted proxies, and nobody else."""

import logging
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.forwarded import THIS_MACHINE, Forwarded, TrustedProxies
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from tests.surveys.conftest import Server
from tests.surveys.test_server import body

EDGE, INNER, CLIENT = "192.0.2.1", "10.0.0.2", "203.0.113.9"


def seen_by(proxies, peer, headers, finished, path="/s/x"):
    """Address and scheme of a request as the application sees them."""
    seen = []

    async def app(scope, receive, send):
        seen.append((scope["client"] and scope["client"][0], scope.get("scheme")))

    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    client = None if peer is None else (peer, 5)
    scope = {"type": "http", "scheme": "http", "client": client, "headers": pairs, "path": path}
    finished(Forwarded(app, TrustedProxies(proxies))(scope, None, None))
    return seen[0]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (INNER, CLIENT, CLIENT),
        (INNER, f"{CLIENT}, {EDGE}", CLIENT),  # two trusted proxies, each with an entry
        (INNER, f"198.51.100.7, {CLIENT}, {EDGE}", CLIENT),  # the client has made up the first
        (INNER, f"{EDGE}, {INNER}, {CLIENT}", CLIENT),  # also if it knows the proxies
        (INNER, f"198.51.100.7, {CLIENT}", CLIENT),
        (f"::ffff:{INNER}", CLIENT, CLIENT),
        (INNER, f"{CLIENT}:4711", CLIENT),
        (INNER, "[2001:db8::7]:4711", "2001:db8::7"),
        (INNER, f"{INNER}, {EDGE}", INNER),  # a client on a trusted machine
        (INNER, f"{CLIENT}, unknown", INNER),  # nothing before what cannot be read is believed
        (INNER, "", INNER),
        (CLIENT, "198.51.100.7", CLIENT),  # a client that comes without a proxy
        ("10.0.0.3", "198.51.100.7", "10.0.0.3"),
        (None, "198.51.100.7", None),
    ],
)
def test_the_client_is_the_last_entry_that_is_no_trusted_proxys(finished, peer, forwarded, address):
    headers = [("x-forwarded-for", forwarded), ("x-forwarded-proto", "https")] if forwarded else []
    assert seen_by([INNER, "192.0.2.0/24"], peer, headers, finished)[0] == address


def test_entries_may_stand_in_several_headers(finished):
    headers = [("x-forwarded-for", "198.51.100.7"), ("x-forwarded-for", CLIENT)]
    assert seen_by([INNER], INNER, headers, finished)[0] == CLIENT


@pytest.mark.parametrize(
    ("stated", "scheme"),
    [(["https"], "https"), (["http"], "http"), (["https", "http"], "http"), (["gopher"], "http"), ([], "http")],
)
def test_the_scheme_is_the_trusted_proxys(finished, stated, scheme):
    headers = [("x-forwarded-proto", each) for each in stated]
    assert seen_by(THIS_MACHINE, "127.0.0.1", headers, finished)[1] == scheme
    assert seen_by([INNER], "127.0.0.1", headers, finished)[1] == "http"


def test_a_proxy_that_strips_headers_is_told_of_once(finished, caplog):
    proxies = Forwarded(answering, TrustedProxies(THIS_MACHINE))
    scope = {"type": "http", "scheme": "http", "client": ("127.0.0.1", 5), "headers": [], "path": "/health"}
    with caplog.at_level(logging.WARNING):
        finished(proxies(scope, None, None))
        assert caplog.messages == []  # whoever watches the server needs no proxy
        for _ in range(2):
            finished(proxies(scope | {"path": "/s/x"}, None, None))
    (message,) = caplog.messages
    assert "The proxy sends no X-Forwarded-For" in message
    assert "127.0.0.1" not in message


async def answering(scope, receive, send):
    pass


def test_other_scopes_are_passed_on(finished):
    finished(Forwarded(answering, TrustedProxies([INNER]))({"type": "lifespan"}, None, None))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("survey.example.org", "must be an IP address, or a network such as"),
        ("10.0.0.1/8", "has host bits set"),
        ("0.0.0.0/0", "must have a prefix of at least 8 bits: anyone in it can make up addresses"),
        ("::/0", "must have a prefix of at least 16 bits"),
        ("*", "must be an IP address"),
    ],
)
def test_names_and_whole_internets_are_no_proxies(name, reason):
    with pytest.raises(SottovoceError, match=reason) as error:
        TrustedProxies([name])
    assert str(error.value).startswith("proxy must ")
    assert name in str(error.value)


@given(st.text(alphabet="0123456789abcdef.:,[]% -*", max_size=80))
def test_whatever_a_client_makes_up_stands_before_its_own_address(made_up):
    """The nearest proxy adds the address that it was asked from: nothing that comes before it is read."""
    proxies = TrustedProxies([INNER, EDGE])
    assert proxies.client(f"{made_up},{CLIENT}") == CLIENT
    assert proxies.client(f"{made_up},{CLIENT},{EDGE}") == CLIENT


def test_made_up_addresses_do_not_pass_the_limit(served, store, database, open_survey):
    """A client behind a proxy has as many requests as the limit allows, whatever it says before the proxy's entry."""
    app = Forwarded(make_app(Store(database), per_window=3), TrustedProxies(THIS_MACHINE))
    server = Server(served.stack.enter_context(running(app, listen("127.0.0.1", 0))))

    def send(number: int, address: str) -> int:
        headers = {"X-Forwarded-For": f"198.51.100.{number}, {address}", "X-Forwarded-Proto": "https"}
        return server.post(open_survey, body(open_survey), headers)[0]

    assert [send(number, CLIENT) for number in range(5)] == [201, 201, 201, 429, 429]
    assert send(5, "203.0.113.10") == 201
    unproxied = served(per_window=3)
    answers = [unproxied.post(open_survey, body(open_survey), {"X-Forwarded-For": f"198.51.100.{n}"}) for n in range(4)]
    assert [status for status, _ in answers] == [201, 201, 201, 429]


def test_a_proxy_elsewhere_is_trusted_by_its_address(database, store, open_survey):
    """As people start it: of two machines, only the one that is named may say who its clients are."""
    options = ["--db", database, "--port", "0", "--proxy", "127.0.0.3", "--per-window", "2", "--no-first-account-link"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "survey", "serve", *options], stdout=subprocess.PIPE, text=True
    )
    place = urlsplit(process.stdout.readline().split(" at ")[1].split(". ")[0]).netloc

    def send(machine: str, client: str) -> int:
        headers = {"Content-Type": "application/json", "X-Forwarded-For": client, "X-Forwarded-Proto": "https"}
        with closing(HTTPConnection(place, timeout=60, source_address=(machine, 0))) as connection:
            connection.request("POST", f"/s/{open_survey.id}/reports", body(open_survey), headers)
            return connection.getresponse().status

    try:
        clients = [CLIENT, CLIENT, CLIENT, "203.0.113.10", "203.0.113.11", "203.0.113.12"]
        assert [send("127.0.0.3", client) for client in clients] == [201, 201, 429, 201, 201, 201]
        assert [send("127.0.0.4", client) for client in clients[2:]] == [201, 201, 429, 429]
    finally:
        process.terminate()
        process.communicate(timeout=60)
