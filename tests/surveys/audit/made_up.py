"""Walks of an honest page, made up without a browser."""

import json
from dataclasses import replace

import numpy as np

from sottovoce.mechanisms.coins import ListedWords, RandomWords, random_words
from sottovoce.surveys.audit.browser import Draw, RandomLog, Walk
from sottovoce.surveys.audit.checks import Expectations, Notes, note_constants, note_walk
from sottovoce.surveys.audit.judgement import judge
from sottovoce.surveys.audit.paths import Path, random_path, two_truths
from sottovoce.surveys.audit.proxy import SentRequest
from sottovoce.surveys.audit.report import Finding
from sottovoce.surveys.blind_rsa import blind_sign
from sottovoce.surveys.client.client import disguised_reports
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.browser.conftest import KEY

SERVER = "https://survey.test"
KEPT = {
    "states": [["key", {"state": "answered"}]],
    "databases": ["sottovoce"],
    "local": {},
    "cookies": "",
    "workers": 0,
}
START = 1_893_499_200_000.0


class Maker:
    """Makes the walks of an honest page."""

    def __init__(self, definition: str) -> None:
        self.survey = survey_from_text(definition)
        self.rng = np.random.default_rng(1)
        self.paths = two_truths(self.survey, self.rng)
        home = f"/s/{self.survey.id}"
        files = {home: "page", f"{home}/survey.json": "survey", "/assets/0/main.js": "main"}
        self.expected = Expectations(self.survey, SERVER, None, files)
        self.words = random_words(1)
        self.proof: dict[str, str] = {}

    def body(self, path: Path, *, words: RandomWords | None = None, **changes) -> bytes:
        (report,) = disguised_reports(self.survey, {q: [v] for q, v in path.truth.items()}, words or self.words)
        sent = {"survey": self.survey.hash, "report": report.hex()}
        unsigned = {"key": self.rng.bytes(16).hex(), "token": None} | changes
        return json.dumps(sent | (self.proof or unsigned), separators=(",", ":")).encode()

    def sign(self) -> None:
        """Let reports have a credential and its signature from now on."""
        self.survey = self.expected.survey = replace(self.survey, admission=KEY.public)
        credential = self.rng.bytes(32)
        blinded = KEY.public.blind(credential)
        answer = blind_sign(blinded.message, KEY.public.modulus, KEY.exponent)
        signature = KEY.public.finalize(credential, answer, blinded.inverse)
        self.expected.credential = credential.hex()
        self.proof = {"credential": credential.hex(), "signature": signature.hex()}

    def walk(self, path: Path | None = None, *, body: bytes | None = None, headers=(), more=(), **changes) -> Walk:
        path = path or self.paths[0]
        length = 1000 * self.survey.send_interval
        time = START + (length * (1 + self.rng.random()) if length else 0)
        home = self.expected.home
        content = self.body(path) if body is None else body
        given = (("Host", "survey.test"), ("Content-Length", str(len(content))), *headers)
        sent = [
            SentRequest("GET", f"{SERVER}{home}", digest="page"),
            SentRequest("GET", f"{SERVER}{home}/survey.json", digest="survey"),
            SentRequest("POST", f"{SERVER}{home}/reports", given, content),
            *more,
        ]
        made = Walk(path, tuple(sent), time, self.rng.normal(50, 5), dict(KEPT), (), START)
        return replace(made, **changes)

    def noted(self, *walks: Walk) -> list[Finding]:
        notes = Notes()
        for walk in walks:
            note_walk(walk, self.expected, notes)
        note_constants(walks, self.expected, notes)
        return notes.findings(len(walks))

    def judged(self, change=lambda walk, first: walk, count=60):
        first, second = ([change(self.walk(p), p is self.paths[0]) for _ in range(count)] for p in self.paths)
        others = [change(self.walk(random_path(self.survey, self.rng)), False) for _ in range(count)]
        return judge(first, second, others, self.expected)

    def logged(self, path: Path | None = None, *, arrays=1, tossed=None, **changes) -> Walk:
        """A walk whose random numbers were logged; coins may be tossed with other words than those."""
        path, key = path or self.paths[0], self.rng.bytes(16)
        words = self.rng.integers(0, 2**32, 64 * arrays, dtype=np.uint32)
        moment = int(self.rng.integers(0, 2**32))
        parts = [Draw(3, "Uint32Array", part.astype("<u4").tobytes()) for part in np.split(words, arrays)]
        later = Draw(3, "Uint32Array", moment.to_bytes(4, "little"))
        draws = (Draw(1, "Uint32Array", self.rng.bytes(256)), Draw(3, "Uint8Array", key), *parts, later)
        length = 1000 * self.survey.send_interval
        time = int(length * (START // length + 1 + moment / 2**32)) if length else START
        body = self.body(path, words=ListedWords(words if tossed is None else tossed(words)), key=key.hex())
        return self.walk(path, **({"body": body, "time": time, "log": RandomLog(draws)} | changes))
