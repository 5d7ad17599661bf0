"""A survey with every kind of question, and a server on a free port over a database of its own."""

import asyncio
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from gmpy2 import next_prime
from sqlalchemy import insert

from sottovoce.plans.plan import Group
from sottovoce.schemes import CutAndPaste
from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES, SecretKey, blind_sign
from sottovoce.surveys.client.client import Credential
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store, _survey_row
from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
from sottovoce.surveys.drill.scratch import SqliteScratch
from sottovoce.surveys.drill.server import APPLICATION
from sottovoce.surveys.drill.state import Drill
from sottovoce.surveys.links import Link
from tests.surveys.postgres import find_programs, new_cluster

TEXT = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
contact: survey@example.org
until: 2999-12-31
minimum: 50
odds: 729:1
split: true
questions:
  - {id: sick, kind: yes_no, text: "Called in sick?", decline: true}
  - {id: days, kind: number, text: "How many days?", edges: [1, 3, 6, inf], when: {sick: yes}}
  - {id: drink, kind: single, text: "Drink?", answers: [never, once, often, daily]}
  - {id: seen, kind: several, text: "Seen?", help: All of them., answers: [words, touch, threats]}
  - {id: job, kind: single, text: "Job?", answers: [a, b, c, d, e, f, g, h]}
  - id: theft
    kind: yes_no
    text: Took something?
    scheme: {name: unrelated_question, known: [0.75, 0.25]}
    unrelated: Was your mother born in spring?
"""
OPEN = TEXT.replace("minimum: 50", "minimum: 50\ninvitation: open")

PLAIN = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
invitation: open
odds: 27:1
split: true
questions:
  - {id: sick, kind: yes_no, text: "Did you call in sick although you were well?"}
  - {id: drink, kind: single, text: "How often did you drink at work?", answers: [never, once, often, daily]}
  - {id: theft, kind: yes_no, text: "Did you ever take home something that was not yours?"}
"""
EVERY_KIND = """
title: Everything
asker: Institute of Examples
purpose: To toss every kind of coin.
until: 2100-12-31
invitation: open
odds: 531441:1
split: true
weak: accepted
questions:
  - {id: plain, kind: yes_no, text: Plain}
  - {id: forced, kind: yes_no, text: Forced, scheme: {name: forced_response, truth: 0.5, yes: 0.25}}
  - id: unrelated
    kind: yes_no
    text: Unrelated
    odds: 3:1
    scheme: {name: unrelated_question, known: [0.75, 0.25]}
    unrelated: Were you born in spring?
  - {id: related, kind: yes_no, text: Related, scheme: {name: related_question, theta: 0.75}}
  - {id: subset, kind: single, text: Subset, odds: 3:1, answers: [a, b, c, d], scheme: subset_selection}
  - id: drawn
    kind: single
    text: Drawn
    odds: 3:1
    answers: [a, b, c]
    scheme: {name: random_set, components: [[1, 1, [1, 1, 2]]]}
  - {id: unary, kind: single, text: Unary, odds: 3:1, answers: [a, b, c], scheme: symmetric_unary}
  - {id: shifted, kind: single, text: Shifted, answers: [a, b, c], scheme: {name: randomized_gamma_diagonal, gamma: 3}}
  - {id: flipped, kind: several, text: Flipped, answers: [a, b], scheme: {name: mask, p: 0.75}}
  - {id: pasted, kind: several, text: Pasted, answers: [a, b, c], scheme: {name: mask, p: 0.6}}
  - {id: one, kind: yes_no, text: One}
  - {id: two, kind: yes_no, text: Two}
groups: [{questions: [one, two], scheme: attribute_sampling, odds: 3:1}]
"""


@pytest.fixture(scope="session")
def draft():
    return survey_from_text(TEXT)


@pytest.fixture(scope="session")
def survey(draft, secret_key):
    """The draft as the store freezes it."""
    return replace(draft, admission=secret_key.public)


@pytest.fixture(scope="session")
def old_survey(draft):
    """A survey as 0.1 froze it: its invitations travel with the reports."""
    return replace(draft, title={"en": "An old one"}, send_interval=0)


@pytest.fixture(scope="session")
def open_survey():
    return survey_from_text(OPEN)


@pytest.fixture(scope="session")
def plain_definition():
    """What most surveys are: yes/no and single-choice questions in one language."""
    return PLAIN


