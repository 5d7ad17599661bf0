"""The server over HTTP: what it shows, what it takes, what it refuses, and what it keeps."""

import gzip
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from hashlib import sha256
from pathlib import Path
from socket import create_connection
from urllib.parse import urlsplit

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.client.client import seal_report
from sottovoce.surveys.collect import server as server_module
from sottovoce.surveys.collect.app_state import PublishedSurvey, RateLimit, today
from sottovoce.surveys.collect.server import HEADERS, SecurityHeaders, address_of, listen, serve
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.collect.writer import Writer
from sottovoce.surveys.page.files import PageFile, address, page_files
from sottovoce.surveys.report import receipt_of

REPORT = bytes([0] * 6 + [1, 1] + [0] * 7)
"""The first answer everywhere, and a set of two jobs: it fits the survey's plan."""


def body(asked, token=None, **changes) -> bytes:
    given = {"survey": asked.hash, "report": REPORT.hex(), "key": os.urandom(16).hex(), "token": token}
    return json.dumps(given | changes).encode()


def test_the_document_is_the_bytes_that_the_hash_is_of(server, survey):
    reply = server.ask("GET", f"/s/{survey.id}/survey.json")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert sha256(reply.body).hexdigest() == survey.hash


def test_pages_and_files(server, survey):
    page = server.ask("GET", f"/s/{survey.id}")
    assert page.status == 200
    assert "Honesty at work" in page.body.decode()
    audit = server.ask("GET", f"/s/{survey.id}/audit").body.decode()
    assert survey.hash in audit
    assert "729 : 1" in audit
    assert "What this cannot protect against" in audit
    assert json.loads(server.ask("GET", f"/s/{survey.id}/audit.json").body)["hash"] == survey.hash


def test_modules_of_a_survey_are_those_that_its_audit_names(server, survey):
    named = json.loads(server.ask("GET", f"/s/{survey.id}/audit.json").body)
    audit = server.ask("GET", f"/s/{survey.id}/audit").body.decode()
    for name in named["modules"]:
        reply = server.ask("GET", named["files"][name]["path"])
        assert reply.headers["content-type"].startswith("text/javascript")
        assert sha256(reply.body).hexdigest() == named["files"][name]["sha256"]
        assert named["files"][name]["sha256"] in audit


@pytest.mark.parametrize("path", ["", "/survey.json", "/audit"])
def test_what_browsers_load_is_compressed(server, survey, path):
    plain = server.ask("GET", f"/s/{survey.id}{path}")
    packed = server.ask("GET", f"/s/{survey.id}{path}", headers={"Accept-Encoding": "br, gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)


def test_files_of_the_page(server, monkeypatch):
    files = page_files() | {"deep/own.js": PageFile(b"1", "text/javascript; charset=utf-8")}
    monkeypatch.setattr(server_module, "page_files", lambda: files)
    for name, file in files.items():
        reply = server.ask("GET", address(name))
        assert (reply.status, reply.body, reply.headers["content-type"]) == (200, file.content, file.media_type)
        assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert file.hash == sha256(reply.body).hexdigest()
        packed = server.ask("GET", address(name), headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == file.content
    for name in ("survey.html", "../survey.py", "nothing.js"):
        assert server.ask("GET", address(name)).status == 404
    assert server.ask("GET", "/assets/0123456789abcdef/main.js").status == 404  # of another release


@pytest.mark.parametrize(
    "path", ["/s/{id}", "/s/{id}/survey.json", "/s/{id}/audit", "/s/none", "/nothing", "/assets/x"]
)
def test_every_answer_has_the_headers_and_no_cookie(server, survey, path):
    reply = server.ask("GET", path.format(id=survey.id), headers={"Accept": "text/html"})
    for name, value in HEADERS.items():
        assert reply.headers[name] == value
    assert "set-cookie" not in reply.headers
    assert "server" not in reply.headers
    assert "unsafe" not in reply.headers["content-security-policy"]


def test_a_crowd_that_comes_at_once_reads_a_survey_once(server, store, survey, monkeypatch):
    read = []

    def slowly(_store, name, found=Store.survey):
        read.append(name)
        time.sleep(0.2)
        return found(_store, name)

    monkeypatch.setattr(Store, "survey", slowly)
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: server.ask("GET", f"/s/{survey.id}/survey.json"), range(20)))
    assert {reply.status for reply in replies} == {200}
    assert read == [survey.id]


def test_texts_are_escaped(store, database, survey, served):
    from dataclasses import replace

    evil = replace(survey, title={"en": "<script>alert(1)</script>"})
    store.freeze(evil)
    for path in ("", "/audit"):
        shown = served().ask("GET", f"/s/{evil.id}{path}").body.decode()
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert" in shown


def test_a_report_is_stored_once_and_its_receipt_is_that_of_its_bytes(server, store, survey):
    (token,) = store.invite(survey, 1)
    seal = seal_report(survey.hash, REPORT, token)
    assert server.post(survey, seal.body) == (201, seal.receipt)
    assert server.post(survey, seal.body) == (200, seal.receipt)
    assert store.reports(survey.id) == [REPORT]
    given = json.loads(seal.body)
    assert seal.receipt == receipt_of(given["survey"], given["report"], given["key"])


def test_the_same_token_from_fifty_clients_is_taken_once(server, store, survey):
    (token,) = store.invite(survey, 1)
    start = threading.Barrier(50)

    def send(_):
        start.wait()
        return server.post(survey, body(survey, token))

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(send, range(50)))
    assert sorted(status for status, _ in answers) == [201] + [403] * 49
    assert {error for status, error in answers if status == 403} == {"invitation"}
    assert len(store.reports(survey.id)) == 1


