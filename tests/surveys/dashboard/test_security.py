"""Who may do what on the researchers' side, and what happens to requests that no page of ours sends.

Routes are taken from the application: those that are added later are tried as well.
"""

import json
import logging
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPResponse
from itertools import count
from types import SimpleNamespace
from urllib.parse import quote, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DataError, OperationalError

from sottovoce.surveys.collect.server import configuration
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard import accounts as accounts_module
from sottovoce.surveys.dashboard import app as app_module
from sottovoce.surveys.dashboard import visit
from sottovoce.surveys.dashboard.accounts import MOST_FAILURES, SESSION_SECONDS, Accounts, Role
from sottovoce.surveys.dashboard.app import dashboard_routes
from sottovoce.surveys.dashboard.visit import COOKIE, HEADERS, HOME, MOST_BYTES, check_origin, next_page
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.application import App, Sent
from tests.surveys.dashboard.conftest import PASSWORD, Researcher, serving_office

MINIMAL = """
title: {title}
asker: Institute of Examples
purpose: To learn how common it is.
until: 2999-12-31
invitation: open
odds: 3:1
questions: [{{id: q, kind: yes_no, text: "Did you?"}}]
"""
FORM = "application/x-www-form-urlencoded"
OPEN = {"/login", "/link/{token}", "/files/{release}/{name}"}
"""Routes that need no session."""

ROUTES = dashboard_routes()
INSIDE = [route for route in ROUTES if route.path.removeprefix(HOME) not in OPEN]
CHANGES = [route for route in ROUTES if "POST" in route.methods]


def named(routes):
    return pytest.mark.parametrize("route", routes, ids=lambda route: f"{min(route.methods)} {route.path}")


def path_of(route, survey="0" * 16) -> str:
    """Address of a route, with plausible values for its parts."""
    plausible = {"survey": survey, "draft": survey, "token": "A" * 43}
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: plausible.get(found[1], "a1"), route.path)


