"""The server over HTTP: what it shows, what it takes, what it refuses, and what it keeps."""

import gzip
import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from hashlib import sha256
from pathlib import Path
from socket import create_connection
from urllib.parse import urlsplit

import brotli
import pytest
from sqlalchemy import update
from sqlalchemy.exc import OperationalError

from sottovoce.errors import SottovoceError
from sottovoce.surveys.blind_rsa import SecretKey, blind_sign
from sottovoce.surveys.client.client import seal_report
from sottovoce.surveys.collect import app_state as app_state_module
from sottovoce.surveys.collect import server as server_module
from sottovoce.surveys.collect import signer as signer_module
from sottovoce.surveys.collect.app_state import PublishedSurvey, RateLimit, today
from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.server import HEADERS, SecurityHeaders, address_of, listen, serve
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.collect.writer import Writer
from sottovoce.surveys.links import token_hash
from sottovoce.surveys.page.files import PageFile, address, page_files
from sottovoce.surveys.report import receipt_of

REAL_GENERATE = SecretKey.generate
REPORT = bytes([0] * 6 + [1, 1] + [0] * 7)
"""The first answer everywhere, and a set of two jobs: it fits the survey's plan."""


def body(asked, token=None, **changes) -> bytes:
    """A report to an open survey, or to one that was frozen by 0.1."""
    given = {"survey": asked.hash, "report": REPORT.hex(), "key": os.urandom(16).hex(), "token": token}
    return json.dumps(given | changes).encode()


def signed(asked, held, **changes) -> bytes:
    """A report under a credential."""
    given = {
        "survey": asked.hash,
        "report": REPORT.hex(),
        "credential": held.value.hex(),
        "signature": held.signature.hex(),
    }
    return json.dumps(given | changes).encode()


def admission(token, blinded) -> bytes:
    return json.dumps({"token": token, "blinded": blinded.hex()}).encode()


def test_the_document_is_the_bytes_that_the_hash_is_of(server, survey):
    reply = server.ask("GET", f"/s/{survey.id}/survey.json")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert sha256(reply.body).hexdigest() == survey.hash


def test_a_deleted_survey_is_no_longer_shown(server, store, survey, open_survey, monkeypatch):
    paths = [f"/s/{survey.id}", f"/s/{survey.id}/survey.json"]
    assert [server.ask("GET", path).status for path in paths] == [200, 200]
    store.delete_survey(survey.id)
    assert server.ask("GET", f"/s/{open_survey.id}").status == 200
    monkeypatch.setattr(app_state_module, "FRESH_SECONDS", 0)
    assert [server.ask("GET", path).status for path in paths] == [404, 404]
    assert server.ask("GET", f"/s/{open_survey.id}").status == 200


def test_a_survey_is_shown_while_the_database_fails(server, store, survey, monkeypatch):
    assert server.ask("GET", f"/s/{survey.id}").status == 200
    monkeypatch.setattr(app_state_module, "FRESH_SECONDS", 0)
    monkeypatch.setattr(Store, "holds", raising(OperationalError("", {}, Exception("away"))))
    assert server.ask("GET", f"/s/{survey.id}").status == 200


def test_a_survey_is_shown_while_the_database_does_not_answer(server, store, survey, open_survey, monkeypatch):
    """Nor does a first request for another survey, which has to wait, hold up those for one in memory."""
    asked, answers = threading.Event(), threading.Event()

    def silent(*_):
        asked.set()
        answers.wait(60)

    assert server.ask("GET", f"/s/{survey.id}").status == 200
    monkeypatch.setattr(app_state_module, "FRESH_SECONDS", 0)
    monkeypatch.setattr(app_state_module, "ASK_SECONDS", 0.05)
    monkeypatch.setattr(Store, "holds", silent)
    monkeypatch.setattr(Store, "survey", silent)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(server.ask, "GET", f"/s/{open_survey.id}")
        assert asked.wait(60)
        assert [server.ask("GET", f"/s/{survey.id}").status for _ in range(3)] == [200] * 3
        assert not waits.done()
        answers.set()
        assert waits.result().status == 404  # a silent store has said None


def raising(error):
    def fail(*_):
        raise error

    return fail


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
    accepted = {"gzip, deflate, br": "br", "br;q=0, gzip": "gzip", "gzip;q=0.5": "gzip", "br;q=0.0": None, "zstd": None}
    for asked, encoding in accepted.items():
        packed = server.ask("GET", f"/s/{survey.id}{path}", headers={"Accept-Encoding": asked})
        assert packed.headers.get("content-encoding") == encoding
        assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
        unpacked = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[encoding](packed.body)
        assert unpacked == plain.body
        assert (len(packed.body) < len(plain.body)) == (encoding is not None)


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

    evil = store.freeze(replace(survey, title={"en": "<script>alert(1)</script>"}, admission=None))
    for path in ("", "/audit"):
        shown = served().ask("GET", f"/s/{evil.id}{path}").body.decode()
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert" in shown


