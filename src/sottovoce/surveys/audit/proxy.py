"""A proxy through which the audited page reaches its server. It records every request, and lets few of them pass.

Whatever makes a request (the page, a worker, a beacon, a report of the browser), it comes through here, byte by byte:
nothing depends on what a browser tells about itself. Reports are answered here and never reach the server, invitations
are spent once, and other hosts are not reached at all.
"""

import gzip
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import brotli
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SECONDS = 30.0
"""Time within which the server must answer."""

HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
"""Headers between two neighbours, which are not passed on."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reply:
    """An answer to a request: status, headers and body."""

    status: int
    body: bytes = b""
    headers: Headers = ()


@dataclass
class SentRequest:
    """A request as it left the browser, when it left, and the hash of what came back where the server was asked."""

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""
    moment: float = field(default_factory=time.monotonic)
    status: int | None = None
    digest: str | None = None

    @property
    def path(self) -> str:
        """Path and query of the address."""
        parts = urlsplit(self.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def header(self, name: str) -> str | None:
        """Return the value of a header."""
        return next((value for key, value in self.headers if key.lower() == name), None)


Decide = Callable[[SentRequest], Reply | None]
"""What is answered without the server; None passes a request on."""


class DroppedError(Exception):
    """Raised to close the connection without an answer, as a network does that fails."""


@dataclass
class RecordingProxy:
    """What the proxy knows: the server that may be reached, what is decided here, and what was sent so far."""

    server: str
    decide: Decide
    sources: Sequence[str | None] = (None,)
    trusted: ssl.SSLContext | None = None
    sent: deque[SentRequest] = field(default_factory=deque)
    port: int = 0
    own_certificate: ssl.SSLContext | None = None
    _turns: Iterator[int] = field(default_factory=count)

    @property
    def host(self) -> tuple[str, int]:
        """Host and port of the server that may be reached."""
        parts = urlsplit(self.server)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    def take(self) -> list[SentRequest]:
        """Return what was sent since the last call."""
        return [self.sent.popleft() for _ in range(len(self.sent))]

    def connect(self) -> HTTPConnection:
        """Return a connection to the server, from the next one of the source addresses."""
        source = self.sources[next(self._turns) % len(self.sources)]
        bound = None if source is None else (source, 0)
        host, port = self.host
        if self.server.startswith("https"):
            return HTTPSConnection(host, port, timeout=SECONDS, source_address=bound, context=self.trusted)
        return HTTPConnection(host, port, timeout=SECONDS, source_address=bound)


class _Handler(BaseHTTPRequestHandler):
    """One connection of the browser to the proxy."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # which would hold back bodies for 40 ms
    proxy: RecordingProxy
    origin = ""
    _upstream: HTTPConnection | None = None

    def __getattr__(self, name: str) -> Any:
        """Take requests of all methods, also of those that somebody has made up."""
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def do_CONNECT(self) -> None:
        """Open a tunnel to the server, in which requests can be read; none to other hosts."""
        host, _, port = self.path.rpartition(":")
        context = self.proxy.own_certificate
        if (host.strip("[]"), int(port)) != self.proxy.host or context is None:
            self.proxy.sent.append(SentRequest("CONNECT", f"https://{self.path}/"))
            self.send_error(502)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        self.connection = context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")
        self.origin, self.close_connection = self.proxy.server, False

    def _handle(self) -> None:
        """Record a request and answer it."""
        length = self.headers.get("content-length", "0")
        body = self.rfile.read(int(length)) if length.isdecimal() else b""
        headers = tuple((name, value) for name, value in self.headers.items() if name.lower() != "proxy-connection")
        request = SentRequest(self.command, f"{self.origin}{self.path}", headers, body)
        self.proxy.sent.append(request)
        try:
            self._answer(self._reply(request))
        except DroppedError:
            self.close_connection = True

    def _reply(self, request: SentRequest) -> Reply:
        parts = urlsplit(request.url)
        here = f"{parts.scheme}://{parts.netloc}" == self.proxy.server
        decided = self.proxy.decide(request) if here else Reply(502)
        return self._pass_on(request) if decided is None else decided

    def _pass_on(self, request: SentRequest) -> Reply:
        """Ask the server; a connection that it has closed in the meantime is opened once more."""
        headers = {name: value for name, value in request.headers if name.lower() not in HOP_BY_HOP}
        for _ in range(2):
            upstream = self._upstream = self._upstream or self.proxy.connect()
            try:
                upstream.request(request.method, request.path, request.body or None, headers)
                received = upstream.getresponse()
                content = received.read()
            except (OSError, HTTPException):
                upstream.close()
                self._upstream = None
                continue
            request.status, request.digest = received.status, digest_of(received.headers["content-encoding"], content)
            kept = [(name, value) for name, value in received.getheaders() if name.lower() not in HOP_BY_HOP]
            return Reply(received.status, content, tuple(pair for pair in kept if pair[0].lower() != "content-length"))
        return Reply(502)

    def _answer(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def finish(self) -> None:
        """Close all that belongs to the connection."""
        if self._upstream is not None:
            self._upstream.close()
        with suppress(OSError):  # the browser has gone
            super().finish()
        self.connection.close()


class _Server(ThreadingHTTPServer):
    """Threads of the browser's connections, which end with the browser."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Ignore connections that the browser breaks off."""


def digest_of(encoding: str | None, content: bytes) -> str:
    """Return the hash of a body as it is without its compression.

    >>> digest_of("gzip", gzip.compress(b"a")) == digest_of("br", brotli.compress(b"a")) == digest_of(None, b"a")
    True
    """
    return sha256(unpacked(encoding, content)).hexdigest()


def unpacked(encoding: str | None, content: bytes) -> bytes:
    """Return a body without its compression; one that is not what it says stays as it is."""
    try:
        if encoding == "gzip":
            return gzip.decompress(content)
        return bytes(brotli.decompress(content)) if encoding == "br" else content
    except (OSError, EOFError, brotli.error):
        return content


@contextmanager
def recording(proxy: RecordingProxy) -> Iterator[RecordingProxy]:
    """Run a proxy on this machine while the block runs."""
    if proxy.server.startswith("https"):
        proxy.own_certificate = certificate_for(proxy.host[0])
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    with _Server(("127.0.0.1", 0), handler) as listening:
        proxy.port = listening.server_port
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, name="audit proxy")
        thread.start()
        try:
            yield proxy
        finally:
            listening.shutdown()
            thread.join()


def certificate_for(host: str) -> ssl.SSLContext:
    """Return settings of TLS with a certificate for a host that nobody but the audit's own browser accepts."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "certificate.pem")
        path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(path)
    return context