@pytest.fixture(scope="module")
def module_office(tmp_path_factory):
    """A server with a survey and one researcher of each role, for tests that change nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
        patch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
        with serving_office(str(tmp_path_factory.mktemp("office") / "surveys.db")) as office:
            office.survey = office.store.freeze(survey_from_text(MINIMAL.format(title="Honesty"))).id
            office.people = {role: office.researcher(role) for role in Role}
            yield office


def stranger(office) -> Researcher:
    return Researcher(office.address)


def has_headers(answer) -> bool:
    return all(answer.headers[name] == value for name, value in HEADERS.items())


# Every route


def test_there_are_routes_to_try():
    assert len(INSIDE) > 8
    assert {route.path.removeprefix(HOME) for route in ROUTES} > OPEN
    public = {route.path.removeprefix(HOME) for route in ROUTES if getattr(route.endpoint, "role", None) is None}
    assert public == OPEN


@named(INSIDE)
def test_nothing_is_shown_without_a_session(route, module_office):
    path, method = path_of(route, module_office.survey), "POST" if "POST" in route.methods else "GET"
    for visitor in (stranger(module_office), Researcher(module_office.address, {COOKIE: "A" * 43})):
        answer = visitor.send(method, path, None, {})
        assert (answer.status, answer.body) == (303, b"")
        assert answer.headers["location"].startswith("/research/login?next=/research")
        assert has_headers(answer)
        answer = visitor.send(method, path, None, {"accept": "application/json"})
        assert (answer.status, answer.json()["error"]) == (401, "session")
        assert has_headers(answer)
    assert stranger(module_office).send("HEAD", path, None, {}).status in (303, 405)


@named(CHANGES)
def test_changes_need_the_token_of_the_session(route, module_office):
    owner, path = module_office.people[Role.OWNER], path_of(route, module_office.survey)
    other = module_office.people[Role.READER].csrf
    for token in (None, "", "0" * 64, other, owner.csrf[:-1], f"{owner.csrf} "):
        fields = {} if token is None else {"csrf": token}
        answer = replace(owner, csrf="").send("POST", path, urlencode(fields).encode(), {"content-type": FORM})
        assert (answer.status, "Nothing was changed" in answer.text) == (403, True)
    answer = owner.send("POST", path, b"", {"x-csrf-token": "0", "accept": "application/json"})
    assert (answer.status, answer.json()["error"]) == (403, "cross_site")
    assert has_headers(answer)


@named(CHANGES)
def test_changes_must_come_from_our_own_pages(route, module_office):
    owner, path = module_office.people[Role.OWNER], path_of(route, module_office.survey)
    own = module_office.address
    origins = [
        "null",
        "",
        "http://evil.example",
        own.replace("http", "ftp"),
        f"{own}.evil.example",
        "http://[",
        own[:-1],
    ]
    refused = [{"origin": origin} for origin in origins]
    refused += [{"sec-fetch-site": site} for site in ("cross-site", "same-site", "odd", "")]
    refused += [{"origin": own, "sec-fetch-site": "cross-site"}, {"origin": "null", "sec-fetch-site": "same-origin"}]
    for headers in refused:
        for visitor in (owner, stranger(module_office)):
            answer = visitor.send("POST", path, f"csrf={owner.csrf}".encode(), {"content-type": FORM} | headers)
            assert answer.status == 403, headers


@named([route for route in INSIDE if route.endpoint.role > Role.READER])
def test_roles_may_do_what_they_may_and_no_more(route, module_office):
    path, method = path_of(route, module_office.survey), "POST" if "POST" in route.methods else "GET"
    for role in [role for role in Role if role < route.endpoint.role]:
        visitor = module_office.people[role]
        answer = visitor.send(method, path, f"csrf={visitor.csrf}".encode(), {"content-type": FORM})
        assert (answer.status, answer.alert) == (
            403,
            f"This needs an account that is {route.endpoint.role.label} at least.",
        )
        answer = visitor.send(method, path, None, {"accept": "application/json"})
        assert (answer.status, set(answer.json())) == (403, {"error", "reason"})


@named(ROUTES)
def test_other_methods_are_refused(route, module_office):
    path = path_of(route, module_office.survey)
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW"):
        answer = module_office.people[Role.OWNER].send(method, path, None, {})
        assert answer.status == (400 if method == "BREW" else 405)  # the parser of requests does not know all methods
        assert "access-control-allow-origin" not in answer.headers


def test_readers_see_pages_and_heads_have_no_body(module_office):
    reader = module_office.people[Role.READER]
    for path in ("/research", "/research/", "/research/accounts", f"/research/surveys/{module_office.survey}"):
        answer, head = reader.get(path), reader.send("HEAD", path, None, {})
        assert (answer.status, head.status, head.body) == (200, 200, b"")
        assert has_headers(answer)
        assert has_headers(head)
        assert "Everybody" not in answer.text


def test_pages_load_nothing_without_a_hash_and_have_nothing_inline(module_office):
    owner = module_office.people[Role.OWNER]
    linked = owner.post("/research/accounts/links", {"role": "reader"})
    for text in (owner.get("/research").text, linked.text, stranger(module_office).get("/research/login").text):
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script>|javascript:", text)
        for tag in re.findall(r"<script[^>]*>|<link rel=.stylesheet[^>]*>", text):
            assert re.search(r'(src|href)="/research/files/[0-9a-f]{16}/[\w.]+" integrity="sha256-', tag)
    assert "copy.js" in linked.text
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_files_are_served_without_a_session(module_office):
    path = visit.address("dashboard.css")
    answer = stranger(module_office).get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert answer.headers["cache-control"].endswith("immutable")
    for odd in (
        path.replace("dashboard.css", "accounts.py"),
        path.replace("/files/", "/files/0"),
        f"{path}/..%2f..%2fvisit.py",
    ):
        answer = stranger(module_office).get(odd)
        assert (answer.status, answer.alert) == (404, "There is nothing at this address.")
        assert has_headers(answer)


# Sessions


def test_a_login_changes_the_id_and_ends_the_old_session(office):
    anna = office.researcher()
    before, token = anna.cookies[COOKIE], anna.csrf
    fixed = Researcher(office.address, {COOKIE: "chosen-by-somebody-else"})
    fixed.post("/research/login", {"name": "owner", "password": PASSWORD})
    assert fixed.cookies[COOKIE] not in ("chosen-by-somebody-else", before)
    assert office.accounts.session("chosen-by-somebody-else") is None
    answer = anna.post("/research/login", {"name": "owner", "password": "wrong"})
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    assert office.accounts.session(before) is not None  # a mistake does not log out
    answer = anna.post("/research/login", {"name": "owner", "password": PASSWORD})
    assert (answer.status, answer.headers["location"]) == (303, "/research")
    assert anna.cookies[COOKIE] != before
    assert office.accounts.session(before) is None
    assert anna.get("/research").status == 200
    assert anna.csrf != token
    answer = Researcher(office.address, {COOKIE: before}).get("/research")
    assert answer.status == 303


def test_the_cookie_is_for_the_dashboard_alone(office):
    office.researcher()
    posted = {"name": "owner", "password": PASSWORD}
    for headers, secure in (({}, ""), ({"origin": office.address.replace("http:", "https:")}, "; Secure")):
        answer = stranger(office).post("/research/login", posted, **headers)
        flags = answer.headers["set-cookie"].partition(";")[2]
        assert flags == f" HttpOnly; Path=/research; SameSite=strict{secure}"
    answer = stranger(office).get("/s/0000000000000000")
    assert "set-cookie" not in answer.headers


def test_cookies_are_secure_behind_a_proxy_that_says_https(tmp_path, cheap_passwords):
    import uvicorn

    from sottovoce.surveys.collect.forwarded import THIS_MACHINE, Forwarded, TrustedProxies
    from sottovoce.surveys.collect.server import address_of, listen, make_app

    accounts = Accounts(Store(str(tmp_path / "surveys.db")).engine)
    accounts.use_link(accounts.new_link(Role.OWNER), "anna", PASSWORD)
    listening = listen("127.0.0.1", 0)
    app = make_app(Store(str(tmp_path / "surveys.db")), logins_per_window=None)
    server = uvicorn.Server(configuration(Forwarded(app, TrustedProxies(THIS_MACHINE))))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        anna = Researcher(address_of(listening))
        proxied = {"x-forwarded-proto": "https", "host": "survey.example.org"}
        answer = anna.post("/research/login", {"name": "anna", "password": PASSWORD}, **proxied)
        assert answer.headers["set-cookie"].endswith("; Secure")
        assert answer.headers["strict-transport-security"]
        anna.get("/research", **proxied)
        answer = anna.post("/research/accounts/links", {"role": "reader"}, **proxied)
        assert "https://survey.example.org/research/link/" in answer.text
        refused = proxied | {"origin": "http://survey.example.org"}
        assert anna.post("/research/accounts/links", {"role": "reader"}, **refused).status == 403
    finally:
        server.should_exit = True
        thread.join()


def test_logging_out_ends_the_session(office):
    anna = office.researcher()
    secret = anna.cookies[COOKIE]
    answer = anna.post("/research/logout")
    assert (answer.status, answer.headers["location"]) == (303, "/research/login")
    assert 'sottovoce_session=""' in answer.headers["set-cookie"]
    assert office.accounts.session(secret) is None


def test_own_sessions_are_ended_one_by_one_or_all(office):
    here, there = office.researcher(), office.researcher()
    page = here.get("/research/accounts").text
    assert (page.count("This browser"), page.count("Another browser")) == (1, 2)  # the account's creation began one
    other = office.accounts.session(there.cookies[COOKIE]).mark
    assert here.post("/research/accounts/sessions", {"mark": other}).headers["location"] == "/research/accounts"
    assert there.get("/research").status == 303
    assert here.post("/research/accounts/sessions", {"mark": "unknown"}).headers["location"] == "/research/accounts"
    own = office.accounts.session(here.cookies[COOKIE]).mark
    assert here.post("/research/accounts/sessions", {"mark": own}).headers["location"] == "/research/login"
    again = office.researcher()
    assert again.post("/research/accounts/sessions").headers["location"] == "/research/login"
    assert office.accounts.sessions("owner") == []


def test_one_cannot_end_the_sessions_of_others(office):
    office.researcher()
    reader = office.researcher(Role.READER)
    for session in office.accounts.sessions("owner"):
        reader.post("/research/accounts/sessions", {"mark": session.mark, "name": "owner"})
    assert len(office.accounts.sessions("owner")) == 2


def test_a_session_that_ends_while_it_is_used(tmp_path, cheap_passwords):
    clock = SimpleNamespace(now=datetime.now(UTC))
    with serving_office(str(tmp_path / "surveys.db"), now=lambda: clock.now) as office:
        anna = office.researcher()
        clock.now += timedelta(seconds=SESSION_SECONDS + 1)
        answer = anna.get("/research/accounts?a=1&b=2")
        assert answer.headers["location"] == "/research/login?next=/research/accounts%3Fa%3D1%26b%3D2"
        answer = anna.post("/research/accounts/links", {"role": "owner"}, accept="application/json")
        assert (answer.status, answer.json()["reason"]) == (401, "Log in again; nothing was changed.")
        assert anna.post("/research/accounts/links", {"role": "owner"}).headers["location"].endswith("next=/research")
        anna.csrf = ""
        answer = anna.post("/research/login", {"name": "owner", "password": PASSWORD, "next": "/research/accounts?a=1"})
        assert answer.headers["location"] == "/research/accounts?a=1"


def test_who_comes_from_another_site_is_asked_by_our_own_page(office):
    """Browsers keep the cookie back when a link on another site is followed; our page asks again, with it."""
    answer = stranger(office).get("/research/accounts", sec_fetch_site="cross-site")
    assert (answer.status, '<meta http-equiv="refresh" content="0">' in answer.text) == (200, True)
    assert stranger(office).get("/research/accounts", sec_fetch_site="same-origin").status == 303


def test_who_is_logged_in_needs_no_login(office):
    answer = office.researcher().get("/research/login?next=/research/accounts")
    assert (answer.status, answer.headers["location"]) == (303, "/research/accounts")


# Passwords


def test_a_locked_account_says_nothing_to_strangers(office):
    office.researcher()
    for _ in range(MOST_FAILURES):
        wrong = stranger(office).post("/research/login", {"name": "owner", "password": "wrong"})
    locked = stranger(office).post("/research/login", {"name": "OWNER ", "password": PASSWORD})
    unknown = stranger(office).post("/research/login", {"name": "nobody", "password": PASSWORD})
    assert {answer.status for answer in (wrong, locked, unknown)} == {403}
    assert wrong.text == locked.text == unknown.text.replace("nobody", "owner")
    assert "sottovoce survey accounts reset NAME" in locked.text


def test_attempts_from_one_address_are_limited(tmp_path, cheap_passwords):
    with serving_office(str(tmp_path / "surveys.db"), logins_per_window=3) as office:
        token = office.accounts.new_link(Role.OWNER)
        for path in ("/research/login", f"/research/link/{token}", "/research/login"):
            assert stranger(office).post(path, {"name": "x", "password": "y"}).status in (403, 422)
        for path in ("/research/login", f"/research/link/{token}"):
            answer = stranger(office).post(path, {"name": "anna", "password": PASSWORD, "again": PASSWORD})
            assert (answer.status, answer.headers["retry-after"]) == (429, "10")
            assert answer.alert == "There are too many attempts. Wait for ten seconds and try again."
        assert stranger(office).get("/research/login").status == 200


def test_many_who_wait_at_the_door_are_sent_away(office, monkeypatch):
    monkeypatch.setattr(app_module, "MOST_WAITING", 0)
    assert stranger(office).post("/research/login", {"name": "x", "password": "y"}).status == 429
    assert office.store.surveys() == []


def test_no_more_attempts_at_once_than_memory_allows(office, monkeypatch):
    running, most = [], []

    def slow(*_given):
        running.append(1)
        most.append(len(running))
        time.sleep(0.05)
        running.pop()
        return False

    monkeypatch.setattr(accounts_module, "_fits", slow)
    with ThreadPoolExecutor(8) as pool:
        attempts = [
            pool.submit(stranger(office).post, "/research/login", {"name": "x", "password": "y"}) for _ in range(8)
        ]
        page = stranger(office).get("/research/login")
    assert {attempt.result().status for attempt in attempts} == {403}
    assert (page.status, max(most)) == (200, app_module.DOORS)


def test_one_time_links_create_accounts_and_set_passwords(office):
    first = f"/research/link/{office.accounts.first_link()}"
    anna = stranger(office)
    page = anna.get(first)
    assert "The account will be an <strong>owner</strong>" in page.text
    fields = {"name": "<b>anna", "password": "short", "again": "short"}
    refused = anna.post(first, fields | {"again": "other"})
    assert (refused.status, refused.alert) == (422, "password must be the same twice. Got two that differ instead.")
    assert "short" not in refused.text
    assert anna.post(first, fields).alert.startswith("name must have 2 to 64 letters")
    assert 'value="&lt;b&gt;anna"' in anna.post(first, fields).text
    assert anna.post(first, fields | {"name": "anna"}).alert.startswith("password must have 12 to 1024 characters")
    made = anna.post(first, {"name": "anna", "password": PASSWORD, "again": PASSWORD})
    assert (made.status, made.headers["location"]) == (303, "/research")
    assert anna.get("/research").status == 200
    used = stranger(office).get(first)
    assert (used.status, "This link cannot be used" in used.text) == (410, True)
    used = stranger(office).post(first, {"name": "ben", "password": PASSWORD, "again": PASSWORD})
    assert (used.status, [account.name for account in office.accounts.all()]) == (410, ["anna"])
    reset = f"/research/link/{office.accounts.new_link(Role.OWNER, 'anna')}"
    assert 'value="anna" autocomplete="username" readonly' in stranger(office).get(reset).text
    somebody = stranger(office)
    somebody.post(reset, {"name": "mallory", "password": f"{PASSWORD} new", "again": f"{PASSWORD} new"})
    assert "anna" in somebody.get("/research").text
    assert anna.get("/research").status == 303


def test_owners_manage_everybody(office):
    owner, reader = office.researcher(), office.researcher(Role.READER)
    page = owner.get("/research/accounts").text
    assert "What reader may do" in page
    assert "you, " in page
    linked = owner.post("/research/accounts/links", {"role": "editor"})
    (link,) = re.findall(rf"{office.address}(/research/link/[\w-]{{43}})<", linked.text)
    assert "A link for a new account" in linked.text
    assert office.accounts.link(link.rpartition("/")[2]) == (Role.EDITOR, None)
    linked = owner.post("/research/accounts/links", {"name": "reader"})
    assert "A new password for reader" in linked.text
    assert owner.post("/research/accounts/links", {"name": "nobody"}).alert.startswith(
        "name must be the name of an acc"
    )
    assert owner.post("/research/accounts/links", {"role": "king"}).alert.startswith("role must be one of")
    assert owner.post("/research/accounts/links", {"role": "reader"}, host="evil.example/x?").status == 400
    assert owner.post("/research/accounts/role", {"name": "reader", "role": "owner"}).status == 303
    assert "Everybody" in reader.get("/research/accounts").text  # at once
    assert owner.post("/research/accounts/role", {"name": "reader", "role": "reader"}).status == 303
    assert reader.post("/research/accounts/role", {"name": "reader", "role": "owner"}).status == 403
    assert owner.post("/research/accounts/everybody", {"name": "reader"}).headers["location"] == "/research/accounts"
    assert reader.get("/research").status == 303
    assert owner.post("/research/accounts/everybody", {"name": "nobody"}).status == 422
    reader = office.researcher(Role.READER)
    assert owner.post("/research/accounts/remove", {"name": "reader"}).headers["location"] == "/research/accounts"
    assert reader.get("/research").status == 303
    for change, fields in (("remove", {}), ("role", {"role": "editor"})):
        refused = owner.post(f"/research/accounts/{change}", {"name": "owner"} | fields)
        assert (refused.status, "last owner" in refused.alert) == (422, True)
    office.researcher(Role.OWNER, "second")
    assert owner.post("/research/accounts/everybody", {"name": "owner"}).headers["location"] == "/research/login"
    owner = office.researcher()
    assert owner.post("/research/accounts/remove", {"name": "owner"}).headers["location"] == "/research/login"
    assert [account.name for account in office.accounts.all()] == ["second"]


def test_locked_accounts_are_marked(office):
    owner = office.researcher()
    office.researcher(Role.READER)
    for _ in range(MOST_FAILURES):
        stranger(office).post("/research/login", {"name": "reader", "password": "wrong"})
    assert "locked; a new password unlocks it" in owner.get("/research/accounts").text


# Addresses


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/research\\..\\..\\evil.example",
        "/researchers",
        "/research/../s/1",
        "/research/%0d%0aset-cookie:x=1\r\nset-cookie: x=1",
        "javascript:alert(1)",
        "http://[",
        "/research/\u00e9",
        "/research@evil.example",
        "/s/0000000000000000",
        "",
    ],
)
def test_a_login_leads_nowhere_else(module_office, wanted):
    assert next_page(wanted) == HOME
    answer = stranger(module_office).post("/research/login", {"name": "owner", "password": PASSWORD, "next": wanted})
    assert (answer.status, answer.headers["location"]) == (303, HOME)
    assert 'name="next" value="/research"' in stranger(module_office).get(f"/research/login?next={quote(wanted)}").text


@pytest.mark.parametrize(
    "path",
    [
        "/research//login",
        "/research/../s/0000000000000000",
        "/research/..%2f..%2fetc/passwd",
        "/research/%2e%2e/accounts",
        "/research/accounts/",
        "/research/accounts%00",
        "/research/ACCOUNTS",
        "/research/login;x=1",
        "/research/link/",
        "/research/link/a%2Fb",
        "/research/surveys/%00",
        "/research/surveys/%ff%fe",
        "/research/surveys/0000000000000000'--",
        "//research",
        "/Research",
        "/%72esearch/nothing",
    ],
)
def test_odd_paths_show_nothing(module_office, path):
    for visitor in (stranger(module_office), module_office.people[Role.OWNER]):
        for accept in ("text/html", "application/json"):
            answer = visitor.get(path, accept=accept)
            assert answer.status in (303, 401, 404), path
            assert "set-cookie" not in answer.headers


def test_an_encoded_path_is_the_same_page(module_office):
    assert stranger(module_office).get("/%72esearch/accounts").status == 303
    answer = module_office.people[Role.OWNER].get("/research/surveys/1234567890abcdef")
    assert (answer.status, answer.alert) == (404, "There is no such survey here.")


def test_respondents_only_leaves_everything_out(tmp_path):
    with serving_office(str(tmp_path / "surveys.db"), respondents_only=True) as office:
        for route in ROUTES:
            for method in ("GET", "POST"):
                answer = stranger(office).send(method, path_of(route), b"", {})
                assert answer.status == 404
                assert answer.headers["referrer-policy"] == "no-referrer"


def test_origins():
    def origin_is_refused(origin, host, scheme="http"):
        request = SimpleNamespace(headers={"origin": origin, "host": host}, scope={"scheme": scheme})
        try:
            check_origin(request)
        except visit.RefusedError:
            return True
        return False

    own = [
        ("https://a.org", "a.org"),
        ("http://a.org", "a.org"),
        ("https://a.org", "a.org:443"),
        ("http://a.org:81", "a.org:81"),
    ]
    assert not any(origin_is_refused(*pair) for pair in own)
    other = [
        ("https://a.org:443", "a.org"),
        ("https://a.org.evil", "a.org"),
        ("null", ""),
        ("", ""),
        ("http://a.org", "a.org:81"),
    ]
    assert all(origin_is_refused(*pair) for pair in other)
    assert origin_is_refused("http://a.org", "a.org", "https")
    assert not origin_is_refused("https://a.org", "a.org", "https")


# Bodies


def multipart(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


def field(name: str, value: bytes) -> bytes:
    return f'content-disposition: form-data; name="{name}"\r\n\r\n'.encode() + value


MULTIPART = "multipart/form-data; boundary=b"


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        (FORM, b"role=reader&csrf=", 200),
        (f"{FORM}; charset=UTF-8", b"role=reader&csrf=", 200),
        (FORM, b"role=%ff&csrf=", 400),
        (FORM, b"role=\xff&csrf=", 400),
        (FORM, b"x=1&" * 5001 + b"csrf=", 400),
        (FORM, b"x" * (MOST_BYTES + 1), 413),
        ("application/json", b'{"csrf": ""}', 415),
        ("text/plain", b"csrf=", 415),
        ("", b"csrf=", 415),
        ("multipart/form-data", b"csrf=", 400),
        (MULTIPART, b"", 400),
        (MULTIPART, multipart(field("role", b"reader"), end=b""), 400),
        (MULTIPART, multipart(field("role", b"reader")), 200),
        (MULTIPART, multipart(b"content-disposition: form-data\r\n\r\nx"), 400),
        (MULTIPART, multipart(b"x: y"), 400),
        (MULTIPART, multipart(field("x", b"\xff\xfe\0"), field("role", b"reader")), 200),
        (MULTIPART, multipart(*[field("x", b"1")] * 5001), 400),
        (MULTIPART, multipart(*[field('x"; filename="f', b"1")] * 5), 400),
        (MULTIPART, multipart(field('csrf"; filename="f', b"1")), 200),
        (f"{MULTIPART}; charset=utf-7", multipart(field("role", b"reader")), 415),
        (f"{MULTIPART}; charset=undefined", multipart(field("role", b"reader")), 415),
    ],
)
def test_odd_bodies_are_refused(module_office, kind, body, status):
    owner = module_office.people[Role.OWNER]
    headers = {"content-type": kind, "x-csrf-token": owner.csrf}
    answer = owner.send("POST", "/research/accounts/links", body, headers)
    assert answer.status == status if status != 200 else answer.status in (200, 422)
    assert has_headers(answer)


def test_strangers_send_little(module_office):
    body = b"name=owner&password=" + b"x" * (visit.MOST_BYTES_OF_STRANGERS + 1)
    answer = stranger(module_office).send("POST", "/research/login", body, {"content-type": FORM})
    assert (answer.status, answer.alert) == (413, "The form, or the file in it, is too large.")


def test_files_arrive_whole(module_office, monkeypatch):
    seen = []
    monkeypatch.setattr(visit, "_check_token", seen.append)
    content = bytes(range(256)) * 6000
    module_office.people[Role.OWNER].post("/research/accounts/links", {"role": "x"}, {"logo": ("l.png", content)})
    assert seen[0].files == {"logo": content}
    assert (seen[0].text("role"), seen[0].text("logo"), seen[0].text("none", "?")) == ("x", "", "?")


def test_a_body_without_a_length(module_office):
    owner = module_office.people[Role.OWNER]
    connection = HTTPConnection(urlsplit(owner.address).netloc, timeout=30)
    headers = {"content-type": FORM, "cookie": f"{COOKIE}={owner.cookies[COOKIE]}"}
    parts = iter([b"role=reader&", f"csrf={owner.csrf}".encode()])
    with closing(connection):
        connection.request("POST", "/research/accounts/links", parts, headers, encode_chunked=True)
        assert connection.getresponse().status == 200


def raw(office, sent: bytes) -> bytes:
    """Send bytes, whatever they are; return the status, the headers and the body of the answer."""
    host, port = urlsplit(office.address).netloc.split(":")
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(sent)
        response = HTTPResponse(connection)
        response.begin()
        return f"{response.status} {response.getheaders()} ".encode() + response.read()


def test_slow_bodies_and_wrong_lengths(module_office, monkeypatch, caplog):
    monkeypatch.setattr(visit, "FORM_SECONDS", 0.2)
    owner = module_office.people[Role.OWNER]
    head = f"POST /research/accounts/links HTTP/1.1\r\nhost: x\r\ncookie: {COOKIE}={owner.cookies[COOKIE]}\r\n".encode()
    head += b"content-type: application/x-www-form-urlencoded\r\n"
    slow = raw(module_office, head + b"content-length: 100\r\n\r\nrole=")
    assert slow.startswith(b"408 ")
    assert b"took too long to arrive" in slow
    for length in (b"-1", b"x", b"1, 2", b"99999999999999999999999"):
        assert raw(module_office, head + b"content-length: " + length + b"\r\n\r\nrole=").split()[0] in (b"400", b"408")
    assert caplog.records == []


def test_headers_cannot_be_injected(module_office):
    for path in ("/research/login?next=/research%0d%0aset-cookie:%20a=b", "/research/accounts%0d%0aa:b"):
        answer = stranger(module_office).get(path)
        assert "set-cookie" not in answer.headers
        assert "a" not in answer.headers
    for host in (b"[", b"evil.example/x?", b"", b"\xff", b"a b"):
        answer = raw(module_office, b"GET /research HTTP/1.1\r\nhost: " + host + b"\r\n\r\n")
        assert answer.split()[0] in (b"303", b"400")
        assert b"evil" not in answer


# Mistakes of ours


def test_a_failure_shows_a_plain_page_and_logs_nothing_personal(office, monkeypatch, caplog, capfd):
    owner = office.researcher()
    (endpoint,) = (route.endpoint for route in ROUTES if route.path == "/research/surveys/{survey}")
    failures = [
        (KeyError("anna's secret"), 500, "Something went wrong here."),
        (
            OperationalError("SELECT", {"name": "anna's secret"}, Exception("secret")),
            503,
            "The database did not answer",
        ),
        (DataError("SELECT", {}, Exception("secret")), 400, "The request could not be read."),
    ]
    for failure, status, words in failures:

        def fail(_visit, failure=failure):
            raise failure

        monkeypatch.setattr(endpoint, "handler", fail)
        answer = owner.get("/research/surveys/0000000000000000?name=secret")
        assert (answer.status, answer.alert.startswith(words)) == (status, True)
        assert ("Nothing was changed" in answer.text) == (status < 500)
        assert has_headers(answer)
        answer = owner.get("/research/surveys/0000000000000000", accept="application/json")
        assert (answer.status, set(answer.json())) == (status, {"error", "reason"})
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == 4
    assert logged[0].startswith("A page for researchers failed: KeyError at ")
    assert re.search(r"visit\.py:\d+ > .* > test_security\.py:\d+$", logged[0])
    printed = "".join(capfd.readouterr()) + "".join(logged)
    assert "secret" not in printed
    assert all(record.exc_info is None for record in caplog.records)


# What people write


HARMFUL = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7 * 7 }}"


def test_what_people_write_is_shown_and_not_run(office):
    quoted = json.dumps(HARMFUL)
    survey = office.store.freeze(survey_from_text(MINIMAL.format(title=quoted)))
    owner = office.researcher()
    pages = [owner.get("/research"), owner.get(f"/research/surveys/{survey.id}")]
    pages += [owner.post("/research/accounts/role", {"name": HARMFUL, "role": HARMFUL})]
    pages += [stranger(office).post("/research/login", {"name": HARMFUL, "password": "x", "next": HARMFUL})]
    pages += [stranger(office).get(f"/research/login?next={quote(HARMFUL)}")]
    pages += [stranger(office).get(f"/research/{quote(HARMFUL)}")]
    token = office.accounts.new_link(Role.READER)
    pages += [
        stranger(office).post(f"/research/link/{token}", {"name": HARMFUL, "password": HARMFUL, "again": HARMFUL})
    ]
    for page in pages:
        assert "<script>" not in page.text
        assert "<img" not in page.text
        assert "49" not in re.sub(r"[0-9a-f]{16,}", "", page.text.replace(office.address, "").replace(token, ""))
    assert "&lt;script&gt;alert(1)" in pages[0].text


def test_json_inside_of_a_page_cannot_end_its_script():
    shown = visit.to_script({HARMFUL: "&"})
    assert not set("<>&") & set(shown)
    assert json.loads(shown) == {HARMFUL: "&"}


# Mutated requests


PATHS = sorted({route.path for route in ROUTES} | {"/research/nothing", "/s/{survey}"})
NAMES = ["name", "password", "again", "role", "mark", "next", "csrf", "x", ""]
TEXTS = [
    "",
    "owner",
    "reader",
    "remove",
    PASSWORD,
    "\0",
    "\ud7ff",
    "<b>",
    "../..",
    "%00",
    "A" * 43,
    "0" * 16,
    "-1",
    "9" * 400,
]
KINDS = [FORM, MULTIPART, "application/json", "multipart/form-data", f"{FORM}; charset=utf-16", "", "\xff", ";=;"]
ODD_HEADERS = [
    ("origin", "null"),
    ("origin", "http://["),
    ("host", "["),
    ("host", ""),
    ("host", "\xff"),
    ("cookie", "sottovoce_session"),
    ("cookie", 'sottovoce_session="\\777\\"'),
    ("accept", "application/json"),
    ("x-csrf-token", "\xff"),
    ("sec-fetch-site", "cross-site"),
    ("content-length", "x"),
    ("accept-language", "\xff;q=x"),
    ("range", "bytes=0-1"),
]


class Attacked:
    """The application without sockets, an owner's session in it, and a count of what it has answered."""

    def __init__(self, database: str) -> None:
        self.store = Store(database)
        self.accounts = Accounts(self.store.engine)
        self.survey = self.store.freeze(survey_from_text(MINIMAL.format(title="Honesty"))).id
        self.accounts.use_link(self.accounts.new_link(Role.OWNER), "rescuer", PASSWORD)
        self.app = App(Store(database), logins_per_window=None)
        self._numbers, self.session = count(), None

    def log_in(self) -> None:
        """Begin a session if the last one was ended by a request; a role may have been changed, too."""
        if self.session is None or self.accounts.session(self.session.id) is None:
            name = f"owner{next(self._numbers)}"
            self.session = self.accounts.use_link(self.accounts.new_link(Role.OWNER), name, PASSWORD)

    def close(self) -> None:
        self.app.close()
        self.store.close()