def test_a_report_is_stored_once_and_its_receipt_is_that_of_its_bytes(server, store, survey, credential):
    seal = seal_report(survey.hash, REPORT, credential=credential())
    assert server.post(survey, seal.body) == (201, seal.receipt)
    assert server.post(survey, seal.body) == (200, seal.receipt)
    assert store.reports(survey.id) == [REPORT]
    given = json.loads(seal.body)
    assert seal.receipt == receipt_of(given["survey"], given["report"], given["credential"])


def test_a_check_spends_nothing(server, store, survey, old_survey, open_survey):
    (token,) = store.invite(survey, 1)
    check = json.dumps({"token": token}).encode()
    for _ in range(3):
        assert server.post(survey, check, route="check") == (200, "unspent")
    store.admit(survey.id, token_hash(survey.hash, token), b"b")
    assert server.post(survey, check, route="check") == (409, "spent")
    for wrong in ("A" * 22, "", "A" * 21, "A" * 23, "\u00e9" * 22):
        answer = server.post(survey, json.dumps({"token": wrong}).encode(), route="check")
        assert answer == (403, "unknown_invitation")
    (old,) = store.invite(old_survey, 1)
    assert server.post(old_survey, json.dumps({"token": old}).encode(), route="check") == (200, "unspent")
    assert server.post(open_survey, check, route="check") == (400, "malformed")
    assert server.post(survey, b'{"token": 1}', route="check") == (400, "malformed")
    store.close_survey(survey.id)
    assert server.post(survey, check, route="check") == (410, "closed")


def test_an_invitation_is_spent_for_one_blind_signature(server, store, survey, old_survey, secret_key):
    (token,) = store.invite(survey, 1)
    value = os.urandom(32)
    mine, other = survey.admission.blind(value), survey.admission.blind(value)
    status, signature = server.post(survey, admission(token, mine.message), route="admission")
    assert status == 200
    assert survey.admission.finalize(value, bytes.fromhex(signature), mine.inverse)
    assert server.post(survey, admission(token, mine.message), route="admission") == (200, signature)
    assert server.post(survey, admission(token, other.message), route="admission") == (409, "spent")
    unknown = admission("A" * 22, other.message)
    assert server.post(survey, unknown, route="admission") == (403, "unknown_invitation")
    size, modulus = survey.admission.length, survey.admission.modulus
    for number in (0, modulus, modulus + 1, 2 ** (8 * size) - 1):
        answer = server.post(survey, admission(token, number.to_bytes(size)), route="admission")
        assert answer == (422, "blinded")
    for wrong in (b"", bytes(size - 1), bytes(size + 1)):
        assert server.post(survey, admission(token, wrong), route="admission") == (400, "malformed")
    capital = admission(token, mine.message).replace(mine.message.hex().encode(), mine.message.hex().upper().encode())
    assert server.post(survey, capital, route="admission") == (400, "malformed")
    assert server.post(old_survey, admission(token, mine.message), route="admission") == (400, "malformed")
    store.close_survey(survey.id)
    assert server.post(survey, admission(token, mine.message), route="admission") == (410, "closed")


def test_two_hundred_clients_race_with_one_invitation(served, store, survey):
    """Two servers: one message is admitted, and whoever sent it gets the same signature."""
    (token,) = store.invite(survey, 1)
    servers = [served(per_window=None), served(per_window=None)]
    blinded = [survey.admission.blind(os.urandom(32)).message for _ in range(10)]
    start = threading.Barrier(50)

    def ask(number):
        start.wait()
        bodies = [admission(token, blinded[(number + turn) % 10]) for turn in range(4)]
        return [servers[(number + turn) % 2].post(survey, body, route="admission") for turn, body in enumerate(bodies)]

    with ThreadPoolExecutor(50) as pool:
        answers = [answer for asked in pool.map(ask, range(50)) for answer in asked]
    assert {status for status, _ in answers} == {200, 409}
    assert len({signature for status, signature in answers if status == 200}) == 1
    assert [status for status, _ in answers].count(200) == 20
    assert store.counts(survey.id)["admitted"] == 1


