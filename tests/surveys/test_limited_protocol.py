"""Requests whose head or trailers never end are refused, and what is not HTTP gets an answer."""

import socket
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from sottovoce.surveys.collect.limited_protocol import MOST_BESIDES_BODY
from sottovoce.surveys.collect.server import listen, running

CHUNKED = b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
PART = b"a" * 2**12
PARTS = 12 * MOST_BESIDES_BODY // len(PART)
"""More than asyncio reads at once, which may be the rest of one request and the beginning of the next."""


async def echo(scope, receive, send) -> None:
    """Answer with the path and the body's length."""
    if scope["type"] == "lifespan":
        for event in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{event}.complete"})
        return
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    body = f"{scope['path']} {length}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def place():
    with running(echo, listen("127.0.0.1", 0)) as address:
        yield urlsplit(address).hostname, urlsplit(address).port


def answer(place, *parts: bytes, ends: bytes = b"") -> bytes:
    """What the server sends until it hangs up, or until its answers end like this."""
    received = b""
    with closing(socket.create_connection(place, timeout=30)) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            while not (ends and received.endswith(ends)) and (got := connection.recv(2**16)):
                received += got
        except ConnectionError:  # the server hung up while more was sent
            pass
    return received


@pytest.mark.parametrize(
    "start",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nA: ",
        CHUNKED + b"1\r\na\r\n0\r\nA: ",
        CHUNKED + b"1;",
        b"GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nA: ",
    ],
    ids=["request line", "header", "trailer", "extension of a chunk", "header of a second request"],
)
def test_what_is_no_body_must_end(place, start):
    """What was answered before is not seen where the connection is reset before it is read."""
    received = answer(place, start, *[PART] * PARTS)
    assert received.count(b"200 OK") <= start.count(b"/first")


def test_many_short_headers_are_refused_as_well(place):
    assert b"200 OK" not in answer(place, b"GET / HTTP/1.1\r\n", b"A: b\r\n" * (MOST_BESIDES_BODY // 6 + 1))


def test_the_refusal_says_why(place):
    received = answer(place, b"GET / HTTP/1.1\r\nA: ", b"a" * MOST_BESIDES_BODY)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.endswith(b"The head of this request is too long.")


def test_long_bodies_in_parts_are_not_counted(place):
    part = b"%x\r\n%s\r\n" % (len(PART), PART)
    received = answer(place, CHUNKED, *[part] * PARTS, b"0\r\n\r\n", ends=b"/a %d" % (PARTS * len(PART)))
    assert received.startswith(b"HTTP/1.1 200 OK")


def test_each_request_of_a_connection_has_its_own_limit(place):
    request = b"GET /b HTTP/1.1\r\nA: %s\r\n\r\n" % (b"a" * (MOST_BESIDES_BODY // 2))
    with closing(socket.create_connection(place, timeout=30)) as connection:
        for _ in range(4):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"/b 0"):
                received += connection.recv(2**16)
            assert received.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfg\r\n",
    ],
    ids=["TLS", "not ASCII", "a tunnel", "two lengths", "negative length", "no size of a chunk"],
)
def test_what_is_not_http_is_refused(place, request_bytes):
    assert answer(place, request_bytes).startswith(b"HTTP/1.1 400 ")


def test_requests_to_change_the_protocol_are_answered_in_this_one(place):
    head = b"Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
    assert answer(place, b"GET /c HTTP/1.1\r\n" + head + b"\r\n", ends=b"/c 0").startswith(b"HTTP/1.1 200 OK")
