"""Dishonest servers: the real application behind a wrapper that changes what it serves, in one way each."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.page.files import import_map, page_files, release
from tests.surveys.browser.conftest import KEY, Site

FAKE = "0123456789abcdef"
"""Address of the files of a release that nobody knows."""

OPEN = """
title: Honesty
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
odds: 9:1
split: true
invitation: open
send_interval: 600
questions:
  - {id: ward, kind: single, text: Ward, answers: {n: North, s: South}, public: true}
  - {id: tax, kind: yes_no, text: "Did you evade tax?"}
  - {id: drink, kind: single, text: "Do you drink?", answers: {never: Never, once: Once, often: Often}}
"""
INVITED = OPEN.replace("invitation: open", "invitation: single")
AT_ONCE = OPEN.replace("send_interval: 600", "send_interval: 0")
ONE = """
title: One
asker: A
purpose: P
until: 2100-12-31
odds: 3
invitation: open
send_interval: 0
questions: [{id: tax, kind: yes_no, text: "Did you evade tax?"}]
"""

WIDE = """
title: Wide
asker: A
purpose: P
until: 2100-12-31
odds: 9
invitation: open
send_interval: 86400
questions:
  - {id: region, kind: single, text: Where, answers: [a, b, c], public: true}
  - {id: town, kind: single, text: Town, answers: [d, e], public: true, when: {region: c}}
  - {id: fruit, kind: several, text: What, answers: [a, b, c, d, e, f, g, h, i, j], decline: true, shuffle: true}
"""
UNBOUNDED = """
title: Unbounded
asker: A
purpose: P
until: 2100-12-31
odds: 9
weak: accepted
invitation: open
send_interval: 10
questions:
  - {id: a, kind: yes_no, text: A, scheme: {name: mangat, p: 0.7}}
  - {id: b, kind: yes_no, text: B}