@pytest.fixture(scope="session")
def every_kind():
    """A survey that tosses every kind of coin that there is, also one that definitions refuse.

    Cut-and-paste is estimated only where the sizes of true sets are public, as they are not in a survey.
    """
    survey = survey_from_text(EVERY_KIND)
    pasting = CutAndPaste(cutoff=1, rho="0.5")
    groups = [
        Group(group.attributes, pasting.name, pasting.mechanism(group.mechanism.sizes))
        if group.attributes == ("pasted",)
        else group
        for group in survey.plan.groups
    ]
    return replace(survey, plan=replace(survey.plan, groups=tuple(groups)))


@pytest.fixture(scope="session")
def node():
    """Run a script under Node; where everything must be there, its absence is a failure."""
    path = shutil.which("node")
    if path is None:
        assert os.environ.get("CI") != "true", "node must be installed"
        pytest.skip("node is not installed")

    def run(*arguments) -> str:
        return subprocess.run([path, *arguments], capture_output=True, text=True, check=True).stdout

    return run


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server for all tests of a run; where everything must be there, its absence is a failure."""
    programs = find_programs()
    if programs is None:
        assert os.environ.get("CI") != "true", "PostgreSQL must be installed"
        pytest.skip("PostgreSQL is not installed")
    with new_cluster(programs) as cluster:
        yield cluster


def key_of(seed: int) -> SecretKey:
    """A key that a seed repeats, and with it the hashes of surveys and invitations: no run has others than the last."""
    rng = Random(seed)  # noqa: S311  # for no secrets
    return SecretKey(*(int(next_prime(rng.getrandbits(1022) | 3 << 1022)) for _ in range(2)))


@pytest.fixture(scope="session")
def secret_key():
    return key_of(1)


@pytest.fixture(scope="session")
def other_key():
    return key_of(2)


@pytest.fixture(scope="session")
def blind_rsa_vectors(data_sets):
    """Test vectors of RFC 9474, appendix A, with keys of 4096 bits."""
    return json.loads((Path(os.environ["SOTTOVOCE_DATA"]) / "rfc9474-vectors.json").read_text())


@pytest.fixture
def database(tmp_path):
    return str(tmp_path / "surveys.db")


@pytest.fixture
def store(database, draft, open_survey, old_survey, secret_key, monkeypatch):
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    opened = Store(database)
    opened.freeze(draft)
    opened.freeze(open_survey)
    freeze_as_0_1(opened, old_survey)
    yield opened
    opened.close()


def freeze_as_0_1(store, survey) -> None:
    with writing(store._engine) as connection:
        connection.execute(insert(surveys), _survey_row(survey, None))


@pytest.fixture
def credential(secret_key):
    """Draw credentials that the survey's key has signed, as a server would after an admission."""

    def draw() -> Credential:
        value = os.urandom(CREDENTIAL_BYTES)
        blinded = secret_key.public.blind(value)
        signature = blind_sign(blinded.message, secret_key.public.modulus, secret_key.exponent)
        return Credential(value, secret_key.public.finalize(value, signature, blinded.inverse))

    return draw


class Server:
    """A running server, and plain requests to it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def link(self, survey, token=None) -> Link:
        return Link(self.address, survey.hash, token)

    def ask(self, method: str, path: str, body=None, headers=None):
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=120)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            content = response.read()
            return SimpleNamespace(status=response.status, headers=dict(response.getheaders()), body=content)
        finally:
            connection.close()

    def post(self, survey, body, headers=None, route="reports"):
        """Status and the error's name, or what the server returned."""
        given = {"Content-Type": "application/json"} | (headers or {})
        reply = self.ask("POST", f"/s/{survey.id}/{route}", body, given)
        answer = json.loads(reply.body)
        (name,) = set(answer) - {"reason"}
        return reply.status, answer[name]


class Serving:
    """Starts servers over a database, with settings; they stop when its stack is closed."""

    def __init__(self, database: str) -> None:
        self._database = database
        self.stack = ExitStack()

    def __call__(self, **settings) -> Server:
        app = make_app(Store(self._database), **settings)
        return Server(self.stack.enter_context(running(app, listen("127.0.0.1", 0))))


@pytest.fixture
def served(database, store):
    serving = Serving(database)
    with serving.stack:
        yield serving


@pytest.fixture
def server(served):
    return served(per_window=None)


@pytest.fixture
def finished():
    """Run a coroutine in a thread of its own: a browser's tests may keep a loop running in this one."""

    def run(coroutine):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, coroutine).result()

    return run


@pytest.fixture
def drill(tmp_path, secret_key, monkeypatch):
    """A drill without servers."""
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    sample = survey_from_text(sample_definition("exams", today()))
    return Drill(SqliteScratch(tmp_path), sample, seed=1, respondents=8, outage=0.1, application=APPLICATION)


def found_in(drill) -> list[str]:
    """What a drill has found."""
    return [finding.what for finding in drill.findings]