def test_the_same_key_from_fifty_clients_is_one_row(server, store, open_survey):
    same = body(open_survey)
    start = threading.Barrier(50)

    def send(_):
        start.wait()
        return server.post(open_survey, same)[0]

    with ThreadPoolExecutor(50) as pool:
        statuses = list(pool.map(send, range(50)))
    assert sorted(statuses) == [200] * 49 + [201]
    assert len(store.reports(open_survey.id)) == 1


REFUSED = [
    ({}, b"", 400, "malformed"),
    ({}, b"[]", 400, "malformed"),
    ({}, b"{}", 400, "malformed"),
    ({}, b"\xff", 400, "malformed"),
    ({}, b'{"survey": "\xff"}', 400, "malformed"),
    ({"extra": 1}, None, 400, "malformed"),
    ({"key": "00"}, None, 400, "malformed"),
    ({"key": "G" * 32}, None, 400, "malformed"),
    ({"key": 7}, None, 400, "malformed"),
    ({"report": "0"}, None, 400, "malformed"),
    ({"report": "0G" * 15}, None, 400, "malformed"),
    ({"report": "AA" * 15}, None, 400, "malformed"),
    ({"token": "A" * 22}, None, 400, "malformed"),
    ({"survey": "00" * 32}, None, 409, "other_survey"),
    ({"report": REPORT.hex()[2:]}, None, 422, "unfit"),
    ({"report": REPORT.hex() + "00"}, None, 422, "unfit"),
    ({"report": "03" + REPORT.hex()[2:]}, None, 422, "unfit"),
    ({"report": REPORT.hex()[:-2] + "ff"}, None, 422, "unfit"),
    ({"report": "00" * 15}, None, 422, "unfit"),
    ({"report": "00" * 6 + "01" * 8 + "00"}, None, 422, "unfit"),
    ({"report": "00" * 2000}, None, 413, "too_large"),
]


@pytest.mark.parametrize(("changes", "raw", "status", "error"), REFUSED)
def test_bad_reports_are_refused_with_a_reason_and_not_stored(server, store, open_survey, changes, raw, status, error):
    given = body(open_survey, **changes) if raw is None else raw
    assert server.post(open_survey, given) == (status, error)
    assert store.counts(open_survey.id)["reports"] == 0


def test_uninvited_reports(server, store, survey):
    for token in (None, "", "short", "A" * 22, "A" * 23):
        assert server.post(survey, body(survey, token)) == (403, "invitation")
    assert store.counts(survey.id)["reports"] == 0


