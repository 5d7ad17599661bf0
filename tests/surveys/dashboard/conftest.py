"""A running server with its dashboard, and researchers who use it without a browser."""

import io
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest

from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.accounts import Accounts, Role

PASSWORD = "correct horse battery"  # noqa: S105
"""Of every account in these tests."""


@dataclass
class Answer:
    """A response: its status, its headers by lower-case name, and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self):
        return json.loads(self.body)

    @property
    def alert(self) -> str | None:
        """What the page calls out as wrong."""
        found = re.search(r'role="alert">(.*?)</p>', self.text, re.DOTALL)
        return None if found is None else unescape(found[1]).strip()


@dataclass
class Researcher:
    """Keeps the cookies of a session, and sends its token with every change."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, None, headers)

    def post(self, path: str, fields: dict | None = None, files: dict | None = None, **headers: str) -> Answer:
        """Post a form with the session's token; `files` are (name, content) by field."""
        fields = {"csrf": self.csrf} | (fields or {})
        if files is None:
            body, kind = urlencode(fields, doseq=True).encode(), "application/x-www-form-urlencoded"
        else:
            body, kind = _multipart(fields, files)
        return self.send("POST", path, body, {"content-type": kind} | headers)

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=60)
        cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, (cookies if self.cookies else {}) | named)
        response = connection.getresponse()
        answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        connection.close()
        self._remember(answer)
        return answer

    def _remember(self, answer: Answer) -> None:
        name, _, value = answer.headers.get("set-cookie", "").partition(";")[0].partition("=")
        if name:
            self.cookies[name] = value
        found = re.search(r'name="csrf" value="(\w+)"', answer.body.decode(errors="replace"))
        if found:
            self.csrf = found[1]


def _multipart(fields: dict, files: dict) -> tuple[bytes, str]:
    body, mark = io.BytesIO(), "boundary-of-a-test"
    for name, value in fields.items():
        body.write(f'--{mark}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, (file, content) in files.items():
        head = f'--{mark}\r\ncontent-disposition: form-data; name="{name}"; filename="{file}"\r\n'
        body.write(f"{head}content-type: application/octet-stream\r\n\r\n".encode() + content + b"\r\n")
    body.write(f"--{mark}--\r\n".encode())
    return body.getvalue(), f"multipart/form-data; boundary={mark}"


@dataclass
class Office:
    """A running server, its store, and its accounts."""

    address: str
    store: Store
    accounts: Accounts

    def researcher(self, role: Role = Role.OWNER, name: str | None = None) -> Researcher:
        """Return somebody who is logged in with a role; their account is created first."""
        name = name or role.label
        if name not in [account.name for account in self.accounts.all()]:
            self.accounts.use_link(self.accounts.new_link(role), name, PASSWORD)
        found = Researcher(self.address)
        found.post("/research/login", {"name": name, "password": PASSWORD})
        found.get("/research")
        assert found.csrf
        return found


@contextmanager
def serving_office(database: str, **settings):
    """A server with its dashboard over a database, for as long as the block lasts."""
    store = Store(database)
    settings = {"per_window": None, "logins_per_window": None} | settings
    with running(make_app(Store(database), **settings), listen("127.0.0.1", 0)) as address:
        yield Office(address, store, Accounts(store.engine))
    store.close()


@pytest.fixture
def office(tmp_path, cheap_passwords):
    with serving_office(str(tmp_path / "surveys.db")) as found:
        yield found


@pytest.fixture
def cheap_passwords(monkeypatch):
    """Passwords that cost little: how much they cost has a test of its own."""
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
