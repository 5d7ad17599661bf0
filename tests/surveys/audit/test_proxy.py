"""The proxy records everything, passes on what it may, and reaches no other host; also inside of TLS."""

import gzip
import socket
import ssl
import threading
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPSConnection, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sottovoce.surveys.audit.proxy import (
    DroppedError,
    RecordingProxy,
    Reply,
    certificate_for,
    digest_of,
    recording,
    unpacked,
)


class Upstream(BaseHTTPRequestHandler):
    """Says what it was asked, and forgets its connection after each answer."""

    def do_GET(self):
        body = gzip.compress(f"{self.command} {self.path}".encode())
        self.send_response(200)
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def upstream(context=None):
    with HTTPServer(("127.0.0.1", 0), Upstream) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def asked(proxy, method, url, body=None, **headers):
    connection = HTTPConnection("127.0.0.1", proxy.port, timeout=10)
    try:
        connection.request(method, url, body, headers)
        response = connection.getresponse()
        return response.status, unpacked(response.headers["content-encoding"], response.read())
    finally:
        connection.close()


def test_requests_are_recorded_and_passed_on():
    with upstream() as port, recording(RecordingProxy(f"http://127.0.0.1:{port}", lambda _: None)) as proxy:
        assert asked(proxy, "GET", f"{proxy.server}/a?b", Accept="x") == (200, b"GET /a?b")
        (sent,) = proxy.take()
        assert (sent.method, sent.path, sent.status) == ("GET", "/a?b", 200)
        assert sent.digest == digest_of(None, b"GET /a?b")
        assert sent.header("accept") == "x"
        assert sent.header("cookie") is None
        assert proxy.take() == []


def test_connections_that_the_server_closes_are_opened_again():
    with (
        upstream() as port,
        recording(RecordingProxy(f"http://127.0.0.1:{port}", lambda _: None, ["127.0.0.2"])) as proxy,
    ):
        connection = HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        for _ in range(2):
            connection.request("GET", f"{proxy.server}/")
            assert connection.getresponse().read()
        connection.close()


def test_a_server_that_is_gone():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with recording(RecordingProxy(f"http://127.0.0.1:{port}", lambda _: None)) as proxy:
        assert asked(proxy, "GET", f"{proxy.server}/")[0] == 502


def test_other_hosts_and_made_up_methods():
    with recording(RecordingProxy("http://127.0.0.1:9", lambda _: Reply(204))) as proxy:
        assert asked(proxy, "GET", "http://elsewhere.test/x")[0] == 502
        assert asked(proxy, "WAVE", "http://127.0.0.1:9/x", b"hello")[0] == 204
        assert asked(proxy, "CONNECT", "elsewhere.test:443")[0] == 502
        connection = HTTPConnection("127.0.0.1", proxy.port)
        connection.putrequest("POST", "http://127.0.0.1:9/y")
        connection.putheader("Content-Length", "many")
        connection.endheaders()
        assert connection.getresponse().status == 204
        connection.close()
        assert [(r.method, r.url, r.body) for r in proxy.take()] == [
            ("GET", "http://elsewhere.test/x", b""),
            ("WAVE", "http://127.0.0.1:9/x", b"hello"),
            ("CONNECT", "https://elsewhere.test:443/", b""),
            ("POST", "http://127.0.0.1:9/y", b""),
        ]


def test_a_network_that_fails():
    def drop(_):
        raise DroppedError

    with recording(RecordingProxy("http://127.0.0.1:9", drop)) as proxy, pytest.raises(RemoteDisconnected):
        asked(proxy, "POST", "http://127.0.0.1:9/x", b"{}")


def test_inside_of_tls():
    own = certificate_for("localhost")
    lax = ssl.create_default_context()
    lax.check_hostname, lax.verify_mode = False, ssl.CERT_NONE
    with (
        upstream(own) as port,
        recording(RecordingProxy(f"https://localhost:{port}", lambda _: None, trusted=lax)) as proxy,
    ):
        connection = HTTPSConnection("127.0.0.1", proxy.port, context=lax, timeout=10)
        connection.set_tunnel("localhost", port)
        connection.request("GET", "/hidden")
        response = connection.getresponse()
        assert unpacked(response.headers["content-encoding"], response.read()) == b"GET /hidden"
        connection.close()
        (sent,) = proxy.take()
        assert sent.url == f"https://localhost:{port}/hidden"


def test_hosts_have_ports():
    assert RecordingProxy("https://survey.test", lambda _: None).host == ("survey.test", 443)
    assert RecordingProxy("http://survey.test", lambda _: None).host == ("survey.test", 80)


def test_bodies_that_are_not_what_they_say():
    assert unpacked("gzip", b"plain") == unpacked("br", b"plain") == b"plain"
