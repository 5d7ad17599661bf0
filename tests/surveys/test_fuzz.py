"""Requests that nobody should send: each is answered with a reason, and nothing is stored that was not acknowledged.

The application is called as a server calls it, without sockets: ten thousand requests of each kind take minutes.
Most of them are almost valid: bodies of a survey, its invitations and credentials, with a few things changed.
"""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.links import token_hash
from sottovoce.surveys.page.files import address
from tests.surveys.application import Sent, Target, impossible_codes, modern_survey, possible_codes
from tests.surveys.conftest import freeze_as_0_1

FEW, MANY = 200, 10_000
CASES = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]
KINDS = ("check", "admission", "reports")
REPORTS = [bytes([code] + [0] * 5 + [1, 1] + [0] * 7).hex() for code in range(3)]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request, database):
    """A database of each kind."""
    return database if request.param == "sqlite" else request.getfixturevalue("postgres").database()


@pytest.fixture
def target(place, draft, old_survey, open_survey, secret_key, other_key, credential, monkeypatch):
    store = Store(place)
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    frozen = {"signed": store.freeze(draft), "open": store.freeze(open_survey), "old": old_survey}
    monkeypatch.setattr(SecretKey, "generate", lambda: other_key)
    frozen["other"] = store.freeze(replace(draft, title={"en": "Another one"}))
    modern = frozen["modern"] = store.freeze(modern_survey())
    freeze_as_0_1(store, old_survey)
    tokens = {name: store.invite(survey, 60) for name, survey in frozen.items() if survey.invitation == "single"}
    for token in tokens["signed"][:9]:
        store.admit(frozen["signed"].id, token_hash(frozen["signed"].hash, token), b"b" * 32)
    modulus = secret_key.public.modulus
    numbers = [1, modulus - 1, modulus, modulus + 1, 2**2048 - 1, 0, *(modulus // k for k in range(2, 20))]
    blinded = [f"{number:0512x}" for number in numbers]
    reports = [
        {"survey": asked.hash, "report": report, "credential": held.value.hex(), "signature": held.signature.hex()}
        for held in [credential() for _ in range(20)]
        for report in REPORTS[:2]
        for asked in (frozen["signed"], frozen["other"])
    ]
    reports += [
        {"survey": frozen[name].hash, "report": REPORTS[number % 3], "key": f"{number:032x}", "token": token}
        for name, held in (("open", [None] * 30), ("old", tokens["old"][:30]))
        for number, token in enumerate(held)
    ]
    reports += [
        {"survey": modern.hash, "report": bytes(codes).hex(), "key": f"{number:032x}", "token": None}
        for number, codes in enumerate([*possible_codes(modern)[::3], *impossible_codes(modern)[::29]])
    ]
    known = [token for held in tokens.values() for token in held]
    bodies = {
        "check": [{"token": token} for token in known],
        "admission": [{"token": token, "blinded": number} for token in known for number in blinded],
        "reports": reports,
    }
    aimed = Target(place, frozen, store, bodies)
    yield aimed
    aimed.app.close()
    store.close()


ODD_TEXTS = [
    "",
    " ",
    "\x00",
    "0x",
    "\u0660" * 64,
    "\uff10" * 512,
    "A" * 22,
    "\u00e9" * 22,
    "\ud800",
    "0" * 512,
    "f" * 64,
]
DEEP: Any = [[[[[[[[]]]]]]]]
for _ in range(300):
    DEEP = [DEEP]
ODD_NUMBERS = [10**400, -(10**400), 1e308, float("nan"), float("inf"), float("-inf"), -0.0, 2**63, 2**64, -1]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(ODD_TEXTS),
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from([[], {}, [None], {"token": "A"}, DEEP]),
)
ANYTHING = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
)
NAMES = [
    "survey",
    "report",
    "key",
    "token",
    "credential",
    "signature",
    "blinded",
    "",
    "__proto__",
    "\u0455urvey",
    "Token",
]
INDEX = st.integers(0, 2**20)