def test_a_credential_brings_one_report(served, store, survey, credential):
    """Fifty clients, two servers and two reports: one of them is stored."""
    mine = credential()
    bodies = [signed(survey, mine), signed(survey, mine, report="01" + REPORT.hex()[2:])]
    servers, start = [served(per_window=None), served(per_window=None)], threading.Barrier(50)

    def send(number):
        start.wait()
        return servers[number % 2].post(survey, bodies[number // 2 % 2])

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(send, range(50)))
    assert sorted({status for status, _ in answers}) == [200, 201, 409]
    assert [status for status, _ in answers].count(201) == 1
    assert {error for status, error in answers if status == 409} == {"other_report"}
    assert len(store.reports(survey.id)) == 1


def test_only_the_surveys_own_key_admits(server, store, survey, credential):
    mine = credential()
    flipped = bytes([mine.signature[0] ^ 1]) + mine.signature[1:]
    other_key = REAL_GENERATE()
    value = os.urandom(32)
    blinded = other_key.public.blind(value)
    strange = other_key.public.finalize(
        value, blind_sign(blinded.message, other_key.public.modulus, other_key.exponent), blinded.inverse
    )
    for changes in (
        {"signature": flipped.hex()},
        {"signature": mine.signature.hex()[2:]},
        {"signature": ""},
        {"credential": os.urandom(32).hex()},
        {"credential": value.hex(), "signature": strange.hex()},
    ):
        assert server.post(survey, signed(survey, mine, **changes)) == (403, "signature")
    for changes in (
        {"credential": "00"},
        {"credential": "G" * 64},
        {"signature": "0"},
        {"token": "A" * 22},
        {"key": "00" * 16},
    ):
        assert server.post(survey, signed(survey, mine, **changes)) == (400, "malformed")
    assert server.post(survey, body(survey, "A" * 22)) == (400, "malformed")
    assert server.post(survey, signed(survey, mine, report="00" * 15)) == (422, "unfit")
    assert server.post(survey, signed(survey, mine, survey="00" * 32)) == (409, "other_survey")
    assert store.counts(survey.id)["reports"] == 0


def test_a_secret_key_that_is_gone(served, store, survey, credential):
    """Nobody is admitted and no invitation is spent, but reports are taken."""
    (token,) = store.invite(survey, 1)
    with writing(store._engine) as connection:
        connection.execute(update(surveys).values(secret=None))
    server = served()
    blinded = survey.admission.blind(os.urandom(32)).message
    assert server.post(survey, admission(token, blinded), route="admission") == (410, "no_key")
    assert store.counts(survey.id)["unspent"] == 1
    assert server.post(survey, signed(survey, credential()))[0] == 201


def test_a_signer_that_was_killed_is_started_again(served, store, survey, monkeypatch):
    tokens = store.invite(survey, 3)
    server = served()

    def ask(token):
        return server.post(survey, admission(token, survey.admission.blind(os.urandom(32)).message), route="admission")

    assert ask(tokens[0])[0] == 200
    for child in signers():
        os.kill(child, signal.SIGKILL)
    assert ask(tokens[1])[0] == 200
    monkeypatch.setattr(signer_module.sys, "executable", "/bin/false")
    for child in signers():
        os.kill(child, signal.SIGKILL)
    assert ask(tokens[2]) == (503, "busy")


def signers() -> list[int]:
    """Processes of this one that sign."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    found = [int(number) for path in children for number in path.read_text().split()]
    return [number for number in found if b"signer" in Path(f"/proc/{number}/cmdline").read_bytes()]


def test_a_database_that_is_gone_is_busy(served, store, survey, monkeypatch):
    server = served()
    (token,) = store.invite(survey, 1)
    assert server.ask("GET", f"/s/{survey.id}").status == 200

    def gone(*_):
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(Store, "invitation", gone)
    assert server.post(survey, json.dumps({"token": token}).encode(), route="check") == (503, "busy")


def test_the_same_token_from_fifty_clients_is_taken_once(server, store, old_survey):
    """In a survey that was frozen by 0.1, where invitations travel with reports."""
    survey = old_survey
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


def test_bad_reports_are_refused_with_a_reason_and_not_stored(server, store, open_survey):
    for changes, raw, status, error in REFUSED:
        given = body(open_survey, **changes) if raw is None else raw
        assert server.post(open_survey, given) == (status, error), (changes, raw)
    assert store.counts(open_survey.id)["reports"] == 0


def test_uninvited_reports(server, store, old_survey):
    survey = old_survey
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
    end = datetime.combine(open_survey.until, time_of_day(), UTC) + timedelta(days=1)
    waited = end + 2 * timedelta(seconds=open_survey.send_interval)
    in_time = served(now=lambda: waited - timedelta(seconds=1))
    assert in_time.post(open_survey, body(open_survey))[0] == 201
    late = served(now=lambda: waited)
    assert late.post(open_survey, body(open_survey)) == (410, "closed")
    stored = seal_report(open_survey.hash, REPORT, None)
    assert in_time.post(open_survey, stored.body) == (201, stored.receipt)
    assert late.post(open_survey, stored.body) == (200, stored.receipt)  # whose receipt was lost gets it again
    changed = stored.body.replace(REPORT.hex().encode(), b"01" + REPORT.hex()[2:].encode())
    assert late.post(open_survey, changed) == (410, "closed")
    assert store.counts(open_survey.id)["reports"] == 2
    assert today() < open_survey.until


def test_nobody_is_admitted_after_the_last_day(served, store, survey):
    (token,) = store.invite(survey, 1)
    end = datetime.combine(survey.until, time_of_day(), UTC) + timedelta(days=1)
    late, blinded = served(now=lambda: end), survey.admission.blind(os.urandom(32)).message
    assert late.post(survey, json.dumps({"token": token}).encode(), route="check") == (410, "closed")
    assert late.post(survey, admission(token, blinded), route="admission") == (410, "closed")
    in_time = served(now=lambda: end - timedelta(seconds=1))
    assert in_time.post(survey, admission(token, blinded), route="admission")[0] == 200


def test_every_kind_of_request_has_a_limit_of_its_own(served, store, survey, credential):
    server, (token,) = served(per_window=2), store.invite(survey, 1)
    check = json.dumps({"token": token}).encode()
    blinded = admission(token, survey.admission.blind(os.urandom(32)).message)
    for route, given in (("check", check), ("admission", blinded), ("reports", signed(survey, credential()))):
        statuses = [server.post(survey, given, route=route)[0] for _ in range(3)]
        assert statuses[2] == 429
        assert all(status < 300 for status in statuses[:2])


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
    with create_connection((place.hostname, place.port), timeout=120) as connection:
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
        with create_connection((place.hostname, place.port), timeout=120) as connection:
            connection.sendall(sent.encode("latin-1"))
    assert server.post(open_survey, body(open_survey))[0] == 201
    assert store.counts(open_survey.id)["reports"] == 1
    assert "".join(capfd.readouterr()) == ""
    assert caplog.records == []


def test_a_fault_of_our_own_says_so(served, open_survey, monkeypatch):
    monkeypatch.setattr(PublishedSurvey, "read_submission", lambda self, submission: 1 / 0)
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


def test_nothing_about_the_sender_is_kept_or_logged(server, store, survey, database, capfd, credential):
    """Neither address nor agent nor token nor key, in the database, its log or what the server prints."""
    (token,) = store.invite(survey, 1)
    given = signed(survey, credential())
    headers = {
        "User-Agent": "Netscape-4711",
        "X-Forwarded-For": "203.0.113.77",
        "Referer": "https://example.org/secret",
    }
    assert server.post(survey, given, headers)[0] == 201
    blinded = survey.admission.blind(os.urandom(32)).message
    assert server.post(survey, admission(token, blinded), headers, "admission")[0] == 200
    server.ask("GET", f"/s/{survey.id}", headers=headers)
    server.post(survey, b"broken", headers)
    printed = "".join(capfd.readouterr()).encode()
    kept = b"".join(path.read_bytes() for path in Path(database).parent.glob("surveys.db*"))
    assert bytes.fromhex(json.loads(given)["report"]) in kept
    for trace in (b"Netscape-4711", b"203.0.113.77", b"127.0.0.1", b"example.org/secret", token.encode()):
        assert trace not in kept
        assert trace not in printed
    assert bytes.fromhex(json.loads(given)["credential"]) not in kept
    assert bytes.fromhex(json.loads(given)["signature"])[:32] not in kept
    assert blinded[:32] not in kept


def test_what_is_queued_is_finished_at_the_end(store, open_survey, served):
    """Ten requests wait for a slow disk when the server is told to stop: all of them are stored and acknowledged."""
    arrived, go_on = [], threading.Event()

    def slow(entries):
        arrived.extend(entries)
        go_on.wait(120)
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
    for host, shown in (("::1", "[::1]"), ("::", "[::1]"), ("0.0.0.0", "127.0.0.1")):  # noqa: S104  # for a moment
        with closing(listen(host, 0)) as listening:
            assert address_of(listening).startswith(f"http://{shown}:")


def test_the_foreground_server_logs_nobody(monkeypatch):
    import uvicorn

    seen = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: seen.append((self.config, sockets)))
    serve(lambda *_: None, "socket")
    ((config, sockets),) = seen
    assert sockets == ["socket"]
    assert (config.access_log, config.server_header, config.proxy_headers) == (False, False, False)