def test_a_key_cannot_change_its_report(server, open_survey):
    first = json.loads(body(open_survey))
    changed = first | {"report": "01" + first["report"][2:]}
    assert server.post(open_survey, json.dumps(first).encode())[0] == 201
    assert server.post(open_survey, json.dumps(changed).encode()) == (409, "other_report")


def test_requests_that_are_none(server, open_survey):
    good = body(open_survey)
    assert server.post(open_survey, good, {"Content-Type": "text/plain"}) == (415, "content_type")
    assert server.post(open_survey, good, {"Sec-Fetch-Site": "cross-site"}) == (403, "cross_site")
    assert (
        server.post(
            open_survey, good, {"Sec-Fetch-Site": "same-origin", "Content-Type": "Application/JSON; charset=utf-8"}
        )[0]
        == 201
    )
    reply = server.ask("GET", f"/s/{open_survey.id}/reports")
    assert (reply.status, json.loads(reply.body)["error"], reply.headers["allow"]) == (405, "method", "POST")
    assert json.loads(server.ask("GET", "/").body)["error"] == "not_found"
    missing = server.ask("POST", "/s/0000/reports", good, {"Content-Type": "application/json"})
    assert (missing.status, json.loads(missing.body)["error"]) == (404, "unknown_survey")
    page = server.ask("GET", "/s/0000", headers={"Accept": "text/html"})
    assert "There is no such survey here." in page.body.decode()


def test_a_survey_that_has_ended(served, store, open_survey):
    assert served(day=lambda: open_survey.until).post(open_survey, body(open_survey))[0] == 201
    late = served(day=lambda: date(3000, 1, 1))
    assert late.post(open_survey, body(open_survey)) == (410, "closed")
    stored = seal_report(open_survey.hash, REPORT, None)
    assert served(day=lambda: open_survey.until).post(open_survey, stored.body) == (201, stored.receipt)
    assert late.post(open_survey, stored.body) == (200, stored.receipt)  # whose receipt was lost gets it again
    changed = stored.body.replace(REPORT.hex().encode(), b"01" + REPORT.hex()[2:].encode())
    assert late.post(open_survey, changed) == (410, "closed")
    assert store.counts(open_survey.id)["reports"] == 2
    assert today() < open_survey.until


def test_too_many_reports_from_one_address(served, open_survey):
    server = served(per_window=2)
    assert [server.post(open_survey, body(open_survey))[0] for _ in range(3)] == [201, 201, 429]
    refused = server.ask("POST", f"/s/{open_survey.id}/reports", b"{}", {"Content-Type": "application/json"})
    assert refused.headers["retry-after"] == "10"


def test_the_limit_forgets_addresses():
    now = [0.0]
    limit = RateLimit(1, clock=lambda: now[0])
    assert [limit.allows("a"), limit.allows("a")] == [True, False]
    now[0] = 10.0
    assert limit.allows("a")
    assert [limit.allows("2001:db8::1"), limit.allows("2001:db8::ffff:1"), limit.allows("2001:db8:0:1::1")] == [
        True,
        False,  # of the same network
        True,
    ]
    assert [limit.allows("::ffff:192.0.2.1"), limit.allows("::ffff:192.0.2.2")] == [True, True]
    assert [limit.allows("no:address"), limit.allows("no:address")] == [True, False]
    assert RateLimit(None).allows("a")


def test_a_disk_that_refuses(served, open_survey):
    def full(entries):
        raise OSError("disk full")

    assert served(commit=full).post(open_survey, body(open_survey)) == (503, "busy")


