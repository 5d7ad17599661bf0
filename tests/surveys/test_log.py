"""What a server prints: failures by their place in the program, and nothing that anybody sent."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPConnection
from socket import create_connection
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from sottovoce.surveys.collect.log import FailureLog, log_loop_failure, place_of
from sottovoce.surveys.links import token_hash
from tests.surveys.conftest import Server
from tests.surveys.test_server import admission, body, signed

CLIENT = "127.0.0.9"
AGENT = "Netscape-4711"
MADE_UP = "203.0.113.77"

FAULTY = """
import asyncio, sys
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.store import Store
from sottovoce.cli.app import main

read, invitation = PublishedSurvey.read_submission, Store.invitation

def read_or_fail(self, content):
    if b"fault" in content:
        raise ValueError(f"cannot read {content!r}")
    if b"later" in content:
        asyncio.get_running_loop().create_task(fail(content))
    return read(self, content)

async def fail(content):
    raise ValueError(f"cannot read {content!r}")

def fail_at_a_check(self, survey, token):
    raise KeyError(token.hex())

PublishedSurvey.read_submission, Store.invitation = read_or_fail, fail_at_a_check
main(sys.argv[1:])
"""
"""The server as people start it, with faults whose messages contain what was sent."""


class Elsewhere(Server):
    """Requests from an address that is easy to find."""

    def ask(self, method, path, body=None, headers=None):
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=120, source_address=(CLIENT, 0))
        try:
            connection.request(method, path, body, {"User-Agent": AGENT, "X-Forwarded-For": MADE_UP} | (headers or {}))
            response = connection.getresponse()
            return SimpleNamespace(status=response.status, headers=dict(response.getheaders()), body=response.read())
        finally:
            connection.close()

    def say(self, raw: bytes) -> None:
        place = urlsplit(self.address)
        with create_connection((place.hostname, place.port), timeout=60, source_address=(CLIENT, 0)) as connection:
            connection.sendall(raw)
            connection.settimeout(0.2)
            with suppress(TimeoutError):
                connection.recv(100)


@pytest.mark.parametrize("proxied", [[], ["--behind-proxy"]])
def test_no_report_token_address_or_agent_is_printed(database, store, survey, open_survey, credential, proxied):
    command = [sys.executable, "-c", FAULTY, "survey", "serve", "--db", database, "--port", "0", *proxied]
    process = subprocess.Popen(
        [*command, "--no-first-account-link"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    first = process.stdout.readline()
    server = Elsewhere(first.split(" at ")[1].split(". ")[0])
    (token,) = store.invite(survey, 1)
    blinded = survey.admission.blind(os.urandom(32)).message
    report, plain = signed(survey, credential()), body(open_survey)
    try:
        assert server.post(survey, json.dumps({"token": token}).encode(), route="check")[0] == 500
        assert server.post(survey, admission(token, blinded), route="admission")[0] == 200
        assert server.post(survey, report)[0] == 201
        assert server.post(open_survey, plain)[0] == 201
        for sent in (b"fault" + report, b"later" + plain, b"broken" + plain, b"\xff\x00"):
            assert server.post(open_survey, sent)[0] in (400, 500)
        server.ask("GET", f"/s/{token}?{token}")
        server.ask("GET", f"/research/link/{token}")
        server.ask("POST", "/research/login", f"name={AGENT}&password={token}", {"Content-Type": "text/plain"})
        server.say(f"GET /{token} HTTP/9.9\r\n{AGENT}\r\n\r\n".encode())
        server.say(f"POST /s/{survey.id}/reports HTTP/1.1\r\nContent-Length: 9999\r\n\r\n".encode() + report)
    finally:
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=60)
    faults = [line for line in errors.splitlines() if line.startswith("A request failed: ")]
    assert [line.split()[3] for line in faults] == ["KeyError", "ValueError"]
    assert "A task failed: ValueError at" in errors
    assert len(errors.splitlines()) == 3 + len(proxied), errors  # a proxy that states no scheme is told of once
    parts = [token, AGENT, CLIENT, MADE_UP, blinded.hex()]
    parts += [str(value) for sent in (report, plain) for name, value in json.loads(sent).items() if name != "survey"]
    parts.append(token_hash(survey.hash, token).hex())
    for part in parts:
        assert part == "None" or part not in first + printed + errors


def test_failures_are_named_by_their_places(finished, caplog):
    async def app(scope, receive, send):
        raise ValueError("secret")

    finished(FailureLog(app)({"type": "http"}, None, None))
    assert caplog.messages[0].startswith("A request failed: ValueError at log.py:")
    assert "test_log.py:" in caplog.messages[0]
    assert "secret" not in caplog.text
    with pytest.raises(ValueError, match="secret"):  # the server says why it did not start
        finished(FailureLog(app)({"type": "lifespan"}, None, None))


def test_tasks_that_nobody_waits_for(caplog):
    loop = asyncio.new_event_loop()
    log_loop_failure(loop, {"message": "secret", "exception": ValueError("secret")})
    log_loop_failure(loop, {"message": "secret", "transport": "127.0.0.9"})
    loop.close()
    assert caplog.messages == ["A task failed: ValueError at ", "A task failed: without an exception"]
    assert place_of(KeyError("secret")) == "KeyError at "