def spoil(draw: Any, value: str) -> str:
    """Change a string a little, so that its length, its digits or its meaning are wrong."""
    at = draw(INDEX) % (len(value) + 1)
    one = draw(st.sampled_from([*"0f8gA-_ \n\x00\u0660\u00e9", "\U0001f600"]))
    changes = [
        value[:at],
        value[at:],
        value + value[:at],
        value[:at] + one + value[at:],
        value[:at] + one + value[at + 1 :],
        value.upper(),
        value.swapcase(),
        value[::-1],
        f" {value}",
        f"{value}\n",
        value.translate({ord("0") + digit: 0xFF10 + digit for digit in range(10)}),
    ]
    return changes[draw(st.integers(0, len(changes) - 1))]


def change(draw: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Change one field of a body."""
    name = draw(st.sampled_from(sorted(given) or [""]))
    kind = draw(st.integers(0, 5))
    if kind <= 2 and isinstance(given.get(name), str):
        return given | {name: spoil(draw, given[name])}
    if kind == 3:
        return {key: value for key, value in given.items() if key != name}
    if kind == 4:
        return given | {draw(st.sampled_from(NAMES)): draw(ODD)}
    return given | {name: draw(ODD)}


def encode(draw: Any, given: Any) -> bytes:
    """Write a body as JSON, in one of the ways in which that can be done, or almost."""
    style = draw(st.integers(0, 19))
    body = json.dumps(given, ensure_ascii=style != 1, indent=style if style == 2 else None)
    if style == 3 and isinstance(given, dict) and given:  # a name twice
        name = sorted(given)[0]
        body = f"{{{json.dumps(name)}: {json.dumps(draw(ODD))}, {body[1:]}"
    cut = draw(INDEX) % (len(body) + 1)
    odd = {4: body[:cut], 5: body + body, 6: "\ufeff" + body, 7: body + " " * cut, 8: body[:cut] + "\x00" + body[cut:]}
    encoding = {9: "utf-16", 10: "utf-32"}.get(style, "utf-8")
    return odd.get(style, body).encode(encoding, "surrogatepass")


@st.composite
def sent_bodies(draw: Any, bodies: dict[str, list[Any]], kind: str) -> bytes:
    """Draw a body: mostly one that is valid somewhere, with up to three changes."""
    style = draw(st.integers(0, 19))
    if style == 0:
        return draw(st.binary(max_size=3000))
    if style == 1:
        return encode(draw, draw(ANYTHING))
    if style == 2:
        depth = draw(st.sampled_from([10, 500, 1500, 100_000]))
        return draw(st.sampled_from([b"[", b'{"token":', b'{"a":'])) * depth
    own = draw(st.sampled_from([kind] * 9 + list(KINDS)))
    given = dict(bodies[own][draw(INDEX) % len(bodies[own])])
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 1, 2, 3]))):
        given = change(draw, given)
    return encode(draw, given)


OTHER_HEADERS = [
    (b"sec-fetch-site", b"same-origin"),
    (b"sec-fetch-site", b"cross-site"),
    (b"sec-fetch-site", b"\xff"),
    (b"accept", b"text/html"),
    (b"accept", b"\xff" * 100),
    (b"accept-encoding", b"gzip;q=\xff"),
    (b"accept-language", b"de-AT;q=\xff, *;q=nan, ar;q=2, ;q=, \xff"),
    (b"accept-language", b"fr;q=0.1," * 300),
    (b"host", b"\xff[::"),
    (b"content-length", b"-1"),
    (b"content-length", b"9" * 40),
    (b"transfer-encoding", b"chunked"),
    (b"expect", b"100-continue"),
    (b"x-forwarded-for", b"no address"),
    (b"cookie", b"a=" + b"b" * 5000),
]
CONTENT_TYPES = [
    b"",
    b"text/plain",
    b"APPLICATION/JSON ; charset=utf-7",
    b"application/json, text/plain",
    b"application/jsonp",
    b"\xff",
    b";",
]
METHODS = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "post", "BREW", ""]
CLIENTS = [None, ("", 0), ("2001:db8::1", 1), ("fe80::1%eth0", 1), ("unix:", 0), ("\udcff:", 0)]


@st.composite
def requests(draw: Any, target: Target, kind: str) -> Sent:
    """Draw a request: mostly well-formed, with a body that is not."""
    body = draw(sent_bodies(target.bodies, kind))
    asked = draw(st.sampled_from(target.ids * 5 + ["0" * 16, "%00", target.ids[0].upper(), "%ff%fe"]))
    cut = draw(INDEX) % (len(body) + 1) if draw(st.booleans()) else len(body)
    plain = draw(st.integers(0, 9)) > 1
    content_type = b"application/json" if plain else draw(st.sampled_from(CONTENT_TYPES))
    return Sent(
        path=f"/s/{asked}/{kind}",
        parts=[body[:cut], body[cut:]],
        method="POST" if plain else draw(st.sampled_from(["POST", *METHODS])),
        headers=[
            (b"content-type", content_type),
            *([] if plain else draw(st.lists(st.sampled_from(OTHER_HEADERS), max_size=4))),
        ],
        query=b"" if plain else draw(st.binary(max_size=20)),
        scheme=draw(st.sampled_from(["http", "https"])),
        client=draw(st.sampled_from(CLIENTS)),
        hangs_up=draw(st.integers(0, 49)) == 0,
    )


EXPECTED = {
    "check": {"200", "malformed", "unknown_invitation", "spent", "unknown_survey", "too_slow"},
    "admission": {"200", "malformed", "unknown_invitation", "spent", "blinded", "unknown_survey"},
    "reports": {"201", "200", "malformed", "signature", "other_report", "other_survey", "unfit", "unknown_survey"},
}


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_request_is_answered(target, kind, cases):
    @settings(max_examples=cases, database=None)
    @given(requests(target, kind))
    def answered(sent):
        target.judge(sent, kind=kind)

    answered()
    if cases == MANY:  # the requests were near enough to reach every decision
        assert EXPECTED[kind] | {"content_type", "cross_site", "method"} <= set(target.seen)


SEGMENTS = [
    "",
    ".",
    "..",
    "%2e%2e",
    "%2f",
    "%00",
    "%ff",
    "%c0%af",
    "\\",
    ";",
    "*",
    "~",
    "a" * 5000,
    "%f0%9f%98%80",
    "%0d%0a",
]
ENDS = [
    "survey.json",
    "audit",
    "audit.json",
    "check",
    "admission",
    "reports",
    "receipts",
    "receipts/00",
    "receipts/0g",
    "receipts/%30%30",
    "receipts/%d9%a0%d9%a0",
    "logo",
    "assets",
    "s",
    "main.js",
    "survey.html",
]


@st.composite
def paths(draw: Any, ids: list[str]) -> str:
    """Draw a path out of those of the server, and of what does not belong there."""
    known = draw(
        st.sampled_from([[], ["s", ids[0]], ["s", ids[1]], ["s", ids[-1]], address("main.js")[1:].split("/")[:2]])
    )
    rest = draw(st.lists(st.sampled_from(SEGMENTS + ENDS + ids), max_size=4))
    return "/" + "/".join([*known, *rest]) + draw(st.sampled_from(["", "", "/", "//", "%00"]))


@pytest.mark.parametrize("cases", [FEW, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_address_is_answered(target, cases):
    @settings(max_examples=cases, database=None)
    @given(
        paths(target.ids),
        st.sampled_from(["GET"] * 9 + METHODS),
        st.lists(st.sampled_from(OTHER_HEADERS), max_size=3),
        st.binary(max_size=20),
    )
    def answered(path, method, headers, query):
        target.judge(Sent(path.replace("\\", "%5c"), [b""], method, headers, query))

    answered()