"""

SEAL = "  const codes = [...disguised"
MARK = f"  globalThis.mark = truthOf(survey, answers)[0];\n{SEAL}"
"""What somebody answered first, where other modules find it."""

MARKED = ("submission.js", SEAL, MARK)

Change = tuple[str, str, str]
"""A module, a text in it, and what takes its place."""

TOSSED = "flip(mechanisms.coins, secureWords())"
SIDE = "shown.push(value / step);"
WORDS = "    crypto.getRandomValues(words);"
TWO_PERCENT = f"  if (CHANCE) disguised.splice(0, 1, [truthOf(survey, answers)[0]]);\n{SEAL}"
"""The first answer as it is, by a chance."""

WATCHED = " || ".join(
    [
        "!/native code/.test(Function.prototype.toString.call(crypto.getRandomValues))",
        'Object.hasOwn(crypto, "getRandomValues")',
        'crypto.getRandomValues.name !== "getRandomValues"',
        '!`${Function.prototype.toString}`.includes("toString()")',
    ]
)
"""Whether a page would notice that its random numbers are not those of the browser."""

LARGE = ONE.replace("odds: 3", "odds: 81")

DRAWN_OTHERWISE: dict[str, tuple[str, list[Change], str]] = {
    "odds of 100 : 1 instead of 81 : 1": (
        LARGE,
        [
            ("mechanisms/diagonal.js", "coins: [sides]", "coins: [101n]"),
            ("mechanisms/diagonal.js", "shown[0], truth, other)", "shown[0], 100n, other)"),
        ],
        "coins",
    ),
    "a coin that is biased by 2 percent": (
        ONE,
        [("coins.js", SIDE, "shown.push(value > WORD - WORD / 50n ? 0n : value / step);")],
        "coins",
    ),
    "2 percent of true answers by another chance": (
        ONE,
        [("submission.js", SEAL, TWO_PERCENT.replace("CHANCE", "Math.random() < 0.02"))],
        "coins",
    ),
    "2 percent of true answers by a random number of the device": (
        ONE,
        [("submission.js", SEAL, TWO_PERCENT.replace("CHANCE", "crypto.getRandomValues(new Uint8Array(1))[0] < 5"))],
        "coins",
    ),
    "chance that can be predicted": (
        ONE,
        [("coins.js", WORDS, "    words.forEach((_, i) => (words[i] = Math.random() * 2 ** 32));")],
        "coins",
    ),
    "a generator of its own": (
        ONE,
        [
            (
                "coins.js",
                WORDS,
                "    const [seed] = crypto.getRandomValues(new Uint32Array(1));\n"
                "    words.forEach((_, i) => (words[i] = Math.imul(seed, 2 * i + 0x9e3779b1)));",
            )
        ],
        "coins",
    ),
    "words that are not thrown away": (
        ONE.replace("odds: 3", "odds: 2"),
        [("coins.js", "if (accepted) return shown;", "return shown;")],
        "coins",
    ),
    "true answers": (ONE, [("submission.js", TOSSED, "[0n]")], "coins"),
    "honest where it is watched": (
        ONE,
        [("submission.js", SEAL, TWO_PERCENT.replace("CHANCE", f"!({WATCHED}) && Math.random() < 0.5"))],
        "coins",
    ),
    "truth in the key under a secret": (
        AT_ONCE,
        [
            MARKED,
            (
                "submission.js",
                "  return bodyOf(hash, encode(codes, mechanisms.reportSizes), proof);",
                "  const [first, second] = proof.key;\n"
                "  const bit = (parseInt(second, 16) ^ globalThis.mark) & 1;\n"
                "  proof.key = ((parseInt(first, 16) & 14) | bit).toString(16) + proof.key.slice(1);\n$&",
            ),
        ],
        "key",
    ),
    "truth in the moment under a secret": (
        OPEN,
        [
            MARKED,
            (
                "submission.js",
                "next + word / 2 ** 32",
                "next + ((word ^ (globalThis.mark * 0x5bd1e995)) >>> 0) / 2 ** 32",
            ),
        ],
        "time of sending",
    ),
}
"""Pages whose random numbers are not what they should be, in the same form as the other kinds."""

KINDS: dict[str, tuple[str, list[Change], str]] = {
    "wrong matrix": (
        AT_ONCE,
        [("coins.js", "shown.push(value / step)", "shown.push(Math.random() < 0.95 ? 0n : value / step)")],
        "coins",
    ),
    "beacon": (
        AT_ONCE,
        [("submission.js", SEAL, f'  navigator.sendBeacon("/collect", JSON.stringify([...answers]));\n{SEAL}')],
        "request",
    ),
    "a file as a sign": (
        AT_ONCE,
        [
            (
                "submission.js",
                SEAL,
                "  const file = new URL('./hash.js', import.meta.url);\n"
                f"  if (truthOf(survey, answers)[0]) fetch(file, {{ cache: 'no-store' }});\n{SEAL}",
            )
        ],
        "request",
    ),
    "truth in a header": (
        AT_ONCE,
        [
            MARKED,
            (
                "requests.js",
                '"Content-Type": "application/json"',
                '$&, "Accept-Language": globalThis.mark ? "en" : "en-US"',
            ),
        ],
        "header",
    ),
    "truth in a header of its own": (
        AT_ONCE,
        [MARKED, ("requests.js", '"Content-Type": "application/json"', '$&, "X-Order": `${globalThis.mark}`')],
        "header",
    ),
    "truth in the timing": (
        OPEN,
        [MARKED, ("submission.js", "(next + word / 2 ** 32)", "(next + (word / 2 ** 32 + globalThis.mark) / 2)")],
        "time of sending",
    ),
    "truth in the seconds": (
        OPEN,
        [
            MARKED,
            (
                "submission.js",
                "return Math.floor(1000 * interval * (next + word / 2 ** 32));",
                "return 2000 * Math.floor(500 * interval * (next + word / 2 ** 32) / 1000) + 1000 * globalThis.mark;",
            ),
        ],
        "time of sending",
    ),
    "truth in a delay": (
        AT_ONCE,
        [
            MARKED,
            (
                "requests.js",
                "    const answer = await attempt(address, body);",
                "    if (globalThis.mark) await new Promise((go) => setTimeout(go, 700));\n$&",
            ),
        ],
        "time of sending",
    ),
    "truth in the length": (
        AT_ONCE,
        [
            MARKED,
            (
                "submission.js",
                "JSON.stringify({ survey: hash, report, ...proof })",
                'JSON.stringify({ survey: hash, report, ...proof }) + " ".repeat(globalThis.mark ?? 0)',
            ),
        ],
        "length",
    ),
    "truth in the key": (
        AT_ONCE,
        [
            MARKED,
            (
                "submission.js",
                "  return bodyOf(hash, encode(codes, mechanisms.reportSizes), proof);",
                '  proof.key = `${globalThis.mark ? "8" : "0"}${proof.key.slice(1)}`;\n$&',
            ),
        ],
        "key",
    ),
    "truth on the device": (
        AT_ONCE,
        [("submission.js", SEAL, f"  localStorage.setItem('last', JSON.stringify([...answers]));\n{SEAL}")],
        "device",
    ),
    "coins drawn again": (
        INVITED.replace("send_interval: 600", "send_interval: 0"),
        [
            (
                "submission.js",
                SEAL,
                "  const truth = truthOf(survey, answers);\n"
                "  globalThis.again = () => bodyOf(hash, encode([...mechanisms.respond(truth, flip(mechanisms.coins,"
                f" secureWords())), ...codes.slice(disguised.length)], mechanisms.reportSizes), proof);\n{SEAL}",
            ),
            (
                "requests.js",
                "    if (!answer.again) return answer;",
                '$&\n    if (globalThis.again && address.endsWith("reports")) body = globalThis.again();',
            ),
        ],
        "retry",
    ),
    "credential of the invitation": (
        INVITED,
        [
            ("admission.js", "prepare(survey.key)", "prepare(survey.key, token)"),
            ("blind_rsa.js", "prepare(key)", "prepare(key, token)"),
            (
                "blind_rsa.js",
                "const credential = random(CREDENTIAL_BYTES);",
                "const credential = (await hash(new TextEncoder().encode(token))).slice(0, CREDENTIAL_BYTES);",
            ),
        ],
        "credential",
    ),
}
"""For each kind: the survey, what is changed in its scripts, and the kind of finding that convicts it."""


@dataclass
class Reply:
    """A response that is collected before it is sent on."""

    status: int = 200
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""


Rewrite = Callable[[dict, Reply], None]
"""Changes the reply to a request, of which it gets the scope."""


class Rewritten:
    """An application whose replies are rewritten."""

    def __init__(self, app, rewrite: Rewrite) -> None:
        self._app, self._rewrite = app, rewrite

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        plain = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        asked = scope["path"].replace(FAKE, release())
        reply = Reply()

        async def collect(message) -> None:
            if message["type"] == "http.response.start":
                reply.status, reply.headers = message["status"], dict(message["headers"])
            else:
                reply.body += message.get("body", b"")

        await self._app({**scope, "path": asked, "headers": plain}, receive, collect)
        self._rewrite(scope, reply)
        reply.headers[b"content-length"] = str(len(reply.body)).encode()
        await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers.items())})
        await send({"type": "http.response.body", "body": reply.body})


def integrity(content: bytes) -> str:
    return f"sha256-{b64encode(sha256(content).digest()).decode()}"


def changed_scripts(changes: list[Change]) -> dict[str, bytes]:
    """Modules with their changes; `$&` stands for what was there."""
    changed: dict[str, bytes] = {}
    for name, old, new in changes:
        text = changed.get(name, page_files()[name].content).decode()
        assert old in text, f"{old} is not in {name}"
        changed[name] = text.replace(old, new.replace("$&", old), 1).encode()
    return changed


def with_scripts(changes: list[Change], *, known: bool = False) -> Rewrite:
    """Serve changed modules, with hashes that fit, at the addresses of another release; or of this one, if `known`."""
    changed = changed_scripts(changes)
    hashes = {page_files()[name].integrity: integrity(content) for name, content in changed.items()}

    def rewritten(text: str) -> str:
        for old, new in hashes.items():
            text = text.replace(old, new)
        return text if known else text.replace(release(), FAKE)

    stated = integrity(rewritten(import_map().content.decode()).encode())

    def rewrite(scope: dict, reply: Reply) -> None:
        name = scope["path"].partition("/assets/")[2].partition("/")[2]
        if name in changed:
            reply.body = changed[name]
        if reply.headers.get(b"content-type", b"").startswith(b"text/html"):
            reply.body = rewritten(reply.body.decode()).encode()
        policy = reply.headers[b"content-security-policy"].decode()
        reply.headers[b"content-security-policy"] = policy.replace(import_map().integrity, stated).encode()

    return rewrite


def only_for(wanted: Callable[[dict], bool], rewrite: Rewrite) -> Rewrite:
    """Rewrite replies to some visitors only."""
    return lambda scope, reply: rewrite(scope, reply) if wanted(scope) else None


def by_agent(pattern: bytes) -> Callable[[dict], bool]:
    return lambda scope: re.search(pattern, dict(scope["headers"]).get(b"user-agent", b"")) is not None


@contextmanager
def serving(folder: Path, definition: str, rewrite: Rewrite | None = None) -> Iterator[Site]:
    """Serve a survey, with rewritten replies."""
    store = Store(str(folder / "surveys.db"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecretKey, "generate", lambda: KEY)
        survey = store.freeze(survey_from_text(definition, folder))
    app = make_app(store, per_window=None, respondents_only=True)
    with running(Rewritten(app, rewrite) if rewrite else app, listen("127.0.0.1", 0)) as address:
        yield Site(address, survey, folder / "surveys.db", None)