def test_a_body_that_never_comes(served, open_survey, monkeypatch):
    monkeypatch.setattr(server_module, "BODY_SECONDS", 0.05)
    server = served()
    place = urlsplit(server.address)
    with create_connection((place.hostname, place.port), timeout=10) as connection:
        connection.sendall(
            f"POST /s/{open_survey.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Content-Length: 100\r\n\r\n{".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 408")


def test_who_hangs_up_in_the_middle_leaves_no_trace(server, store, open_survey, capfd, caplog):
    """A lost connection on a train, or a request that is none, must not fill the log."""
    place = urlsplit(server.address)
    head = f"POST /s/{open_survey.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for sent in (f"{head}Content-Length: 100\r\n\r\n{{", "\x16\x03\x01 no HTTP\r\n\r\n"):
        with create_connection((place.hostname, place.port), timeout=10) as connection:
            connection.sendall(sent.encode("latin-1"))
    assert server.post(open_survey, body(open_survey))[0] == 201
    assert store.counts(open_survey.id)["reports"] == 1
    assert "".join(capfd.readouterr()) == ""
    assert caplog.records == []


def test_a_fault_of_our_own_says_so(served, open_survey, monkeypatch):
    monkeypatch.setattr(PublishedSurvey, "receipt", lambda self, submission: 1 / 0)
    failed = served().ask(
        "POST", f"/s/{open_survey.id}/reports", body(open_survey), {"Content-Type": "application/json"}
    )
    assert (failed.status, json.loads(failed.body)["error"]) == (500, "failed")
    assert failed.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_headers_say_https_where_it_is(finished):
    sent = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"cache-control", b"no-cache")]})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        sent.append(message)

    finished(SecurityHeaders(app)({"type": "http", "scheme": "https"}, None, send))
    headers = dict(sent[0]["headers"])
    assert headers[b"strict-transport-security"] == b"max-age=31536000"
    assert headers[b"cache-control"] == b"no-cache"


def test_nothing_about_the_sender_is_kept_or_logged(server, store, survey, database, capfd):
    """Neither address nor agent nor token nor key, in the database, its log or what the server prints."""
    (token,) = store.invite(survey, 1)
    given = body(survey, token)
    headers = {
        "User-Agent": "Netscape-4711",
        "X-Forwarded-For": "203.0.113.77",
        "Referer": "https://example.org/secret",
    }
    assert server.post(survey, given, headers)[0] == 201
    server.ask("GET", f"/s/{survey.id}", headers=headers)
    server.post(survey, b"broken", headers)
    printed = "".join(capfd.readouterr()).encode()
    kept = b"".join(path.read_bytes() for path in Path(database).parent.glob("surveys.db*"))
    assert bytes.fromhex(json.loads(given)["report"]) in kept
    for trace in (b"Netscape-4711", b"203.0.113.77", b"127.0.0.1", b"example.org/secret", token.encode()):
        assert trace not in kept
        assert trace not in printed
    assert bytes.fromhex(json.loads(given)["key"]) not in kept


def test_what_is_queued_is_finished_at_the_end(store, open_survey, served):
    """Ten requests wait for a slow disk when the server is told to stop: all of them are stored and acknowledged."""
    arrived, go_on = [], threading.Event()

    def slow(entries):
        arrived.extend(entries)
        go_on.wait(10)
        return store.commit(entries)

    with ThreadPoolExecutor(10) as pool:
        with served.stack:
            server = served(commit=slow, most=1)
            answers = [pool.submit(server.post, open_survey, body(open_survey)) for _ in range(10)]
            writer = _the_writer()
            while len(arrived) + len(writer._waiting) < 10:
                time.sleep(0.01)
            assert store.counts(open_survey.id)["reports"] == 0
            threading.Timer(0.2, go_on.set).start()  # by then the server has begun to stop
        assert [answer.result()[0] for answer in answers] == [201] * 10
    assert store.counts(open_survey.id)["reports"] == 10


def _the_writer() -> Writer:
    """The one that is at work: its thread knows it."""
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "survey writer"]
    return thread._target.__self__


def test_addresses_that_are_taken():
    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    with pytest.raises(SottovoceError, match="host and port must be free to listen on"):
        listen("127.0.0.1", port)
    taken.close()
    six = listen("::1", 0)
    assert address_of(six).startswith("http://[::1]:")
    six.close()


def test_the_foreground_server_logs_nobody(monkeypatch):
    import uvicorn

    seen = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: seen.append((self.config, sockets)))
    serve(lambda *_: None, "socket", behind_proxy=True)
    ((config, sockets),) = seen
    assert sockets == ["socket"]
    assert (config.access_log, config.server_header, config.proxy_headers) == (False, False, True)
