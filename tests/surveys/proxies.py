"""Debian's nginx and Caddy with the configurations of `deploy/`, a certificate authority, and servers behind them.

The shipped texts are used as they are, except for names, ports and paths, and for timeouts that a test would wait for:
every replacement must find what it replaces.
"""

import base64
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DEPLOY = Path(__file__).parents[2] / "deploy"
HOST = "survey.test"
CLIENT = "127.0.0.9"
"""Address that the tests' own clients come from: easy to find in a log."""

SECONDS = 60
BODY_SECONDS = 2
"""Time for a body in these tests, instead of the server's 20 seconds."""

SERVER = f"""
import sys
from sottovoce.surveys.collect import server
from sottovoce.cli.app import main

server.BODY_SECONDS = {BODY_SECONDS}
main(sys.argv[1:])
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Authority:
    """A local certificate authority, and a certificate that it has signed for the survey's host."""

    folder: Path
    pin: str = ""
    """Hash of the certificate's key: the only one that the browser takes without a known authority."""

    def __post_init__(self) -> None:
        now, own = datetime.now(UTC), [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
        authority, host = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, n)]) for n in ("Test CA", HOST))

        def certificate(subject, key, *extensions):
            made = x509.CertificateBuilder().subject_name(subject).issuer_name(authority).public_key(key.public_key())
            made = made.serial_number(x509.random_serial_number())
            made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=2))
            for extension, critical in extensions:
                made = made.add_extension(extension, critical)
            return made.sign(own[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

        root = certificate(authority, own[0], (x509.BasicConstraints(ca=True, path_length=0), True))
        names = x509.SubjectAlternativeName([x509.DNSName(HOST)])
        leaf = certificate(host, own[1], (names, False), (x509.BasicConstraints(ca=False, path_length=None), True))
        pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (self.folder / "ca.pem").write_bytes(root)
        (self.folder / "fullchain.pem").write_bytes(leaf + root)
        (self.folder / "key.pem").write_bytes(own[1].private_bytes(*pem))
        spki = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.pin = base64.b64encode(sha256(own[1].public_key().public_bytes(*spki)).digest()).decode()

    def context(self) -> ssl.SSLContext:
        """What checks certificates as a browser does, with this authority among the known ones."""
        return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))


@dataclass
class Proxy:
    """A running proxy."""

    authority: Authority
    port: int
    plain_port: int
    logs: Path
    process: subprocess.Popen

    @property
    def address(self) -> str:
        return f"https://{HOST}:{self.port}"

    def connect(self, source: str = CLIENT) -> ssl.SSLSocket:
        """An encrypted connection, whose certificate was checked."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS, source_address=(source, 0))
        return self.authority.context().wrap_socket(plain, server_hostname=HOST)

    def ask(self, method: str, path: str, body=None, headers=None, source: str = CLIENT) -> SimpleNamespace:
        """The answer to a request."""
        connection = HTTPSConnection(HOST, self.port, timeout=SECONDS)
        connection.sock = self.connect(source)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return SimpleNamespace(status=response.status, headers=names, body=response.read())
        finally:
            connection.close()


@dataclass
class Servers:
    """Server processes over one database, as people start them, and what they print."""

    database: str
    folder: Path
    url: str
    options: tuple[str, ...] = ()
    processes: list[subprocess.Popen] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)

    def start(self) -> None:
        """Start another server, and wait for its port."""
        number = len(self.processes)
        named = self.folder / "database"
        named.write_text(self.database, encoding="utf-8")
        log = self.folder / f"server{number}.log"
        fixed = ["--db", f"@{named}", "--port", "0", "--url", self.url, "--behind-proxy", "--no-first-account-link"]
        with log.open("w") as printed:
            command = [sys.executable, "-u", "-c", SERVER, "survey", "serve", *fixed, *self.options]
            self.processes.append(subprocess.Popen(command, stdout=printed, stderr=printed))
        wait_for(lambda: " at http://" in log.read_text(), self.processes[-1], log)
        self.ports.append(int(log.read_text().split(" at http://127.0.0.1:")[1].split(".")[0]))

    def end(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(SECONDS)


@contextmanager
def servers(count: int, database: str, folder: Path, url: str, *options: str):
    """Run servers while the block runs."""
    started = Servers(database, folder, url, options)
    try:
        for _ in range(count):
            started.start()
        yield started
    finally:
        started.end()


def wait_for(ready, process: subprocess.Popen, log: Path) -> None:
    """Wait until a process that was started is ready."""
    until = time.monotonic() + SECONDS
    while not ready():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _program(name: str) -> str:
    """A program; where everything must be there, its absence is a failure."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if path is None:
        assert os.environ.get("CI") != "true", f"{name} must be installed"
        pytest.skip(f"{name} is not installed")
    return path


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """A text with parts replaced, each of which must be there."""
    for old, new in pairs:
        assert old in text, f"{old} is not in the shipped file"
        text = text.replace(old, new)
    return text


def nginx_configuration(folder: Path, ports: list[int], port: int, plain_port: int, *, quick: bool = True) -> str:
    """The shipped configuration for these ports and paths, with a shorter timeout if it is `quick`."""
    text = replaced(
        (DEPLOY / "nginx.conf").read_text(encoding="utf-8"),
        ("survey.example.org", HOST),
        ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("server 127.0.0.1:8001 ", f"server 127.0.0.1:{ports[0]} "),
        ("server 127.0.0.1:8002 ", f"server 127.0.0.1:{ports[1]} "),
        ("/run/nginx.pid", str(folder / "nginx.pid")),
        ("/var/log/nginx/error.log", str(folder / "error.log")),
        ("/etc/ssl/survey", str(folder)),
    )
    return replaced(text, ("client_header_timeout 10s", "client_header_timeout 1s")) if quick else text


def caddy_configuration(folder: Path, port: int, plain_port: int) -> str:
    """The shipped configuration for these ports, with a certificate of our own and shorter timeouts."""
    return replaced(
        (DEPLOY / "Caddyfile").read_text(encoding="utf-8"),
        ("http_port 80\n", f"http_port {plain_port}\n"),
        ("https_port 443\n", f"https_port {port}\n"),
        ("# tls /etc/ssl/survey/fullchain.pem /etc/ssl/survey/key.pem", f"tls {folder}/fullchain.pem {folder}/key.pem"),
        ("read_header 10s", "read_header 1s"),
        ("read_body 30s", f"read_body {BODY_SECONDS}s"),
    )


@contextmanager
def proxy(kind: str, folder: Path, authority: Authority, port: int, ports: list[int]):
    """Run nginx or Caddy in front of two servers while the block runs."""
    program, plain_port = _program(kind), free_port()
    logs = folder / "proxy.log"
    environment = dict(os.environ)
    if kind == "nginx":
        (folder / "nginx.conf").write_text(nginx_configuration(folder, ports, port, plain_port), encoding="utf-8")
        command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    else:
        (folder / "Caddyfile").write_text(caddy_configuration(folder, port, plain_port), encoding="utf-8")
        command = [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
        upstreams = " ".join(f"127.0.0.1:{each}" for each in ports)
        homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
        environment |= homes | {"SURVEY_HOST": HOST, "SURVEY_SERVERS": upstreams}
    with logs.open("w") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=printed, env=environment)
    try:
        wait_for(lambda: _listens(port), process, logs)
        yield Proxy(authority, port, plain_port, folder, process)
    finally:
        process.terminate()
        process.wait(SECONDS)


def status_of(port: int, path: str) -> int:
    """Status of a server's answer, without a proxy."""
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()