@st.composite
def mutated(draw):
    """A request that is almost one of a page: its route, token and origin are right, some of the rest is not."""
    path = draw(st.sampled_from(PATHS))
    odd = st.sampled_from(TEXTS) | st.text(max_size=12)
    values = draw(st.lists(odd, min_size=4, max_size=4))
    fields = draw(st.dictionaries(st.sampled_from(NAMES), odd, max_size=5))
    headers = draw(st.lists(st.sampled_from(ODD_HEADERS), max_size=2, unique_by=lambda pair: pair[0]))
    kind = draw(st.sampled_from([FORM, FORM, FORM, MULTIPART, *KINDS]))
    method = draw(st.sampled_from(["GET", "POST", "POST", "HEAD", "PUT"]))
    known, cut = draw(st.sampled_from([True, True, True, False])), draw(st.integers(0, 400))
    return path, values, fields, headers, kind, method, known, cut


def request_of(attacked, case) -> Sent:
    path, values, fields, odd, kind, method, known, cut = case
    parts = iter(values)
    plausible = {"survey": attacked.survey, "release": visit.release(), "name": "dashboard.css"}
    filled = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: quote(plausible.get(found[1]) or next(parts), safe=""), path)
    headers = {"host": "127.0.0.1:8000", "content-type": kind}
    if known:
        headers |= {"cookie": f"{COOKIE}={attacked.session.id}", "origin": "http://127.0.0.1:8000"}
        fields = {"csrf": attacked.session.csrf} | fields
    body = urlencode(fields, errors="replace").encode()
    if kind.startswith("multipart"):
        body = multipart(*[field(name, value.encode(errors="replace")) for name, value in fields.items()])
    body = body if cut > 300 else body[: max(0, len(body) - cut)] if cut > 200 else body
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in (headers | dict(odd)).items()]
    return Sent(filled, [body], method, encoded, urlencode(fields, errors="replace").encode())


@pytest.mark.parametrize(
    ("place", "cases"),
    [
        ("sqlite", 100),
        pytest.param("sqlite", 2000, marks=pytest.mark.slow),
        pytest.param("postgres", 500, marks=pytest.mark.slow),
    ],
)
def test_no_request_makes_the_server_fail(request, cases, place, database, cheap_passwords, caplog):
    where = database if place == "sqlite" else request.getfixturevalue("postgres").database()
    seen = set()

    @settings(max_examples=cases, database=None, derandomize=True)
    @given(mutated())
    def attack(case):
        attacked.log_in()
        status, headers, _ = attacked.app.ask(request_of(attacked, case))
        assert status < 500
        assert headers["cache-control"] in ("no-store", "public, max-age=31536000, immutable")
        seen.add(status)

    caplog.set_level(logging.WARNING)
    with closing(Attacked(where)) as attacked:
        attack()
    assert {200, 303, 404, 405} < seen
    assert caplog.records == []
